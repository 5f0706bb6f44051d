//! O_DIRECT writes that the file system makes through the page cache.

use super::facts::{Facts, size};
use super::{PAGES, evidence, finding};
use fathom_record::{Finding, OpKind};

/// Minimum share of the written bytes that calls brought into the page cache, unless data was seen waiting there: pages that are in it
/// already are not brought in.
const NOTABLE: f64 = 0.5;
const LEAST_BYTES: u64 = 1 << 20;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let moves = facts.repetition.page_cache.as_ref()?.pages.as_ref()?;
    let (_, written) = facts.calls(OpKind::Write);
    let seen_waiting = facts.repetition.physical.waiting.is_some_and(|w| w.meanwhile_bytes > 0);
    let much = moves.own_bytes as f64 >= NOTABLE * written as f64 || seen_waiting;
    if !facts.phase.direct || facts.phase.reads || moves.own_bytes < LEAST_BYTES || !much {
        return None;
    }
    let kind =
        facts.environment.pointer("/filesystem/type").and_then(|t| t.as_str()).unwrap_or("file system");
    let advice = match kind {
        "btrfs" => {
            "btrfs does so for files with checksums. A file created in a directory with chattr +C has none, and is not copied on write."
        }
        _ => "Direct writes need calls and offsets that are multiples of the file system's block size.",
    };
    Some(finding(
        format!(
            "O_DIRECT was asked for, but {kind} wrote through the page cache: calls brought {} into it while they wrote {}.",
            size(moves.own_bytes as f64),
            size(written as f64)
        ),
        advice,
        vec![
            evidence("brought into the page cache by calls", moves.own_bytes as f64, "bytes", PAGES),
            evidence("written by calls", written as f64, "bytes", super::CALLS),
        ],
    ))
}
