//! The automatic-mode table: a row for each pair of sizes, a column for each test. Tests that were not selected are blank, so a value's
//! column is determined by its end position or, if blanks were lost, by the number of values and the selected tests.

use super::super::cell::{add, cell, converted};
use super::super::lines::{all_numbers, number};
use super::head::Head;
use crate::iozone::pass::PASSES;
use fathom_record::Phase;
use fathom_record::imported::names::{OPERATIONS, THROUGHPUT};
use fathom_record::imported::units::{BYTES_PER_S, OPS_PER_S};

/// The columns in their order.
const COLUMNS: [&str; 17] = [
    "write",
    "rewrite",
    "read",
    "reread",
    "random read",
    "random write",
    "backward read",
    "record rewrite",
    "stride read",
    "fwrite",
    "frewrite",
    "fread",
    "freread",
    "pwrite",
    "repwrite",
    "pread",
    "repread",
];
/// Test number (-i) of each column.
const TESTS: [u64; 17] = [0, 0, 1, 1, 2, 2, 3, 4, 5, 6, 6, 7, 7, 9, 9, 10, 10];
/// Number of columns without -E.
const USUAL: usize = 13;
/// End positions of the columns since release 3.427, and before.
const ENDS: [[usize; 17]; 2] = [
    [33, 42, 51, 60, 69, 78, 87, 97, 107, 116, 125, 134, 143, 152, 161, 169, 178],
    [32, 40, 49, 58, 66, 74, 82, 91, 100, 109, 118, 126, 135, 144, 153, 161, 170],
];

/// Whether a line is the table heading.
pub(super) fn is_head(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    let mut words = lower.split_whitespace();
    words.next() == Some("kb") && words.next() == Some("reclen")
}

/// Whether a line is the line of words above the heading.
pub(super) fn is_above_head(line: &str) -> bool {
    let known = |w: &str| matches!(w, "random" | "bkwd" | "record" | "stride");
    !line.is_empty() && line.split_whitespace().all(known)
}

/// Reads a row. Returns whether it is one and all values were assigned to columns. `width` is the number of values of the row before.
pub(super) fn takes(
    phases: &mut Vec<Phase>,
    head: &Head,
    width: &mut Option<usize>,
    line: &str,
    n: usize,
) -> bool {
    let Some(numbers) = all_numbers(line).filter(|v| v.len() >= 2) else { return false };
    let (file_kb, record_kb) = (numbers[0].0, numbers[1].0);
    // The second part of a row that a mailer wrapped begins with two results: they are not sizes.
    let is_odd = record_kb <= 0.0 || file_kb % record_kb != 0.0;
    if file_kb < record_kb || file_kb <= 0.0 || is_odd && width.is_some_and(|w| w != numbers.len()) {
        return false;
    }
    let Some(columns) = columns(head, line, numbers.len() - 2) else { return false };
    for (&column, &(value, word)) in columns.iter().zip(&numbers[2..]) {
        // Not run: a retest that was not requested, or a record size excluded by the crossover.
        if value == 0.0 {
            continue;
        }
        let Some(name) = COLUMNS.get(column) else { return false };
        let mut phase = sized(name, head, file_kb, record_kb);
        add(&mut phase, converted(rate_name(head), value, head.unit, word.to_string(), n));
        phases.push(phase);
    }
    *width = Some(numbers.len());
    true
}

/// Name of a rate in the unit of the log.
pub(super) fn rate_name(head: &Head) -> &'static str {
    match head.unit.base {
        BYTES_PER_S => THROUGHPUT,
        OPS_PER_S => OPERATIONS,
        _ => "time of an operation",
    }
}

pub(super) fn sized(name: &str, head: &Head, file_kb: f64, record_kb: f64) -> Phase {
    let mut phase = cell(name);
    let reads = PASSES.iter().find(|p| p.name == name).is_some_and(|p| p.reads);
    (phase.reads, phase.writes) = (reads, !reads);
    phase.sync_in_clock = head.sync && !reads;
    phase.direct = head.direct;
    phase.axes.file_bytes = Some((file_kb * 1024.0) as u64);
    phase.axes.record_bytes = Some((record_kb * 1024.0) as u64);
    phase.axes.streams = Some(1);
    phase.axes.tags.insert("mode".into(), "table".into());
    phase
}

