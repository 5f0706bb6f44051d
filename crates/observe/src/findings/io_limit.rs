//! A control group that limits our I/O at the device, and a rate at that limit.

use super::facts::{Facts, size};
use super::{EVENTS, evidence, finding};
use fathom_record::block::{BlockLayer, DeviceActivity, DeviceNumber, Issuer, IssuerKind, RequestClass};
use fathom_record::{Finding, OpKind};

/// A rate this close to a limit is attributed to it. In a short time it may be lower: the last time slice is incomplete.
const NEAR: f64 = 0.9;
const NEAR_IN_SHORT: f64 = 0.85;
const SHORT_NS: u64 = 1_000_000_000;
/// The rate may exceed the limit by this much, plus the slice that the kernel grants in advance.
const ABOVE: f64 = 1.05;
const SLICE_NS: f64 = 1e8;
const MOST_ABOVE: f64 = 1.15;
/// In a shorter time there are too few of the kernel's slices to tell a limit from chance.
const LEAST_NS: u64 = 200_000_000;
/// With a larger share of other programs, the device's rate is not ours.
const MOST_OTHERS: f64 = 0.05;
/// A device that is busy for a larger share of the time may itself be the limit.
const MOST_BUSY: f64 = 0.5;

/// One limit: its source, what it restricts, and the amount per second.
struct Limit {
    file: String,
    device: DeviceNumber,
    class: RequestClass,
    /// Whether it limits operations rather than bytes.
    operations: bool,
    per_s: f64,
    version_1: bool,
}

/// What was charged against a limit.
struct Charge<'a> {
    limit: &'a Limit,
    device: &'a DeviceActivity,
    /// Only the writes of the program's own threads are charged.
    own_only: bool,
    /// Operations or bytes.
    per_s: f64,
    /// Upper bound of the flushes that count as writes beside them.
    flushes_per_s: f64,
}

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let block = facts.block()?;
    let elapsed_ns = facts.repetition.elapsed_ns.min(block.watched_ns);
    if elapsed_ns < LEAST_NS {
        return None;
    }
    let least = if elapsed_ns < SHORT_NS { NEAR_IN_SHORT } else { NEAR };
    let near = least..=(ABOVE + SLICE_NS / elapsed_ns as f64).min(MOST_ABOVE);
    let limits = limits(facts);
    let charges: Vec<Charge<'_>> =
        limits.iter().filter_map(|limit| charge(limit, facts, block, elapsed_ns)).collect();
    let alone = charges.iter().find(|c| near.contains(&(c.per_s / c.limit.per_s)));
    let with_flushes = || {
        charges.iter().find(|c| {
            let busy = c.device.busy_ns as f64 / elapsed_ns as f64;
            near.contains(&((c.per_s + c.flushes_per_s) / c.limit.per_s)) && busy <= MOST_BUSY
        })
    };
    let found = alone.map(|charge| (charge, false)).or_else(|| with_flushes().map(|charge| (charge, true)));
    found.map(|(charge, flushes)| finding_of(charge, flushes))
}

fn finding_of(charge: &Charge<'_>, flushes: bool) -> Finding {
    let Charge { limit, device, own_only, per_s, flushes_per_s } = charge;
    let unit = if limit.operations { "/s" } else { "bytes/s" };
    let rate = |value: f64| match limit.operations {
        true => format!("{value:.0} a second"),
        false => format!("{}/s", size(value)),
    };
    let of = if *own_only { "this program's" } else { "they" };
    let with = if flushes {
        format!(", or up to {} with flushes, which count as writes", rate(per_s + flushes_per_s))
    } else {
        String::new()
    };
    let name = if *own_only { "this program's own writes at the device" } else { "rate at the device" };
    let mut proof =
        vec![evidence("limit", limit.per_s, unit, &limit.file), evidence(name, *per_s, unit, EVENTS)];
    if flushes {
        proof.push(evidence("flushes of this program's fsyncs, at most", *flushes_per_s, "/s", EVENTS));
    }
    finding(
        format!(
            "A control group limits {}s of {} to {}, and {of} ran at {}{with}: the limit holds them back.",
            limit.class.word(),
            device.name,
            rate(limit.per_s),
            rate(*per_s),
        ),
        &format!("Raise the limit in {}. Or run in another control group.", limit.file),
        proof,
    )
}

