//! The intervals of a comparison, one below the other: for each figure the ratio of B to A as a point on its interval, on a logarithmic
//! axis, with the threshold as a band around "no change", and dashed lines at twice the threshold, within which sides count as the same.
//! This shows what a verdict rests on: whether an interval excludes 1, and whether its point is outside the band.

use super::{Anchor, Picture, heat_map::shortened, line, sheet, text};
use crate::compared::{Compared, ComparedRow, Word};
use crate::printable::clean;
use std::fmt::Write as _;

const WIDTH: f64 = 900.0;
/// Left edge of the plot, between the names and the figures.
const LEFT: f64 = 252.0;
const RIGHT: f64 = 640.0;
const TOP: f64 = 40.0;
const ROW: f64 = 22.0;
/// Maximum length of a name.
const NAME: usize = 36;
/// Maximum number of lines; the table has all.
const MOST_ROWS: usize = 48;
/// Ratios further from 1 are drawn at the edge, with an arrow.
const FURTHEST: f64 = 16.0;

enum ForestLine<'c> {
    /// The cell of the figures below.
    Head(&'c str),
    /// A figure and its label.
    Figure(&'c ComparedRow, &'c str),
}

/// The picture; `None` if no figure has a ratio.
#[must_use]
pub fn forest(compared: &Compared) -> Option<Picture> {
    let rows = shown(compared);
    if rows.is_empty() {
        return None;
    }
    let axis = RatioAxis::over(&rows, compared.threshold);
    let lines = lines(&rows);
    let bottom = TOP + ROW * lines.len() as f64;
    let mut body = String::new();
    text(&mut body, 8.0, 18.0, Anchor::Start, "t", "B over A, with intervals");
    ground(&mut body, &axis, compared.threshold, bottom);
    for (i, line) in lines.iter().enumerate() {
        let y = TOP + ROW * (i as f64 + 0.5);
        match line {
            ForestLine::Head(cell) => {
                text(&mut body, 8.0, y + 4.0, Anchor::Start, "m", &shortened(cell, 2 * NAME))
            }
            ForestLine::Figure(row, name) => figure(&mut body, &axis, (row, name), y),
        }
    }
    let described = description(compared, &rows);
    Some(Picture::new("intervals", "B over A, with intervals", described, WIDTH, bottom + 44.0, body))
}

/// The pictures of comparisons, each under the names of its sides; `None` if none has a ratio.
#[must_use]
pub fn comparison(all: &[Compared]) -> Option<Picture> {
    let named = |compared: &Compared| {
        let sides = format!("{} (B) against {} (A)", compared.b.name, compared.a.name);
        let how = format!("measured as {}", compared.design_words);
        Some(([sides, how].map(|line| clean(&line)), vec![forest(compared)?]))
    };
    sheet("comparison", all.iter().filter_map(named).collect())
}

/// Caption of the picture.
#[must_use]
pub fn forest_caption(compared: &Compared) -> String {
    let percent = |share: f64| format!("{} %", fathom_compare::wording::short(share * 100.0));
    let left_out = compared.rows.iter().filter(|r| has_ratio(r)).count() - shown(compared).len();
    let more = match left_out {
        0 => String::new(),
        n => format!(" {n} more figures are in the table."),
    };
    format!(
        "Points are ratios, lines their intervals; 1 is no change. Shaded: changes below the threshold of {}. Dashed: twice that; sides whose interval lies \
         within are the same.{more}",
        percent(compared.threshold)
    )
}

fn has_ratio(row: &ComparedRow) -> bool {
    row.ratio().is_some_and(|r| r > 0.0 && r.is_finite())
}

/// All figures with a ratio; if there are very many, the headline figures.
fn shown(compared: &Compared) -> Vec<&ComparedRow> {
    let all: Vec<&ComparedRow> = compared.rows.iter().filter(|r| has_ratio(r)).collect();
    if all.len() <= MOST_ROWS {
        return all;
    }
    all.into_iter().filter(|r| r.headline).take(MOST_ROWS).collect()
}

/// Figures under the names of their cells; a cell with one figure takes one line.
fn lines<'c>(rows: &[&'c ComparedRow]) -> Vec<ForestLine<'c>> {
    let mut lines = Vec::new();
    // If each of several cells has one figure, it is labelled by its cell.
    let single = rows.len() > 1 && rows.windows(2).all(|w| w[0].cell != w[1].cell);
    for (i, row) in rows.iter().enumerate() {
        if !single && (i == 0 || rows[i - 1].cell != row.cell) {
            lines.push(ForestLine::Head(&row.cell));
        }
        lines.push(ForestLine::Figure(row, if single { &row.cell } else { &row.metric }));
    }
    lines
}

/// The horizontal axis of ratios: logarithmic and symmetric around 1.
struct RatioAxis {
    /// Logarithm of the ratio at the right edge; its negative is at the left one.
    reach: f64,
}

impl RatioAxis {
    /// Wide enough for every interval, and for twice the threshold with a margin.
    fn over(rows: &[&ComparedRow], threshold: f64) -> Self {
        let bounds = rows.iter().filter_map(|r| r.effect).flat_map(|e| [Some(e.estimate), e.low, e.high]);
        let away = bounds.flatten().filter(|v| *v > 0.0 && v.is_finite()).map(|v| v.ln().abs());
        let least = (1.0 + 2.0 * threshold).ln() * 1.5;
        Self { reach: (away.fold(0.0, f64::max) * 1.08).clamp(least, FURTHEST.ln()) }
    }

