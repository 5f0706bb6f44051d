//! Inconsistencies within a table: rows whose cells switch between two levels independently of the record size (two states of the
//! device), and cells far from both neighbours (the first reader of a file reads the disk, later ones the cache). Each kind is
//! reported once per run, with the strongest cases.

use fathom_compare::{levels::two_levels, order_effect::off_neighbours};
use fathom_record::imported::names::THROUGHPUT;
use fathom_record::origin::bytes_words;
use fathom_record::{Doubt, Phase, Run};
use std::fmt::Write as _;

/// Cases reported in full.
const MOST: usize = 3;
/// From this many level changes along a row, the levels are unrelated to the record size.
const FEWEST_CHANGES: usize = 3;

/// A case: strength and description.
type Case = (f64, String);

/// The doubts about a run's tables.
pub(super) fn of_tables(run: &Run) -> Vec<Doubt> {
    let (mut levels, mut order) = (Vec::new(), Vec::new());
    let mut rows = 0;
    for row in rows_of(&run.phases) {
        rows += 1;
        // The first cell may differ because of execution order.
        let values = row.values();
        let without_first = || in_two_levels(&row, values.get(1..)?);
        levels.extend(in_two_levels(&row, &values).or_else(without_first));
        order.extend(off(&row));
    }
    let mut doubts = Vec::new();
    if !levels.is_empty() {
        let head = format!(
            "two levels or strong skew in {} of {rows} rows, regardless of record size",
            levels.len()
        );
        doubts.push(doubt("two-levels", &head, levels));
    }
    if !order.is_empty() {
        let cells =
            if order.len() == 1 { "1 cell is".to_string() } else { format!("{} cells are", order.len()) };
        let head = format!(
            "{cells} more than 3 times off the neighbours; perhaps the first to read a file reads the disk and the others the cache"
        );
        doubts.push(doubt("order-effect", &head, order));
    }
    doubts
}

fn doubt(code: &str, head: &str, mut cases: Vec<Case>) -> Doubt {
    cases.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut sentence = head.to_string();
    for (n, (_, words)) in cases.iter().take(MOST).enumerate() {
        let _ = write!(sentence, "{} {words}", if n == 0 { ":" } else { ";" });
    }
    if cases.len() > MOST {
        let _ = write!(sentence, "; and {} more", cases.len() - MOST);
    }
    Doubt { code: code.into(), phases: Vec::new(), sentence }
}

/// A row: the cells of one operation and file size, by record size as printed.
struct SurfaceRow<'r> {
    name: &'r str,
    file_bytes: u64,
    /// Record size as printed, and throughput in kB/s.
    cells: Vec<(u64, f64)>,
}

impl SurfaceRow<'_> {
    fn values(&self) -> Vec<f64> {
        self.cells.iter().map(|c| c.1).collect()
    }
}

fn rows_of(phases: &[Phase]) -> Vec<SurfaceRow<'_>> {
    let mut rows: Vec<SurfaceRow> = Vec::new();
    for phase in phases.iter().filter(|p| p.axes.tags.get("mode").is_some_and(|m| m == "table")) {
        let (Some(file_bytes), Some(record)) = (phase.axes.file_bytes, phase.axes.record_bytes) else {
            continue;
        };
        let Some(value) =
            phase.repetitions.last().and_then(|r| r.figure(THROUGHPUT)).map(|f| f.value / 1024.0)
        else {
            continue;
        };
        match rows.iter_mut().rev().take(32).find(|r| r.name == phase.name && r.file_bytes == file_bytes) {
            Some(row) => row.cells.push((record, value)),
            None => rows.push(SurfaceRow { name: &phase.name, file_bytes, cells: vec![(record, value)] }),
        }
    }
    rows
}

fn in_two_levels(row: &SurfaceRow, values: &[f64]) -> Option<Case> {
    let found = two_levels(values).ok()??;
    let middle = (found.low * found.high).sqrt();
    let changes = values.windows(2).filter(|w| (w[0] > middle) != (w[1] > middle)).count();
    (found.flagged && changes >= FEWEST_CHANGES).then(|| {
        let words = format!(
            "{}, file {}: {:.0} and {:.0} kB/s ({} of {} cells on the lower, ratio {:.3})",
            row.name,
            bytes_words(row.file_bytes),
            found.low,
            found.high,
            found.low_count,
            found.count,
            found.ratio()
        );
        (found.separation, words)
    })
}

fn off(row: &SurfaceRow) -> Vec<Case> {
    let found = off_neighbours(&row.values()).unwrap_or_default();
    let case = |o: &fathom_compare::order_effect::OffNeighbours| {
        let (record, value) = *row.cells.get(o.index)?;
        let words = format!(
            "{}, file {}, record {}: {value:.0} kB/s, the nearer neighbour {:.3} times that",
            row.name,
            bytes_words(row.file_bytes),
            bytes_words(record),
            o.ratio
        );
        Some((o.ratio.max(1.0 / o.ratio), words))
    };
    found.iter().filter_map(case).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::import;

    fn doubts(values: &[u32]) -> Vec<Doubt> {
        let heads: Vec<String> = (0..values.len()).map(|n| (4u32 << n).to_string()).collect();
        let cells: Vec<String> = values.iter().map(u32::to_string).collect();
        let text = format!("Reader Report\n\t{}\n262144\t{}\n", heads.join("\t"), cells.join("\t"));
        let mut imported = import("-", text.as_bytes(), None);
        imported.found.remove(0).runs.remove(0).doubts
    }

    #[test]
    fn a_bimodal_row_is_noted_but_not_an_effect_of_the_record_size() {
        let notices = doubts(&[58444, 88184, 58753, 87618, 57463, 88536, 89942, 90438]);
        assert_eq!(notices[0].code, "two-levels");
        assert!(
            notices[0].sentence.contains("58217 and 88937 kB/s (3 of 8 cells on the lower, ratio 1.528)"),
            "{notices:?}"
        );
        let step = doubts(&[58444, 58184, 58753, 87618, 87463, 88536, 89942, 90438]);
        assert_eq!(step.iter().map(|d| d.code.as_str()).collect::<Vec<_>>(), ["single-run"]);
    }

    #[test]
    fn a_first_cell_that_read_the_disk_is_noted() {
        let notices = doubts(&[65268, 1135412, 1135000, 1134000]);
        assert_eq!(notices[0].code, "order-effect");
        assert!(
            notices[0].sentence.contains("record 4 KiB: 65268 kB/s, the nearer neighbour 17.396 times that"),
            "{notices:?}"
        );
    }
}
