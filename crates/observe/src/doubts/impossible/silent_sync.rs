//! Syncs returned but the device saw too few writes or flushes for them: the acknowledged data is not durable. Synced data must be
//! written, and flushed if the device has a volatile cache. One commit may serve at most all waiting workers.

use super::{device, found};
use crate::doubts::grouped;
use crate::ranges::Ranges;
use crate::words::which;
use fathom_record::{DeviceDelta, Doubt, OpKind, Phase, Repetition, Run};

pub(super) struct Silent {
    syncs: u64,
    writes: u64,
    flushes: u64,
    device: String,
}

pub(super) fn check(run: &Run) -> Option<Doubt> {
    let ranges = Ranges::of(run);
    let all = found(run, |phase, r| silent(r, ranges.fsyncs(phase, r)));
    let phases: Vec<&Phase> = all.iter().map(|(phase, _)| *phase).collect();
    let (_, worst) = all.iter().max_by_key(|(_, s)| s.syncs)?;
    let times = if worst.syncs == 1 { "once".into() } else { format!("{} times", worst.syncs) };
    let text = format!(
        "in {} fsync returned {times} after a write, and {} saw {} flushes and {} writes: acknowledged data cannot be on it and would be lost in a power failure. Something in between ignores syncs (a mount option, libeatmydata, an emulated disk with cache=unsafe).",
        which(run, &phases),
        worst.device,
        worst.flushes,
        worst.writes
    );
    Some(grouped("impossible-sync", &phases, &text))
}

pub(super) fn silent(r: &Repetition, syncs: u64) -> Option<Silent> {
    let syncs = with_writes(r, syncs);
    // Data in an external journal is durable, too.
    let all = || r.physical.devices.first().into_iter().chain(r.physical.journal());
    let sum = |figure: fn(&DeviceDelta) -> u64| all().map(figure).fold(0, u64::saturating_add);
    let (writes, flushes) = (sum(|d| d.write_ios), sum(|d| d.flush_ios));
    let at_once = (r.workers.len() as u64).max(1).saturating_mul(2);
    let seen = writes.saturating_add(flushes);
    (syncs > 0 && seen.saturating_mul(at_once) < syncs).then(|| Silent {
        syncs,
        writes,
        flushes,
        device: device(r),
    })
}

/// A sync with nothing written before has nothing to do.
pub(super) fn with_writes(r: &Repetition, syncs: u64) -> u64 {
    let writes = r.workers.iter().flat_map(|w| &w.stats).filter(|s| s.op == OpKind::Write);
    syncs.min(writes.fold(0, |sum, s| sum.saturating_add(s.ops)))
}

#[cfg(test)]
mod tests {
    use crate::doubts::DoubtInputs;
    use crate::doubts::test_runs::{doubts, none, phase, run_of};
    use fathom_record::{Histogram, OpKind, OpStat};

    const MIB: u64 = 1 << 20;

    #[test]
    fn syncs_without_device_flushes_are_reported() {
        let mut p = phase("write", 40 * MIB, 40 * MIB);
        let stat = |op, ops| OpStat { op, ops, bytes: 0, latency: Histogram::default() };
        p.repetitions[0].workers[0].stats = vec![stat(OpKind::Write, 10_000), stat(OpKind::Sync, 10_000)];
        p.repetitions[0].physical.devices[0].write_ios = 20_000;
        p.repetitions[0].physical.devices[0].flush_ios = 10_000;
        none(&run_of(vec![p.clone()]), &DoubtInputs::default());
        p.repetitions[0].physical.devices[0].write_ios = 0;
        p.repetitions[0].physical.devices[0].flush_ios = 0;
        let found = doubts(&run_of(vec![p.clone()]), &DoubtInputs::default());
        let doubt = found.iter().find(|d| d.code == "impossible-sync").expect("a doubt");
        assert!(
            doubt
                .sentence
                .contains("fsync returned 10000 times after a write, and sda saw 0 flushes and 0 writes"),
            "{}",
            doubt.sentence
        );
        // What only starts write-back is no sync.
        let mut ranges = run_of(vec![p.clone()]);
        ranges.workload = crate::ranges::SAMPLE.into();
        let found = doubts(&ranges, &DoubtInputs::default());
        assert!(found.iter().all(|d| d.code != "impossible-sync"), "{found:?}");
        // One group calls fsync, the other does not.
        ranges.workload = crate::ranges::sample_with_fsync();
        ranges.phases[0].repetitions[0].workers[0].group = "h".into();
        let found = doubts(&ranges, &DoubtInputs::default());
        assert!(found.iter().any(|d| d.code == "impossible-sync"), "{found:?}");
        ranges.phases[0].repetitions[0].workers[0].group = "g".into();
        let found = doubts(&ranges, &DoubtInputs::default());
        assert!(found.iter().all(|d| d.code != "impossible-sync"), "{found:?}");
        // Sixteen workers may share each commit.
        p.repetitions[0].physical.devices[0].flush_ios = 10_000 / 16;
        p.repetitions[0].workers.extend(vec![fathom_record::Worker::default(); 15]);
        let found = doubts(&run_of(vec![p.clone()]), &DoubtInputs::default());
        assert!(found.iter().all(|d| d.code != "impossible-sync"), "{found:?}");
        // Nothing was written.
        p.repetitions[0].workers[0].stats = vec![stat(OpKind::Sync, 10_000)];
        p.repetitions[0].physical.devices[0].flush_ios = 0;
        let found = doubts(&run_of(vec![p]), &DoubtInputs::default());
        assert!(found.iter().all(|d| d.code != "impossible-sync"), "{found:?}");
    }
}
