//! The program got more from storage than the device moved at all: the data came from another device, so the counters used everywhere
//! else are of the wrong one.
//!
//! Reads are charged to the process at submission, and a device counts them at completion. Read-ahead still in flight at the end of a
//! phase is charged and not counted, and may be any amount. So only reads that must complete are compared: direct ones, and those of
//! uncached files when the device read nothing at all. Writes are charged when pages become dirty, long before a device has them: they
//! prove nothing.

use super::{device, exceeds, found};
use crate::doubts::grouped;
use crate::words::which;
use fathom_record::origin::bytes_words;
use fathom_record::{Doubt, Phase, Repetition, Residency, Run};

pub(super) fn check(run: &Run) -> Option<Doubt> {
    let all = found(run, charged);
    let phases: Vec<&Phase> = all.iter().map(|(phase, _)| *phase).collect();
    let (_, (own, moved, name)) = all.iter().max_by_key(|(_, (own, moved, _))| own - moved)?;
    let text = format!(
        "in {} the kernel charged {} of reads from storage to this program, but {name}, the device found below the files, counted only {}: part of the data came from elsewhere (a link or a mount to another file system, a layer that /sys does not show), or {name} does not count what it reads (queue/iostats). Name a directory on the storage you mean.",
        which(run, &phases),
        bytes_words(*own),
        bytes_words(*moved)
    );
    Some(grouped("impossible-device", &phases, &text))
}

fn charged(phase: &Phase, r: &Repetition) -> Option<(u64, u64, String)> {
    // The workers' charges are read when they have ended, so they include the warm-up, unlike the device's counters. Reads beside writes
    // may be of data just written, and holes need no device.
    let holes = r.extents.is_some_and(|e| e.hole_bytes.saturating_add(e.unwritten_bytes) > 0);
    if r.ramp_ns > 0 || phase.writes || holes {
        return None;
    }
    let empty = |cached: Option<Residency>| cached.is_some_and(|c| c.cached_pages == 0);
    let moved = r.physical.devices.first()?.read_bytes;
    // O_DIRECT that fell back to the page cache reads ahead, too, and leaves pages there.
    let must = empty(r.resident_before) && if phase.direct { empty(r.resident_after) } else { moved == 0 };
    let own = r.physical.own_read_bytes?.min(r.bytes());
    (must && exceeds(own, moved)).then(|| (own, moved, device(r)))
}

#[cfg(test)]
mod tests {
    use crate::doubts::DoubtInputs;
    use crate::doubts::test_runs::{doubts, phase, run_of};
    use fathom_record::{Extents, Phase, Residency};

    const MIB: u64 = 1 << 20;
    const CODE: &str = "impossible-device";

    /// Reads of files that are not cached before and (with O_DIRECT) after.
    fn reads(direct: bool, asked: u64, own: u64, moved: u64) -> Phase {
        let mut p = phase("read", asked, moved);
        p.direct = direct;
        let r = &mut p.repetitions[0];
        r.physical.own_read_bytes = Some(own);
        let cached =
            |cached_pages| Some(Residency { total_pages: 4096, cached_pages, ..Residency::default() });
        (r.resident_before, r.resident_after) = (cached(0), cached(if direct { 0 } else { 4096 }));
        p
    }

    fn said(phase: Phase) -> Option<String> {
        let all = doubts(&run_of(vec![phase]), &DoubtInputs::default());
        all.into_iter().find(|d| d.code == CODE).map(|d| d.sentence)
    }

    #[test]
    fn direct_reads_that_the_device_did_not_do_are_another_devices() {
        let sentence = said(reads(true, 200 * MIB, 200 * MIB, 100 * MIB)).expect("a doubt");
        assert!(sentence.contains("charged 200 MiB") && sentence.contains("sda"), "{sentence}");
        assert!(sentence.contains("counted only 100 MiB"), "{sentence}");
        assert_eq!(said(reads(true, 100 * MIB, 104 * MIB, 100 * MIB)), None);
    }

    #[test]
    fn reads_charged_but_not_counted_by_the_device_are_reported() {
        let sentence = said(reads(false, 20 * MIB, 32 * MIB, 0)).expect("a doubt");
        assert!(sentence.contains("charged 20 MiB") && sentence.contains("counted only 0 B"), "{sentence}");
    }

    #[test]
    fn read_ahead_on_its_way_is_no_other_device() {
        // Observed for cold reads on ext4 with 8 MiB of read-ahead: requested, charged, counted.
        for [asked, own, moved] in [[20, 32, 24], [30, 32, 32], [14, 22, 14], [13, 20, 15], [2, 6, 2]] {
            assert_eq!(said(reads(false, asked * MIB, own * MIB, moved * MIB)), None, "{asked}");
        }
    }

    #[test]
    fn reads_that_need_no_device_raise_no_doubt() {
        let of = |change: fn(&mut Phase)| {
            let mut p = reads(true, 200 * MIB, 200 * MIB, 100 * MIB);
            change(&mut p);
            said(p)
        };
        assert!(of(|_| {}).is_some());
        assert_eq!(of(|p| p.repetitions[0].ramp_ns = 100_000_000), None, "a warm-up");
        assert_eq!(of(|p| p.writes = true), None, "reads of what was written");
        assert_eq!(of(|p| p.repetitions[0].resident_after = None), None, "not known");
        assert_eq!(
            of(|p| p.repetitions[0].physical.own_read_bytes = Some(90 * MIB)),
            None,
            "from a cache below"
        );
        assert_eq!(
            of(|p| p.repetitions[0].workers[0].bytes = 90 * MIB),
            None,
            "charged, but not for the data"
        );
        let holes = Extents { bytes: 200 * MIB, hole_bytes: 100 * MIB, ..Extents::default() };
        let mut p = reads(true, 200 * MIB, 200 * MIB, 100 * MIB);
        p.repetitions[0].extents = Some(holes);
        assert_eq!(said(p), None, "holes");
        let mut p = reads(false, 20 * MIB, 32 * MIB, 0);
        p.repetitions[0].resident_before = p.repetitions[0].resident_after;
        assert_eq!(said(p), None, "in memory before");
        let mut p = reads(true, 20 * MIB, 32 * MIB, 16 * MIB);
        p.repetitions[0].resident_after = Some(Residency { cached_pages: 9, ..Residency::default() });
        assert_eq!(said(p), None, "O_DIRECT through the page cache");
    }

    #[test]
    fn data_that_is_dirty_and_not_yet_written_is_no_other_device() {
        let mut p = phase("write", 30 * MIB, 22 * MIB);
        p.repetitions[0].physical.own_write_bytes = Some(30 * MIB);
        assert_eq!(said(p), None);
    }
}
