//! Lines over time on one axis from zero, each with its own dash pattern; shared by the charts of kinds and of devices.

use super::{
    Picture,
    chart::{Frame, WIDTH},
    legend_of_kinds, polyline,
};
use crate::units;

/// CSS classes of lines, which differ by dashes and not only by colour.
pub(super) const CLASSES: [&str; 3] = ["a", "b", "d"];

pub(super) struct ChartLine {
    pub(super) label: String,
    /// One of [`CLASSES`].
    pub(super) class: &'static str,
    /// (end of the interval in ns, figure).
    pub(super) points: Vec<(f64, f64)>,
}

/// Draws the lines on one axis, if there are at least `fewest`.
pub(super) fn draw(
    slug: &str,
    title: &str,
    lines: &[ChartLine],
    fewest: usize,
    frame: fn(&mut String, &str, f64, f64) -> Frame,
    words: fn(f64) -> String,
) -> Option<Picture> {
    let points = || lines.iter().flat_map(|l| &l.points);
    let highest = points().map(|p| p.1).fold(0.0, f64::max);
    let end = points().map(|p| p.0).fold(0.0, f64::max);
    if lines.len() < fewest || highest <= 0.0 || end <= 0.0 {
        return None;
    }
    let mut body = String::new();
    let frame = frame(&mut body, title, highest, 110.0);
    for line in lines {
        let places: Vec<(f64, f64)> =
            line.points.iter().map(|(t, v)| (Frame::x(t / end), frame.y(*v))).collect();
        polyline(&mut body, &places, line.class);
    }
    frame.times_below(&mut body, end);
    if lines.len() > 1 {
        legend_of_kinds(&mut body, &lines.iter().map(|l| (l.label.as_str(), l.class)).collect::<Vec<_>>());
    }
    let range = |line: &ChartLine| {
        let low = line.points.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
        let high = line.points.iter().map(|p| p.1).fold(0.0, f64::max);
        format!("{} between {} and {}", line.label, words(low), words(high))
    };
    let said =
        format!("{} in {}.", lines.iter().map(range).collect::<Vec<_>>().join(", "), units::time_ns(end));
    Some(Picture::new(slug, title, said, WIDTH, frame.bottom() + 24.0, body))
}
