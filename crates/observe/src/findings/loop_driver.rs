//! A loop device that holds requests while the device below has none, because something between the two does not pass them on, or
//! that passes them on one after the other, because it has no direct I/O.

use super::facts::Facts;
use super::{EVENTS, evidence, finding};
use crate::words::percent;
use fathom_record::Finding;
use fathom_record::block::DeviceActivity;
use serde_json::Value;

/// Minimum share of the time with a request in the loop device.
const BUSY: f64 = 0.5;
/// The device below was busy for at most this share of that time. A healthy one is busy for more than half.
const BELOW: f64 = 0.25;
const ENOUGH_REQUESTS: u64 = 50;
/// Minimum time that a request spends above the device below, on average. A healthy loop driver takes less than 50 us.
const LATE_NS: u128 = 100_000;

/// Without direct I/O: minimum mean number of requests in the loop device, and maximum in the device below.
const TOGETHER: f64 = 4.0;
const IN_TURN: f64 = 1.5;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    passed_on_late(facts).or_else(|| passed_on_in_turn(facts))
}

fn passed_on_in_turn(facts: &Facts<'_>) -> Option<Finding> {
    let device = facts.device()?;
    let described = facts.described(&device.name)?;
    let cached =
        described.get("kind")?.as_str()? == "loop" && described.get("direct_io")?.as_bool() == Some(false);
    let below = facts.below(device)?;
    // The page cache takes writes at once, and passes them on later.
    let only_reads = facts.phase.reads && !facts.phase.writes && facts.requests_are_ours();
    let elapsed = facts.repetition.elapsed_ns.max(1) as f64;
    let depth = |d: &DeviceActivity| d.requests.iter().map(|r| r.d2c.sum_ns()).sum::<u128>() as f64 / elapsed;
    let bytes = |d: &DeviceActivity| d.requests.iter().map(|r| r.issued_bytes).sum::<u64>();
    // Else the image was in the page cache.
    let from_disk = bytes(below) >= bytes(device) / 2 && below.busy_ns as f64 >= BUSY * elapsed;
    if !cached || !only_reads || !from_disk || depth(device) < TOGETHER || depth(below) > IN_TURN {
        return None;
    }
    Some(finding(
        format!(
            "{} has no direct I/O, so its driver reads the image one request after the other: {:.0} requests were in it on average, and {:.1} in {} below.",
            device.name,
            depth(device),
            depth(below),
            below.name,
        ),
        &format!(
            "`losetup --direct-io=on /dev/{}` lets it pass them on together, if the file system of the image allows it.",
            device.name
        ),
        vec![
            evidence("requests in the loop device on average", depth(device), "requests", EVENTS),
            evidence("requests in the device below on average", depth(below), "requests", EVENTS),
        ],
    ))
}

fn passed_on_late(facts: &Facts<'_>) -> Option<Finding> {
    let device = facts.device()?;
    let described = facts.described(&device.name)?;
    // Without direct I/O the page cache below answers.
    if described.get("kind")?.as_str()? != "loop" || described.get("direct_io")?.as_bool() != Some(true) {
        return None;
    }
    let below = facts.below(device)?;
    let sum = |d: &DeviceActivity| {
        d.requests.iter().fold((0u64, 0u64), |s, r| (s.0 + r.completed, s.1.saturating_add(r.issued_bytes)))
    };
    let ((requests, bytes), (passed_on, moved)) = (sum(device), sum(below));
    let elapsed = facts.repetition.elapsed_ns;
    // Requests that wait in the queue below wait for that device, too.
    let queued: u128 = below.requests.iter().map(|r| r.q2d.sum_ns()).sum();
    let carried = below.busy_ns as f64 + queued as f64;
    let held = device.busy_ns as f64;
    let ours = facts.requests_are_ours() && passed_on >= requests / 2 && moved >= bytes / 2;
    let taken: u128 = device.requests.iter().map(|r| r.d2c.sum_ns()).sum();
    let taken_below: u128 = below.requests.iter().map(|r| r.d2c.sum_ns()).sum();
    let late = taken.saturating_sub(taken_below + queued) >= LATE_NS * u128::from(requests);
    if requests < ENOUGH_REQUESTS || !ours || !late || held < BUSY * elapsed as f64 || carried > BELOW * held
    {
        return None;
    }
    let workers = facts.environment.pointer("/cpu/kernel_workers").and_then(Value::as_f64);
    let few = workers.zip(facts.processors_online()).filter(|(allowed, online)| allowed < online);
    let restricted = few.map_or(String::new(), |(allowed, online)| {
        format!(
            " The kernel's workers may use only {allowed:.0} of {online:.0} processors (/sys/devices/virtual/workqueue/cpumask)."
        )
    });
    Some(finding(
        format!(
            "{} had requests for {} of the time, but {}, which carries it, only for {}: the loop driver's kernel workers, or the file system of its image, passed them on late.{restricted}",
            device.name,
            percent((held / elapsed as f64).min(1.0)),
            below.name,
            percent(below.busy_ns as f64 / elapsed as f64),
        ),
        "`top -H` shows whether kernel workers compute, or what keeps them from a processor (tasks with real-time priority, for example).",
        vec![
            evidence("time with a request in the loop device", held, "ns", EVENTS),
            evidence("time with a request in the device below", below.busy_ns as f64, "ns", EVENTS),
            evidence("requests of the loop device", requests as f64, "requests", EVENTS),
            evidence("requests of the device below", passed_on as f64, "requests", EVENTS),
        ],
    ))
}
