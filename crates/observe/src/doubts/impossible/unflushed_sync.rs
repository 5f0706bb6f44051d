//! Syncs returned, but no flush reached a disk whose write cache is volatile, as on a file system mounted with `barrier=0`: the data is
//! in that cache, and a power cut can lose it.

use super::{found, silent_sync};
use crate::doubts::grouped;
use crate::ranges::Ranges;
use crate::words::which;
use fathom_record::{DeviceDelta, Doubt, Phase, Repetition, Run};
use serde_json::Value;

/// The code of the doubt.
pub(crate) const CODE: &str = "unflushed-sync";
/// With fewer, the file system may have had nothing to flush.
const ENOUGH_SYNCS: u64 = 20;
/// Options as the kernel shows them.
const WITHOUT_FLUSHES: [&str; 3] = ["nobarrier", "barrier=0", "fsync_mode=nobarrier"];

struct Unflushed {
    syncs: u64,
    disk: String,
    /// The device of the file system.
    top: String,
}

pub(super) fn check(run: &Run, environment: &Value) -> Option<Doubt> {
    let ranges = Ranges::of(run);
    let all = found(run, |phase, r| unflushed(r, ranges.fsyncs(phase, r), environment));
    let phases: Vec<&Phase> = all.iter().map(|(phase, _)| *phase).collect();
    let (_, worst) = all.iter().max_by_key(|(_, unflushed)| unflushed.syncs)?;
    let text = format!(
        "in {} fsync returned {} times after a write, but no flush reached {}, whose write cache is volatile: a power cut can lose data that was reported as safe. {}",
        which(run, &phases),
        worst.syncs,
        worst.disk,
        reason(environment, &worst.top)
    );
    Some(grouped(CODE, &phases, &text))
}

/// The environment describes the file system of the run's directory. A phase's files may lie elsewhere.
fn reason(environment: &Value, top: &str) -> String {
    let text = |at| environment.pointer(at).and_then(Value::as_str);
    let options =
        text("/filesystem/options").filter(|_| text("/devices/0/name") == Some(top)).unwrap_or_default();
    let option = WITHOUT_FLUSHES.iter().find(|option| options.split(',').any(|o| o == **option));
    option.map_or_else(
        || "The file system, or something below it, does not pass them on.".into(),
        |option| format!("The file system is mounted with {option}."),
    )
}

fn unflushed(r: &Repetition, syncs: u64, environment: &Value) -> Option<Unflushed> {
    let is_silent = silent_sync::silent(r, syncs).is_some();
    let syncs = silent_sync::with_writes(r, syncs);
    let written: Vec<&DeviceDelta> = r.physical.devices.iter().filter(|d| d.write_ios > 0).collect();
    let mut disks = written.iter().filter(|d| flushes_are_counted(environment, &d.name));
    let disk = disks.clone().next()?;
    let none = disks.all(|d| d.flush_ios == 0);
    let unflushed = syncs >= ENOUGH_SYNCS && none && !is_silent;
    let top = r.physical.devices.first()?.name.clone();
    unflushed.then(|| Unflushed { syncs, disk: disk.name.clone(), top })
}

/// Whether a disk has a volatile cache, and the kernel counts its flushes.
fn flushes_are_counted(environment: &Value, name: &str) -> bool {
    let devices = environment.get("devices").and_then(Value::as_array);
    let entry = devices.into_iter().flatten().find(|d| d.get("name").and_then(Value::as_str) == Some(name));
    entry.is_some_and(|disk| {
        disk["write_cache"] == "write back" && disk["counts_flushes"] == true && disk["kind"] != "partition"
    })
}

#[cfg(test)]
mod tests {
    use crate::doubts::test_runs::{phase, run_of};
    use crate::doubts::{self, DoubtInputs};
    use fathom_record::{Histogram, OpKind, OpStat, Phase};
    use serde_json::json;

    const MIB: u64 = 1 << 20;

    fn sentence(phase: &Phase, disk: serde_json::Value, options: &str) -> Option<String> {
        let environment = json!({"devices": [disk], "filesystem": {"options": options}});
        let found = doubts::of(&run_of(vec![phase.clone()]), &environment, &DoubtInputs::default());
        found.into_iter().find(|d| d.code == super::CODE).map(|d| d.sentence)
    }

    #[test]
    fn syncs_that_flush_no_volatile_cache_are_reported() {
        let mut p = phase("write", 40 * MIB, 40 * MIB);
        let stat = |op, ops| OpStat { op, ops, bytes: 0, latency: Histogram::default() };
        p.repetitions[0].workers[0].stats = vec![stat(OpKind::Write, 300), stat(OpKind::Sync, 300)];
        p.repetitions[0].physical.devices[0].write_ios = 600;
        let disk = |name: &str, cache: &str, counts: bool| json!({"name": name, "kind": "disk", "write_cache": cache, "counts_flushes": counts});
        let volatile = || disk("sda", "write back", true);
        let doubt = sentence(&p, volatile(), "rw,relatime,nobarrier").expect("a doubt");
        let wanted = "fsync returned 300 times after a write, but no flush reached sda, whose write cache is volatile: a power cut can lose data that was reported as safe. The file system is mounted with nobarrier.";
        assert!(doubt.contains(wanted), "{doubt}");
        let elsewhere = sentence(&p, volatile(), "rw,relatime").expect("a doubt");
        assert!(elsewhere.ends_with("does not pass them on."), "{elsewhere}");
        let environment = json!({"devices": [volatile()], "filesystem": {"options": "rw,nobarrier"}});
        let mut ranges = run_of(vec![p.clone()]);
        ranges.workload = crate::ranges::SAMPLE.into();
        let found = doubts::of(&ranges, &environment, &DoubtInputs::default());
        assert!(found.iter().all(|d| d.code != super::CODE), "sync_file_range flushes nothing: {found:?}");
        ranges.workload = crate::ranges::sample_with_fsync();
        for (group, wanted) in [("g", false), ("h", true)] {
            ranges.phases[0].repetitions[0].workers[0].group = group.into();
            let found = doubts::of(&ranges, &environment, &DoubtInputs::default());
            assert_eq!(found.iter().any(|d| d.code == super::CODE), wanted, "{group}: {found:?}");
        }
        for (other, why) in [
            (disk("sda", "write through", true), "nothing to flush"),
            (disk("sda", "write back", false), "md, or a kernel before 5.5, counts no flushes"),
            (disk("sdb", "write back", true), "another directory's disk"),
        ] {
            assert_eq!(sentence(&p, other, "rw,nobarrier"), None, "{why}");
        }
        let mut few = p.clone();
        few.repetitions[0].workers[0].stats = vec![stat(OpKind::Write, 300), stat(OpKind::Sync, 3)];
        assert_eq!(sentence(&few, volatile(), "rw,nobarrier"), None, "too few to tell");
        p.repetitions[0].physical.devices[0].flush_ios = 300;
        assert_eq!(sentence(&p, volatile(), "rw"), None);
    }
}
