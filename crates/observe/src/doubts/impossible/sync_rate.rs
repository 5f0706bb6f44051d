//! A rate of synchronous writes above the device's own: not all data had reached it when the phase ended, although each write, or the
//! final sync, should have waited for that.

use super::{device, exceeds, found};
use crate::doubts::grouped;
use crate::words::which;
use fathom_record::origin::bytes_words;
use fathom_record::{Doubt, Phase, Repetition, Run};

struct TooFast {
    asked_per_s: f64,
    device_per_s: f64,
    device: String,
}

pub(super) fn check(run: &Run) -> Option<Doubt> {
    let all = found(run, too_fast);
    let phases: Vec<&Phase> = all.iter().map(|(phase, _)| *phase).collect();
    let excess = |t: &TooFast| t.asked_per_s / t.device_per_s.max(1.0);
    let (_, worst) = all.iter().max_by(|a, b| excess(&a.1).total_cmp(&excess(&b.1)))?;
    let text = format!(
        "{} wrote synchronously at {}/s, but {} took only {}/s: part of it was acknowledged before it was on the device. This is the rate of a layer in between (a cache that answers for the device), not the device's.",
        which(run, &phases),
        bytes_words(worst.asked_per_s as u64),
        worst.device,
        bytes_words(worst.device_per_s as u64)
    );
    Some(grouped("impossible-sync-rate", &phases, &text))
}

fn too_fast(phase: &Phase, r: &Repetition) -> Option<TooFast> {
    /// At most the page size of any likely machine. If pages are larger, the file is taken for smaller, and no doubt is raised.
    const PAGE_BYTES: u64 = 4096;
    if !phase.sync_in_clock || phase.reads || r.elapsed_ns == 0 {
        return None;
    }
    let written = r.bytes();
    let in_clock = r.physical.written_in_clock_bytes?;
    // Data overwritten before a final sync needs to be written only once.
    let file_bytes = r.resident_after?.total_pages.saturating_mul(PAGE_BYTES);
    let seconds = r.elapsed_ns as f64 / 1e9;
    (exceeds(written.min(file_bytes), in_clock)).then(|| TooFast {
        asked_per_s: r.bytes_per_s().unwrap_or(written as f64 / seconds),
        device_per_s: in_clock as f64 / seconds,
        device: device(r),
    })
}

#[cfg(test)]
mod tests {
    use crate::doubts::DoubtInputs;
    use crate::doubts::test_runs::{doubts, phase, run_of};
    use fathom_record::{Phase, Residency};

    const MIB: u64 = 1 << 20;

    fn synced(in_clock: u64, file_pages: u64) -> Phase {
        let mut p = phase("write", 100 * MIB, 100 * MIB);
        p.sync_in_clock = true;
        p.repetitions[0].physical.written_in_clock_bytes = Some(in_clock);
        p.repetitions[0].resident_after = Some(Residency { total_pages: file_pages, ..Residency::default() });
        p
    }

    fn sentence(p: Phase) -> Option<String> {
        let found = doubts(&run_of(vec![p]), &DoubtInputs::default());
        found.into_iter().find(|d| d.code == "impossible-sync-rate").map(|d| d.sentence)
    }

    #[test]
    fn synchronous_writes_faster_than_the_device_are_reported() {
        assert_eq!(sentence(synced(100 * MIB, 25_600)), None);
        let doubt = sentence(synced(10 * MIB, 25_600)).expect("a doubt");
        assert!(doubt.contains("wrote synchronously at 1000 MiB/s, but sda took only 100 MiB/s"), "{doubt}");
        assert_eq!(sentence(synced(10 * MIB, 2_560)), None, "ten times over the same 10 MiB");
        let mut buffered = synced(10 * MIB, 25_600);
        buffered.sync_in_clock = false;
        assert_eq!(sentence(buffered), None);
    }
}
