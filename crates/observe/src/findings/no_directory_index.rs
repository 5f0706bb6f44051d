//! A large directory of ext2, ext3 or ext4 without an index: each name is searched for from the start.

use super::facts::{Facts, size};
use super::{ATTRIBUTES, CALLS, THREADS, evidence, finding};
use crate::words::percent;
use fathom_record::{Finding, OpKind};

/// Some 1500 names.
const LARGE_BYTES: u64 = 64 << 10;
const ENOUGH_CALLS: u64 = 100;
/// Minimum share of the workers' time on a processor in the kernel.
const NOTABLE: f64 = 0.4;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let directory = facts.attributes.unindexed_directory_bytes;
    // A name that was looked up before is found in memory, so only new names and removed ones are searched for each time.
    let searches = facts.calls(OpKind::Open).0 + facts.calls(OpKind::Delete).0;
    let computes = facts.kernel_share();
    if directory < LARGE_BYTES || searches < ENOUGH_CALLS || computes < NOTABLE {
        return None;
    }
    Some(finding(
        format!(
            "The files' directory has {} of names and no index, so the file system searches it from the start for each new name. The workers computed in the kernel for {} of their time, which includes that.",
            size(directory as f64),
            percent(computes),
        ),
        "`tune2fs -O dir_index DEVICE` and `e2fsck -fD DEVICE`, both unmounted, make one; or use more directories.",
        vec![
            evidence("size of the largest directory without an index", directory as f64, "bytes", ATTRIBUTES),
            evidence("calls that create, open or delete", searches as f64, "calls", CALLS),
            evidence("time of the workers on a processor in the kernel", computes, "ratio", THREADS),
        ],
    ))
}
