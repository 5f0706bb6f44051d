//! A sequential phase whose requests jump at the device: several parallel streams, fragments, or the order of pages.

use super::facts::{Facts, size};
use super::{EVENTS, evidence, finding};
use crate::words::count;
use fathom_record::block::{RequestClass, RequestStats};
use fathom_record::{Finding, OpKind};

/// Below this share of requests that begin where the previous one ended, the access is no longer sequential.
const STILL_SEQUENTIAL: f64 = 0.5;
const ENOUGH_REQUESTS: u64 = 50;
/// Above this ratio of syncs to requests, the file system has to write its journal and inodes between the data.
const FEW_SYNCS: f64 = 0.05;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    if !facts.workload.in_order {
        return None;
    }
    let class = if facts.phase.writes { RequestClass::Write } else { RequestClass::Read };
    let stats = facts.class(class).filter(|c| c.issued >= ENOUGH_REQUESTS)?;
    let syncs = facts.calls(OpKind::Sync).0 as f64;
    if facts.phase.writes && (facts.workload.synced || syncs > FEW_SYNCS * stats.issued as f64) {
        return None;
    }
    let share = stats.seeks.sequential as f64 / (jumps(stats) + stats.seeks.sequential).max(1) as f64;
    if share >= STILL_SEQUENTIAL {
        return None;
    }
    let distance = stats.seeks.total_bytes as f64 / jumps(stats).max(1) as f64;
    let streams = facts.repetition.workers.len() as u64;
    Some(finding(
        format!(
            "{} ran sequentially, yet only {} of the device's {} began where the previous one ended; the others jumped {} on average.",
            crate::words::sentence(&count(streams, "stream")),
            crate::words::percent(share),
            count(stats.issued, &format!("{} request", class.word())),
            size(distance),
        ),
        if streams > 1 {
            "Several concurrent streams look random to the device. Larger requests (read-ahead, write-back, record size), fewer streams, or a scheduler that serves one stream for a while help. A fragmented file has the same effect (filefrag)."
        } else {
            "filefrag -v shows whether the file is fragmented."
        },
        vec![
            evidence("requests", stats.issued as f64, "requests", EVENTS),
            evidence(
                "that began where the one before ended",
                stats.seeks.sequential as f64,
                "requests",
                EVENTS,
            ),
            evidence("mean distance of the others", distance, "bytes", EVENTS),
            evidence("streams", streams as f64, "streams", "the workload"),
        ],
    ))
}

fn jumps(stats: &RequestStats) -> u64 {
    stats.seeks.forward + stats.seeks.backward
}
