//! fio's logs, one value per line: "1000, 12328, 0, 4096, 0". The file name gives the quantity (`_bw.`, `_iops.`, `_lat.`). Latencies of
//! single operations become operations with a histogram; rates become a series over time. With `log_avg_msec` a line is the mean of a
//! window, and its size is 0. Without it a line is an operation: its rate is its own, as if it had been alone, and its time and size tell
//! the throughput.

use super::super::Block;
use super::super::cell::{add, cell, figure, run};
use super::super::context::Context;
use super::super::lines::Lines;
use fathom_record::imported::names::{OPERATIONS, THROUGHPUT};
use fathom_record::imported::units::{BYTES_PER_S, NS, OPS_PER_S, UNKNOWN};
use fathom_record::{Doubt, Histogram, Interval, OpKind, OpStat, Phase, Run, Worker};

/// Fewer lines than this are not recognised as a log.
const FEWEST: usize = 3;

/// Times are whole milliseconds: with fewer lines, or in a shorter time, the rate of a log of operations may be wrong by more than 1 %.
const FEWEST_FOR_A_RATE: u64 = 100;
/// Old releases also print the size of an operation in lines that are means of half a second. Lines that are as far apart may be such.
const MOST_APART_MS: u64 = 50;

/// Latencies added to the histogram at a time.
const TOGETHER: usize = 1 << 14;

struct LogEntry {
    time_ms: u64,
    value: u64,
    direction: u64,
    bytes: u64,
}

/// Quantity in a log.
#[derive(Clone, Copy, PartialEq)]
enum LogQuantity {
    Bandwidth,
    Operations,
    Latency(bool, bool),
    Unknown,
}

/// A log starting at this line. For latencies only the histogram is kept, so such logs may have any length.
pub(super) fn parse(lines: &Lines, at: usize, context: &Context) -> Option<Block> {
    let what = what(&context.file);
    // After a cut one line is enough, as the format is known.
    let (log, n) = context
        .cut_log
        .filter(|cut| cut.next == at)
        .map(|cut| read(lines, at, ImportedLog::behind(what, cut)))
        .filter(|(log, _)| log.lines > 0)
        .or_else(|| Some(read(lines, at, ImportedLog::of(what))).filter(|(log, _)| log.lines >= FEWEST))?;
    if !lines.is_cut(n) {
        return Some(log.block(n - 1));
    }
    Some(match log.what {
        LogQuantity::Latency(..) | LogQuantity::Unknown => {
            Block { last: n - 1, goes_on: Some(log), ..Block::default() }
        }
        // Every line is an interval, which may exceed memory: the log is cut, and the next part knows the start of its first
        // interval.
        LogQuantity::Bandwidth | LogQuantity::Operations => {
            let times_ms = log.directions.each_ref().map(|direction| direction.time_ms);
            let cut_log = Some(Cut { next: n, time_ms: log.time_ms, times_ms });
            Block { cut_log, ..log.block(n - 1) }
        }
    })
}

/// Reads the lines of a log. Returns it with the number of the next line.
fn read(lines: &Lines, at: usize, mut log: ImportedLog) -> (ImportedLog, usize) {
    let mut n = at;
    while n < lines.len() && log.takes(lines.trimmed(n)) {
        n += 1;
    }
    (log, n)
}

/// Where reading a log too long for memory stopped, so that the next part continues there.
#[derive(Clone, Copy)]
pub(in super::super) struct Cut {
    /// Next line to read.
    next: usize,
    time_ms: u64,
    /// Time of each direction, ms.
    times_ms: [u64; 3],
}

/// A log being read.
pub(in super::super) struct ImportedLog {
    what: LogQuantity,
    lines: usize,
    time_ms: u64,
    directions: [Direction; 3],
}

/// Its lines in one direction.
#[derive(Default)]
struct Direction {
    lines: u64,
    sum: f64,
    bytes: u64,
    began_ms: u64,
    time_ms: u64,
    /// Size of the first operation, bytes.
    first_bytes: u64,
    several_sizes: bool,
    averages: bool,
    latency: Histogram,
    /// Latencies not yet in the histogram.
    latencies: Vec<u64>,
    intervals: Vec<Interval>,
}

impl ImportedLog {
    fn of(what: LogQuantity) -> Self {
        Self { what, lines: 0, time_ms: 0, directions: Default::default() }
    }

    /// Continues after a cut.
    fn behind(what: LogQuantity, cut: Cut) -> Self {
        let directions = cut.times_ms.map(|time_ms| Direction { time_ms, ..Direction::default() });
        Self { time_ms: cut.time_ms, directions, ..Self::of(what) }
    }

