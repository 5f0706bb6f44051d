//! Picture of operations a second by queue depth.

use super::{
    Anchor, Picture,
    chart::{Frame, WIDTH},
    polyline, text,
};
use crate::{answer::DepthPoint, units};
use std::fmt::Write as _;

/// Draws the rates by ascending depth, hollow where a cache served them or a part; `None` for fewer than two.
#[must_use]
pub fn depth_curve(points: &[DepthPoint]) -> Option<Picture> {
    const TITLE: &str = "Random reads a second by how many are in flight";
    let highest = points.iter().map(|p| p.per_s).fold(0.0, f64::max);
    let [first, .., last] = points else { return None };
    if highest <= 0.0 {
        return None;
    }
    let mut body = String::new();
    let frame = Frame::of_counts(&mut body, TITLE, highest, 210.0);
    // Depths double, so they are evenly spaced on a logarithmic axis.
    let log = |point: &DepthPoint| (point.depth.max(1) as f64).log2();
    let (from, to) = (log(first), log(last));
    let x =
        |point: &DepthPoint| Frame::x(0.04 + 0.92 * (log(point) - from) / (to - from).max(f64::MIN_POSITIVE));
    let places: Vec<(f64, f64)> = points.iter().map(|point| (x(point), frame.y(point.per_s))).collect();
    polyline(&mut body, &places, "a");
    for (point, (x, y)) in points.iter().zip(&places) {
        let class = if point.cache.is_some() { "hollow" } else { "fa" };
        let _ = writeln!(
            body,
            "<g><title>{}</title><circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" class=\"{class}\"/></g>",
            words(point)
        );
        if point.depth.is_power_of_two() {
            text(&mut body, *x, frame.bottom() + 15.0, Anchor::Middle, "v", &point.depth.to_string());
        }
    }
    if points.iter().any(|point| point.cache.is_some()) {
        text(&mut body, 8.0, 36.0, Anchor::Start, "s", "hollow: not from the storage alone");
    }
    let description: Vec<String> = points.iter().map(|point| format!("{}.", words(point))).collect();
    Some(Picture::new("depth-curve", TITLE, description.join(" "), WIDTH, frame.bottom() + 26.0, body))
}

/// "64 in flight: 78.0 k/s", and the cache that served it.
fn words(point: &DepthPoint) -> String {
    let cache = point.cache.map_or_else(String::new, |cache| format!(", {cache}"));
    format!("{} in flight: {}{cache}", point.depth, units::ops_rate(point.per_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[(u64, f64)]) -> Option<Picture> {
        let point = |&(depth, per_s): &(u64, f64)| DepthPoint { depth, per_s, cache: None };
        depth_curve(&points.iter().map(point).collect::<Vec<_>>())
    }

    #[test]
    fn a_curve_needs_two_points_and_tells_each() {
        assert_eq!(curve(&[]), None);
        assert_eq!(curve(&[(1, 500.0)]), None);
        assert_eq!(curve(&[(1, 0.0), (2, 0.0)]), None);
        let picture = curve(&[(1, 9000.0), (2, 18_000.0), (3, 20_000.0), (64, 78_000.0)]).expect("a curve");
        assert!(picture.description.contains("64 in flight: 78.0 k/s."), "{}", picture.description);
        let svg = picture.standalone();
        assert_eq!(svg.matches("<circle").count(), 4);
        assert!(!svg.contains("NaN") && !svg.contains(">hollow"), "{svg}");
        assert!(curve(&[(4, 1.0), (4, 2.0)]).is_some_and(|p| !p.standalone().contains("NaN")));
    }

    #[test]
    fn what_a_cache_served_is_hollow() {
        let point = |depth, cache| DepthPoint { depth, per_s: 9000.0, cache };
        let picture = depth_curve(&[point(1, None), point(2, Some("page cache"))]).expect("a curve");
        assert!(
            picture.description.ends_with("2 in flight: 9.00 k/s, page cache."),
            "{}",
            picture.description
        );
        let svg = picture.standalone();
        assert_eq!((svg.matches("class=\"hollow\"").count(), svg.matches("class=\"fa\"").count()), (1, 1));
        assert!(svg.contains(">hollow: not from the storage alone<"), "{svg}");
    }
}
