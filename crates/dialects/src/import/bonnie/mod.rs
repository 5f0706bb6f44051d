//! bonnie++ 1.0 to 2.0: its two text tables, and the CSV line that follows or stands alone. A cell per test.

mod csv;

use super::Block;
use super::cell::{add, cell, converted, figure, run};
use super::context::Context;
use super::lines::{Lines, leading, number};
use super::units::{Prefix, Unit, unit};
use fathom_record::Phase;
use fathom_record::imported::names::{OPERATIONS, THROUGHPUT};
use fathom_record::imported::units::{BYTES_PER_S, NS, OPS_PER_S, PERCENT};

/// Maximum lines between a table and the CSV line.
const APART: usize = 3;

/// A test: its name, whether it reads and writes file data, and whether its rate is of files or seeks.
type BonnieTest = (&'static str, bool, bool, bool);

/// Tests of the first table, in order, then those of the second.
const TESTS: [BonnieTest; 12] = [
    ("write by character", false, true, false),
    ("write", false, true, false),
    ("rewrite", true, true, false),
    ("read by character", true, false, false),
    ("read", true, false, false),
    ("random seeks", true, true, true),
    ("create files in order", false, false, true),
    ("stat files in order", false, false, true),
    ("delete files in order", false, false, true),
    ("create files at random", false, false, true),
    ("stat files at random", false, false, true),
    ("delete files at random", false, false, true),
];
const CREATE: usize = 6;

/// Tables or a CSV line starting here.
pub(super) fn parse(lines: &Lines, at: usize, _: &Context) -> Option<Block> {
    let mut block = Block { last: at, ..Block::default() };
    let mut of = Run::default();
    if !of.csv(lines, at, &mut block) {
        if !is_first_head(lines.trimmed(at)) {
            return None;
        }
        let mut n = at;
        // At most one table of sizes and one of files.
        for part in 0..2 {
            if part > 0 && !is_second_head(lines.trimmed(n)) {
                break;
            }
            let Some(last) = of.table(lines, n, &mut block) else { break };
            block.last = last;
            n = last + 1;
        }
        let behind = (n..n + APART).find(|&n| !lines.is_blank(n));
        if let Some(line) = behind.filter(|&line| of.csv(lines, line, &mut block)) {
            block.last = line;
        }
    }
    let Run { cells, version, .. } = of;
    let run = run("bonnie++", format!("bonnie++ {version}").trim_end().into(), cells);
    if run.phases.is_empty() {
        return None;
    }
    block.what = format!("bonnie++, {}", super::several(run.phases.len(), "test"));
    block.runs.push(run);
    Some(block)
}

fn is_first_head(line: &str) -> bool {
    line.contains("Sequential Output--") && line.contains("--Random") || is_second_head(line)
}

fn is_second_head(line: &str) -> bool {
    line.contains("--Sequential Create--") && line.contains("--Random Create--")
}

/// State of a run being read.
struct Run {
    version: String,
    /// Name and size, which precede the cells in the first table.
    named: Option<String>,
    cells: Vec<Phase>,
}

impl Default for Run {
    fn default() -> Self {
        let of = |&(name, reads, writes, _): &BonnieTest| Phase { reads, writes, ..cell(name) };
        Self { version: String::new(), named: None, cells: TESTS.iter().map(of).collect() }
    }
}

impl Run {
    /// Reads the rate of a test unless it is known; bytes are in KiB without a suffix. Returns false if it is not a rate.
    fn rate(&mut self, test: usize, word: &str, n: usize) -> bool {
        // Too fast to be measured.
        if word.starts_with("+++") {
            return true;
        }
        let Some((value, _, letter)) = leading(word) else { return false };
        let kib = match letter {
            "" | "k" | "K" => 1024.0,
            "m" | "M" => 1024.0 * 1024.0,
            "g" | "G" => 1024.0 * 1024.0 * 1024.0,
            _ => return false,
        };
        let is_count = TESTS[test].3;
        if is_count && !letter.is_empty() {
            return false;
        }
        let (name, unit) = if is_count {
            (OPERATIONS, Unit { base: OPS_PER_S, factor: 1.0 })
        } else {
            (THROUGHPUT, Unit { base: BYTES_PER_S, factor: kib })
        };
        let printed = match (is_count, letter) {
            (true, _) => format!("{word} /sec"),
            (false, "") => format!("{word} K/sec"),
            (false, _) => format!("{word}/sec"),
        };
        self.add(test, converted(name, value, unit, printed, n));
        true
    }

    fn cpu(&mut self, test: usize, word: &str, n: usize) -> bool {
        if word.starts_with("++") {
            return true;
        }
        let Some(value) = number(word) else { return false };
        self.add(test, figure("CPU", value, PERCENT, format!("{word} %"), n));
        true
    }

    fn latency(&mut self, test: usize, word: &str, n: usize) -> bool {
        let Some((value, _, name)) = leading(word) else { return word.starts_with("+++") };
        let Some(unit) = unit(name, Prefix::Binary).filter(|u| u.base == NS) else { return false };
        self.add(test, converted("latency max", value, unit, word.into(), n));
        true
    }

    /// Adds a figure unless it is known: table and CSV contain the same figures.
    fn add(&mut self, test: usize, figure: fathom_record::Figure) {
        if self.cells[test].repetitions[0].figure(&figure.name).is_none() {
            add(&mut self.cells[test], figure);
        }
    }

    fn file_bytes(&mut self, word: &str) {
        let size = word.split(':').next().and_then(leading).and_then(|(value, _, letter)| {
            let letter = if letter.is_empty() { "M" } else { letter };
            Some((value * unit(&format!("{letter}B"), Prefix::Binary)?.factor) as u64)
        });
        for phase in &mut self.cells[..CREATE] {
            phase.axes.file_bytes = size;
        }
    }

    /// The number of files, in units of 1024.
    fn files(&mut self, word: &str) -> Option<f64> {
        let files = number(word.split(':').next()?)? * 1024.0;
        for phase in &mut self.cells[CREATE..] {
            phase.axes.tags.insert("files".into(), files.to_string());
        }
        Some(files)
    }

    /// Reads headings, rows and latencies from this line. Returns the last line.
    fn table(&mut self, lines: &Lines, at: usize, block: &mut Block) -> Option<usize> {
        let first = if is_second_head(lines.trimmed(at)) { CREATE } else { 0 };
        let version = lines.trimmed(at).strip_prefix("Version").and_then(|l| l.split_whitespace().next());
        if let Some(version) = version.filter(|v| !v.starts_with('-')) {
            self.version = version.into();
        }
        let heads = (at + 1..at + 4).find(|&n| lines.at(n).contains("/sec %CP"))?;
        let columns = ColumnEnds::of(lines.at(heads));
        let row = heads + 1;
        let mut last = heads;
        if self.row(first, &columns, lines, row, block) {
            last = row;
            let latency = row + 1;
            if let Some(rest) = lines.trimmed(latency).strip_prefix("Latency") {
                let line = lines.at(latency);
                let offset = line.len() - line.trim_start().len() + "Latency".len();
                for (test, word) in columns.latencies(rest, offset) {
                    if test.is_none_or(|t| !self.latency(first + t, word, latency)) {
                        block.partly.push(latency);
                    }
                }
                last = latency;
            }
        }
        Some(last)
    }

    /// "marvin  2G 13035  33  7130   3 ...": name and size or number of files, then rate and CPU percentage of each test.
    fn row(
        &mut self,
        first: usize,
        columns: &ColumnEnds,
        lines: &Lines,
        n: usize,
        block: &mut Block,
    ) -> bool {
        // A row that was wrapped goes on in the next line, and its last number may be cut.
        let goes_on = lines.trimmed(n + 1).split_whitespace().next().is_some_and(is_value);
        let Some((before, size, cells)) = columns.cells(lines.at(n), first == CREATE).filter(|_| !goes_on)
        else {
            return false;
        };
        let mut files = None;
        if first == CREATE {
            files = self.files(size);
        } else {
            self.file_bytes(size);
            self.named = Some(before.into());
        }
        for (test, rate, cpu) in cells {
            // Release 2.0 prints the number of files instead of the creation rate.
            let is_number_of_files = files.is_some_and(|f| number(rate) == Some(f)) && matches!(test, 0 | 3);
            if is_number_of_files || !self.rate(first + test, rate, n) || !self.cpu(first + test, cpu, n) {
                block.partly.push(n);
            }
        }
        true
    }
}

/// Column, rate and CPU percentage.
type TestColumns<'l> = (usize, &'l str, &'l str);

/// End positions of a table's columns.
struct ColumnEnds(Vec<usize>);

impl ColumnEnds {
    fn of(heads: &str) -> Self {
        Self(heads.match_indices("%CP").map(|(at, word)| at + word.len()).collect())
    }

    /// The column whose end is nearest.
    fn at(&self, end: usize) -> Option<usize> {
        let (column, off) = self.0.iter().map(|e| e.abs_diff(end)).enumerate().min_by_key(|(_, off)| *off)?;
        (off <= 4).then_some(column)
    }

    /// The text before the cells, the size or number of files at its end, and the cells.
    fn cells<'l>(
        &self,
        line: &'l str,
        is_of_files: bool,
    ) -> Option<(&'l str, &'l str, Vec<TestColumns<'l>>)> {
        let words = words(line);
        let size_of = |n: usize| Some(words.get(n)?.1.rsplit(')').next()?).filter(|word| is_size(word));
        let before = |n: usize| line[..words[n].0].trim();
        for n in 0..words.len() {
            if let Some(size) = size_of(n)
                && let Some(cells) = aligned(words[n].0, &words[n + 1..], self.0.len())
                && (cells.len() == self.0.len() || line.contains("  "))
            {
                return Some((before(n), size, cells));
            }
        }
        // Blanks may have been lost. Then no cell may be missing, and the last is not shorter than it was.
        let n = words.len().checked_sub(2 * self.0.len() + 1)?;
        let size = size_of(n)?;
        let has_name = n > 0 || is_of_files || words[n].1 != size;
        let is_cut = line.contains("  ")
            && aligned(words[n].0, &words[n + 1..words.len() - 1], self.0.len()).is_none()
            && aligned(words[n].0, &words[n + 1..words.len() - 2], self.0.len()).is_some();
        let cells = words[n + 1..].chunks_exact(2).enumerate().map(|(c, pair)| (c, pair[0].1, pair[1].1));
        let are_values = words[n + 1..].iter().all(|(_, word)| is_value(word));
        (has_name && are_values && !is_cut).then(|| (before(n), size, cells.collect()))
    }

    /// Latencies with their columns.
    fn latencies<'l>(&self, rest: &'l str, offset: usize) -> Vec<(Option<usize>, &'l str)> {
        let words = words(rest);
        let all = words.len() == self.0.len();
        let of = |(n, (end, word)): (usize, (usize, &'l str))| {
            (if all { Some(n) } else { self.at(end + offset) }, word)
        };
        words.into_iter().enumerate().map(of).collect()
    }
}

