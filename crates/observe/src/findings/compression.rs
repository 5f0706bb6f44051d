//! A file system that compresses written data while the device waits for it, or decompresses what is read.

use super::facts::{Facts, size};
use super::{CALLS, THREADS, computing, evidence, finding};
use crate::words::{percent, time};
use fathom_record::{Finding, OpKind};

const ENOUGH_BYTES: u64 = 1 << 20;
/// With less data per sync, a sync waits for the log, not for compression.
const LEAST_EACH: u64 = 128 << 10;

/// Minimum share of their time that the workers computed in the kernel.
const DECOMPRESSING: f64 = 0.5;
/// Minimum time for a byte and for a call: copying from the page cache takes less than 0.5 ns a byte, or less than 1 us a call.
const NS_PER_BYTE: f64 = 2.0;
const NS_PER_CALL: f64 = 20_000.0;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    squashed(facts).or_else(|| compressed(facts))
}

/// Reads of squashfs, which decompresses in the reader's call.
fn squashed(facts: &Facts<'_>) -> Option<Finding> {
    let text = |name: &str| facts.environment.pointer(name);
    let block = text("/filesystem/block_bytes")?.as_f64()?;
    let (calls, bytes) = facts.calls(OpKind::Read);
    let computed = facts.repetition.workers.iter().map(|w| w.cpu_system_ns as f64).sum::<f64>();
    let share = facts.kernel_share();
    let least = (NS_PER_BYTE * bytes as f64).max(NS_PER_CALL * calls as f64);
    let slow = computed >= least && share >= DECOMPRESSING;
    if text("/filesystem/type")?.as_str()? != "squashfs" || calls == 0 || facts.phase.writes || !slow {
        return None;
    }
    Some(finding(
        format!(
            "squashfs reads and decompresses whole blocks of {}: the workers computed in the kernel for {} of their time, {} for each read.",
            size(block),
            percent(share),
            time(computed / calls as f64),
        ),
        "Larger reads, or reads in order, use more of each decompressed block. Smaller blocks or a faster algorithm cost less per read (mksquashfs -b, -comp).",
        vec![
            evidence("block size", block, "bytes", "statvfs"),
            evidence("kernel CPU time of the workers", computed, "ns", THREADS),
            evidence("reads", calls as f64, "calls", CALLS),
        ],
    ))
}

fn compressed(facts: &Facts<'_>) -> Option<Finding> {
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
