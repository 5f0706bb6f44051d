//! Throughput over the time of one phase, from its intervals: a dip or a slow start that the mean hides is seen here.

use super::{
    Anchor, Picture,
    chart::{Frame, WIDTH},
    coordinates, polyline, text,
};
use crate::{section::full_title, units};
use fathom_record::{Interval, Phase};
use std::fmt::Write as _;

/// Fewer points than this are no series.
pub const FEWEST_INTERVALS: usize = 3;

/// The intervals of the last repetition that has enough of them, with their rates.
#[must_use]
pub fn rates(phase: &Phase) -> Option<Vec<(f64, f64)>> {
    let repetition = phase.repetitions.iter().rev().find(|r| r.intervals.len() >= FEWEST_INTERVALS)?;
    Some(repetition.intervals.iter().filter_map(rate).collect())
}

/// (end in seconds, bytes per second).
fn rate(interval: &Interval) -> Option<(f64, f64)> {
    let seconds = interval.width_ns as f64 / 1e9;
    (seconds > 0.0).then(|| (interval.end_ns as f64 / 1e9, interval.bytes as f64 / seconds))
}

/// Draws one phase; `None` if it has too few intervals.
#[must_use]
pub fn series(phase: &Phase) -> Option<Picture> {
    let points = rates(phase)?;
    let highest = points.iter().map(|p| p.1).fold(0.0, f64::max);
    let lowest = points.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
    let end = points.iter().map(|p| p.0).fold(0.0, f64::max);
    if highest <= 0.0 || end <= 0.0 {
        return None;
    }
    let mut body = String::new();
    let title = format!("{} over time", full_title(phase));
    let frame = Frame::draw(&mut body, &full_title(phase), highest, 120.0);
    // The first interval's rate holds from its beginning on.
    let begin = points.first().map(|(_, rate)| (0.0, *rate));
    let places: Vec<(f64, f64)> =
        begin.iter().chain(&points).map(|(t, r)| (Frame::x(t / end), frame.y(*r))).collect();
    let (first, last) = (places.first()?, places.last()?);
    let mut area = vec![(first.0, frame.bottom())];
    area.extend(&places);
    area.push((last.0, frame.bottom()));
    let _ = writeln!(body, "<polygon points=\"{}\" class=\"area\"/>", coordinates(&area));
    polyline(&mut body, &places, "a");
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let label = units::time_ns(end * share * 1e9);
        let label = if share == 0.0 { "0".to_string() } else { label };
        text(&mut body, Frame::x(share), frame.bottom() + 15.0, Anchor::Middle, "v", &label);
    }
    let origin = phase.origin().regime;
    let words = format!(
        "{} intervals in {}, between {} and {}; {}.",
        points.len(),
        units::time_ns(end * 1e9),
        units::rate(lowest),
        units::rate(highest),
        origin.words()
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
