//! Latency percentiles: one line per phase and kind of operation, or per operation of a flow, from the median to the maximum,
//! on a logarithmic time axis.

use super::{Anchor, Picture, heat_map::shortened, line, text};
use crate::{
    Breakdown,
    latency::{LatencyRow, paced},
    units,
};
use std::fmt::Write as _;

const WIDTH: f64 = 520.0;
const LEFT: f64 = 16.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 62.0;
const ROW: f64 = 34.0;
/// Maximum number of lines in a picture.
const MOST_ROWS: usize = 24;
/// Maximum length of a label: a longer one would extend beyond the picture on a phone, where letters are larger.
const MOST_LETTERS: usize = 66;

struct LatencyLine {
    /// Text above the line.
    label: String,
    /// Alternative text for screen readers.
    words: String,
    /// The percentiles of [`LatencyRow::HEADS`], ascending.
    values_ns: [u64; 5],
}

/// Draws the first rows; `None` without any.
#[must_use]
pub fn latency(rows: &[LatencyRow]) -> Option<Picture> {
    // Only the rows that are drawn decide whether a phase has a rate.
    let rows = &rows[..rows.len().min(MOST_ROWS)];
    let line = |r: &LatencyRow| {
        let part = r.part(paced(rows, r));
        LatencyLine {
            label: label(&r.title, part, r.origin.words()),
            words: format!("{}, {part}", r.title),
            values_ns: r.values_ns(),
        }
    };
    let lines: Vec<LatencyLine> = rows.iter().map(line).collect();
    drawn("latency", "Latency percentiles", "Latency percentiles (log time)", &lines)
}

/// Text above a line. If it does not all fit, the source is only in the table below.
fn label(title: &str, part: &str, served_by: &str) -> String {
    let whole = format!("{title} · {part} ({served_by})");
    if whole.chars().count() <= MOST_LETTERS {
        return whole;
    }
    let rest = format!(" · {part}");
    shortened(title, MOST_LETTERS - rest.chars().count()) + &rest
}

/// Draws the operations of a flow; `None` if none was timed, or if it is no flow: [`latency`] draws kinds of operation.
#[must_use]
pub fn operations(breakdown: &Breakdown) -> Option<Picture> {
    if !breakdown.of_flow {
        return None;
    }
    let line = |r: &fathom_record::Row| {
        let at = |p| r.latency.percentile_ns(p);
        Some(LatencyLine {
            label: format!("{} · {} times", shortened(&r.name, 48), units::count(r.latency.count())),
            words: r.name.clone(),
            values_ns: [at(50.0)?, at(90.0)?, at(99.0)?, at(99.9)?, r.latency.max_ns()],
        })
    };
    let lines: Vec<LatencyLine> = breakdown.rows.iter().filter_map(line).take(MOST_ROWS).collect();
    let title = format!("Latency by operation: {}", breakdown.title);
    let slug = format!("operations {} {}", breakdown.seq, breakdown.brief);
    drawn(&slug, &title, &shortened(&title, 66), &lines)
}

fn drawn(slug: &str, title: &str, heading: &str, rows: &[LatencyLine]) -> Option<Picture> {
    let lowest = rows.iter().map(|r| r.values_ns[0].max(1)).min()?;
    let highest = rows.iter().map(|r| r.values_ns[4].max(1)).max()?;
    let axis = LatencyAxis::of(lowest, highest);
    let mut body = String::new();
    text(&mut body, 8.0, 18.0, Anchor::Start, "t", heading);
    legend(&mut body);
    let bottom = TOP + rows.len() as f64 * ROW;
    for power in axis.first..=axis.last {
        let x = axis.x(10f64.powi(power));
        line(&mut body, (x, TOP - 4.0), (x, bottom), "");
        let anchor = match power {
            first if first == axis.first => Anchor::Start,
            last if last == axis.last => Anchor::End,
            _ => Anchor::Middle,
        };
        text(&mut body, x, bottom + 14.0, anchor, "v", &decade(power));
    }
    for (i, row) in rows.iter().enumerate() {
        draw(&mut body, row, TOP + i as f64 * ROW, &axis);
    }
    let words: Vec<String> = rows
        .iter()
        .map(|r| {
            format!(
                "{}: median {}, p99 {}, slowest {}.",
                r.words,
                units::time_ns(r.values_ns[0] as f64),
                units::time_ns(r.values_ns[2] as f64),
                units::time_ns(r.values_ns[4] as f64)
            )
        })
        .collect();
    Some(Picture::new(slug, title, words.join(" "), WIDTH, bottom + 24.0, body))
}

