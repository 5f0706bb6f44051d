//! `sadf -j`: the names are those of the tables, as far as they are of devices, transfers or processors. Other figures keep their number,
//! without a unit: the document does not have one.

use super::super::Block;
use super::super::iostat::in_unit;
use super::super::json_leaves::scan;
use super::super::lines::Lines;
use super::super::units::Unit;
use super::{SarTable, When, figure, named};
use fathom_record::Figure;
use fathom_record::imported::units::UNKNOWN;

pub(super) fn parse(lines: &Lines, at: usize) -> Option<Block> {
    let mut first = lines.document(at).next()?.trim_start().strip_prefix('{')?.trim_start();
    if first.is_empty() {
        first = lines.document(at).nth(1)?.trim_start();
    }
    if !first.starts_with("\"sysstat\"") {
        return None;
    }
    let mut table = SarTable::default();
    let mut row = SarRow::default();
    let (mut time, mut is_of_sadf) = (String::new(), false);
    let scanned = scan(lines.document(at), |leaf| {
        let path: Vec<&str> = leaf.path.iter().map(String::as_str).collect();
        let ["sysstat", "hosts", host, "statistics", report, kind, rest @ ..] = path.as_slice() else {
            return;
        };
        let [inner @ .., key] = rest else { return };
        let place = [&[*host, *report, *kind], inner].concat();
        // The parts of "io" are one row.
        let place = if *kind == "io" { &place[..3] } else { &place[..] };
        row.is_of(place, &time, &mut table);
        match (*kind, *key) {
            // iostat's has a string here.
            ("timestamp", "time") => {
                is_of_sadf = true;
                time.clone_from(&leaf.text);
            }
            ("timestamp", _) => {}
            (_, _) if leaf.number => row.figures.push(of(kind, inner, key, &leaf.text, at + leaf.line)),
            ("cpu-load", "cpu") => row.name = named("CPU", &leaf.text),
            _ => row.name = leaf.text,
        }
    });
    row.is_of(&[], &time, &mut table);
    if !is_of_sadf {
        return None;
    }
    if !scanned.whole && !scanned.broken && lines.document_is_cut() {
        return Some(Block { last: at, too_long: true, ..Block::default() });
    }
    let (what, runs) = table.finished()?;
    let what = if scanned.whole { what } else { format!("{what}, cut off") };
    Some(Block { last: at + scanned.last, what, runs, is_document: true, ..Block::default() })
}

/// A figure under the name that its column has in the tables.
fn of(kind: &str, inner: &[&str], key: &str, word: &str, n: usize) -> Figure {
    let name = match (kind, key) {
        (_, key) if key.ends_with("-percent") => format!("%{}", key.trim_end_matches("-percent")),
        ("cpu-load", key) => format!("%{key}"),
        ("disk", "rd_sec" | "wr_sec" | "dc_sec" | "rkB" | "wkB" | "dkB")
        | ("io", "bread" | "bwrtn" | "bdscd") => {
            format!("{key}/s")
        }
        ("disk" | "io", key) => key.into(),
        _ => {
            let words: Vec<&str> =
                inner.iter().filter(|w| w.parse::<u32>().is_err()).chain([&key]).copied().collect();
            let name = format!("{kind} {}", words.join(" "));
            return in_unit(&name, word, Unit { base: UNKNOWN, factor: 1.0 }, n);
        }
    };
    figure(&name, word, n)
}

#[derive(Default)]
struct SarRow {
    place: Vec<String>,
    name: String,
    figures: Vec<Figure>,
}

impl SarRow {
    /// Moves to a position in the document; the row of another position is then complete.
    fn is_of(&mut self, place: &[&str], time: &str, table: &mut SarTable) {
        if self.place == place {
            return;
        }
        let name = std::mem::take(&mut self.name);
        if !self.figures.is_empty() {
            let name = if name.is_empty() { "system" } else { &name };
            table.push(name, &When::At(time), std::mem::take(&mut self.figures));
        }
        self.place = place.iter().map(|part| (*part).to_owned()).collect();
    }
}
