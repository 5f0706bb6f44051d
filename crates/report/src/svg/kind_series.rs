//! Reads, writes and fsyncs of one phase over its time, a line each: the sum of reads and writes hides that one makes way for the
//! other. From the data moved and the latencies by kind of its intervals.

use super::{
    Anchor, Picture,
    chart::{Frame, WIDTH},
    legend_of_kinds, polyline,
    series::FEWEST_INTERVALS,
    text,
};
use crate::{section::full_title, units};
use fathom_record::{Interval, OpKind, Phase, Repetition};

/// The kinds that have lines, with the class of each.
pub(super) const LINES: [(OpKind, &str); 3] =
    [(OpKind::Read, "a"), (OpKind::Write, "b"), (OpKind::Sync, "d")];

/// A kind's points: (end of the interval in ns, figure).
type Line = (OpKind, &'static str, Vec<(f64, f64)>);

/// Data read and written over time; `None` unless both were recorded.
#[must_use]
pub fn kind_series(phase: &Phase) -> Option<Picture> {
    let lines = lines(phase, |i, op| {
        let bytes = i.moved.iter().filter(|m| m.0 == op).map(|m| m.1).reduce(u64::saturating_add)?;
        (i.width_ns > 0).then(|| bytes as f64 * 1e9 / i.width_ns as f64)
    });
    let title = format!("Reads and writes over time: {}", full_title(phase));
    let slug = format!("kinds {} {}", phase.seq, phase.name);
    draw(&slug, &title, &lines, 2, Frame::draw, units::rate)
}

/// fsyncs per second over time, of a phase that does other things as well.
#[must_use]
pub fn sync_series(phase: &Phase) -> Option<Picture> {
    let lines = lines(phase, |i, op| {
        let count = i.latencies.iter().filter(|l| l.0 == op).map(|l| l.1.count()).reduce(u64::saturating_add);
        // An interval in which none ended is a zero of this kind, no gap.
        let count = count.unwrap_or(0);
        (op == OpKind::Sync && i.width_ns > 0).then(|| count as f64 * 1e9 / i.width_ns as f64)
    });
    let title = format!("fsyncs over time: {}", full_title(phase));
    let slug = format!("syncs {} {}", phase.seq, phase.name);
    draw(&slug, &title, &lines, 1, Frame::of_counts, units::ops_rate)
}

/// Of the last repetition with enough intervals, the kinds that are more than zeroes.
pub(super) fn lines(phase: &Phase, figure: impl Fn(&Interval, OpKind) -> Option<f64>) -> Vec<Line> {
    let of = |r: &Repetition| -> Vec<Line> {
        let line = |(op, class)| {
            let points = r.intervals.iter().filter_map(|i| Some((i.end_ns as f64, figure(i, op)?)));
            (op, class, points.collect::<Vec<_>>())
        };
        let full = |l: &Line| l.2.len() >= FEWEST_INTERVALS && l.2.iter().any(|p| p.1 > 0.0);
        LINES.into_iter().map(line).filter(full).collect()
    };
    phase.repetitions.iter().rev().map(of).find(|l| !l.is_empty()).unwrap_or_default()
}

/// Draws at least `fewest` lines over one axis.
pub(super) fn draw(
    slug: &str,
    title: &str,
    lines: &[Line],
    fewest: usize,
    frame: fn(&mut String, &str, f64, f64) -> Frame,
    words: fn(f64) -> String,
) -> Option<Picture> {
    let points = || lines.iter().flat_map(|l| &l.2);
    let highest = points().map(|p| p.1).fold(0.0, f64::max);
    let end = points().map(|p| p.0).fold(0.0, f64::max);
    if lines.len() < fewest || highest <= 0.0 || end <= 0.0 {
        return None;
    }
    let mut body = String::new();
    let frame = frame(&mut body, title, highest, 110.0);
    for (_, class, points) in lines {
        let places: Vec<(f64, f64)> = points.iter().map(|(t, v)| (Frame::x(t / end), frame.y(*v))).collect();
        polyline(&mut body, &places, class);
    }
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let label = if share == 0.0 { "0".to_string() } else { units::time_ns(end * share) };
        text(&mut body, Frame::x(share), frame.bottom() + 15.0, Anchor::Middle, "v", &label);
    }
    if lines.len() > 1 {
        legend_of_kinds(&mut body, &lines.iter().map(|l| (l.0.word(), l.1)).collect::<Vec<_>>());
    }
    let range = |(op, _, points): &Line| {
        let low = points.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
        let high = points.iter().map(|p| p.1).fold(0.0, f64::max);
        format!("{} between {} and {}", op.word(), words(low), words(high))
    };
    let said =
        format!("{} in {}.", lines.iter().map(range).collect::<Vec<_>>().join(", "), units::time_ns(end));
    Some(Picture::new(slug, title, said, WIDTH, frame.bottom() + 24.0, body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn reads_and_writes_have_lines_of_their_own() {
        let run = samples::sysbench_run();
        let both = kind_series(&run.phases[0]).expect("drawn");
        assert!(both.description.starts_with("read between") && both.description.contains(", write between"));
        let svg = both.standalone();
        assert_eq!(svg.matches("<polyline").count(), 4, "two lines, and two in the legend");
        let syncs = sync_series(&run.phases[0]).expect("drawn");
        assert!(syncs.description.starts_with("sync between 0.00 /s"), "{}", syncs.description);
    }

    #[test]
    fn one_kind_alone_has_the_chart_it_always_had() {
        for phase in &samples::throughput_run().phases {
            assert_eq!((kind_series(phase), sync_series(phase)), (None, None));
        }
    }
}
