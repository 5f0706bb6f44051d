//! Files created on an ext4 without a journal soon after others were deleted: it does not reuse an inode for minutes after it was freed,
//! and each create examines those of its group one by one.

use super::facts::Facts;
use super::{CALLS, THREADS, evidence, finding, no_directory_index, slow_system_calls};
use crate::words::{percent, time};
use fathom_record::{Finding, OpKind};

const ENOUGH_CALLS: u64 = 100;
/// Minimum share of the workers' time: in these calls, and on a processor in the kernel.
const NOTABLE: f64 = 0.4;
/// A create that finds a free inode at once takes a third of this.
const SLOW_NS: f64 = 50_000.0;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let journal = facts.environment.get("filesystem")?.get("journal")?.as_bool()?;
    let (calls, _) = facts.calls(OpKind::Open);
    let took_ns = facts.repetition.latency(OpKind::Open).sum_ns() as f64;
    let (each_ns, took) = (took_ns / calls.max(1) as f64, took_ns / facts.workers_ns().max(1.0));
    let computes = facts.kernel_share();
    let slow = calls >= ENOUGH_CALLS && each_ns >= SLOW_NS && took >= NOTABLE && computes >= NOTABLE;
    let otherwise_explained =
        || slow_system_calls::find(facts).is_some() || no_directory_index::find(facts).is_some();
    if journal || !slow || otherwise_explained() {
        return None;
    }
    Some(finding(
        format!(
            "Opening or creating a file took {}, {} of the time, and the workers computed in the kernel for {} of it. This ext4 has no journal: for minutes it does not reuse the inodes of deleted files, and a create may have to search past them.",
            time(each_ns),
            percent(took.min(1.0)),
            percent(computes),
        ),
        "Measure ten minutes after the last deletions, or in a new directory at the top of the file system, whose files use other inodes. With a journal (`tune2fs -O has_journal DEVICE`, unmounted) inodes are reused at once.",
        vec![
            evidence("calls that open or create", calls as f64, "calls", CALLS),
            evidence("mean time of one", each_ns, "ns", CALLS),
            evidence("share of kernel CPU time in the workers' time", computes, "ratio", THREADS),
        ],
    ))
}