    fn x(&self, ratio: f64) -> f64 {
        let share = (ratio.ln() / self.reach).clamp(-1.0, 1.0);
        (LEFT + RIGHT) / 2.0 + share * (RIGHT - LEFT) / 2.0
    }

    fn holds(&self, ratio: f64) -> bool {
        ratio.ln().abs() <= self.reach
    }

    /// Round changes on both sides of 1, at most four.
    fn ticks(&self) -> Vec<f64> {
        let furthest = self.reach.exp() - 1.0;
        let steps = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 3.0];
        let step = steps.into_iter().find(|s| furthest / s < 5.0).unwrap_or(5.0);
        let above = (1..=4).map(|n| 1.0 + step * f64::from(n)).filter(|r| self.holds(*r));
        let above: Vec<f64> = above.collect();
        above.iter().rev().map(|r| 1.0 / r).chain([1.0]).chain(above.iter().copied()).collect()
    }
}

/// Band, dashed lines, ticks.
fn ground(body: &mut String, axis: &RatioAxis, threshold: f64, bottom: f64) {
    let (low, high) = (axis.x(1.0 / (1.0 + threshold)), axis.x(1.0 + threshold));
    let _ = writeln!(
        body,
        "<rect class=\"within\" x=\"{low:.1}\" y=\"{TOP:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
        high - low,
        bottom - TOP
    );
    for margin in [1.0 / (1.0 + 2.0 * threshold), 1.0 + 2.0 * threshold] {
        line(body, (axis.x(margin), TOP), (axis.x(margin), bottom), "ref");
    }
    line(body, (axis.x(1.0), TOP), (axis.x(1.0), bottom), "axis");
    line(body, (LEFT, bottom), (RIGHT, bottom), "axis");
    for tick in axis.ticks() {
        line(body, (axis.x(tick), bottom), (axis.x(tick), bottom + 4.0), "axis");
        text(body, axis.x(tick), bottom + 16.0, Anchor::Middle, "v", &ratio_words(tick));
    }
    text(body, LEFT, bottom + 32.0, Anchor::Start, "s", "B less than A");
    text(body, RIGHT, bottom + 32.0, Anchor::End, "s", "B more than A");
}

fn figure(body: &mut String, axis: &RatioAxis, (row, name): (&ComparedRow, &str), y: f64) {
    let Some(effect) = row.effect else { return };
    let class = match row.verdict {
        Word::Better => "better",
        Word::Worse => "worse",
        Word::Differs | Word::Suspect => "moved",
        _ => "open",
    };
    text(body, LEFT - 8.0, y + 4.0, Anchor::End, "", &shortened(name, NAME));
    if let (Some(low), Some(high)) = (effect.low, effect.high) {
        line(body, (axis.x(low), y), (axis.x(high), y), class);
        for end in [low, high] {
            if axis.holds(end) {
                line(body, (axis.x(end), y - 4.0), (axis.x(end), y + 4.0), class);
            } else {
                arrow(body, axis.x(end), y, end > 1.0, class);
            }
        }
    }
    if axis.holds(effect.estimate) {
        let _ = writeln!(
            body,
            "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"4\"/>",
            axis.x(effect.estimate)
        );
    } else {
        arrow(body, axis.x(effect.estimate), y, effect.estimate > 1.0, class);
    }
    let interval = match (effect.low, effect.high) {
        (Some(low), Some(high)) => format!("{:.4} ({low:.4} to {high:.4})", effect.estimate),
        _ => format!("{:.4}, no interval", effect.estimate),
    };
    text(body, RIGHT + 14.0, y + 4.0, Anchor::Start, "v", &interval);
    text(body, RIGHT + 162.0, y + 4.0, Anchor::Start, "", row.verdict.words(row.is_of_speed()));
}

/// Marks an interval that extends beyond the edge.
fn arrow(body: &mut String, x: f64, y: f64, right: bool, class: &str) {
    let back = if right { -7.0 } else { 7.0 };
    let _ = writeln!(
        body,
        "<polygon class=\"{class}\" points=\"{x:.1},{y:.1} {:.1},{:.1} {:.1},{:.1}\"/>",
        x + back,
        y - 4.0,
        x + back,
        y + 4.0
    );
}

/// "1", "1.02", "0.980".
fn ratio_words(ratio: f64) -> String {
    if (ratio - 1.0).abs() < 1e-9 { "1".into() } else { fathom_compare::wording::short(ratio) }
}

fn description(compared: &Compared, rows: &[&ComparedRow]) -> String {
    let count = |word: Word| rows.iter().filter(|r| r.verdict == word).count();
    format!(
        "Ratios of {} to {} with their intervals for {} figures: {} better, {} worse, {} the same; the threshold is {} %.",
        compared.b.name,
        compared.a.name,
        rows.len(),
        count(Word::Better),
        count(Word::Worse),
        count(Word::Same),
        fathom_compare::wording::short(compared.threshold * 100.0)
    )
}

#[cfg(test)]
#[path = "forest_tests.rs"]
mod tests;
