//! A fitted device as pictures: its requests with the fitted curve, the curve's residuals, and response times of the device and
//! of its model. The held-out half has its own marks.

use super::{
    Anchor, Picture,
    block::{cumulative, tick},
    chart::{Frame, LEFT, RIGHT, TOP, WIDTH, decimal_step},
    coordinates, legend_of_kinds, line, polyline, shortened, text, text_width,
};
use crate::calibrated::{Calibrated, Curve, HeldOutResult, Over};
use crate::units;
use std::fmt::Write as _;

const HEIGHT: f64 = 170.0;
/// Requests beyond this quantile do not widen the axis.
const SHOWN: f64 = 0.99;
const STEPS: u32 = 96;

/// A plot whose vertical axis is a time that may be negative.
struct Plane {
    over: Over,
    low: f64,
    high: f64,
    end: f64,
}

impl Plane {
    fn draw(out: &mut String, title: &str, over: Over, end: f64, (low, high): (f64, f64)) -> Self {
        let step = decimal_step((high - low).max(1.0), 1.0);
        let (first, last) = ((low / step).floor() as i64, (high / step).ceil() as i64);
        let plane = Self { over, low: first as f64 * step, high: last as f64 * step, end: end.max(1.0) };
        text(out, 8.0, 18.0, Anchor::Start, "t", &shortened(title, 60));
        for n in first..=last {
            let y = plane.y(n as f64 * step);
            line(out, (LEFT, y), (WIDTH - RIGHT, y), if n == 0 { "axis" } else { "" });
            text(out, LEFT - 6.0, y + 3.8, Anchor::End, "v", &signed_time(n as f64 * step));
        }
        for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
            let x = plane.end * share;
            let label = match over {
                _ if share == 0.0 => "0".into(),
                Over::Bytes => crate::block::rounded_bytes(x),
                Over::Cylinders => units::count(x.round() as u64),
            };
            let anchor = if share < 1.0 { Anchor::Middle } else { Anchor::End };
            text(out, Frame::x(share), TOP + HEIGHT + 15.0, anchor, "v", &label);
        }
        let what = match over {
            Over::Bytes => "length of the request →",
            Over::Cylinders => "cylinders from the request before →",
        };
        text(out, WIDTH - RIGHT, TOP + HEIGHT + 29.0, Anchor::End, "s", what);
        plane
    }

    fn y(&self, ns: f64) -> f64 {
        TOP + HEIGHT * (self.high - ns) / (self.high - self.low).max(1.0)
    }

    /// Position of a request; `None` outside the plot.
    fn place(&self, x: f64, ns: f64) -> Option<(f64, f64)> {
        (self.low..=self.high).contains(&ns).then(|| (Frame::x(x / self.end), self.y(ns)))
    }

    /// Draws the marks of both halves and their legend above the plot; crosses are held out. Returns the number outside the plot.
    fn marks(&self, out: &mut String, halves: [(&[(f64, f64)], &str); 2]) -> usize {
        let (mut outside, mut across) = (0, LEFT);
        for (number, (points, name)) in halves.into_iter().enumerate() {
            if points.is_empty() {
                continue;
            }
            let mut path = String::new();
            let mark = |path: &mut String, (x, y): (f64, f64)| {
                let _ = match number {
                    0 => write!(path, "M{:.1} {:.1}h2.6v2.6h-2.6z", x - 1.3, y - 1.3),
                    _ => write!(path, "M{:.1} {y:.1}h4.4M{x:.1} {:.1}v4.4", x - 2.2, y - 2.2),
                };
            };
            mark(&mut path, (across + 4.0, 34.0));
            for &(x, ns) in points {
                match self.place(x, ns) {
                    // Requests of equal length overlap, so the halves are drawn side by side.
                    Some((x, y)) if self.over == Over::Bytes => {
                        mark(&mut path, (x + number as f64 * 7.0 - 3.5, y));
                    }
                    Some(place) => mark(&mut path, place),
                    None => outside += 1,
                }
            }
            let _ = match number {
                0 => writeln!(out, "<path d=\"{path}\" class=\"fa\"/>"),
                _ => writeln!(
                    out,
                    "<path d=\"{path}\" class=\"b\" style=\"fill:none;stroke-width:1;stroke-dasharray:none\"/>"
                ),
            };
            text(out, across + 13.0, 38.0, Anchor::Start, "v", name);
            across += 32.0 + text_width(name, 10.0);
        }
        outside
    }
}

