//! A figure through the runs as SVG: a dot per run (hollow for outliers), a heavy rule at the level of each segment, a dashed numbered
//! line where the level changed, and a triangle below where only the environment did. Runs are evenly spaced in their order, whatever
//! time lies between them. With very many runs, each column of the picture has a line from the smallest to the largest value.

use super::braille::range;
use super::words::{self, moment};
use super::{HistoryPoint, Series};
use crate::compared::spelled;
use crate::svg::{Anchor, Picture, escape, line, shortened, text};
use fathom_record::imported::units;
use std::fmt::Write as _;

const WIDTH: f64 = 760.0;
const LEFT: f64 = 86.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 58.0;
const HEIGHT: f64 = 200.0;
/// More runs than this are drawn as columns.
const MOST_DOTS: usize = 1500;
/// Approximate number of axis rules.
const RULES: f64 = 4.0;

/// The picture; `None` for fewer than two runs.
pub(crate) fn picture(series: &Series) -> Option<Picture> {
    let n = series.points.len();
    let (low, high) = range(series).filter(|_| n > 1)?;
    let axis = ValueAxis::around(low, high, &series.unit);
    let plot = Plot { n, axis };
    let mut body = String::new();
    text(&mut body, 8.0, 18.0, Anchor::Start, "t", &shortened(&series.title(), 84));
    plot.rules(&mut body);
    plot.changes(&mut body, series);
    plot.runs(&mut body, series);
    plot.levels(&mut body, series);
    plot.environment(&mut body, series);
    plot.ends(&mut body, series);
    let legend = if plot.axis.from > 0.0 { "the axis does not begin at zero" } else { "" };
    text(&mut body, WIDTH - RIGHT, 36.0, Anchor::End, "s", legend);
    let said = description(series);
    Some(Picture::new(
        &format!("history {}", series.title()),
        &series.title(),
        said,
        WIDTH,
        TOP + HEIGHT + 46.0,
        body,
    ))
}

/// Alternative text for screen readers.
fn description(series: &Series) -> String {
    let mut said = series.sentence.clone();
    for change in &series.changes {
        said.push(' ');
        said += &change.sentence;
    }
    said
}

/// The vertical axis: range, step of its rules, and their labels.
struct ValueAxis {
    from: f64,
    to: f64,
    step: f64,
    /// Divisor of a label, and the resulting unit.
    scale: f64,
    unit: String,
}

impl ValueAxis {
    /// Round rules around the range; from zero if that costs little space.
    fn around(low: f64, high: f64, unit: &str) -> Self {
        let low = if low < 0.35 * high { 0.0 } else { low };
        let base = if unit == units::BYTES_PER_S || unit == units::BYTES { 1024.0 } else { 1000.0 };
        let spelled = spelled(high, unit);
        let word = spelled.split_once(' ').map_or("", |(_, word)| word).to_owned();
        let mut scale = 1.0;
        // The unit of the largest value.
        while high / scale >= base - 0.5 && scale < 1e15 {
            scale *= base;
        }
        let step = round((high - low) / scale / RULES) * scale;
        let (from, to) = ((low / step).floor() * step, (high / step).ceil() * step);
        Self { from, to: if to > from { to } else { from + step }, step, scale, unit: word }
    }

    fn label(&self, value: f64) -> String {
        let step = self.step / self.scale;
        let decimals = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
        format!("{:.decimals$} {}", value / self.scale, self.unit).trim_end().to_owned()
    }
}

/// The next 1, 2 or 5 times a power of ten.
fn round(rough: f64) -> f64 {
    let rough = rough.max(1e-9);
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|f| f * power >= rough * 0.999).unwrap_or(10.0);
    factor * power
}

struct Plot {
    n: usize,
    axis: ValueAxis,
}

impl Plot {
    fn x(&self, point: usize) -> f64 {
        LEFT + 8.0 + (WIDTH - RIGHT - LEFT - 16.0) * point as f64 / (self.n - 1) as f64
    }

    /// Half-way between a point and the previous one.
    fn before(&self, point: usize) -> f64 {
        if point == 0 { self.x(0) } else { (self.x(point - 1) + self.x(point)) / 2.0 }
    }

    fn y(&self, value: f64) -> f64 {
        let share = (value - self.axis.from) / (self.axis.to - self.axis.from);
        TOP + HEIGHT * (1.0 - share.clamp(-0.02, 1.02))
    }

