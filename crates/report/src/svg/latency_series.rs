//! The 99th percentile of the latency over the time of one phase, from the histograms of its intervals: shows stalls that the
//! percentiles of the whole phase hide.

use super::{
    Anchor, Picture,
    chart::{Frame, WIDTH},
    kind_series, lines, polyline,
    series::FEWEST_INTERVALS,
    text,
};
use crate::{section::full_title, units};
use fathom_record::{Histogram, Interval, OpKind, Phase};

/// 99th percentile of an interval, ns: of the response times if there are any, else of the phase's main operation.
#[must_use]
pub fn p99_ns(phase: &Phase, interval: &Interval) -> Option<u64> {
    p99_of(interval, OpKind::Response).or_else(|| p99_of(interval, phase.main_op()))
}

fn p99_of(interval: &Interval, kind: OpKind) -> Option<u64> {
    let mut all = Histogram::default();
    for (_, histogram) in interval.latencies.iter().filter(|(k, _)| *k == kind) {
        all.merge(histogram);
    }
    all.percentile_ns(99.0)
}

/// The 99th percentile of a phase's fsyncs over time, in a separate picture: next to them, reads and writes would be flat on the axis.
#[must_use]
pub fn sync_latency_series(phase: &Phase) -> Option<Picture> {
    let found =
        kind_series::lines(phase, |i, kind| Some(p99_of(i, kind).filter(|_| kind == OpKind::Sync)? as f64));
    let title = format!("p99 of fsyncs over time: {}", full_title(phase));
    let slug = format!("p99 sync {} {}", phase.seq, phase.name);
    lines::draw(&slug, &title, &found, 1, Frame::of_times, units::time_ns)
}

/// Draws one phase, with separate lines if it both reads and writes and has no response times; `None` if too few intervals have
/// latencies.
#[must_use]
pub fn latency_series(phase: &Phase) -> Option<Picture> {
    let found =
        kind_series::lines(phase, |i, kind| Some(p99_of(i, kind).filter(|_| kind != OpKind::Sync)? as f64));
    let mut timed = phase.repetitions.iter().flat_map(|r| &r.intervals).flat_map(|i| &i.latencies);
    if found.len() > 1 && timed.all(|l| l.0 != OpKind::Response) {
        let title = format!("p99 latency over time: {}", full_title(phase));
        let slug = format!("p99 {} {}", phase.seq, phase.name);
        return lines::draw(&slug, &title, &found, 2, Frame::of_times, units::time_ns);
    }
    let of = |i: &Interval| Some((i.end_ns as f64, p99_ns(phase, i)? as f64));
    let series =
        phase.repetitions.iter().rev().map(|r| r.intervals.iter().filter_map(of).collect::<Vec<_>>());
    let points = series.into_iter().find(|points| points.len() >= FEWEST_INTERVALS)?;
    let highest = points.iter().map(|p| p.1).fold(0.0, f64::max);
    let lowest = points.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
    let end = points.iter().map(|p| p.0).fold(0.0, f64::max);
    if highest <= 0.0 || end <= 0.0 {
        return None;
    }
    let mut body = String::new();
    let title = format!("p99 latency over time: {}", full_title(phase));
    let frame = Frame::of_times(&mut body, &title, highest, 90.0);
    let places: Vec<(f64, f64)> = points.iter().map(|(t, ns)| (Frame::x(t / end), frame.y(*ns))).collect();
    polyline(&mut body, &places, "b");
    frame.times_below(&mut body, end);
    let words = format!(
        "{} intervals in {}, p99 between {} and {}.",
        points.len(),
        units::time_ns(end),
        units::time_ns(lowest),
        units::time_ns(highest)
    );
    text(&mut body, 8.0, 36.0, Anchor::Start, "s", &words);
    let slug = format!("p99 {} {}", phase.seq, phase.name);
    Some(Picture::new(&slug, &title, words, WIDTH, frame.bottom() + 24.0, body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn a_stall_is_seen_in_its_interval() {
        let run = samples::engine_run();
        let phase = &run.phases[0];
        let p99: Vec<u64> = phase.repetitions[0].intervals.iter().filter_map(|i| p99_ns(phase, i)).collect();
        assert!(p99[6] > 8 * p99[5] && p99[13] > 8 * p99[12], "{p99:?}");
        let picture = latency_series(phase).expect("drawn");
        assert!(picture.description.contains("40 intervals in 20.0 s"), "{}", picture.description);
    }

    #[test]
    fn without_latencies_by_interval_there_is_no_picture() {
        assert_eq!(latency_series(&samples::throughput_run().phases[0]), None);
    }
}