/// The columns of a row's values.
fn columns(head: &Head, line: &str, values: usize) -> Option<Vec<usize>> {
    if values == COLUMNS.len() || values == USUAL {
        return Some((0..values).collect());
    }
    by_place(line, values).or_else(|| by_tests(head, values))
}

/// By the end position of each value, if the row still has its blanks.
fn by_place(line: &str, values: usize) -> Option<Vec<usize>> {
    let mut ends = Vec::new();
    let mut at = 0;
    for word in line.split_whitespace() {
        let start = at + line[at..].find(word)?;
        at = start + word.len();
        ends.push(at);
    }
    let ends = ends.split_off(ends.len().checked_sub(values)?);
    ENDS.iter().find_map(|known| ends.iter().map(|e| known.iter().position(|k| k == e)).collect())
}

/// By the selected tests; without a selection, the first tests.
fn by_tests(head: &Head, values: usize) -> Option<Vec<usize>> {
    let tests = head.arguments('i');
    let asked: Vec<usize> = (0..COLUMNS.len()).filter(|&c| tests.contains(&TESTS[c])).collect();
    match asked.len() {
        n if n == values => Some(asked),
        0 if values < COLUMNS.len() => Some((0..values).collect()),
        _ => None,
    }
}

/// A size in the left column or the heading.
pub(super) fn quoted_number(word: &str) -> Option<f64> {
    number(word.trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str, command: &str) -> Vec<(String, f64)> {
        let mut head = Head::default();
        head.command(command);
        let mut phases = Vec::new();
        assert!(takes(&mut phases, &head, &mut None, line, 0), "{line}");
        let value = |p: &Phase| p.repetitions[0].figures[0].value / 1024.0;
        phases.iter().map(|p| (p.name.clone(), value(p))).collect()
    }

    #[test]
    fn a_value_is_told_by_where_it_ends() {
        let new = format!("{:>16}{:>8}{:>9}{:>9}{:18}{:>9}{:>9}", 1024, 4, 789544, 1851434, "", 3333, 44444);
        let values = read(&new, "");
        assert_eq!(values[0], ("write".into(), 789544.0));
        assert_eq!(values[2..], [("random read".into(), 3333.0), ("random write".into(), 44444.0)]);
        let old = format!("{:>16}{:>8}{:>8}{:>8}{:18}{:>8}{:>8}", 1024, 4, 70000, 80000, "", 90000, 100000);
        assert_eq!(read(&old, "")[3].0, "random write");
    }

    #[test]
    fn without_blanks_the_tests_that_were_asked_for_tell() {
        assert_eq!(read("64 4 1 2 3 4", "iozone -i 0 -i 2")[2].0, "random read");
        assert_eq!(read("64 4 1 2 3 4", "")[2].0, "read");
        assert_eq!(read("64 4 1 0 3 4", "iozone -i 0 -i 1").len(), 3, "0 was not run");
        let mut head = Head::default();
        head.command("iozone -i 0");
        assert!(!takes(&mut Vec::new(), &head, &mut None, "64 4 1 2 3", 0), "three values for two columns");
    }

    #[test]
    fn the_second_part_of_a_wrapped_row_is_no_row() {
        let head = Head::default();
        let (mut phases, mut width) = (Vec::new(), None);
        let mut read = |line: &str| takes(&mut phases, &head, &mut width, line, 0);
        assert!(read("  512       4   812345   912345  3123456  4123456  3523456"));
        assert!(!read("1012345  3323456   1512345   3423456   802345"), "a record larger than its file");
        assert!(!read("3323456  1012345   1512345   3423456"), "no size is a multiple of the other");
        assert!(!read("0 0 1512345 3423456"));
        assert!(read("  512       8   812345   912345  3123456  4123456  3523456"));
        assert_eq!(phases.len(), 10);
        // All rows of a table with an odd record size have as many values.
        let mut width = None;
        for line in ["1000 300 1 2 3 4", "1000 600 1 2 3 4"] {
            assert!(takes(&mut phases, &head, &mut width, line, 0), "{line}");
        }
    }
}
