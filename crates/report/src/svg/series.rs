//! Throughput over the time of one phase, from its intervals: shows a dip or a slow start that the mean hides. For a phase that
//! moved no file data, operations per second.

use super::{
    Anchor, Picture,
    chart::{Frame, WIDTH},
    coordinates, polyline, text,
};
use crate::{section::full_title, units};
use fathom_record::{Origin, Phase, Repetition};
use std::fmt::Write as _;

/// Minimum number of points in a series.
pub const FEWEST_INTERVALS: usize = 3;

/// Unit of a course.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// File data, bytes/s.
    Bytes,
    /// Operations/s.
    Ops,
}

impl Unit {
    /// A rate in words.
    pub(crate) fn words(self, per_s: f64) -> String {
        match self {
            Self::Bytes => units::rate(per_s),
            Self::Ops => units::ops_rate(per_s),
        }
    }
}

/// A phase's rate over time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Course {
    pub(crate) unit: Unit,
    /// (end of the interval in seconds, rate).
    pub(crate) points: Vec<(f64, f64)>,
}

impl Course {
    /// The intervals of the last repetition that has enough of them.
    pub(crate) fn of(phase: &Phase) -> Option<Self> {
        let repetition = repetition(phase)?;
        let unit = if phase.is_metadata_only() { Unit::Ops } else { Unit::Bytes };
        let points = repetition.intervals.iter().filter_map(|i| {
            let seconds = i.width_ns as f64 / 1e9;
            let figure = if unit == Unit::Ops { i.ops } else { i.bytes };
            (seconds > 0.0).then(|| (i.end_ns as f64 / 1e9, figure as f64 / seconds))
        });
        Some(Self { unit, points: points.collect() })
    }
}

fn repetition(phase: &Phase) -> Option<&Repetition> {
    phase.repetitions.iter().rev().find(|r| r.intervals.len() >= FEWEST_INTERVALS)
}

/// Draws one phase; `None` if it has too few intervals.
#[must_use]
pub fn series(phase: &Phase) -> Option<Picture> {
    let Course { unit, points } = Course::of(phase)?;
    let highest = points.iter().map(|p| p.1).fold(0.0, f64::max);
    let lowest = points.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
    let end = points.iter().map(|p| p.0).fold(0.0, f64::max);
    if highest <= 0.0 || end <= 0.0 {
        return None;
    }
    let mut body = String::new();
    let title = format!("{} over time", full_title(phase));
    let draw = if unit == Unit::Ops { Frame::of_counts } else { Frame::draw };
    let frame = draw(&mut body, &full_title(phase), highest, 120.0);
    // The first interval's rate is drawn from time zero.
    let begin = points.first().map(|(_, rate)| (0.0, *rate));
    let places: Vec<(f64, f64)> =
        begin.iter().chain(&points).map(|(t, r)| (Frame::x(t / end), frame.y(*r))).collect();
    let (first, last) = (places.first()?, places.last()?);
    let mut area = vec![(first.0, frame.bottom())];
    area.extend(&places);
    area.push((last.0, frame.bottom()));
    let _ = writeln!(body, "<polygon points=\"{}\" class=\"area\"/>", coordinates(&area));
    polyline(&mut body, &places, "a");
    frame.times_below(&mut body, end * 1e9);
    let origin = match unit {
        Unit::Bytes => Origin::of(phase, repetition(phase)?).regime.words(),
        Unit::Ops => "operations without file data",
    };
    let words = format!(
        "{} intervals in {}, between {} and {}; {}.",
        points.len(),
        units::time_ns(end * 1e9),
        unit.words(lowest),
        unit.words(highest),
        origin
    );
    text(&mut body, 8.0, 36.0, Anchor::Start, "s", &words);
    Some(Picture::new(
        &format!("series {} {}", phase.seq, phase.name),
        &title,
        words,
        WIDTH,
        frame.bottom() + 24.0,
        body,
    ))
}
