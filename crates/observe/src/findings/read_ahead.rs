//! Data that was read from the device and never requested: "read-ahead fetched 3.1 x what was asked".

use super::facts::{Facts, size, times};
use super::{EVENTS, JOIN, evidence, finding};
use fathom_record::Finding;

/// A smaller excess is the last window of a sequential read.
const NOTABLE: f64 = 1.25;
/// Smaller amounts are not worth reporting.
const LEAST_BYTES: u64 = 1 << 20;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let joined = facts.joined?;
    facts.block()?;
    // With O_DIRECT the device gets exactly the requests of the calls, repeated ones included.
    if facts.phase.direct {
        return None;
    }
    let (asked, fetched) = (joined.asked_bytes, joined.fetched_bytes);
    let ratio = fetched as f64 / asked.max(1) as f64;
    if asked == 0 || ratio < NOTABLE || fetched - asked.min(fetched) < LEAST_BYTES {
        return None;
    }
    // Excess reads: read-ahead, or repeated reads of data evicted in between.
    let again = fetched.saturating_sub(joined.fetched_distinct_bytes);
    let never = joined.never_asked_bytes;
    let (who, advice) = if never >= again {
        (
            "read-ahead fetched",
            "For random reads a smaller read_ahead_kb of the device, or posix_fadvise(POSIX_FADV_RANDOM), saves the device this work.",
        )
    } else if facts.workload.keeps_pages {
        (
            "the device was asked to read",
            "The same data was fetched again: the page cache (or a cgroup's memory limit) is smaller than the data read.",
        )
    } else {
        (
            "the device was asked to read",
            "The same data left the page cache and was fetched again: the workload drops it (uncached reads, advice, evict_passes), or the cache or a cgroup's memory limit is smaller than the data read.",
        )
    };
    Some(finding(
        format!(
            "{} {} what was requested: {} for {} of distinct data; {} were never requested, {} were fetched again.",
            crate::words::sentence(who),
            times(ratio),
            size(fetched as f64),
            size(asked as f64),
            size(never as f64),
            size(again as f64),
        ),
        advice,
        vec![
            evidence("distinct bytes asked for", asked as f64, "bytes", JOIN),
            evidence("bytes of our files read from the device", fetched as f64, "bytes", JOIN),
            evidence("different bytes among those", joined.fetched_distinct_bytes as f64, "bytes", JOIN),
            evidence("bytes that no call asked for", never as f64, "bytes", JOIN),
            evidence("requests marked as read-ahead", joined.ahead_requests as f64, "requests", EVENTS),
        ],
    ))
}
