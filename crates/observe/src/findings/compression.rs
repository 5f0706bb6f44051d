//! A file system that compresses written data while the device waits for it.

use super::facts::Facts;
use super::{EVENTS, evidence, finding};
use crate::words::percent;
use fathom_record::{Finding, OpKind};

/// If the device was idle for more than this share while syncs waited, they did not wait for the device.
const NOTABLE: f64 = 0.25;
/// If others used more than this share of all processors, they computed most of the time.
const COMPUTING: f64 = 0.5;
const ENOUGH_BYTES: u64 = 1 << 20;
/// With less data per sync, a sync waits for the log, not for compression.
const LEAST_EACH: u64 = 128 << 10;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let options = facts.environment.pointer("/filesystem/options").and_then(|o| o.as_str())?;
    let option =
        options.split(',').find(|o| o.starts_with("compress=") || o.starts_with("compress-force="))?;
    let (device, repetition) = (facts.device()?, facts.repetition);
    let (syncs, written) = (facts.calls(OpKind::Sync).0, facts.calls(OpKind::Write).1);
    let syncs = syncs + u64::from(facts.phase.sync_in_clock) * repetition.workers.len() as u64;
    // Without syncs nothing waits for compression, and direct writes are not compressed.
    if syncs == 0 || facts.phase.direct || written < ENOUGH_BYTES.max(LEAST_EACH.saturating_mul(syncs)) {
        return None;
    }
    // While data is copied into the page cache, the device has nothing to do yet.
    let copying = repetition.latency(OpKind::Write).sum_ns() as f64 / repetition.workers.len().max(1) as f64;
    let waited_ns = (repetition.elapsed_ns as f64 - copying).max(1.0);
    let idle = 1.0 - (device.busy_ns as f64 / waited_ns).min(1.0);
    let online = facts.environment.pointer("/cpu/online").and_then(|n| n.as_f64()).unwrap_or(1.0);
    let computing = facts.processors_used_by_others().filter(|used| *used >= COMPUTING * online);
    let mut figures = vec![
        evidence("time outside of the write calls", waited_ns, "ns", "our own calls"),
        evidence("time with a request in the device", device.busy_ns as f64, "ns", EVENTS),
    ];
    let symptom = match computing {
        Some(used) => {
            figures.push(evidence(
                "used by the kernel's threads and other programs",
                used,
                "processors",
                "/proc/stat",
            ));
            format!("the kernel's threads and other programs used {used:.1} processors")
        }
        None if idle >= NOTABLE => {
            format!("{} was idle for {} of the time outside of the write calls", device.name, percent(idle))
        }
        None => return None,
    };
    Some(finding(
        format!(
            "The file system compresses written data ({option}) before {} gets it, and {symptom}.",
            device.name
        ),
        "`top -H` shows whether kworkers compute. A lower level, another algorithm, or chattr -c on the directory shows what compression costs here.",
        figures,
    ))
}
