//! Mount options with which syncs, or changes of directories, wait for more than they would.

use super::facts::Facts;
use super::{CALLS, EVENTS, evidence, finding};
use crate::words::{count, percent};
use fathom_record::block::RequestClass;
use fathom_record::{Finding, OpKind};

/// An option that costs.
struct CostlyOption {
    /// Its name in /proc/mounts.
    name: &'static str,
    /// The file systems that heed it.
    kinds: &'static [&'static str],
    /// Whether it concerns syncs; if not, creating and deleting.
    of_syncs: bool,
    /// What each of these calls does.
    effect: &'static str,
    advice: &'static str,
}

const OPTIONS: [CostlyOption; 3] = [
    CostlyOption {
        name: "notreelog",
        kinds: &["btrfs"],
        of_syncs: true,
        effect: "each fsync commits the whole transaction of btrfs instead of writing to its log",
        advice: "Mount it with treelog, which is the default.",
    },
    CostlyOption {
        name: "dirsync",
        kinds: &["ext2", "ext3", "ext4", "xfs", "f2fs"],
        of_syncs: false,
        effect: "each call that creates or deletes a name waits until the directory is on the device",
        advice: "Mount it without dirsync, and call fsync on a directory where a new name must be safe.",
    },
    CostlyOption {
        name: "wsync",
        kinds: &["xfs"],
        of_syncs: false,
        effect: "each call that creates or deletes a name waits until the log of xfs is on the device",
        advice: "Mount it without wsync, and call fsync on a directory where a new name must be safe.",
    },
];

const ENOUGH_CALLS: u64 = 20;
/// Minimum share of the workers' time in these calls.
const NOTABLE: f64 = 0.4;
const MOST_PER_SYNC: u64 = 1 << 20;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let mounted = facts.environment.pointer("/filesystem/options")?.as_str()?;
    let kind = facts.environment.pointer("/filesystem/type")?.as_str()?;
    let set = |o: &&CostlyOption| o.kinds.contains(&kind) && mounted.split(',').any(|word| word == o.name);
    let option = OPTIONS.iter().find(set)?;
    let kinds: &[OpKind] = if option.of_syncs { &[OpKind::Sync] } else { &[OpKind::Open, OpKind::Delete] };
    let calls: u64 = kinds.iter().map(|op| facts.calls(*op).0).sum();
    let took: f64 = kinds.iter().map(|op| facts.repetition.latency(*op).sum_ns() as f64).sum();
    let share = took / facts.workers_ns().max(1.0);
    let requests = facts.class_at_least(RequestClass::Write)?.issued;
    // A sync of much data takes its time with any option.
    let large = option.of_syncs && facts.calls(OpKind::Write).1 / calls.max(1) > MOST_PER_SYNC;
    if calls < ENOUGH_CALLS || share < NOTABLE || requests < calls / 2 || large || !facts.requests_are_ours()
    {
        return None;
    }
    Some(finding(
        format!(
            "The file system is mounted with {}: {}. {}{} took {} of the workers' time, and the device had {}{} meanwhile.",
            option.name,
            option.effect,
            count(calls, if option.of_syncs { "sync" } else { "call" }),
            if option.of_syncs { "" } else { " that open, create or delete" },
            percent(share.min(1.0)),
            facts.at_least(),
            count(requests, "write request"),
        ),
        option.advice,
        vec![
            evidence("calls", calls as f64, "calls", CALLS),
            evidence("time in them", took, "ns", CALLS),
            evidence("write requests at the device", requests as f64, "requests", EVENTS),
        ],
    ))
}
