//! A figure through the runs as a text picture: a dot per run (eight to a character), a rule at the level of each segment, and
//! below it the positions where the level changed and where only the environment did. The scale covers the runs near their
//! levels; outliers are drawn on its edge.

use super::Series;
use super::words::moment;
use crate::compared::spelled;
use unicode_width::UnicodeWidthStr as _;

const ROWS: usize = 6;
/// Vertical dots per character.
const DOWN: usize = 4;

/// The picture in lines of at most `width` columns; empty for fewer than two runs.
pub(crate) fn drawing(series: &Series, width: usize) -> Vec<String> {
    let n = series.points.len();
    let Some((low, high)) = range(series).filter(|_| n > 1) else { return Vec::new() };
    let labels = [spelled(high, &series.unit), spelled(low, &series.unit)];
    let margin = labels.iter().map(|l| l.width()).max().unwrap_or(0);
    let columns = width.saturating_sub(margin + 3).clamp(10, 120).min((3 * n).max(40));
    let canvas = Canvas { columns, n, low, high };
    let mut cells = vec![vec![0u8; columns]; ROWS];
    for (i, point) in series.points.iter().enumerate() {
        let (x, y) = (canvas.dot(i), canvas.height(point.value));
        cells[y / DOWN][x / 2] |= bit(x % 2, y % DOWN);
    }
    let mut lines: Vec<String> = Vec::new();
    for (row, cells) in cells.iter().enumerate() {
        let label = match row {
            0 => labels[0].as_str(),
            r if r + 1 == ROWS => labels[1].as_str(),
            _ => "",
        };
        let glyph = |(column, dots): (usize, &u8)| match dots {
            0 if canvas.level_is_in(series, row, column) => '─',
            0 => ' ',
            dots => char::from_u32(0x2800 + u32::from(*dots)).unwrap_or(' '),
        };
        let plot: String = cells.iter().enumerate().map(glyph).collect();
        lines.push(format!("{}{label} ┤{}", " ".repeat(margin - label.width()), plot.trim_end()));
    }
    let before = " ".repeat(margin + 2);
    lines.extend(marks(series, &canvas).into_iter().map(|line| format!("{before}{line}")));
    lines.push(format!("{before}{}", ends(series, columns)));
    lines
}

/// Maps points and values to dots.
struct Canvas {
    columns: usize,
    n: usize,
    low: f64,
    high: f64,
}

impl Canvas {
    /// Horizontal dot of a point: the first and the last run are on the edges.
    fn dot(&self, point: usize) -> usize {
        point * (self.columns * 2 - 1) / (self.n - 1)
    }

    /// Vertical dot of a value.
    fn height(&self, value: f64) -> usize {
        let share = ((self.high - value) / (self.high - self.low)).clamp(0.0, 1.0);
        (share * (ROWS * DOWN - 1) as f64).round() as usize
    }

    /// Whether the level of the segment that covers this column lies in this row.
    fn level_is_in(&self, series: &Series, row: usize, column: usize) -> bool {
        series.segments.iter().any(|s| {
            let (first, last) = (self.dot(s.first) / 2, self.dot(s.first + s.runs - 1) / 2);
            (first..=last).contains(&column) && self.height(s.median) / DOWN == row
        })
    }
}

/// The bit of a dot within a braille character.
fn bit(right: usize, down: usize) -> u8 {
    const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
    BITS[down][right]
}

/// Smallest and largest value of the runs near their level; a series of equal values gets some margin.
pub(super) fn range(series: &Series) -> Option<(f64, f64)> {
    let near = || series.points.iter().filter(|p| !p.outlier).map(|p| p.value);
    let (low, high) = near().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    if !low.is_finite() || !high.is_finite() {
        return None;
    }
    if low < high { Some((low, high)) } else { Some((low * 0.99, high * 1.01)) }
}

/// The line of numbered changes, and the line of environment changes.
fn marks(series: &Series, canvas: &Canvas) -> Vec<String> {
    let mut lines = Vec::new();
    let mut changes = vec![' '; canvas.columns];
    for (number, change) in series.changes.iter().enumerate() {
        let at = canvas.dot(change.first_new) / 2;
        let words: Vec<char> = format!("▲{}", number + 1).chars().collect();
        // At the right edge the number precedes its mark.
        let from = at.min(canvas.columns - words.len().min(canvas.columns));
        for (i, c) in words.into_iter().enumerate().filter(|(i, _)| from + i < canvas.columns) {
            changes[from + i] = c;
        }
    }
    let mut environment = vec![' '; canvas.columns];
    for apart in &series.environment {
        environment[canvas.dot(apart.first_new) / 2] = 'e';
    }
    for line in [changes, environment] {
        let line: String = line.into_iter().collect();
        if !line.trim().is_empty() {
            lines.push(line.trim_end().to_owned());
        }
    }
    lines
}

/// Start times of the first and the last run, at both ends.
fn ends(series: &Series, columns: usize) -> String {
    let of = |p: Option<&super::HistoryPoint>| p.map(|p| moment(&p.run.started_at)).unwrap_or_default();
    let (first, last) = (of(series.points.first()), of(series.points.last()));
    let fill = columns.saturating_sub(first.width() + last.width()).max(1);
    format!("{first}{}{last}", " ".repeat(fill)).trim_end().to_owned()
}
