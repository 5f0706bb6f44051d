//! A large directory of ext2, ext3 or ext4 without an index: each name is searched for from the start.

use super::facts::{Facts, size};
use super::{ATTRIBUTES, CALLS, THREADS, evidence, finding};
use crate::words::percent;
use fathom_record::{Finding, OpKind};

/// Some 1500 names.
const LARGE_BYTES: u64 = 64 << 10;
const ENOUGH_CALLS: u64 = 100;
/// Minimum share of the workers' time: in these calls, and on a processor in the kernel.
const NOTABLE: f64 = 0.4;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let directory = facts.attributes.unindexed_directory_bytes;
    // Names that were looked up before are found in memory: only the calls that took long searched.
    let searches = facts.calls(OpKind::Open).0 + facts.calls(OpKind::Delete).0;
    let latency = |op| facts.repetition.latency(op).sum_ns() as f64;
    let took = (latency(OpKind::Open) + latency(OpKind::Delete)) / facts.workers_ns().max(1.0);
    let computes = facts.kernel_share();
    if directory < LARGE_BYTES || searches < ENOUGH_CALLS || took < NOTABLE || computes < NOTABLE {
        return None;
    }
    Some(finding(
        format!(
            "A directory of these files is {} long and has no index: the file system searches it from the start for each name that is created, removed, or not in memory. Opens and deletes took {} of the time, and the workers computed in the kernel for {} of it.",
            size(directory as f64),
            percent(took.min(1.0)),
            percent(computes),
        ),
        "With the file system unmounted, `tune2fs -O dir_index DEVICE` and `e2fsck -fD DEVICE` make one (ext3, ext4). Or use more directories.",
        vec![
            evidence("size of the largest directory without an index", directory as f64, "bytes", ATTRIBUTES),
            evidence("calls that create, open or delete", searches as f64, "calls", CALLS),
            evidence("share of kernel CPU time in the workers' time", computes, "ratio", THREADS),
        ],
    ))
}
