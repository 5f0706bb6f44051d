//! Pages that were taken from the page cache while the workload read them, although memory was not short.

use super::facts::{Facts, size};
use super::{COUNTERS, evidence, finding};
use crate::residency::page_bytes;
use fathom_record::{CacheIntent, Finding, OpKind, Remover, Residency};

/// Minimum share of what the device read for us: with less, most of it was read for the first time. It is also more than the metadata
/// that is read beside the files.
const NOTABLE: f64 = 0.2;
/// Minimum share of the bytes that calls requested: one read in a hundred at the device can double the mean of reads from memory.
const OF_CALLS: f64 = 0.01;
/// A smaller amount may be code of this program.
const LEAST_BYTES: u64 = 4 << 20;
/// Reclaimed pages of all files, as a share of those read again, up to which they explain nothing.
const RECLAIMED: f64 = 0.1;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let evictions = facts.evictions?;
    let physical = &facts.repetition.physical;
    // A server's client drops pages of files that others changed.
    let local = physical.method == "diskstats";
    if !local || !facts.workload.keeps_pages || facts.phase.writes || facts.phase.direct {
        return None;
    }
    let before = facts.repetition.resident_before?;
    let absent = before.total_pages.saturating_sub(before.cached_pages).saturating_mul(page_bytes());
    let fetched = physical.own_read_bytes?;
    // Each absent page needed to be read once, unless the warming had read it; the rest had been there before.
    let absent = if facts.repetition.cache == CacheIntent::Warm { 0 } else { absent };
    let joined = facts.joined.map_or(0, |j| j.fetched_bytes.saturating_sub(j.fetched_distinct_bytes));
    let again = fetched.saturating_sub(absent).max(joined);
    // Those that were there and those that came, less those that stayed.
    let cached = |r: Residency| r.cached_pages.saturating_mul(page_bytes());
    let left = (cached(before) + fetched).saturating_sub(cached(facts.repetition.resident_after?));
    let reclaimed = evictions.reclaimed_pages.saturating_mul(page_bytes());
    let requested = facts.calls(OpKind::Read).1 as f64;
    let much = again >= LEAST_BYTES
        && again.min(left) as f64 >= NOTABLE * fetched as f64
        && again as f64 >= OF_CALLS * requested;
    if before.total_pages == 0 || !much || reclaimed as f64 > RECLAIMED * again.min(left) as f64 {
        return None;
    }
    let dropper = remover(facts, again.min(left), |r| r.dropped_bytes);
    let most = dropper.as_ref().map_or(String::new(), |name| format!("; {name} dropped most of them"));
    let who = match (evictions.drops, &dropper) {
        (0, Some(name)) => format!("and drop_caches was not used: {name} dropped them"),
        (0, None) => "and drop_caches was not used: another program, or DAMON, dropped them".to_owned(),
        (1, _) => format!("and the machine's page cache was dropped once (/proc/sys/vm/drop_caches){most}"),
        (times, _) => {
            format!("and the machine's page cache was dropped {times} times (/proc/sys/vm/drop_caches){most}")
        }
    };
    let advice = match (evictions.drops, &dropper) {
        (0, Some(_)) => {
            "Programs drop pages with posix_fadvise(POSIX_FADV_DONTNEED), as backup and copy programs do, or by writing the files with O_DIRECT."
        }
        (0, None) => {
            "Find the program that calls posix_fadvise(POSIX_FADV_DONTNEED) on these files (backup and copy programs do) or writes them with O_DIRECT; `fuser -v FILE` names who has a file open."
        }
        _ => {
            "Find the program or job that writes to drop_caches (the kernel log names it: `dmesg | grep drop_caches`), and stop it."
        }
    };
    Some(finding(
        format!(
            "Pages of the files left the page cache while they were read: {} that had been there were read again. Memory was not short (the kernel reclaimed {} of the pages of all files), {who}.",
            size(again as f64),
            size(reclaimed as f64),
        ),
        advice,
        vec![
            evidence("read again, at least", again as f64, "bytes", COUNTERS),
            evidence("left the page cache, at least", left as f64, "bytes", COUNTERS),
            evidence("read from the device for this program", fetched as f64, "bytes", COUNTERS),
            evidence("pages of all files that were reclaimed", reclaimed as f64, "bytes", COUNTERS),
            evidence("writes to drop_caches", evictions.drops as f64, "", COUNTERS),
        ],
    ))
}

/// The program that took at least half of this amount out of the page cache, if page-cache events name it; `of` is what counts.
pub(super) fn remover(facts: &Facts<'_>, bytes: u64, of: fn(&Remover) -> u64) -> Option<String> {
    let moves = facts.repetition.page_cache.as_ref()?.pages.as_ref()?;
    let most = moves.removers.iter().max_by_key(|r| of(r))?;
    // A program that is started again and again has another process each time.
    let same = moves.removers.iter().filter(|r| r.name == most.name && of(r) > 0);
    let (processes, taken) = same.fold((0u64, 0u64), |sum, r| (sum.0 + 1, sum.1 + of(r)));
    let number = match (processes, most.process) {
        (1, 0) => String::new(),
        (1, process) => format!(" (process {process})"),
        (several, _) => format!(" ({several} processes)"),
    };
    (taken >= bytes / 2).then(|| format!("{}{number}", most.name))
}