/// What a group was charged for. Version 1 charges a group only for buffered writes that its own threads issued: the page cache's
/// write-back and the journal are the root group's.
fn charge<'a>(
    limit: &'a Limit,
    facts: &Facts<'_>,
    block: &'a BlockLayer,
    elapsed_ns: u64,
) -> Option<Charge<'a>> {
    // The events of an NVMe multipath device carry the number of a path, which no limit names.
    let number = |d: &DeviceActivity| {
        let described = facts.described(&d.name)?.get("number")?.as_str()?;
        DeviceNumber::parse(described)
    };
    let device =
        block.devices.iter().find(|d| d.number == limit.device || number(d) == Some(limit.device))?;
    if others(device) > MOST_OTHERS {
        return None;
    }
    let own_only = limit.version_1 && limit.class == RequestClass::Write && !facts.phase.direct;
    let done = if own_only {
        let own = device.issuers.iter().filter(|i| i.kind == IssuerKind::Own);
        own.map(|i| if limit.operations { i.writes } else { i.write_bytes }).sum()
    } else {
        let stats = device.class(limit.class)?;
        if limit.operations { stats.issued } else { stats.issued_bytes }
    };
    let per_s = |done: u64| done as f64 * 1e9 / elapsed_ns as f64;
    let flushes_per_s = per_s(most_own_flushes(limit, device, facts));
    Some(Charge { limit, device, own_only, per_s: per_s(done), flushes_per_s })
}

/// A flush is charged as a write to the process that sends it. An fsync sends at most one; the journal sends the rest.
fn most_own_flushes(limit: &Limit, device: &DeviceActivity, facts: &Facts<'_>) -> u64 {
    if !limit.operations || limit.class != RequestClass::Write {
        return 0;
    }
    let flushes = device.class(RequestClass::Flush).map_or(0, |stats| stats.issued);
    flushes.min(facts.calls(OpKind::Sync).0)
}

/// Other programs' share of the bytes moved at a device.
fn others(device: &DeviceActivity) -> f64 {
    let bytes = |i: &Issuer| i.read_bytes as f64 + i.write_bytes as f64;
    let theirs: f64 = device.issuers.iter().filter(|i| i.kind == IssuerKind::Other).map(bytes).sum();
    theirs / device.issuers.iter().map(bytes).sum::<f64>().max(1.0)
}

/// All limits of the control groups above this process, of versions 1 and 2, tightest first.
fn limits(facts: &Facts<'_>) -> Vec<Limit> {
    let files = facts.environment.pointer("/limits/cgroup/io_max").and_then(|f| f.as_object());
    let of = |(file, text): (&String, &serde_json::Value)| of_file(file, text.as_str().unwrap_or(""));
    let mut all: Vec<Limit> = files.into_iter().flatten().flat_map(of).collect();
    all.sort_by(|a, b| a.per_s.total_cmp(&b.per_s));
    all
}

fn of_file(file: &str, text: &str) -> Vec<Limit> {
    let name = file.rsplit('/').next().unwrap_or(file);
    let version_1 = name.strip_prefix("blkio.throttle.");
    let limit = |device: &str, class, operations, text: &str| {
        let device = DeviceNumber::parse(device)?;
        let per_s = text.parse::<f64>().ok().filter(|per_s| *per_s > 0.0)?;
        Some(Limit { file: file.into(), device, class, operations, per_s, version_1: version_1.is_some() })
    };
    let class = |word: &str| if word.starts_with('r') { RequestClass::Read } else { RequestClass::Write };
    text.lines()
        .flat_map(|line| {
            let mut words = line.split_whitespace();
            let device = words.next().unwrap_or("");
            match version_1 {
                // "7:0 20971520"
                Some(kind) => {
                    words.map(|n| limit(device, class(kind), kind.contains("iops"), n)).collect::<Vec<_>>()
                }
                // "7:0 rbps=20971520 wbps=max riops=max wiops=max"
                None => words
                    .filter_map(|word| word.split_once('='))
                    .map(|(key, n)| limit(device, class(key), key.ends_with("iops"), n))
                    .collect(),
            }
        })
        .flatten()
        .collect()
}
