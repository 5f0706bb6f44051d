//! Picture of operations a second by queue depth.

use super::{
    Anchor, Picture,
    chart::{Frame, WIDTH},
    polyline, text,
};
use crate::units;
use std::fmt::Write as _;

/// Draws the rates by ascending depth; `None` for fewer than two.
#[must_use]
pub fn depth_curve(points: &[(u64, f64)]) -> Option<Picture> {
    const TITLE: &str = "Random reads a second by how many are in flight";
    let highest = points.iter().map(|p| p.1).fold(0.0, f64::max);
    if points.len() < 2 || highest <= 0.0 {
        return None;
    }
    let mut body = String::new();
    let frame = Frame::of_counts(&mut body, TITLE, highest, 210.0);
    // Depths double, so they are evenly spaced on a logarithmic axis.
    let log = |depth: u64| (depth.max(1) as f64).log2();
    let (first, last) = (log(points[0].0), log(points[points.len() - 1].0));
    let x = |depth: u64| Frame::x(0.04 + 0.92 * (log(depth) - first) / (last - first).max(f64::MIN_POSITIVE));
    let places: Vec<(f64, f64)> = points.iter().map(|(depth, rate)| (x(*depth), frame.y(*rate))).collect();
    polyline(&mut body, &places, "a");
    for ((depth, rate), (x, y)) in points.iter().zip(&places) {
        let _ = writeln!(
            body,
            "<g><title>{depth} in flight: {}</title><circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" class=\"fa\"/></g>",
            units::ops_rate(*rate)
        );
        if depth.is_power_of_two() {
            text(&mut body, *x, frame.bottom() + 15.0, Anchor::Middle, "v", &depth.to_string());
        }
    }
    let words: Vec<String> = points
        .iter()
        .map(|(depth, rate)| format!("{depth} in flight: {}.", units::ops_rate(*rate)))
        .collect();
    Some(Picture::new("depth-curve", TITLE, words.join(" "), WIDTH, frame.bottom() + 26.0, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_needs_two_points_and_tells_each() {
        assert_eq!(depth_curve(&[]), None);
        assert_eq!(depth_curve(&[(1, 500.0)]), None);
        assert_eq!(depth_curve(&[(1, 0.0), (2, 0.0)]), None);
        let picture =
            depth_curve(&[(1, 9000.0), (2, 18_000.0), (3, 20_000.0), (64, 78_000.0)]).expect("a curve");
        assert!(picture.description.contains("64 in flight: 78.0 k/s"), "{}", picture.description);
        let svg = picture.standalone();
        assert_eq!(svg.matches("<circle").count(), 4);
        assert!(!svg.contains("NaN"), "{svg}");
        assert!(depth_curve(&[(4, 1.0), (4, 2.0)]).is_some_and(|p| !p.standalone().contains("NaN")));
    }
}
