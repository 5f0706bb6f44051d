//! Throughput by number of streams: the children's sum, the parent's view, and the range from the slowest to the fastest stream.

use super::{
    Anchor, Picture,
    chart::{Frame, LEFT, WIDTH},
    line, polyline, text,
};
use crate::{Streams, units};
use std::fmt::Write as _;

/// Draws one series; `None` without points.
#[must_use]
pub fn streams(series: &Streams) -> Option<Picture> {
    let highest = series
        .points
        .iter()
        .flat_map(|p| [p.children_bytes_per_s, p.parent_bytes_per_s.unwrap_or(0.0), p.max_bytes_per_s])
        .fold(0.0, f64::max);
    if highest <= 0.0 {
        return None;
    }
    let mut body = String::new();
    let frame = Frame::draw(&mut body, &format!("{} by number of streams", series.title), highest, 180.0);
    let x = |i: usize| Frame::x((i as f64 + 0.5) / series.points.len() as f64);
    for (i, point) in series.points.iter().enumerate() {
        let (low, high) = (frame.y(point.min_bytes_per_s), frame.y(point.max_bytes_per_s));
        line(&mut body, (x(i), low), (x(i), high), "span");
        line(&mut body, (x(i) - 5.0, low), (x(i) + 5.0, low), "span");
        line(&mut body, (x(i) - 5.0, high), (x(i) + 5.0, high), "span");
        let label = if point.streams == 1 { "1 stream".into() } else { format!("{} streams", point.streams) };
        text(&mut body, x(i), frame.bottom() + 16.0, Anchor::Middle, "", &label);
        text(&mut body, x(i), frame.bottom() + 30.0, Anchor::Middle, "s", point.origin.words());
    }
    let children: Vec<(f64, f64)> =
        series.points.iter().enumerate().map(|(i, p)| (x(i), frame.y(p.children_bytes_per_s))).collect();
    let parent: Vec<(f64, f64)> = series
        .points
        .iter()
        .enumerate()
        .filter_map(|(i, p)| Some((x(i), frame.y(p.parent_bytes_per_s?))))
        .collect();
    polyline(&mut body, &parent, "b");
    polyline(&mut body, &children, "a");
    dots(&mut body, &parent, "fb");
    dots(&mut body, &children, "fa");
    legend(&mut body);
    let words: Vec<String> = series
        .points
        .iter()
        .map(|p| {
            let parent = p.parent_bytes_per_s.map_or("unknown".into(), units::rate);
            format!(
                "{} streams: children {}, parent {parent}, {}.",
                p.streams,
                units::rate(p.children_bytes_per_s),
                p.origin.words()
            )
        })
        .collect();
    let title = format!("{} by number of streams", series.title);
    let record = series.record_bytes.map_or(String::new(), |b| format!(" {}", units::bytes_short(b)));
    let slug = format!("streams {}{record}", series.title);
    Some(Picture::new(&slug, &title, words.join(" "), WIDTH, frame.bottom() + 40.0, body))
}

fn dots(out: &mut String, points: &[(f64, f64)], class: &str) {
    for (x, y) in points {
        let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" class=\"{class}\"/>");
    }
}

fn legend(out: &mut String) {
    let y = 36.0;
    polyline(out, &[(LEFT, y - 4.0), (LEFT + 24.0, y - 4.0)], "a");
    text(out, LEFT + 30.0, y, Anchor::Start, "", "children's sum");
    polyline(out, &[(LEFT + 134.0, y - 4.0), (LEFT + 158.0, y - 4.0)], "b");
    text(out, LEFT + 164.0, y, Anchor::Start, "", "parent's view");
    line(out, (LEFT + 264.0, y - 9.0), (LEFT + 264.0, y + 1.0), "span");
    text(out, LEFT + 271.0, y, Anchor::Start, "", "slowest to fastest stream");
}
