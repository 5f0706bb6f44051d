//! Every run of a phase as a dot on the range of its cell, with the median as a bar: one line per cell.

use super::{Sweep, SweepTable};
use crate::svg::{Anchor, Picture, escape, line, shortened, text};
use std::fmt::Write as _;

const WIDTH: f64 = 900.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 32.0;
const ROW: f64 = 24.0;
/// Approximate width of a letter of a label on a narrow screen, where letters are larger.
const LETTER: f64 = 7.3;
/// Maximum length of a label.
const LONGEST: usize = 60;
/// Number of spaces between the rules.
const STEPS: u32 = 4;

/// The picture; `None` if nothing was measured.
pub(crate) fn picture(sweep: &Sweep, table: &SweepTable, number: usize) -> Option<Picture> {
    let all = || table.samples.iter().flatten().copied();
    let (low, high) = (all().reduce(f64::min)?, all().reduce(f64::max)?);
    // From 0, unless the differences would then be invisible.
    let start = if low < 0.5 * high { 0.0 } else { low - (high - low).max(high * 0.01) * 0.15 };
    let end = high + (high - start).max(1e-9) * 0.05;
    let measured: Vec<usize> = (0..table.cells.len()).filter(|&c| table.cells[c].is_some()).collect();
    let labels: Vec<String> =
        measured.iter().map(|&cell| shortened(&sweep.settings(cell, false), LONGEST)).collect();
    let longest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let left = (longest as f64 * LETTER + 20.0).max(100.0);
    let x = |v: f64| left + (v - start) / (end - start) * (WIDTH - RIGHT - left);
    let bottom = TOP + ROW * measured.len() as f64;
    let title = format!("Every run of {}, {}", table.phase, table.unit);
    let mut body = String::new();
    text(&mut body, 8.0, 18.0, Anchor::Start, "t", &shortened(&title, 110));
    for step in 0..=STEPS {
        let value = start + (end - start) * f64::from(step) / f64::from(STEPS);
        line(&mut body, (x(value), TOP), (x(value), bottom), "");
        text(&mut body, x(value), bottom + 15.0, Anchor::Middle, "v", &SweepTable::number(value));
    }
    for ((row, &cell), label) in measured.iter().enumerate().zip(&labels) {
        let y = TOP + ROW * (row as f64 + 0.5);
        let Some(s) = &table.cells[cell] else { continue };
        text(&mut body, left - 10.0, y + 4.0, Anchor::End, "", label);
        line(&mut body, (x(s.min), y), (x(s.max), y), "axis");
        for value in &table.samples[cell] {
            let _ = writeln!(
                body,
                "<circle class=\"fa\" fill-opacity=\".55\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"4\"><title>{}</title></circle>",
                x(*value),
                escape(&format!("{} {}", SweepTable::number(*value), table.unit))
            );
        }
        line(&mut body, (x(s.median), y - 7.0), (x(s.median), y + 7.0), "regime");
    }
    let words = format!("{} cells, {} runs.", measured.len(), all().count());
    Some(Picture::new(&format!("sweep runs {number}"), &title, words, WIDTH, bottom + 24.0, body))
}
