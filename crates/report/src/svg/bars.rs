//! Bars over named classes: sizes and distances of requests in powers of two, time at each queue depth. The vertical axis
//! starts at zero; the value of a class is in its tooltip.

use super::{
    Anchor, Picture,
    chart::{Frame, LEFT, RIGHT, WIDTH},
    escape, text, text_width,
};
use std::fmt::Write as _;

/// More labels than this overlap.
const MOST_LABELS: usize = 14;
const HEIGHT: f64 = 120.0;

/// A bar chart before drawing.
pub(super) struct Bars {
    /// Used in file names.
    pub(super) slug: String,
    /// Text above the chart.
    pub(super) title: String,
    /// Alternative text for screen readers.
    pub(super) words: String,
    /// The series: name and CSS class of the fill.
    pub(super) series: Vec<(String, &'static str)>,
    /// The classes: label, and a value for each series.
    pub(super) classes: Vec<(String, Vec<f64>)>,
    pub(super) frame: fn(&mut String, &str, f64, f64) -> Frame,
    pub(super) value: fn(f64) -> String,
}

impl Bars {
    /// The picture; `None` if every bar is empty.
    pub(super) fn draw(&self) -> Option<Picture> {
        let highest = self.classes.iter().flat_map(|c| &c.1).copied().fold(0.0, f64::max);
        if highest <= 0.0 || !highest.is_finite() {
            return None;
        }
        let mut body = String::new();
        let frame = (self.frame)(&mut body, &self.title, highest, HEIGHT);
        let room = (WIDTH - RIGHT - LEFT) / self.classes.len() as f64;
        let wide = (room * 0.82).min(46.0) / self.series.len().max(1) as f64;
        let every = self.classes.len().div_ceil(MOST_LABELS);
        for (i, (label, values)) in self.classes.iter().enumerate() {
            let middle = LEFT + room * (i as f64 + 0.5);
            if i % every == 0 {
                text(&mut body, middle, frame.bottom() + 15.0, Anchor::Middle, "v", label);
            }
            let left = middle - wide * values.len() as f64 / 2.0;
            for (s, &value) in values.iter().enumerate().filter(|(_, v)| **v > 0.0) {
                self.bar(&mut body, &frame, (left + wide * s as f64, wide), label, s, value);
            }
        }
        self.legend(&mut body);
        let height = frame.bottom() + 24.0;
        Some(Picture::new(&self.slug, &self.title, self.words.clone(), WIDTH, height, body))
    }

    fn bar(
        &self,
        out: &mut String,
        frame: &Frame,
        (left, wide): (f64, f64),
        label: &str,
        series: usize,
        value: f64,
    ) {
        // Even a tiny value must be visible.
        let top = frame.y(value).min(frame.bottom() - 1.0);
        let (name, class) = &self.series[series];
        let _ = writeln!(
            out,
            "<g><title>{}</title><rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{wide:.1}\" height=\"{:.1}\" class=\"{class}\"/></g>",
            escape(&format!("{label}, {name}: {}", (self.value)(value))),
            frame.bottom() - top,
        );
    }

    fn legend(&self, out: &mut String) {
        let mut x = LEFT;
        for (name, class) in &self.series {
            let _ =
                writeln!(out, "<rect x=\"{x:.1}\" y=\"29.0\" width=\"10\" height=\"10\" class=\"{class}\"/>");
            text(out, x + 15.0, 38.0, Anchor::Start, "v", name);
            x += 34.0 + text_width(name, 10.0);
        }
    }
}
