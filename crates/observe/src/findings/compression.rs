//! A file system that compresses written data while the device waits for it.

use super::facts::Facts;
use super::{computing, finding};
use fathom_record::{Finding, OpKind};

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
    let (symptom, figures) = computing::symptom(facts, device, computing::outside_of_copying(facts))?;
    Some(finding(
        format!(
            "The file system compresses written data ({option}) before {} gets it, and {symptom}.",
            device.name
        ),
        "`top -H` shows whether kworkers compute. A lower level, another algorithm, or chattr -c on the directory shows what compression costs here.",
        figures,
    ))
}