/// Formats a time that may be negative.
fn signed_time(ns: f64) -> String {
    match ns {
        0.0 => "0".into(),
        ns if ns < 0.0 => format!("-{}", units::time_ns(-ns)),
        ns => units::time_ns(ns),
    }
}

/// (x, ns) for the shown requests of the fitted half and of the held-out half.
fn halves(of: &Calibrated, figure: impl Fn(f64, f64) -> f64) -> [Vec<(f64, f64)>; 2] {
    [&of.fitted, &of.held_out]
        .map(|half| half.kept.iter().map(|&(x, ns)| (x as f64, figure(x as f64, ns as f64))).collect())
}

/// The range of nearly all points.
fn range(halves: &[Vec<(f64, f64)>; 2]) -> Option<(f64, f64)> {
    let mut all: Vec<f64> = halves.iter().flatten().map(|p| p.1).collect();
    all.sort_by(f64::total_cmp);
    let last = all.len().checked_sub(1)?;
    let at = |share: f64| all[(last as f64 * share).round() as usize];
    Some((at(1.0 - SHOWN).min(0.0), at(SHOWN).max(1.0)))
}

fn one_of(n: u64) -> String {
    if n == 1 { "every one".into() } else { format!("one of {n}") }
}

/// The number of points outside the plot, as the end of a sentence.
fn beyond(outside: usize) -> String {
    if outside == 0 { String::new() } else { format!("; {outside} lie outside of the plot") }
}

fn what(over: Over) -> &'static str {
    match over {
        Over::Bytes => "Service time of requests over their length",
        Over::Cylinders => "Seek time over distance: requests and the fitted curve",
    }
}

/// The requests with the fitted curve; `None` for too few.
#[must_use]
pub fn fitted(of: &Calibrated) -> Option<Picture> {
    let curve = of.curve?;
    let halves = halves(of, |_, ns| ns);
    let (low, high) = range(&halves)?;
    let end = halves.iter().flatten().map(|p| p.0).fold(1.0, f64::max);
    let mut body = String::new();
    let title = what(curve.over);
    let plane = Plane::draw(&mut body, title, curve.over, end, (low, high.max(curve.at(end))));
    let outside =
        plane.marks(&mut body, [(&halves[0][..], "fitted half"), (&halves[1][..], "held-out half")]);
    let course: Vec<(f64, f64)> = (0..=STEPS)
        .map(|n| end * f64::from(n) / f64::from(STEPS))
        .map(|x| (Frame::x(x / end), plane.y(curve.at(x).clamp(plane.low, plane.high))))
        .collect();
    let _ = writeln!(
        body,
        "<polyline points=\"{}\" class=\"regime\" style=\"fill:none\"/>",
        coordinates(&course)
    );
    let words = format!(
        "{}. Shown: {} of the half that was fitted (squares), {} of the half that was held out (crosses){}.",
        formula(&curve),
        one_of(of.fitted.one_of),
        one_of(of.held_out.one_of),
        beyond(outside)
    );
    Some(Picture::new("fitted curve", title, words, WIDTH, TOP + HEIGHT + 38.0, body))
}

fn formula(curve: &Curve) -> String {
    let time = |ns: f64| signed_time(if ns.abs() < 0.5 { 0.0 } else { ns });
    match curve.over {
        Over::Bytes => format!(
            "The line: {} for a command and {} for each KiB",
            time(curve.constant_ns),
            time(curve.linear_ns * 1024.0)
        ),
        Over::Cylinders => format!(
            "The curve: {} and {} for the root of the cylinders and {} for each",
            time(curve.constant_ns),
            time(curve.root_ns),
            time(curve.linear_ns)
        ),
    }
}

