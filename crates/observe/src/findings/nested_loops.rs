//! An image inside an image: each loop device and the file system of its image add to every request.

use super::facts::Facts;
use super::{EVENTS, evidence, finding};
use crate::words::{percent, time};
use fathom_record::Finding;
use fathom_record::block::DeviceActivity;

const ENOUGH_REQUESTS: u64 = 50;
/// Minimum share of a request's time that passes above the device below all loop devices.
const NOTABLE: f64 = 0.3;
/// If the topmost device was busy for less than this share of the time, the workers did not wait for it.
const BUSY: f64 = 0.4;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let top = facts.device()?;
    let is_loop =
        |d: &DeviceActivity| facts.described(&d.name).and_then(|d| d.get("kind")?.as_str()) == Some("loop");
    let stack: Vec<&DeviceActivity> = facts.carriers(top).collect();
    let loops: Vec<&str> = stack.iter().filter(|d| is_loop(d)).map(|d| d.name.as_str()).collect();
    // Anything else in between, such as dm-crypt, takes time as well.
    let (lowest, above) = stack.split_last()?;
    if is_loop(lowest) || !above.iter().all(|d| is_loop(d)) {
        return None;
    }
    // Without it, the wait in the queue of the disk would count as that of the images.
    let queue_watched = lowest.requests.iter().any(|r| r.q2d.count() > 0);
    let sum = |d: &DeviceActivity| {
        d.requests
            .iter()
            .fold((0u64, 0u128), |s, r| (s.0 + r.completed, s.1 + r.d2c.sum_ns() + r.q2d.sum_ns()))
    };
    let ((requests, all), (passed_on, carried)) = (sum(top), sum(lowest));
    // Requests that are split or joined on the way cannot be compared one by one.
    let alike = passed_on.abs_diff(requests) <= requests / 10;
    let above = all.saturating_sub(carried) as f64;
    let share = above / (all as f64).max(1.0);
    let busy = top.busy_ns as f64 / facts.repetition.elapsed_ns.max(1) as f64;
    if loops.len() < 2
        || requests < ENOUGH_REQUESTS
        || !alike
        || !queue_watched
        || share < NOTABLE
        || busy < BUSY
    {
        return None;
    }
    if !facts.requests_are_ours() {
        return None;
    }
    Some(finding(
        format!(
            "{} lies on an image inside an image ({} loop devices: {}): of the {} that a request to it took, {} passed above {}, in the loop drivers and the file systems that hold the images.",
            top.name,
            loops.len(),
            loops.join(", "),
            time(all as f64 / requests as f64),
            percent(share),
            lowest.name,
        ),
        "An image directly on the file system of the disk has one loop device below it; a partition or a logical volume has none.",
        vec![
            evidence("loop devices", loops.len() as f64, "devices", "/sys/block"),
            evidence("requests", requests as f64, "requests", EVENTS),
            evidence("time of their requests", all as f64, "ns", EVENTS),
            evidence("of it in the device below", carried as f64, "ns", EVENTS),
        ],
    ))
}
