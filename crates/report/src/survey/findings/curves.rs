//! Findings from curves over queue depth and number of streams. Differences within the spread of the repetitions are no findings.

use super::noise::{highest, overlap};
use super::{counted, finding, per_s, proof};
use crate::survey::facts::{in_memory, latency, of_stage, of_storage};
use crate::units::{percent, rate, ratio};
use fathom_compare::summary::median;
use fathom_record::{Evidence, Finding, Phase, Run};

/// A gain below this from more depth or streams counts as none.
const NOTHING: f64 = 1.15;
/// A rate limited in time slices is only measured to this factor.
const HELD: f64 = 1.25;
/// This share of all measurements must be as close to their median.
const AGREE: f64 = 0.85;
/// The knee of a curve: the first point with this share of the best.
const KNEE: f64 = 0.9;
/// Below this busy share, the device is not the bottleneck.
const IDLE: f64 = 0.5;
/// Share of one CPU above which a phase is CPU-bound.
const CPU_BOUND: f64 = 0.5;

/// Whether the program, or the kernel on its behalf, took the time.
fn cpu_bound(phases: &[&Phase]) -> bool {
    let workers = || phases.iter().flat_map(|p| &p.repetitions).flat_map(|r| &r.workers);
    let cpu: u64 = workers().map(|w| w.cpu_user_ns.saturating_add(w.cpu_system_ns)).sum();
    let all: u64 = workers().map(|w| w.elapsed_ns).sum();
    cpu as f64 > all as f64 * CPU_BOUND
}

/// Depth, operations per second, p50 in ns, share of the time the device was busy.
fn curve(run: &Run) -> Vec<(u64, f64, f64, Option<f64>)> {
    let point = |p: &&Phase| {
        let busy = |r: &fathom_record::Repetition| {
            let device = r.physical.devices.first()?;
            (r.elapsed_ns > 0).then(|| device.busy_ms as f64 * 1e6 / r.elapsed_ns as f64)
        };
        let busy = median(&p.repetitions.iter().filter_map(busy).collect::<Vec<f64>>());
        Some((p.axes.queue_depth.unwrap_or(1), p.ops_per_s()?, latency(p, 50.0)?, busy))
    };
    let mut points: Vec<_> = of_storage(run, "depth").iter().filter_map(point).collect();
    points.sort_by_key(|p| p.0);
    points
}

/// More depth brings nothing, and it is not the CPU: something limits operations, or handles one at a time.
pub(crate) fn limit(run: &Run) -> Option<Finding> {
    let points = curve(run);
    let last = points.last()?;
    let best = points.iter().map(|p| p.1).fold(0.0, f64::max);
    if in_memory(run) || cpu_bound(&of_stage(run, "depth")) {
        return None;
    }
    let least = points.iter().map(|p| p.1).fold(best, f64::min);
    if points.len() < 3 || last.0 < 4 || best > least * HELD {
        return None;
    }
    // Considers nearly every single measurement instead of medians: on a busy machine they lie far apart.
    let single = of_stage(run, "depth").into_iter().flat_map(|p| &p.repetitions);
    let single: Vec<f64> = single.filter_map(fathom_record::Repetition::ops_per_s).collect();
    let middle = median(&single)?;
    let near = single.iter().filter(|r| (**r / middle).ln().abs() < HELD.ln()).count();
    if (near as f64) < single.len() as f64 * AGREE {
        return None;
    }
    let mean = median(&points.iter().map(|p| p.1).collect::<Vec<f64>>())?;
    let mut evidence: Vec<Evidence> =
        points.iter().map(|p| proof(&format!("reads with {} in flight", p.0), p.1, "/s")).collect();
    let busy = points.iter().filter_map(|p| p.3).reduce(f64::max);
    let who = match busy {
        Some(busy) if busy < IDLE => {
            evidence.push(counted("busy at most", busy * 100.0, "%"));
            format!(
                "the device is busy for {} of the time at most, so what holds them back is above it: a limit (a control group, a quota), or a busy machine",
                percent(busy)
            )
        }
        _ => "a limit, or a device that does one at a time".to_string(),
    };
    let sentence = format!(
        "operations are limited to about {}: the rate is the same with 1 in flight or {}; {who}.",
        per_s(mean),
        last.0
    );
    Some(Finding {
        advice: "Look for io.max or blkio.throttle of the control group, and for the provider's quota of the volume.".into(),
        ..finding("limit", sentence, evidence)
    })
}

