//! Explains a phase's figures: a list of rules, one file each, that yield a sentence only if the measured figures prove it.
//! docs/findings.md lists them for users; a test keeps both in step.
//!
//! A pure function from facts to findings. A rule with incomplete figures (events were lost, the device was not watched) yields nothing,
//! unless a lower bound is proof enough; the sentence then says "at least".

mod access_check;
mod advised_random;
mod busy_processors;
mod checksums;
mod compression;
mod computing;
mod copied_image;
mod cpu_quota;
mod data_journal;
mod degraded;
mod depth;
mod direct_in_order;
mod direct_through_cache;
mod dirty_limit;
mod dirty_throttling;
mod discard;
mod discards_of_others;
mod dropped_cache;
mod early_write_back;
mod encryption;
mod external_journal;
mod facts;
mod few_processors;
mod few_requests;
mod first_writes;
mod flushes;
mod fragmented;
mod fragmented_image;
mod freed_inodes;
mod frozen_file_system;
mod fsync_others;
mod fuse;
mod growing_file;
mod halted;
mod held_back;
mod idle_device;
mod io_limit;
mod io_share;
mod journal;
mod journal_of_others;
mod locks_of_others;
mod loop_driver;
mod memory_limit;
mod merges;
mod mount_option;
mod nested_loops;
mod no_delayed_allocation;
mod no_directory_index;
mod no_merges;
mod no_read_ahead;
mod not_in_cache;
mod one_writer;
mod others;
mod own_locks;
mod own_pace;
mod parity;
mod polling_threads;
mod queue_wait;
mod queue_without_direct;
mod read_ahead;
mod read_to_write;
mod requests_per_call;
mod scattered;
mod shared_blocks;
mod slow_calls;
mod slow_system_calls;
mod small_blocks;
mod small_journal;
mod small_requests;
mod snapshot;
mod sparse_image;
mod splits;
mod stood_still;
mod strict_guarantees;
mod swapped_out;
mod sync_attribute;
mod sync_mount;
mod synced_writes;
mod syncs_of_others;
#[cfg(test)]
mod tests;
mod traced;
mod two_copies;
mod write_back_latency;
mod write_to_read;

pub use facts::{Facts, WorkloadTraits};
use fathom_record::{Evidence, Finding};

/// A rule's stable code, and its function.
type Rule = (&'static str, fn(&Facts<'_>) -> Option<Finding>);

/// Settings and limits, including those of the workload itself. If one of them explains the figures, the symptoms are left out: nearly
/// all follow from it.
const CAUSES: &[Rule] = &[
    ("io-limit", io_limit::find),
    ("io-share", io_share::find),
    ("cpu-quota", cpu_quota::find),
    ("few-processors", few_processors::find),
    ("polling-threads", polling_threads::find),
    ("traced", traced::find),
    ("slow-system-calls", slow_system_calls::find),
    ("halted", halted::find),
    ("frozen-file-system", frozen_file_system::find),
    ("access-check", access_check::find),
    ("memory-limit", memory_limit::find),
    ("dropped-cache", dropped_cache::find),
    ("sync-mount", sync_mount::find),
    ("sync-attribute", sync_attribute::find),
    ("mount-option", mount_option::find),
    ("small-journal", small_journal::find),
    ("data-journal", data_journal::find),
    ("two-copies", two_copies::find),
    ("external-journal", external_journal::find),
    ("direct-through-cache", direct_through_cache::find),
    ("dirty-limit", dirty_limit::find),
    ("early-write-back", early_write_back::find),
    ("no-read-ahead", no_read_ahead::find),
    ("advised-random", advised_random::find),
    ("queue-without-direct", queue_without_direct::find),
    ("strict-guarantees", strict_guarantees::find),
    ("write-back-latency", write_back_latency::find),
    ("few-requests", few_requests::find),
    ("small-requests", small_requests::find),
    ("no-merges", no_merges::find),
    ("fragmented", fragmented::find),
    ("fragmented-image", fragmented_image::find),
    ("compression", compression::find),
    ("encryption", encryption::find),
    ("checksums", checksums::find),
    ("sparse-image", sparse_image::find),
    ("copied-image", copied_image::find),
    ("parity", parity::find),
    ("degraded", degraded::find),
    ("snapshot", snapshot::find),
    ("shared-blocks", shared_blocks::find),
    ("first-writes", first_writes::find),
    ("no-directory-index", no_directory_index::find),
    ("freed-inodes", freed_inodes::find),
    ("swapped-out", swapped_out::find),
    ("discard", discard::find),
    ("read-to-write", read_to_write::find),
    ("write-to-read", write_to_read::find),
    ("fuse", fuse::find),
    ("loop-driver", loop_driver::find),
    ("nested-loops", nested_loops::find),
    ("one-writer", one_writer::find),
    ("locks-of-others", locks_of_others::find),
    ("held-back", held_back::find),
    ("busy-processors", busy_processors::find),
];

/// The cause of a workload that keeps the pace that it sets.
const OWN_PACE: &[Rule] = &[("own-pace", own_pace::find)];