/// The residuals of the curve, request by request.
#[must_use]
pub fn residuals(of: &Calibrated) -> Option<Picture> {
    let curve = of.curve?;
    let halves = halves(of, |x, ns| ns - curve.at(x));
    let (low, high) = range(&halves)?;
    let end = halves.iter().flatten().map(|p| p.0).fold(1.0, f64::max);
    let mut body = String::new();
    let title = "Residuals: what requests took beyond the curve";
    let plane = Plane::draw(&mut body, title, curve.over, end, (low, high));
    let outside =
        plane.marks(&mut body, [(&halves[0][..], "fitted half"), (&halves[1][..], "held-out half")]);
    let (fitted, held_out) = of.off_ns()?;
    let other = held_out.map_or(String::new(), |ns| {
        format!(", {} of those of the half that was held out", units::time_ns(ns))
    });
    let words = format!(
        "Root mean square {} of the requests shown of the half that was fitted{other}{}.",
        units::time_ns(fitted),
        beyond(outside)
    );
    Some(Picture::new("residuals", title, words, WIDTH, TOP + HEIGHT + 38.0, body))
}

/// Cumulative response times of the held-out half, on the device and on its model.
#[must_use]
pub fn response_times(judged: &HeldOutResult) -> Option<Picture> {
    let both = [("device, in the trace", "a", &judged.device), ("model, simulated", "b", &judged.model)];
    if both.iter().any(|(.., times)| times.count() == 0) {
        return None;
    }
    let first = both.iter().map(|b| b.2.min_ns().max(1).ilog10()).min()?;
    let last = both.iter().map(|b| b.2.max_ns().max(1).ilog10() + 1).max()?.max(first + 1);
    let mut body = String::new();
    let title = "Response times of the held-out half, share at most so long";
    let frame = Frame::of_shares(&mut body, title, 1.0, 130.0);
    let x = |ns: f64| Frame::x((ns.max(1.0).log10() - f64::from(first)) / f64::from(last - first));
    for power in first..=last {
        let place = Frame::x(f64::from(power - first) / f64::from(last - first));
        line(&mut body, (place, TOP), (place, frame.bottom()), "");
        let anchor = if power == last { Anchor::End } else { Anchor::Middle };
        text(&mut body, place, frame.bottom() + 15.0, anchor, "v", &tick(power));
    }
    for (_, class, times) in &both {
        polyline(&mut body, &cumulative(times, &frame, x), class);
    }
    legend_of_kinds(&mut body, &both.map(|b| (b.0, b.1)));
    let percentiles = both.map(|(name, _, times)| {
        let at = |p| units::time_ns(times.percentile_ns(p).unwrap_or(0) as f64);
        format!("{name}: p50 {}, p99 {}", at(50.0), at(99.0))
    });
    let words = format!("{}. Demerit {:.1} % of the mean.", percentiles.join("; "), judged.demerit_percent);
    Some(Picture::new("response times", title, words, WIDTH, frame.bottom() + 24.0, body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrated::samples::disk;

    #[test]
    fn both_halves_and_the_curve_are_drawn_and_described() {
        let disk = disk();
        let curve = fitted(&disk).expect("requests");
        assert_eq!(
            curve.description,
            "The curve: 1.50 ms and 40.0 us for the root of the cylinders and 100 ns for each. Shown: every one of the half that was \
             fitted (squares), one of 2 of the half that was held out (crosses); 5 lie outside of the plot."
        );
        let drawn = curve.standalone();
        assert_eq!(drawn.matches("h2.6v2.6").count() + drawn.matches("h4.4M").count(), 452 - 5);
        let off = residuals(&disk).expect("requests").description;
        assert!(off.starts_with("Root mean square 2.3"), "{off}");
        let times = response_times(disk.judged.as_ref().expect("judged")).expect("both").description;
        assert!(times.ends_with("Demerit 6.2 % of the mean."), "{times}");
    }

    #[test]
    fn a_fit_without_requests_has_no_picture() {
        assert_eq!(fitted(&Calibrated::default()), None);
        assert_eq!(residuals(&Calibrated { curve: Some(Curve::default()), ..Calibrated::default() }), None);
        assert_eq!(response_times(&HeldOutResult::default()), None);
    }

    #[test]
    fn times_below_nothing_have_a_sign() {
        assert_eq!([-4e6, 0.0, 2e3].map(signed_time), ["-4.00 ms", "0", "2.00 us"]);
    }
}
