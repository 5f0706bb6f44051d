//! A latency target of write-back throttling that the device's reads miss, so few buffered writes are let through at once.

use super::facts::{Facts, mean};
use super::{EVENTS, evidence, finding};
use crate::words::time;
use fathom_record::block::RequestClass;
use fathom_record::{Finding, OpKind};
use serde_json::Value;

/// The kernel's targets: 2 ms for devices without rotation, 75 ms for others.
const DEFAULT_US: [f64; 2] = [2000.0, 75_000.0];
/// A target is low below this share of the default.
const LOW: f64 = 0.25;
const ENOUGH_REQUESTS: u64 = 50;
/// The kernel looks at each tenth of a second; with fewer reads it sees none in most of them.
const READS_PER_S: f64 = 10.0;
/// Minimum share of the written bytes that the device took meanwhile. Otherwise the writes ended in memory and waited for nothing.
const STORED: f64 = 0.5;
/// With more requests at once than this, on average, writes were let through.
const FEW: f64 = 2.0;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let device = facts.device()?;
    let described = facts.described(&device.name)?;
    // bfq turns the throttling off.
    if !facts.phase.writes
        || facts.phase.direct
        || facts.syncs_often()
        || described.get("scheduler")?.as_str()? == "bfq"
    {
        return None;
    }
    // 0 turns it off.
    let target_us = described.get("wbt_lat_usec").and_then(Value::as_f64).filter(|us| *us > 0.0)?;
    let default_us = DEFAULT_US[usize::from(described.get("rotational")?.as_bool()?)];
    let watched_s = facts.block()?.watched_ns as f64 / 1e9;
    let reads = device.class(RequestClass::Read).filter(|r| r.completed as f64 >= READS_PER_S * watched_s)?;
    let writes = device.class(RequestClass::Write).filter(|w| w.issued >= ENOUGH_REQUESTS)?;
    let (_, written) = facts.calls(OpKind::Write);
    let stored = writes.issued_bytes as f64 >= STORED * written as f64;
    // It lets less through where even the fastest read misses the target.
    let read_ns = reads.d2c.min_ns() as f64;
    let (area, busy) = device
        .in_device
        .iter()
        .filter(|d| d.depth > 0)
        .fold((0.0, 0.0), |sum, at| (sum.0 + f64::from(at.depth) * at.ns as f64, sum.1 + at.ns as f64));
    let depth = area / f64::max(busy, 1.0);
    if target_us > LOW * default_us || read_ns <= target_us * 1000.0 || depth > FEW || !stored {
        return None;
    }
    Some(finding(
        format!(
            "wbt_lat_usec of {0} is {target_us:.0} (the kernel's default is {default_us:.0}): while reads take longer than that, few buffered writes are let through at once. Reads, also those of other programs, took {1} or more, and {0} had a queue depth of {2}.",
            device.name,
            time(read_ns),
            mean(depth)
        ),
        &format!("Writing -1 to /sys/block/{}/queue/wbt_lat_usec sets the kernel's default.", device.name),
        vec![
            evidence("wbt_lat_usec", target_us, "us", "/sys/block"),
            evidence("time of a read in the device, least", read_ns, "ns", EVENTS),
            evidence("requests in the device while busy, mean", depth, "requests", EVENTS),
            evidence("write requests", writes.issued as f64, "requests", EVENTS),
        ],
    ))
}
