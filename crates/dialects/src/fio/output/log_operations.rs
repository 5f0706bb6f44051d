//! Logs made from single operations: one line each, maxima of windows, windows of any width, histograms. One pass over a worker's
//! operations fills all logs. A window is written when an operation of a later one arrives, so little memory is needed.

use super::super::plan::{Logs, WindowStatistic as SteadyReport};
use super::logs::{LogLine, LoggedQuantity, kib_per_s, per_s};
use fathom_record::histogram::bucket_of;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The kind of an operation; the discriminants are fio's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Did {
    /// Read.
    Read = 0,
    /// Write.
    Write = 1,
    /// Trim.
    Trim = 2,
}

/// One operation of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Kind of operation.
    pub does: Did,
    /// Start time, ns after the measurement began.
    pub start_ns: u64,
    /// Total latency, ns.
    pub latency_ns: u64,
    /// Submission latency, the part of it before the kernel had the operation, ns.
    pub submission_ns: u64,
    /// Index of the file within its clone.
    pub file: u32,
    /// Offset in the file, bytes.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u32,
    /// I/O priority; 0: that of the job.
    pub priority: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoggedOperation {
    Value(LoggedQuantity),
    Histogram,
}

/// fio's histogram buckets: 64 per power of two, up to about 17 s; the last one holds everything longer.
const BINS: usize = 1856;
/// Text is handed on once it is at least this long.
const PIECE: usize = 1 << 16;

pub(super) struct OperationLog {
    path: PathBuf,
    what: LoggedOperation,
    text: String,
}

impl OperationLog {
    pub fn new(path: PathBuf, what: LoggedOperation) -> Self {
        Self { path, what, text: String::new() }
    }