struct LatencyAxis {
    first: i32,
    last: i32,
}

impl LatencyAxis {
    fn of(lowest: u64, highest: u64) -> Self {
        let first = (lowest as f64).log10().floor() as i32;
        Self { first, last: ((highest as f64).log10().ceil() as i32).max(first + 1) }
    }

    fn x(&self, ns: f64) -> f64 {
        let share = (ns.max(1.0).log10() - f64::from(self.first)) / f64::from(self.last - self.first);
        LEFT + share * (WIDTH - LEFT - RIGHT)
    }
}

/// "10 us" for a power of ten of nanoseconds.
fn decade(power: i32) -> String {
    let (unit, rest) = match power {
        i32::MIN..=2 => ("ns", power),
        3..=5 => ("us", power - 3),
        6..=8 => ("ms", power - 6),
        _ => ("s", power - 9),
    };
    format!("{:.0} {unit}", 10f64.powi(rest))
}

fn draw(out: &mut String, row: &LatencyLine, top: f64, axis: &LatencyAxis) {
    text(out, LEFT, top + 9.0, Anchor::Start, "v", &row.label);
    let y = top + 19.0;
    let places = row.values_ns.map(|ns| axis.x(ns as f64));
    line(out, (places[0], y), (places[4], y), "span");
    for (place, (head, ns)) in places.iter().zip(LatencyRow::HEADS.iter().zip(row.values_ns)) {
        let _ = write!(out, "<g><title>{head} {}</title>", units::time_ns(ns as f64));
        mark(out, *place, y, head);
        out.push_str("</g>\n");
    }
}

/// Draws a mark; marks differ by shape, not only by colour.
fn mark(out: &mut String, x: f64, y: f64, head: &str) {
    let _ = match head {
        "p50" => write!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\" class=\"fa\"/>"),
        "p90" => write!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" class=\"hollow\"/>"),
        "p99" => write!(
            out,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"7\" height=\"7\" class=\"fb\"/>",
            x - 3.5,
            y - 3.5
        ),
        "p99.9" => {
            write!(out, "<path d=\"M{x:.1} {:.1}l4.5 4.5l-4.5 4.5l-4.5 -4.5z\" class=\"fb\"/>", y - 4.5)
        }
        _ => write!(out, "<path d=\"M{x:.1} {:.1}v10\" class=\"span\" stroke-width=\"2\"/>", y - 5.0),
    };
}

fn legend(out: &mut String) {
    let mut x = LEFT + 6.0;
    for head in LatencyRow::HEADS {
        mark(out, x, 36.0, head);
        out.push('\n');
        text(out, x + 9.0, 40.0, Anchor::Start, "", head);
        x += 62.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_without_room_leaves_out_what_the_table_tells() {
        let title = "random mix, 1 stream, file 4 MiB, record 16 KiB";
        assert_eq!(label("write", "write", "device"), "write · write (device)");
        assert_eq!(
            label(title, "sync at the end", "page cache and device"),
            format!("{title} · sync at the end")
        );
        let cut = label(&title.repeat(2), "sync at the end", "device");
        assert!(cut.ends_with("… · sync at the end") && cut.chars().count() == MOST_LETTERS, "{cut}");
    }
}
