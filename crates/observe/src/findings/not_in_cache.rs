//! Files that fit into memory but were not there when they were read.

use super::facts::{Facts, size};
use super::{CALLS, COUNTERS, evidence, finding};
use crate::residency::page_bytes;
use fathom_record::{CacheIntent, Finding, OpKind};

/// Minimum share of the requested bytes that were read from the device, and of the files that were absent.
const NOTABLE: f64 = 0.5;
/// A smaller amount may be code of this program.
const LEAST_BYTES: u64 = 1 << 20;
const PAGE_COUNTS: &str = "cachestat, mincore";

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let repetition = facts.repetition;
    // A server's files may be in its memory. After a warm-up the figure is not that of the phase's beginning.
    let is_counted = repetition.physical.method == "diskstats" && repetition.ramp_ns == 0;
    let wanted = repetition.cache != CacheIntent::AsFound || facts.workload.made_cold;
    let reads = facts.phase.reads && !facts.phase.writes && !facts.phase.direct;
    if !is_counted || wanted || !reads || !facts.workload.keeps_pages {
        return None;
    }
    let before = repetition.resident_before?;
    let bytes = |pages: u64| pages.saturating_mul(page_bytes());
    let (files, cached) = (bytes(before.total_pages), bytes(before.cached_pages));
    let number = |place: &str| facts.environment.pointer(place).and_then(|b| b.as_u64());
    let room = number("/memory/available_bytes")?;
    let room = number("/limits/cgroup/memory_max_bytes").map_or(room, |limit| room.min(limit));
    let [device] = repetition.physical.level(0)[..] else { return None };
    let fetched = repetition.physical.own_read_bytes?.min(device.read_bytes);
    let requested = facts.calls(OpKind::Read).1;
    let absent = files.saturating_sub(cached);
    let much = fetched >= LEAST_BYTES
        && fetched as f64 >= NOTABLE * requested as f64
        && absent as f64 >= NOTABLE * files as f64;
    if files == 0 || files > room || !much {
        return None;
    }
    let part = if cached == 0 { "None".to_owned() } else { format!("Only {}", size(cached as f64)) };
    Some(finding(
        format!(
            "{part} of the {} of these files was in the page cache when the phase began: {} were read from {}.",
            size(files as f64),
            size(fetched as f64),
            device.name,
        ),
        "A file that was just replaced, restored, written with O_DIRECT or dropped from the page cache, or not read since the machine started, comes from the device. A second run reads what stays in memory: `cache = \"warm\"` of a phase measures that, `cache = \"cold\"` this.",
        vec![
            evidence("size of the files", files as f64, "bytes", PAGE_COUNTS),
            evidence("of that in the page cache before", cached as f64, "bytes", PAGE_COUNTS),
            evidence("read by calls", requested as f64, "bytes", CALLS),
            evidence("read from the device for this program", fetched as f64, "bytes", COUNTERS),
        ],
    ))
}