pub(super) fn knee(run: &Run) -> Option<Finding> {
    let points = curve(run);
    let first = points.first()?;
    let best = points.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let knee = points.iter().find(|p| p.1 >= best.1 * KNEE)?;
    if points.len() < 3 {
        return None;
    }
    // In memory, the speed of calls varies, not that of a device.
    if in_memory(run) {
        return None;
    }
    let evidence =
        points.iter().map(|p| proof(&format!("reads with {} in flight", p.0), p.1, "/s")).collect();
    let phases = of_stage(run, "depth");
    let at = |depth: u64| phases.iter().copied().find(|p| p.axes.queue_depth.unwrap_or(1) == depth);
    let single = at(first.0)?;
    // Verdicts name the best rate; if it differs from the knee's, both are reported.
    let more = if best.0 == knee.0 {
        "more in flight only wait".to_string()
    } else {
        format!("more in flight gain little, {} at best with {}", per_s(best.1), best.0)
    };
    let sentence = if knee.0 <= 1 {
        // One deeper repetition that did clearly more: the others were disturbed, or this one was lucky.
        let deeper = phases.iter().filter(|p| p.repetitions.len() > 1 && p.axes.queue_depth.unwrap_or(1) > 1);
        if deeper.filter_map(|p| highest(p)).any(|r| r > first.1 * NOTHING) {
            unclear(&points)
        } else {
            format!("random reads with one in flight reach {}; {more}.", per_s(first.1))
        }
    } else if at(best.0).is_some_and(|p| overlap(single, p)) {
        unclear(&points)
    } else {
        let whose = if cpu_bound(&phases) {
            "; the calls keep a CPU busy, so that this is its limit, not the device's"
        } else {
            ""
        };
        format!(
            "random reads gain until {} are in flight: {}, {} what one in flight gets ({}, measured again); {more}{whose}.",
            knee.0,
            per_s(knee.1),
            ratio(knee.1 / first.1),
            per_s(first.1)
        )
    };
    Some(finding("knee", sentence, evidence))
}

/// Repetitions of one depth differ as much as the depths do.
fn unclear(points: &[(u64, f64, f64, Option<f64>)]) -> String {
    let rates = || points.iter().map(|p| p.1);
    format!(
        "random reads: {} to {} with 1 to {} in flight. Repetitions at one depth differ as much as the depths, so it is unclear whether more in flight help.",
        per_s(rates().fold(f64::INFINITY, f64::min)),
        per_s(rates().fold(0.0, f64::max)),
        points.iter().map(|p| p.0).max().unwrap_or(1)
    )
}

pub(super) fn scaling(run: &Run, name: &str) -> Option<Finding> {
    let phases: Vec<&Phase> =
        of_stage(run, "scaling").into_iter().filter(|p| p.name == name && p.axes.streams.is_some()).collect();
    let points: Vec<(u64, f64, &Phase)> =
        phases.iter().filter_map(|p| Some((p.axes.streams?, p.bytes_per_s()?, *p))).collect();
    let one = points.iter().find(|p| p.0 == 1)?;
    let best = points.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let most = points.iter().max_by_key(|p| p.0)?;
    if points.len() < 2 {
        return None;
    }
    let what = match name {
        "parallel direct reads" => "direct random reads",
        "parallel cached reads" => "reads from memory",
        _ => "writers",
    };
    let evidence = points.iter().map(|p| proof(&format!("{} streams", p.0), p.1, "bytes/s")).collect();
    let unclear = |other: &(u64, f64, &Phase)| {
        format!(
            "{what}: {} by one stream and {} by {} together, but repetitions differ as much: gain or loss is unclear.",
            rate(one.1),
            rate(other.1),
            other.0
        )
    };
    let sentence = if best.1 >= one.1 * NOTHING {
        if overlap(one.2, best.2) {
            unclear(best)
        } else {
            format!(
                "{what}: {} streams move {} what one moves ({} beside {}).",
                best.0,
                ratio(best.1 / one.1),
                rate(best.1),
                rate(one.1)
            )
        }
    } else if most.1 * NOTHING < one.1 {
        if overlap(most.2, one.2) {
            unclear(most)
        } else {
            format!(
                "{what}: {} streams move {} together, less than one alone ({}): they are in each other's way.",
                most.0,
                rate(most.1),
                rate(one.1)
            )
        }
    } else {
        format!(
            "{what}: {} streams move {} together, no more than one alone ({}).",
            most.0,
            rate(most.1),
            rate(one.1)
        )
    };
    Some(finding("streams", sentence, evidence))
}
