//! The long write over time: does the rate last, does it drop when a cache is full, or does it only fluctuate?

use super::{counted, finding, proof};
use crate::survey::facts::{FSYNC_MATTERS, course, in_memory, named};
use crate::units::{bytes, rate, time_ns};
use fathom_compare::summary::median;
use fathom_record::{Finding, Mark, Phase, Run};

/// A long write that ends below this share of its start has fallen; one that starts below this share of its end has risen.
const FALLEN: f64 = 0.8;
/// Minimum share of the points on the right side before and after a drop; fluctuations never reach it.
const CLEAR: f64 = 0.8;

pub(super) fn sustained(run: &Run) -> Option<Finding> {
    let phase = named(run, "sustained", "sustained write")?;
    let points = course(phase);
    let quarter = points.len() / 4;
    if quarter < 2 {
        return None;
    }
    let rates = |part: &[(f64, f64)]| median(&part.iter().map(|p| p.1).collect::<Vec<f64>>());
    let (first, last) = (rates(points.get(..quarter)?)?, rates(points.get(points.len() - quarter..)?)?);
    let mean = points.iter().map(|p| p.1).sum::<f64>() / points.len() as f64;
    let written: u64 = phase.repetitions.iter().map(fathom_record::Repetition::bytes).sum();
    let (state, fsync) = (state(phase), fsync(phase));
    let sentence = if in_memory(run) {
        format!("{} written at {}, all of it in memory ({state}).", bytes(written), rate(mean))
    } else if last < first * FALLEN {
        match fall(&points, first.midpoint(last)) {
            Some(fell) => format!(
                "the rate falls from {} to {} after {fell:.1} s: what came before was a cache's ({} written; {state}).",
                rate(first),
                rate(last),
                bytes(written)
            ),
            None => format!(
                "{} written at {} on average, up and down between {} and {}: lower at the end, but no fall to a level as a full cache shows it ({state}).",
                bytes(written),
                rate(mean),
                rate(points.iter().map(|p| p.1).fold(f64::INFINITY, f64::min)),
                rate(points.iter().map(|p| p.1).fold(0.0, f64::max))
            ),
        }
    } else if first < last * FALLEN {
        format!(
            "{} written at {} on average, and the rate rises, from {} to {}: no cache on the way was filled ({state}).",
            bytes(written),
            rate(mean),
            rate(first),
            rate(last)
        )
    } else {
        let caches = if fsync.is_empty() {
            "no cache on the way was filled, or there is none"
        } else {
            "no cache on the way was filled"
        };
        format!("{} written at {}, no fall: {caches} ({state}).", bytes(written), rate(mean))
    };
    let mut evidence = vec![
        proof("first quarter", first, "bytes/s"),
        proof("last quarter", last, "bytes/s"),
        proof("written", written as f64, "bytes"),
    ];
    let device: Vec<u64> = phase.repetitions.iter().filter_map(|r| r.physical.device_write_bytes()).collect();
    if !device.is_empty() {
        evidence.push(counted("written by the device", device.iter().sum::<u64>() as f64, "bytes"));
    }
    Some(finding("sustained", sentence + &fsync + &held_between(phase), evidence))
}

/// What the fsync after the last write changed, if it took long: until then a cache may have held a part of the data.
fn fsync(phase: &Phase) -> String {
    let rates = phase.bytes_per_s_to(Mark::Fsync).zip(phase.bytes_per_s_to(Mark::LastOp));
    let slow = rates.filter(|(synced, before)| *before > synced * FSYNC_MATTERS);
    let took_ns = phase
        .repetitions
        .iter()
        .flat_map(|r| &r.workers)
        .map(|w| w.marks.fsync_ns.saturating_sub(w.marks.last_op_ns));
    slow.zip(took_ns.max()).map_or_else(String::new, |((synced, _), ns)| {
        format!(" The fsync after it took {}: with it, the rate is {}.", time_ns(ns as f64), rate(synced))
    })
}

fn state(phase: &Phase) -> String {
    match phase.repetitions.iter().find_map(|r| r.steady.as_ref()) {
        Some(s) => {
            let not = if s.reached { "" } else { "not " };
            format!(
                "{not}steady at the end (spread {:.0} %, trend {:.0} %)",
                s.range_percent, s.slope_percent
            )
        }
        None => "too short to say whether it is steady".into(),
    }
}

/// Time of a lasting drop, s: the best split between points above and below the middle, if it is clear enough.
fn fall(points: &[(f64, f64)], middle: f64) -> Option<f64> {
    let above = |part: &[(f64, f64)]| part.iter().filter(|p| p.1 >= middle).count();
    let sides = |at: usize| {
        let (before, after) = points.split_at(at);
        (above(before), before.len(), after.len() - above(after), after.len())
    };
    let at = (1..points.len()).max_by_key(|&at| {
        let (high, _, low, _) = sides(at);
        high + low
    })?;
    let (high, before, low, after) = sides(at);
    let clear = high as f64 >= before as f64 * CLEAR && low as f64 >= after as f64 * CLEAR;
    points.get(at - 1).filter(|_| clear).map(|p| p.0)
}

/// For a loop device: whether the device below its file took less than half of the data. The rest is in the page cache in between.
fn held_between(phase: &Phase) -> String {
    let levels = phase.repetitions.iter().find_map(|r| {
        let top = r.physical.devices.iter().find(|d| d.level == 0 && d.kind == "loop")?;
        let below = r.physical.devices.iter().find(|d| d.level == 1)?;
        (below.write_bytes < top.write_bytes / 2).then_some((top, below))
    });
    levels.map_or_else(String::new, |(top, below)| {
        format!(
            " Of {} written to {}, {} had reached {} by then: the rest is in this machine's memory, and the rate is memory's.",
            bytes(top.write_bytes),
            top.name,
            bytes(below.write_bytes),
            below.name
        )
    })
}