    fn rules(&self, out: &mut String) {
        let steps = ((self.axis.to - self.axis.from) / self.axis.step).round() as usize;
        for i in 0..=steps.min(20) {
            let value = self.axis.from + self.axis.step * i as f64;
            let y = self.y(value);
            line(out, (LEFT, y), (WIDTH - RIGHT, y), if i == 0 { "axis" } else { "" });
            text(out, LEFT - 6.0, y + 3.8, Anchor::End, "v", &self.axis.label(value));
        }
    }

    fn changes(&self, out: &mut String, series: &Series) {
        for (number, change) in series.changes.iter().enumerate() {
            let x = self.before(change.first_new);
            let others = series.changes.iter().filter(|c| c.first_new != change.first_new);
            let room = others.map(|c| (self.before(c.first_new) - x).abs()).fold(f64::INFINITY, f64::min);
            // If changes are crowded, the number; if more so, only the line.
            let words = match room {
                r if r >= 62.0 => format!(
                    "{} {:+.1} %{}",
                    number + 1,
                    (change.ratio - 1.0) * 100.0,
                    if change.doubtful { "?" } else { "" }
                ),
                r if r >= 15.0 => (number + 1).to_string(),
                _ => String::new(),
            };
            let _ = writeln!(out, "<g><title>{}</title>", escape(&change.sentence));
            line(out, (x, TOP - 6.0), (x, TOP + HEIGHT), "ref");
            text(out, x, TOP - 10.0, Anchor::Middle, "v", &words);
            out.push_str("</g>\n");
        }
    }

    fn runs(&self, out: &mut String, series: &Series) {
        if self.n > MOST_DOTS {
            return self.columns(out, &series.points);
        }
        for (i, point) in series.points.iter().enumerate() {
            let class = if point.outlier { "hollow" } else { "fa" };
            let _ = writeln!(
                out,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{}\" class=\"{class}\"><title>{}</title></circle>",
                self.x(i),
                self.y(point.value),
                if self.n > 300 { 1.6 } else { 2.8 },
                escape(&format!("{}: {}", words::run(&point.run), spelled(point.value, &series.unit))),
            );
        }
    }

    /// A line from the smallest to the largest run of each column.
    fn columns(&self, out: &mut String, points: &[HistoryPoint]) {
        let columns = (WIDTH - RIGHT - LEFT - 16.0) as usize;
        let every = self.n.div_ceil(columns).max(1);
        for (i, column) in points.chunks(every).enumerate() {
            let (least, largest) = column
                .iter()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), p| (l.min(p.value), h.max(p.value)));
            let x = self.x((i * every + column.len() / 2).min(self.n - 1));
            // Even an empty range must be visible.
            line(out, (x, self.y(least) + 0.6), (x, self.y(largest) - 0.6), "span");
        }
    }

    fn levels(&self, out: &mut String, series: &Series) {
        for segment in &series.segments {
            let y = self.y(segment.median);
            let (first, last) = (self.x(segment.first), self.x(segment.first + segment.runs - 1));
            line(out, (first - 4.0, y), (last + 4.0, y), "regime");
        }
    }

    fn environment(&self, out: &mut String, series: &Series) {
        let mut at: Option<usize> = None;
        for apart in &series.environment {
            if at.replace(apart.first_new) == Some(apart.first_new) {
                continue;
            }
            let here = series.environment.iter().filter(|a| a.first_new == apart.first_new);
            let words: Vec<String> =
                here.map(|a| format!("{}: {} -> {}", a.what.name, a.what.a, a.what.b)).collect();
            let (x, y) = (self.before(apart.first_new), TOP + HEIGHT + 4.0);
            let _ = writeln!(
                out,
                "<g><title>{}</title><path d=\"M{x:.1} {y:.1}l5 8h-10z\" class=\"fb\"/></g>",
                escape(&format!("{}: {}", words::run(&apart.run), words.join("; "))),
            );
        }
        if at.is_some() {
            let words = "triangle: the environment changed, and no change of the figure was found";
            text(out, LEFT, TOP + HEIGHT + 40.0, Anchor::Start, "s", words);
        }
    }

    /// Start times of the first and the last run.
    fn ends(&self, out: &mut String, series: &Series) {
        let of = |p: Option<&HistoryPoint>| p.map(|p| moment(&p.run.started_at)).unwrap_or_default();
        let y = TOP + HEIGHT + 26.0;
        text(out, self.x(0) - 4.0, y, Anchor::Start, "v", &of(series.points.first()));
        text(out, self.x(self.n - 1) + 4.0, y, Anchor::End, "v", &of(series.points.last()));
    }
}