    /// Reads a line. Returns whether it belongs to this log.
    pub(in super::super) fn takes(&mut self, line: &str) -> bool {
        // Time never decreases in a log: otherwise the next log begins.
        let Some(e) = entry(line).filter(|e| e.time_ms >= self.time_ms) else { return false };
        let Some(direction) = self.directions.get_mut(e.direction as usize) else { return false };
        self.time_ms = e.time_ms;
        self.lines += 1;
        direction.take(self.what, &e);
        true
    }

    /// Converts the log, which ends at line `last`.
    pub(in super::super) fn block(self, last: usize) -> Block {
        let mut phases = Vec::new();
        let mut doubts = Vec::new();
        for (direction, name) in self.directions.into_iter().zip(["read", "write", "trim"]) {
            if direction.lines > 0 {
                doubts.extend(direction.doubt(self.what, name, phases.len()));
                phases.push(phase(self.what, name, direction, last));
            }
        }
        let word = match self.what {
            LogQuantity::Bandwidth => "bandwidth",
            LogQuantity::Operations => "operations per second",
            LogQuantity::Latency(..) => "latencies",
            LogQuantity::Unknown => "values the file's name says nothing of",
        };
        let what = format!("fio log, {} lines: {word}", self.lines);
        let run = Run { doubts, ..run("fio", "fio".into(), phases) };
        Block { last, what, runs: vec![run], ..Block::default() }
    }
}

impl Direction {
    fn take(&mut self, what: LogQuantity, e: &LogEntry) {
        if self.lines == 0 {
            (self.first_bytes, self.began_ms) = (e.bytes, e.time_ms);
        }
        self.several_sizes |= e.bytes != self.first_bytes;
        self.averages |= e.bytes == 0;
        match what {
            LogQuantity::Latency(..) => {
                self.latencies.push(e.value);
                if self.latencies.len() >= TOGETHER {
                    self.gather();
                }
            }
            LogQuantity::Bandwidth | LogQuantity::Operations if e.bytes > 0 => self.count(e),
            LogQuantity::Bandwidth | LogQuantity::Operations => {
                self.intervals.push(interval(what, e, self.time_ms))
            }
            LogQuantity::Unknown => {}
        }
        self.lines += 1;
        self.sum += e.value as f64;
        self.bytes = self.bytes.saturating_add(e.bytes);
        self.time_ms = e.time_ms;
    }

    /// Counts an operation in the interval that ends with its millisecond.
    fn count(&mut self, e: &LogEntry) {
        let ns = |ms: u64| ms.saturating_mul(1_000_000);
        let end_ns = ns(e.time_ms.saturating_add(1));
        if self.intervals.last().is_none_or(|last| last.end_ns != end_ns) {
            let width_ns = ns(e.time_ms.saturating_sub(self.time_ms).max(1));
            self.intervals.push(Interval { end_ns, width_ns, ..Interval::default() });
        }
        if let Some(interval) = self.intervals.last_mut() {
            interval.ops += 1;
            interval.bytes = interval.bytes.saturating_add(e.bytes);
        }
    }

    /// Whether its lines are operations rather than means.
    fn is_of_operations(&self, what: LogQuantity) -> bool {
        matches!(what, LogQuantity::Bandwidth | LogQuantity::Operations) && !self.averages
    }

    /// The time of its operations, if that is long enough for a rate.
    fn span_ms(&self) -> Option<u64> {
        let span = self.time_ms.saturating_sub(self.began_ms).saturating_add(1);
        let is_dense = span / self.lines.max(1) <= MOST_APART_MS;
        (self.lines >= FEWEST_FOR_A_RATE && span >= FEWEST_FOR_A_RATE && is_dense).then_some(span)
    }

    /// Says why there is no rate.
    fn doubt(&self, what: LogQuantity, name: &str, seq: usize) -> Option<Doubt> {
        let is_without = self.is_of_operations(what) && self.span_ms().is_none();
        is_without.then(|| Doubt {
            code: "rate-of-operations".into(),
            phases: u32::try_from(seq).into_iter().collect(),
            sentence: format!(
                "{name}: each line is one operation with its own rate, whose mean is no throughput, and {} lines in {} ms are too few for a rate by their sizes; take the rate from fio's report, or log with log_avg_msec",
                self.lines,
                self.time_ms.saturating_sub(self.began_ms).saturating_add(1)
            ),
        })
    }

    fn gather(&mut self) {
        self.latency.merge(&Histogram::from_values(self.latencies.drain(..)));
    }
}

fn entry(line: &str) -> Option<LogEntry> {
    let fields: Vec<u64> = line.split(',').map(|f| f.trim().parse().ok()).collect::<Option<_>>()?;
    // Seven fields with offset and issue time.
    match fields.as_slice() {
        &[time_ms, value, direction, bytes, ..] if direction <= 2 && fields.len() <= 7 => {
            Some(LogEntry { time_ms, value, direction, bytes })
        }
        _ => None,
    }
}