/// Observations at the device in the order shown: others, the cost of syncs, what calls became, then waiting.
const SYMPTOMS: &[Rule] = &[
    ("others", others::find),
    ("discards-of-others", discards_of_others::find),
    ("syncs-of-others", syncs_of_others::find),
    ("fsync-others", fsync_others::find),
    ("journal-of-others", journal_of_others::find),
    ("synced-writes", synced_writes::find),
    ("dirty-throttling", dirty_throttling::find),
    ("small-blocks", small_blocks::find),
    ("no-delayed-allocation", no_delayed_allocation::find),
    ("own-locks", own_locks::find),
    ("stood-still", stood_still::find),
    ("growing-file", growing_file::find),
    ("journal", journal::find),
    ("flushes", flushes::find),
    ("read-ahead", read_ahead::find),
    ("requests-per-call", requests_per_call::find),
    ("splits", splits::find),
    ("direct-in-order", direct_in_order::find),
    ("scattered", scattered::find),
    ("depth", depth::find),
    ("queue-wait", queue_wait::find),
    ("slow-calls", slow_calls::find),
    ("not-in-cache", not_in_cache::find),
    ("idle-device", idle_device::find),
    ("merges", merges::find),
];

/// Symptoms with independent causes, shown even beside a cause.
const BESIDE_A_CAUSE: [&str; 4] = ["others", "discards-of-others", "syncs-of-others", "fsync-others"];
/// Symptoms based on all of a device's requests, so not applicable if other programs' requests are among them.
const OF_ALL_REQUESTS: [&str; 9] = [
    "growing-file",
    "journal",
    "splits",
    "direct-in-order",
    "scattered",
    "depth",
    "queue-wait",
    "idle-device",
    "merges",
];
/// Maximum number of findings shown: readers skip longer lists.
const MOST: usize = 3;

/// The codes of all rules.
pub fn rules() -> impl Iterator<Item = &'static str> {
    CAUSES.iter().chain(OWN_PACE).chain(SYMPTOMS).map(|r| r.0)
}

/// Whether a rule finds a setting or limit rather than a consequence.
#[must_use]
pub fn is_cause(rule: &str) -> bool {
    CAUSES.iter().chain(OWN_PACE).any(|(word, _)| *word == rule)
}

/// The setting behind a rule, with values that `fathom sweep --vary` can try beside the present one.
#[must_use]
pub fn setting_of(rule: &str) -> Option<&'static str> {
    match rule {
        "no-read-ahead" => Some("read_ahead_kb=present,128,1024"),
        "few-requests" => Some("nr_requests=present,64,256"),
        "small-requests" => Some("max_sectors_kb=present,128,512"),
        "no-merges" => Some("nomerges=present,0"),
        "held-back" => Some("scheduler=present,none,mq-deadline"),
        _ => None,
    }
}

/// The proven findings, causes before symptoms, at most as many as are shown.
#[must_use]
pub fn of(facts: &Facts<'_>) -> Vec<Finding> {
    let found = |(rule, find): &Rule| {
        let mut finding = find(facts)?;
        finding.rule = (*rule).into();
        Some(finding)
    };
    // A paced workload does less than it could on purpose, so nothing else slows it down.
    let causes = if facts.keeps_its_pace() { OWN_PACE.iter() } else { CAUSES.iter() };
    let mut all: Vec<Finding> = causes.filter_map(found).collect();
    let explained = !all.is_empty();
    let ours = facts.requests_are_ours();
    let symptoms = SYMPTOMS.iter().filter(|(rule, _)| {
        (!explained || BESIDE_A_CAUSE.contains(rule)) && (ours || !OF_ALL_REQUESTS.contains(rule))
    });
    all.extend(symptoms.filter_map(found));
    by_time(facts, &mut all);
    all.truncate(MOST);
    all
}

/// Other programs may use both the processors and the device. If one operation after the other waited longer for the device, its users
/// come first, although they are no setting of the machine.
fn by_time(facts: &Facts<'_>, all: &mut [Finding]) {
    let at = |rule| all.iter().position(|finding| finding.rule == rule);
    let (Some(processors), Some(others)) = (at("busy-processors"), at("others")) else { return };
    if processors < others && facts.device_wait_share() > facts.processor_wait_share().unwrap_or(0.0) {
        all[processors..=others].rotate_left(1);
    }
}

/// A finding whose code is set later by the caller.
fn finding(sentence: String, advice: &str, evidence: Vec<Evidence>) -> Finding {
    Finding { rule: String::new(), sentence, advice: advice.into(), evidence }
}

/// One figure.
fn evidence(name: &str, value: f64, unit: &str, source: &str) -> Evidence {
    Evidence { name: name.into(), value, unit: unit.into(), source: source.into() }
}

/// Sources of figures as named in the evidence.
const EVENTS: &str = "block events";
const CALLS: &str = "our own calls";
const THREADS: &str = "our own threads";
const COUNTERS: &str = "the kernel's counters (/proc/self/io, /proc/vmstat)";
const JOURNAL: &str = "the journal's trace points";
const LOCKS: &str = "lock events";
const PAGES: &str = "page-cache events";
const ATTRIBUTES: &str = "the files' attributes (lsattr)";
const EXTENTS: &str = "the files' extents (filefrag -v)";
const JOIN: &str = "our own calls joined with block events";