/// The cells behind the size, as they are printed: ten blanks, or a rate in six columns and a percentage in four. A rate that needs seven
/// moves what is behind it, or takes a column of the percentage.
fn aligned<'l>(size_end: usize, words: &[(usize, &'l str)], most: usize) -> Option<Vec<TestColumns<'l>>> {
    let mut pairs = words.chunks(2).peekable();
    let mut cells = Vec::new();
    let (mut end, mut is_narrow) = (size_end, false);
    for column in 0..most {
        let Some(&pair) = pairs.peek() else { break };
        let &[(rate_end, rate), (cpu_end, cpu)] = pair else { return None };
        if rate_end != (end + 6).max(end + 1 + rate.len()) {
            end += 10;
            continue;
        }
        let _ = pairs.next();
        let is_wide = cpu_end == (rate_end + 4).max(rate_end + 1 + cpu.len());
        let is_last = pairs.peek().is_none();
        if !is_wide && (cpu_end != end + 10 || is_last && !is_narrow) || !is_value(rate) || !is_value(cpu) {
            return None;
        }
        is_narrow |= !is_wide;
        end = cpu_end;
        cells.push((column, rate, cpu));
    }
    (pairs.next().is_none() && !cells.is_empty()).then_some(cells)
}

fn is_value(word: &str) -> bool {
    word.starts_with("++") || leading(word).is_some_and(|(.., rest)| rest.len() <= 1)
}

/// "8G", "300M:1k", "16", "16:1000:0/8".
fn is_size(word: &str) -> bool {
    let size = word.split(':').next().unwrap_or(word);
    number(size.trim_end_matches(['k', 'K', 'M', 'G', 'T'])).is_some()
}

/// Words with their end positions.
fn words(line: &str) -> Vec<(usize, &str)> {
    let start = line.as_ptr() as usize;
    line.split_whitespace().map(|w| (w.as_ptr() as usize - start + w.len(), w)).collect()
}
