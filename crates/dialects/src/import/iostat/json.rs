//! `iostat -o JSON`: same figures, same names as text.

use super::super::Block;
use super::super::json_leaves::scan;
use super::super::lines::Lines;
use super::{PROCESSORS, column, finished, push};
use fathom_record::{Figure, Phase};

pub(super) fn parse(lines: &Lines, at: usize) -> Option<Block> {
    let mut first = lines.document(at).next()?.trim_start().strip_prefix('{')?.trim_start();
    if first.is_empty() {
        first = lines.document(at).nth(1)?.trim_start();
    }
    if !first.starts_with("\"sysstat\"") {
        return None;
    }
    let mut phases: Vec<Phase> = Vec::new();
    let mut row = IostatJsonRow::default();
    let scanned = scan(lines.document(at), |leaf| {
        let path: Vec<&str> = leaf.path.iter().map(String::as_str).collect();
        match path.as_slice() {
            ["sysstat", "hosts", _, "statistics", _, "avg-cpu", key] if leaf.number => {
                row.is_of(&path[..6], &mut phases);
                row.name = PROCESSORS.into();
                row.figures.push(column(&format!("%{key}"), &leaf.text, at + leaf.line));
            }
            ["sysstat", "hosts", _, "statistics", _, "disk", _, key] => {
                row.is_of(&path[..7], &mut phases);
                if *key == "disk_device" {
                    row.name.clone_from(&leaf.text);
                } else if leaf.number {
                    let share = matches!(*key, "util" | "rrqm" | "wrqm" | "drqm");
                    let name = if share { format!("%{key}") } else { (*key).to_owned() };
                    row.figures.push(column(&name, &leaf.text, at + leaf.line));
                }
            }
            _ => {}
        }
    });
    row.is_of(&[], &mut phases);
    if !scanned.whole && !scanned.broken && lines.document_is_cut() {
        return Some(Block { last: at, too_long: true, ..Block::default() });
    }
    let (what, runs) = finished(phases)?;
    let what = if scanned.whole { what } else { format!("{what}, cut off") };
    Some(Block { last: at + scanned.last, what, runs, is_document: true, ..Block::default() })
}

#[derive(Default)]
struct IostatJsonRow {
    place: Vec<String>,
    name: String,
    figures: Vec<Figure>,
}

impl IostatJsonRow {
    /// Moves to a position in the document; the row of another position is then complete.
    fn is_of(&mut self, place: &[&str], phases: &mut Vec<Phase>) {
        if self.place == place {
            return;
        }
        if !self.figures.is_empty() {
            push(phases, &self.name, std::mem::take(&mut self.figures));
        }
        self.place = place.iter().map(|part| (*part).to_owned()).collect();
    }
}
