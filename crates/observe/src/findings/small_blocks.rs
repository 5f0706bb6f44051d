//! A file system with blocks smaller than a page, and buffered writes that are busy computing.

use super::facts::{Facts, size};
use super::{CALLS, THREADS, evidence, finding};
use crate::residency::page_bytes;
use crate::words::percent;
use fathom_record::Finding;

/// Minimum share of the workers' time on a processor in the kernel.
const NOTABLE: f64 = 0.25;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let block = facts.environment.pointer("/filesystem/block_bytes")?.as_u64()?;
    let kind = facts.environment.pointer("/filesystem/type")?.as_str()?;
    let computes = facts.kernel_share();
    let disk = ["ext2", "ext3", "ext4", "xfs", "btrfs"].contains(&kind);
    // Reads from the page cache do not look at blocks.
    if !facts.phase.writes || facts.phase.reads {
        return None;
    }
    // With frequent syncs, most of the computing is theirs.
    if !disk || block >= page_bytes() || facts.phase.direct || facts.syncs_often() || computes < NOTABLE {
        return None;
    }
    let parts = page_bytes() / block.max(1);
    Some(finding(
        format!(
            "{kind} has blocks of {}, so it handles each page in {parts} parts. The workers computed in the kernel for {} of their time, which includes that cost.",
            size(block as f64),
            percent(computes),
        ),
        "Blocks as large as a page (mkfs.ext4 -b 4096) cost less time per page.",
        vec![
            evidence("block size", block as f64, "bytes", "statvfs"),
            evidence("share of kernel CPU time in the workers' time", computes, "ratio", THREADS),
            evidence("time of the workers", facts.workers_ns(), "ns", CALLS),
        ],
    ))
}
