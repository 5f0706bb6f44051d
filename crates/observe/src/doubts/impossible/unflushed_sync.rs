//! Syncs returned, but no flush reached a device whose write cache is volatile, as on a file system mounted with `barrier=0`: the data is
//! in that cache, and a power cut can lose it.

use super::{device, found};
use crate::doubts::grouped;
use crate::words::which;
use fathom_record::{Doubt, OpKind, Phase, Repetition, Run};
use serde_json::Value;

/// The code of the doubt.
pub(super) const CODE: &str = "unflushed-sync";

/// Options as the kernel shows them.
const WITHOUT_FLUSHES: [&str; 3] = ["nobarrier", "barrier=0", "fsync_mode=nobarrier"];

pub(super) fn check(run: &Run, environment: &Value) -> Option<Doubt> {
    let volatile = environment.pointer("/devices/0/write_cache")?.as_str()? == "write back";
    let all = found(run, |_, r| if volatile { unflushed(r) } else { None });
    let phases: Vec<&Phase> = all.iter().map(|(phase, _)| *phase).collect();
    let (worst, syncs) = all.iter().max_by_key(|(_, syncs)| *syncs)?;
    let name = worst.repetitions.last().map(device).unwrap_or_default();
    let times = if *syncs == 1 { "once".into() } else { format!("{syncs} times") };
    let options = environment.pointer("/filesystem/options").and_then(Value::as_str).unwrap_or_default();
    let option = WITHOUT_FLUSHES.iter().find(|option| options.split(',').any(|o| o == **option));
    let why = option.map_or_else(
        || "Something in between leaves the flushes out.".into(),
        |option| format!("The file system is mounted with {option}."),
    );
    let text = format!(
        "in {} fsync returned {times} after a write, but no flush reached {name}, whose write cache is volatile: a power cut can lose data that was reported as safe. {why}",
        which(run, &phases)
    );
    Some(grouped(CODE, &phases, &text))
}

/// The number of syncs after a write, if the devices saw writes and not one flush. Partitions do not count flushes, their disks do.
fn unflushed(r: &Repetition) -> Option<u64> {
    let count = |kinds: &[OpKind]| {
        let stats = r.workers.iter().flat_map(|w| &w.stats).filter(|s| kinds.contains(&s.op));
        stats.fold(0u64, |sum, s| sum.saturating_add(s.ops))
    };
    let syncs = count(&[OpKind::Sync, OpKind::FinalSync]).min(count(&[OpKind::Write]));
    let devices = &r.physical.devices;
    let whole_disk = devices.iter().any(|d| d.kind != "partition");
    let written = devices.first().is_some_and(|d| d.write_ios > 0);
    (syncs > 0 && written && whole_disk && devices.iter().all(|d| d.flush_ios == 0)).then_some(syncs)
}

#[cfg(test)]
mod tests {
    use crate::doubts::test_runs::{phase, run_of};
    use crate::doubts::{self, DoubtInputs};
    use fathom_record::{Histogram, OpKind, OpStat, Phase};
    use serde_json::json;

    const MIB: u64 = 1 << 20;

    fn sentence(phase: &Phase, write_cache: &str, options: &str) -> Option<String> {
        let environment =
            json!({"devices": [{"write_cache": write_cache}], "filesystem": {"options": options}});
        let found = doubts::of(&run_of(vec![phase.clone()]), &environment, &DoubtInputs::default());
        found.into_iter().find(|d| d.code == super::CODE).map(|d| d.sentence)
    }

    #[test]
    fn syncs_that_flush_no_volatile_cache_are_reported() {
        let mut p = phase("write", 40 * MIB, 40 * MIB);
        let stat = |op, ops| OpStat { op, ops, bytes: 0, latency: Histogram::default() };
        p.repetitions[0].workers[0].stats = vec![stat(OpKind::Write, 300), stat(OpKind::Sync, 300)];
        p.repetitions[0].physical.devices[0].write_ios = 600;
        let told = sentence(&p, "write back", "rw,relatime,nobarrier").expect("a doubt");
        let wanted = "fsync returned 300 times after a write, but no flush reached sda, whose write cache is volatile: a power cut can lose data that was reported as safe. The file system is mounted with nobarrier.";
        assert!(told.contains(wanted), "{told}");
        let elsewhere = sentence(&p, "write back", "rw,relatime").expect("a doubt");
        assert!(elsewhere.ends_with("Something in between leaves the flushes out."), "{elsewhere}");
        assert_eq!(sentence(&p, "write through", "rw,nobarrier"), None, "nothing to flush");
        let mut partition = p.clone();
        partition.repetitions[0].physical.devices[0].kind = "partition".into();
        assert_eq!(sentence(&partition, "write back", "rw"), None, "a partition counts no flushes");
        p.repetitions[0].physical.devices[0].flush_ios = 300;
        assert_eq!(sentence(&p, "write back", "rw"), None);
    }
}