    fn hand_on(&mut self, least: usize, out: &mut dyn FnMut(&Path, &str)) {
        if self.text.len() >= least {
            out(&self.path, &self.text);
            self.text.clear();
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Latencies {
    sum: u64,
    largest: u64,
}

impl Latencies {
    fn add(&mut self, ns: u64) {
        self.sum = self.sum.saturating_add(ns);
        self.largest = self.largest.max(ns);
    }
}

#[derive(Clone, Copy, Default)]
struct LoggedSide {
    ops: u64,
    bytes: u64,
    whole: Latencies,
    completion: Latencies,
    submission: Latencies,
}

/// Writes the logs of a worker that ran for `elapsed_ns` and returns the number of operations. `queued`: the engine submits
/// operations and reaps them later.
pub(super) fn write(
    logs: &mut [OperationLog],
    (asked, line, elapsed_ns): (&Logs, LogLine, u64),
    queued: bool,
    operations: impl Iterator<Item = Operation>,
    out: &mut dyn FnMut(&Path, &str),
) -> u64 {
    let mut windows = LogWindows { number: 0, sides: [LoggedSide::default(); 3] };
    let mut bins = Bins { number: 0, sides: [const { Vec::new() }; 3], bytes: [0; 3] };
    let mut written = 0;
    for operation in operations {
        written += 1;
        let end_ns = operation.start_ns.saturating_add(operation.latency_ns);
        if let Some(width_ns) = asked.width_ns {
            // Operations that complete together may have started in any order: none goes into a window already written.
            let number = (end_ns / width_ns).max(windows.number);
            if number > windows.number {
                windows.tell(logs, (asked, line), width_ns, u64::MAX, queued);
                windows.number = number;
            }
            windows.add(&operation);
        }
        if let Some(width_ns) = asked.histogram_width_ns {
            let number = (end_ns / width_ns).max(bins.number);
            if number > bins.number {
                bins.tell(logs, asked, line, width_ns, u64::MAX);
                bins.number = number;
            }
            bins.add(&operation);
        }
        for log in logs.iter_mut() {
            if let (LoggedOperation::Value(value), None) = (log.what, asked.width_ns)
                && (queued || value != LoggedQuantity::Submission)
            {
                each(&mut log.text, value, &operation, line);
            }
            log.hand_on(PIECE, out);
        }
    }
    // The last windows end with the job.
    if let Some(width_ns) = asked.width_ns {
        windows.tell(logs, (asked, line), width_ns, elapsed_ns, queued);
    }
    if let Some(width_ns) = asked.histogram_width_ns {
        bins.tell(logs, asked, line, width_ns, elapsed_ns);
    }
    logs.iter_mut().for_each(|log| log.hand_on(1, out));
    written
}

/// The line of one operation.
fn each(out: &mut String, value: LoggedQuantity, o: &Operation, line: LogLine) {
    let completion_ns = o.latency_ns.saturating_sub(o.submission_ns);
    let issued_ns = match value {
        // An operation at time 0 was issued, too.
        LoggedQuantity::Completion | LoggedQuantity::Submission => {
            o.start_ns.saturating_add(o.submission_ns).max(1)
        }
        // Issue times appear in only two logs, as in fio.
        LoggedQuantity::Bandwidth | LoggedQuantity::Operations | LoggedQuantity::Whole => 0,
    };
    let value = match value {
        // As in fio: units of 1000 bytes per second, from the time of this operation alone.
        LoggedQuantity::Bandwidth => u64::from(o.bytes).saturating_mul(1_000_000) / completion_ns.max(1),
        LoggedQuantity::Operations => 1,
        LoggedQuantity::Whole => o.latency_ns,
        LoggedQuantity::Completion => completion_ns,
        LoggedQuantity::Submission => o.submission_ns,
    };
    let time_ms = line.epoch_ms + o.start_ns.saturating_add(o.latency_ns) / 1_000_000;
    let _ = write!(out, "{time_ms}, {value}, {}, {}", o.does as u8, o.bytes);
    line.of(o.priority).end(out, o.offset, issued_ns);
}

/// End of a window in milliseconds; the job may end earlier.
fn end_ms(number: u64, width_ns: u64, elapsed_ns: u64) -> u64 {
    let begin_ns = number.saturating_mul(width_ns);
    begin_ns.saturating_add(width_ns).min(elapsed_ns.max(begin_ns)) / 1_000_000
}

struct LogWindows {
    number: u64,
    sides: [LoggedSide; 3],
}

impl LogWindows {
    fn add(&mut self, o: &Operation) {
        let side = &mut self.sides[o.does as usize];
        side.ops += 1;
        side.bytes += u64::from(o.bytes);
        side.whole.add(o.latency_ns);
        side.completion.add(o.latency_ns.saturating_sub(o.submission_ns));
        side.submission.add(o.submission_ns);
    }

    fn tell(
        &mut self,
        logs: &mut [OperationLog],
        (asked, line): (&Logs, LogLine),
        width_ns: u64,
        elapsed_ns: u64,
        queued: bool,
    ) {
        let begin_ns = self.number.saturating_mul(width_ns);
        let lasted_ns = elapsed_ns.saturating_sub(begin_ns).clamp(1, width_ns);
        let time_ms = line.epoch_ms + end_ms(self.number, width_ns, elapsed_ns);
        for log in logs {
            let LoggedOperation::Value(value) = log.what else { continue };
            if value == LoggedQuantity::Submission && !queued {
                continue;
            }
            for (direction, side) in self.sides.iter().enumerate().filter(|(_, side)| side.ops > 0) {
                let of = |l: Latencies| [l.sum / side.ops, l.largest];
                let [mean, largest] = match value {
                    LoggedQuantity::Bandwidth => [kib_per_s(side.bytes, lasted_ns); 2],
                    LoggedQuantity::Operations => [per_s(side.ops, lasted_ns); 2],
                    LoggedQuantity::Whole => of(side.whole),
                    LoggedQuantity::Completion => of(side.completion),
                    LoggedQuantity::Submission => of(side.submission),
                };
                let out = &mut log.text;
                let _ = match asked.value {
                    SteadyReport::Mean => write!(out, "{time_ms}, {mean}, {direction}, 0"),
                    SteadyReport::Largest => write!(out, "{time_ms}, {largest}, {direction}, 0"),
                    SteadyReport::Both => write!(out, "{time_ms}, {mean}, {largest}, {direction}, 0"),
                };
                line.end(out, 0, 0);
            }
        }
        self.sides = [LoggedSide::default(); 3];
    }
}

/// The current histograms of completion latencies.
struct Bins {
    number: u64,
    sides: [Vec<u64>; 3],
    /// Length of the last operation of each direction.
    bytes: [u32; 3],
}

impl Bins {
    fn add(&mut self, o: &Operation) {
        let direction = o.does as usize;
        let side = &mut self.sides[direction];
        side.resize(BINS, 0);
        let bin = bucket_of(o.latency_ns.saturating_sub(o.submission_ns)).min(BINS - 1);
        if let Some(count) = side.get_mut(bin) {
            *count += 1;
        }
        self.bytes[direction] = o.bytes;
    }

    fn tell(
        &mut self,
        logs: &mut [OperationLog],
        asked: &Logs,
        line: LogLine,
        width_ns: u64,
        elapsed_ns: u64,
    ) {
        let time_ms = line.epoch_ms + end_ms(self.number, width_ns, elapsed_ns);
        let log = logs.iter_mut().find(|log| log.what == LoggedOperation::Histogram);
        if let Some(OperationLog { text, .. }) = log {
            for (direction, side) in self.sides.iter().enumerate().filter(|(_, side)| !side.is_empty()) {
                let _ = write!(text, "{time_ms}, {direction}, {}", self.bytes[direction]);
                for bins in side.chunks(1 << asked.coarseness) {
                    let _ = write!(text, ", {}", bins.iter().sum::<u64>());
                }
                text.push('\n');
            }
        }
        self.sides.iter_mut().for_each(Vec::clear);
    }
}
