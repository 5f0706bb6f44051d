//! A low weight of our control group, or a low I/O class of this program, at an I/O scheduler that heeds it, beside other programs.

use super::facts::Facts;
use super::{EVENTS, evidence, finding, others};
use crate::weights;
use crate::words::percent;
use fathom_record::Finding;
use fathom_record::block::{DeviceActivity, DeviceNumber, IssuerKind};
use serde_json::Value;

/// Minimum share of the bytes that others moved: they got more than we did.
const THEIRS: f64 = 0.5;
/// Minimum share of the time with requests waiting in the scheduler. If none wait it has no choice to make.
const WAITING: f64 = 0.3;
/// Fewer requests of our own are no measure.
const LEAST: u64 = 10;
/// From this best-effort level on, bfq gives half of the default's share or less.
const LOW_LEVEL: u32 = 6;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let others::Shared { device, theirs, all, .. } = others::shared(facts)?;
    let share = theirs as f64 / all as f64;
    let waiting: u64 = device.in_queue.iter().filter(|d| d.depth > 0).map(|d| d.ns).sum();
    let waiting = waiting as f64 / facts.block()?.watched_ns.max(1) as f64;
    // What the kernel writes back has other weights than ours.
    if share < THEIRS || waiting < WAITING || own_requests(device) < LEAST {
        return None;
    }
    let described = facts.described(&device.name)?;
    let scheduler = described.get("scheduler")?.as_str()?;
    let heeds_classes =
        scheduler == "bfq" || described.pointer("/scheduler_tunables/prio_aging_expire").is_some();
    let weight = (scheduler == "bfq").then(|| weights::of_device(facts.environment, disk(facts, described)?));
    let class = facts.environment.pointer("/limits/io_priority").and_then(Value::as_str);
    let class = class.filter(|_| heeds_classes && !facts.workload.sets_io_class);
    let mut figures = vec![
        evidence("bytes of other programs", share, "ratio", "block events and counters"),
        evidence("time with requests waiting in the scheduler", waiting, "ratio", EVENTS),
    ];
    let (why, advice) = if let Some(weight) = weight.flatten() {
        figures.push(evidence("weight", weight.value, "", &weight.file));
        (
            format!(
                "shares {} by weight, and a control group of this program has a low one ({} {}, the default is {})",
                device.name,
                weight.name(),
                weight.value,
                weight.default
            ),
            "Raise the weight (its file is in the evidence), or measure outside of the group or when the others are quiet.",
        )
    } else {
        let why = match class?.split_once(' ') {
            None if class == Some("idle") => {
                format!("lets requests of the I/O class idle wait for all others at {}", device.name)
            }
            Some(("best-effort", level)) if scheduler == "bfq" && level.parse::<u32>().ok()? >= LOW_LEVEL => {
                format!(
                    "gives the I/O priority best-effort {level} (the default is 4) a small share of {}",
                    device.name
                )
            }
            _ => return None,
        };
        (
            format!("{why}, and this program has it"),
            "Run without `ionice` (or `nice`, which lowers the I/O priority, too), or measure when the others are quiet.",
        )
    };
    Some(finding(
        format!(
            "The I/O scheduler {scheduler} {why}: other programs moved {} of the bytes meanwhile.",
            percent(share)
        ),
        advice,
        figures,
    ))
}

fn own_requests(device: &DeviceActivity) -> u64 {
    device.issuers.iter().filter(|i| i.kind == IssuerKind::Own).map(|i| i.reads + i.writes).sum()
}

/// The number that weights are set for: a partition's is that of its disk.
fn disk(facts: &Facts<'_>, described: &Value) -> Option<DeviceNumber> {
    let word = |of: &'_ Value, name: &str| of.get(name).and_then(Value::as_str).map(str::to_owned);
    let name = word(described, "name");
    let mut all = facts.environment.get("devices")?.as_array()?.iter();
    let partition = word(described, "kind").as_deref() == Some("partition");
    let disk = all.find(|d| partition && word(d, "above") == name).unwrap_or(described);
    DeviceNumber::parse(&word(disk, "number")?)
}
