//! O_DIRECT moved more bytes than the device did: the file system served them from its cache after all (btrfs does for files with
//! checksums, others if a request is not aligned), or a layer below did.

use super::{device, exceeds, found};
use crate::doubts::grouped;
use crate::words::which;
use fathom_record::origin::bytes_words;
use fathom_record::{Doubt, OpKind, Phase, Repetition, Run};

/// Bytes requested in one direction, and bytes moved by the device.
struct More {
    verb: &'static str,
    asked: u64,
    moved: u64,
    device: String,
}

pub(super) fn check(run: &Run) -> Option<Doubt> {
    let all = found(run, more);
    let phases: Vec<&Phase> = all.iter().map(|(phase, _)| *phase).collect();
    let (_, worst) = all.iter().max_by_key(|(_, m)| m.asked - m.moved)?;
    let text = format!(
        "{} used O_DIRECT, and {} of it were {} while {} moved {} in all: that cannot have been the device alone, so these are not its figures. Look at what lies between (a file system that falls back to the page cache, a cache below), and at `fathom backends`.",
        which(run, &phases),
        bytes_words(worst.asked),
        worst.verb,
        worst.device,
        bytes_words(worst.moved)
    );
    Some(grouped("impossible-direct", &phases, &text))
}

fn more(phase: &Phase, r: &Repetition) -> Option<More> {
    let top = r.physical.devices.first().filter(|_| phase.direct)?;
    let asked = |op, alone: bool| {
        let stats = r.workers.iter().flat_map(|w| &w.stats).filter(|s| s.op == op);
        let counted = stats.fold(0u64, |sum, s| sum.saturating_add(s.bytes));
        if counted == 0 && alone { r.bytes() } else { counted }
    };
    // A phase that writes is direct if its writes are; its reads may be buffered.
    let (verb, asked, moved) = if phase.writes {
        ("written", asked(OpKind::Write, !phase.reads), top.write_bytes)
    } else {
        ("read", without_holes(asked(OpKind::Read, true), r), top.read_bytes)
    };
    exceeds(asked, moved.saturating_add(missed(asked, r))).then(|| More {
        verb,
        asked,
        moved,
        device: device(r),
    })
}

/// After a warm-up the workers start counting on their own, and the device's counters are read when the parent gets a CPU. Bytes moved
/// before that, at the same rate, are missing from the counters.
fn missed(asked: u64, r: &Repetition) -> u64 {
    const LATE_NS: u64 = 1_000_000_000;
    if r.ramp_ns == 0 {
        return 0;
    }
    (u128::from(asked) * u128::from(LATE_NS) / u128::from(r.elapsed_ns.max(LATE_NS))) as u64
}

/// Holes and unwritten extents need no device I/O.
fn without_holes(asked: u64, r: &Repetition) -> u64 {
    let Some(e) = r.extents.filter(|e| e.bytes > 0) else { return asked };
    let backed = e.bytes.saturating_sub(e.hole_bytes.saturating_add(e.unwritten_bytes));
    (u128::from(asked) * u128::from(backed) / u128::from(e.bytes)) as u64
}

#[cfg(test)]
mod tests {
    use crate::doubts::DoubtInputs;
    use crate::doubts::test_runs::{code, doubts, phase, run_of};
    use fathom_record::{Extents, Phase};

    const MIB: u64 = 1 << 20;

    #[test]
    fn direct_bytes_that_the_device_did_not_move_are_impossible() {
        let mut p = phase("read", 100 * MIB, 100 * MIB);
        p.direct = true;
        let clean = run_of(vec![p.clone()]);
        assert_eq!(doubts(&clean, &DoubtInputs::default()), []);
        p.repetitions[0].physical.devices[0].read_bytes = 96 * MIB;
        p.repetitions[0].physical.own_read_bytes = Some(96 * MIB);
        assert_eq!(
            doubts(&run_of(vec![p.clone()]), &DoubtInputs::default()),
            [],
            "within what counting explains"
        );
        p.repetitions[0].physical.devices[0].read_bytes = 10 * MIB;
        p.repetitions[0].physical.own_read_bytes = Some(10 * MIB);
        let found = doubts(&run_of(vec![p.clone()]), &DoubtInputs::default());
        let doubt = found.iter().find(|d| d.code == "impossible-direct").expect("a doubt");
        assert!(
            doubt.sentence.contains("100 MiB of it were read while sda moved 10 MiB in all"),
            "{}",
            doubt.sentence
        );
        p.repetitions[0].ramp_ns = 100_000_000;
        let said = |p: &Phase| {
            let found = doubts(&run_of(vec![p.clone()]), &DoubtInputs::default());
            found.iter().any(|d| d.code == "impossible-direct")
        };
        assert!(!said(&p), "the counters may have been read late after a warm-up");
        p.repetitions[0].elapsed_ns = 10_000_000_000;
        assert!(said(&p), "but not by nine tenths of ten seconds");
        p.repetitions[0].ramp_ns = 0;
        p.repetitions[0].extents =
            Some(Extents { bytes: 100 * MIB, hole_bytes: 90 * MIB, ..Extents::default() });
        let found = doubts(&run_of(vec![p.clone()]), &DoubtInputs::default());
        assert!(found.iter().all(|d| d.code != "impossible-direct"), "holes: {found:?}");
        p.repetitions[0].extents = None;
        p.direct = false;
        let _ = code(&run_of(vec![p]), &DoubtInputs::default(), "page-cache");
    }
}
