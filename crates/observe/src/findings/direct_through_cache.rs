//! O_DIRECT writes that the file system makes through the page cache.

use super::facts::{Facts, size};
use super::{PAGES, evidence, finding};
use fathom_record::{Finding, OpKind};

/// Minimum share of the written bytes that calls brought into the page cache, unless data was seen waiting there: pages that are in it
/// already are not brought in.
const NOTABLE: f64 = 0.5;
const LEAST_BYTES: u64 = 1 << 20;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let moves = facts.repetition.page_cache.as_ref().and_then(|events| events.pages.as_ref());
    let brought = moves.map_or(0, |moves| moves.own_bytes);
    let (_, written) = facts.calls(OpKind::Write);
    let waiting = facts.repetition.physical.waiting.map_or(0, |w| w.meanwhile_bytes);
    let kind =
        facts.environment.pointer("/filesystem/type").and_then(|t| t.as_str()).unwrap_or("file system");
    let much = match brought {
        LEAST_BYTES.. => brought as f64 >= NOTABLE * written as f64 || waiting > 0,
        // Elsewhere another program may have written what waits.
        _ => has_checksums(facts, kind) && waiting > 0 && written >= LEAST_BYTES,
    };
    if !facts.phase.direct || facts.phase.reads || !much {
        return None;
    }
    let how = match brought {
        LEAST_BYTES.. => {
            format!(
                "calls brought {} into it while they wrote {}",
                size(brought as f64),
                size(written as f64)
            )
        }
        _ => format!("written data was seen waiting in it while calls wrote {}", size(written as f64)),
    };
    let advice = match kind {
        "btrfs" => {
            "btrfs does so for files with checksums. A file created in a directory with chattr +C has none, and is not copied on write."
        }
        _ => "Direct writes need calls and offsets that are multiples of the file system's block size.",
    };
    Some(finding(
        format!("O_DIRECT was asked for, but {kind} wrote through the page cache: {how}."),
        advice,
        vec![
            evidence("brought into the page cache by calls", brought as f64, "bytes", PAGES),
            evidence("seen waiting in the page cache", waiting as f64, "bytes", "cachestat"),
            evidence("written by calls", written as f64, "bytes", super::CALLS),
        ],
    ))
}

/// Whether btrfs keeps checksums of all these files.
fn has_checksums(facts: &Facts<'_>, kind: &str) -> bool {
    let options =
        facts.environment.pointer("/filesystem/options").and_then(|o| o.as_str()).unwrap_or_default();
    let without = options.split(',').any(|o| o == "nodatasum" || o == "nodatacow");
    kind == "btrfs" && !without && facts.attributes.files > 0 && facts.attributes.without_checksums == 0
}
