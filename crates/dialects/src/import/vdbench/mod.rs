//! vdbench's summary for raw devices and file systems, as on the terminal, in summary.html and totals.html: a run for each run
//! definition, with its mean and a repetition for each interval.

mod file_system;

use super::Block;
use super::cell::{add, cell, converted, run};
use super::context::Context;
use super::doubts::COURSE;
use super::lines::{Lines, number};
use super::units::Unit;
use fathom_record::imported::names::{OPERATIONS, THROUGHPUT};
use fathom_record::imported::units::{BYTES, BYTES_PER_S, COUNT, NS, OPS_PER_S, PERCENT};
use fathom_record::{Figure, Phase, Repetition};

/// Maximum lines between the name of a run and its headings.
const APART: usize = 8;
/// Maximum lines of worker output between two intervals.
const MOST_BETWEEN: usize = 16;

pub(super) fn parse(lines: &Lines, at: usize, _: &Context) -> Option<Block> {
    let named = name(lines.trimmed(at));
    let heads = if named.is_some() {
        let next = |n: &usize| *n > at && name(lines.trimmed(*n)).is_some();
        (at + 1..lines.len().min(at + APART)).take_while(|n| !next(n)).find(|&n| is_head(lines.trimmed(n)))?
    } else {
        Some(at).filter(|&n| is_head(lines.trimmed(n)))?
    };
    let columns = columns(lines.trimmed(heads), lines.trimmed(heads + 1))?;
    let name_of_run = named.unwrap_or("run").to_owned();
    let mut block = Block { last: heads + 1, ..Block::default() };
    let (mut mean, mut course) = (cell(&name_of_run), cell(&name_of_run));
    course.axes.tags.insert(COURSE.into(), "interval".into());
    course.repetitions.clear();
    let mut between = Vec::new();
    for n in heads + 2..lines.len() {
        let line = lines.trimmed(n);
        let is_again =
            is_head(line) && self::columns(line, lines.trimmed(n + 1)).is_some_and(|c| c == columns);
        let is_second = is_head(lines.trimmed(n - 1)) && !is_head(line);
        if is_again || is_second || line.is_empty() {
            // Headings repeat every few intervals.
            continue;
        }
        let Some((interval, values)) = row(line, columns.len()) else {
            if name(line).is_some() || between.len() == MOST_BETWEEN {
                break;
            }
            between.push(n);
            continue;
        };
        block.left.append(&mut between);
        let figures = figures(&columns, &values, n);
        block.last = n;
        if interval.starts_with("avg_") {
            figures.into_iter().for_each(|f| add(&mut mean, f));
            break;
        }
        let n = course.repetitions.len() as u32;
        course.repetitions.push(Repetition { n, figures, ..Repetition::default() });
    }
    block.what = format!("vdbench, {name_of_run}, {}", super::several(course.repetitions.len(), "interval"));
    let mut run = run("vdbench", "vdbench".into(), vec![directed(mean), directed(course)]);
    if run.phases.is_empty() {
        return None;
    }
    run.label = named.map(str::to_owned).unwrap_or_default();
    block.runs.push(run);
    Some(block)
}

/// The figures of a row; operations that did not occur have no latency.
fn figures(columns: &[Column], values: &[&str], n: usize) -> Vec<Figure> {
    let mut figures: Vec<Figure> = Vec::new();
    for (column, word) in columns.iter().zip(values) {
        let did_not_happen =
            column.of_the_rate_before && figures.last().is_some_and(|rate| rate.value == 0.0);
        figures.extend(column.figure(word, n).filter(|_| !did_not_happen));
    }
    figures
}

/// "17:44:05.001 Starting RD=rd1; I/O rate: ...".
fn name(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("Starting RD=")?;
    Some(rest.split(';').next()?.trim()).filter(|n| !n.is_empty())
}

/// "Dec 02, 2020  interval        i/o   MB/sec   bytes   read ...", or of file systems "Feb 15, 2019 .Interval. .ReqstdOps... ...cpu%... ...".
fn is_head(line: &str) -> bool {
    line.contains(" interval ") && line.contains(" i/o ") && line.contains("MB/sec")
        || file_system::groups(line).is_some_and(|groups| groups.contains(".ReqstdOps."))
}