fn what(file: &str) -> LogQuantity {
    let name = file.rsplit('/').next().unwrap_or(file);
    let is = |word: &str| name.contains(&format!("_{word}.")) || name.ends_with(&format!("_{word}"));
    match () {
        () if is("bw") => LogQuantity::Bandwidth,
        () if is("iops") => LogQuantity::Operations,
        () if is("slat") => LogQuantity::Latency(true, false),
        () if is("clat") => LogQuantity::Latency(false, true),
        () if is("lat") => LogQuantity::Latency(false, false),
        () => LogQuantity::Unknown,
    }
}

fn phase(what: LogQuantity, name: &str, mut of: Direction, line: usize) -> Phase {
    let mut phase = cell(name);
    (phase.reads, phase.writes) = (name == "read", name == "write");
    phase.axes.record_bytes = Some(of.first_bytes).filter(|&first| first > 0 && !of.several_sizes);
    match what {
        LogQuantity::Latency(submission, completion) if !of.averages => {
            of.gather();
            phase.repetitions[0].workers.push(timed(name, submission, completion, of));
        }
        _ => {
            let is_of_operations = of.is_of_operations(what);
            let span = of.span_ms().filter(|_| is_of_operations);
            if span.is_some() || !is_of_operations {
                phase.repetitions[0].intervals = std::mem::take(&mut of.intervals);
            }
            match span {
                Some(span) => rate(&mut phase, what, &of, span, line),
                None => mean(&mut phase, what, &of, line),
            }
        }
    }
    phase
}

/// Latencies of single operations.
fn timed(name: &str, submission: bool, completion: bool, of: Direction) -> Worker {
    let op = match (name, submission, completion) {
        ("read", true, _) => OpKind::ReadSubmission,
        ("read", _, true) => OpKind::ReadCompletion,
        ("read", ..) => OpKind::Read,
        ("trim", ..) => OpKind::Delete,
        (_, true, _) => OpKind::WriteSubmission,
        (_, _, true) => OpKind::WriteCompletion,
        _ => OpKind::Write,
    };
    let (ops, bytes) = (of.lines, of.bytes);
    // Log times are whole milliseconds since the job's start.
    let elapsed_ns = of.time_ms.saturating_mul(1_000_000);
    let stats = vec![OpStat { op, ops, bytes, latency: of.latency }];
    Worker { ops, bytes, elapsed_ns, stats, ..Worker::default() }
}

/// The average of a window, with its end time.
fn interval(what: LogQuantity, e: &LogEntry, before_ms: u64) -> Interval {
    let width_ms = e.time_ms.saturating_sub(before_ms);
    let amount =
        |per_s: u64| (u128::from(per_s) * u128::from(width_ms) / 1000).min(u128::from(u64::MAX)) as u64;
    let (ops, bytes) = match what {
        LogQuantity::Bandwidth => (0, amount(e.value.saturating_mul(1024))),
        _ => (amount(e.value), 0),
    };
    let ns = |ms: u64| ms.saturating_mul(1_000_000);
    Interval { end_ns: ns(e.time_ms), width_ns: ns(width_ms), ops, bytes, ..Interval::default() }
}

/// The rate of operations by their number and sizes.
fn rate(phase: &mut Phase, what: LogQuantity, of: &Direction, span_ms: u64, line: usize) {
    let (name, unit, amount, word) = match what {
        LogQuantity::Bandwidth => (THROUGHPUT, BYTES_PER_S, of.bytes, "bytes"),
        _ => (OPERATIONS, OPS_PER_S, of.lines, "operations"),
    };
    let printed = format!("{amount} {word} in {span_ms} ms");
    add(phase, figure(name, amount as f64 / (span_ms as f64 / 1e3), unit, printed, line));
}

/// The mean of all lines, which fio prints as well. That of the rates of single operations is no throughput.
fn mean(phase: &mut Phase, what: LogQuantity, of: &Direction, line: usize) {
    let mean = of.sum / of.lines.max(1) as f64;
    let (name, unit, factor, word) = match what {
        _ if of.is_of_operations(what) => ("mean value", UNKNOWN, 1.0, ""),
        LogQuantity::Bandwidth => (THROUGHPUT, BYTES_PER_S, 1024.0, "KiB/s"),
        LogQuantity::Operations => (OPERATIONS, OPS_PER_S, 1.0, "per second"),
        LogQuantity::Latency(..) => ("latency avg", NS, 1.0, "ns"),
        LogQuantity::Unknown => ("mean value", UNKNOWN, 1.0, ""),
    };
    let printed = format!("mean of {} lines, {mean:.3} {word}", of.lines);
    add(phase, figure(name, mean * factor, unit, printed.trim_end().into(), line));
}