#[derive(Clone, Debug, PartialEq)]
struct Column {
    name: String,
    unit: Unit,
    word: &'static str,
    /// Whether it is the latency of the operations in the preceding column.
    of_the_rate_before: bool,
}

impl Column {
    fn figure(&self, word: &str, n: usize) -> Option<Figure> {
        // vdbench prints "NaN" for unknown CPU usage.
        let value = number(word)?;
        let mut figure = converted(&self.name, value, self.unit, format!("{word}{}", self.word), n);
        // A deviation has no better direction.
        figure.higher_is_better = figure.higher_is_better.filter(|_| !self.name.ends_with("stddev"));
        Some(figure)
    }
}

/// The columns after the interval, from both heading lines. Times are in milliseconds unless a heading says otherwise.
fn columns(above: &str, below: &str) -> Option<Vec<Column>> {
    if let Some(groups) = file_system::groups(above) {
        return file_system::columns(groups, below);
    }
    let above: Vec<&str> = above.split_once(" interval ")?.1.split_whitespace().collect();
    let below: Vec<&str> = below.split_whitespace().collect();
    if above.len() != below.len() || above.is_empty() {
        return None;
    }
    let of = |(above, below): (&&str, &&str)| {
        let unit = |base, factor| Unit { base, factor };
        let ms = unit(NS, 1e6);
        let (name, unit, word) = match (*above, *below) {
            ("i/o", "rate") => (OPERATIONS, unit(OPS_PER_S, 1.0), ""),
            ("MB/sec", "1024**2") => (THROUGHPUT, unit(BYTES_PER_S, 1048576.0), " MB/sec"),
            ("MB/sec", "1000**2") => (THROUGHPUT, unit(BYTES_PER_S, 1e6), " MB/sec"),
            ("bytes", "i/o") => ("bytes per operation", unit(BYTES, 1.0), ""),
            ("read", "pct") => ("share of reads", unit(PERCENT, 1.0), "%"),
            ("resp", "time") => ("latency avg", ms, " ms"),
            ("read", "resp") => ("read latency avg", ms, " ms"),
            ("write", "resp") => ("write latency avg", ms, " ms"),
            ("resp", "max") => ("latency max", ms, " ms"),
            ("read", "max") => ("read latency max", ms, " ms"),
            ("write", "max") => ("write latency max", ms, " ms"),
            ("resp", "stddev") => ("latency stddev", ms, " ms"),
            ("queue", "depth") => ("queue depth", unit(COUNT, 1.0), ""),
            ("cpu%", "sys+u") => ("CPU", unit(PERCENT, 1.0), "%"),
            ("cpu%", "sys") => ("system CPU", unit(PERCENT, 1.0), "%"),
            _ => return None,
        };
        Some(Column { name: name.into(), unit, word, of_the_rate_before: false })
    };
    above.iter().zip(&below).map(of).collect()
}

/// "17:46:25.060  140  2238.00  2238.00 ...", "16:24:36.053  avg_2-5  104.5 ...", also without the time.
fn row(line: &str, columns: usize) -> Option<(&str, Vec<&str>)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let values = words.len().checked_sub(columns)?;
    let (before, values) = words.split_at(values);
    let interval = match before {
        [interval] => interval,
        [time, interval] if time.contains(':') => interval,
        _ => return None,
    };
    let is_interval = interval.starts_with("avg_") || interval.parse::<u32>().is_ok();
    let are_values = values.iter().all(|w| number(w).is_some() || *w == "NaN");
    (is_interval && are_values).then(|| (*interval, values.to_vec()))
}

/// Sets whether the cell reads and writes, from the percentage of reads.
fn directed(mut phase: Phase) -> Phase {
    let first = |name: &str| phase.repetitions.iter().find_map(|r| r.figure(name)).map(|f| f.value);
    let share = first("share of reads");
    // File systems print rates; a read percentage of 0 also occurs when files are only created.
    let rate = |name, share: bool| first(name).map_or(share, |rate| rate > 0.0);
    let reads = rate(file_system::READS, share.is_some_and(|s| s > 0.0));
    let writes = rate(file_system::WRITES, share.is_some_and(|s| s < 100.0));
    (phase.reads, phase.writes) = (reads, writes);
    let bytes =
        phase.repetitions.iter().find_map(|r| r.figure("bytes per operation")).map(|f| f.value as u64);
    phase.axes.record_bytes = bytes.filter(|b| *b > 0);
    phase
}
