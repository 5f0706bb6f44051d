//! The logs of `write_bw_log`, `write_iops_log`, `write_lat_log` and `write_hist_log`. A line per window and direction, or per operation:
//! `time, value, direction, block size, priority`. `log_offset` adds the offset before the priority, `log_issue_time` the issue time
//! after it. Separators are comma and blank, as other programs expect.
//! Logs made from single operations are in [`super::log_operations`].

use super::super::plan::{Job, JobPlace, Logs, Plan};
use super::log_operations::{self, LoggedOperation, Operation, OperationLog};
use super::windows::{self, Window};
use fathom_record::{OpKind, Run, Worker};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Data recorded while the jobs ran.
pub struct RecordedData<'a> {
    /// The operations of a worker, given phase and worker number, in completion order.
    pub operations: &'a dyn Fn(u32, u32) -> Box<dyn Iterator<Item = Operation> + 'a>,
    /// Start of a phase's measurement, milliseconds since 1970.
    pub began_ms: &'a dyn Fn(u32) -> u64,
}

/// Writes the logs of a run piece by piece: `out` appends a text to a file, and creates it on first use. Returns messages about
/// incomplete logs.
pub fn write(
    plan: &Plan,
    run: &Run,
    noted: &RecordedData<'_>,
    out: &mut dyn FnMut(&Path, &str),
) -> Vec<String> {
    let mut number = 0;
    let mut torn = Vec::new();
    for job in &plan.jobs {
        for clone in 0..job.clones {
            number += 1;
            torn.extend(one(plan, job, (clone, number), run, noted, out));
        }
    }
    torn
}

/// Quantity in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoggedQuantity {
    Bandwidth,
    Operations,
    /// Total latency, from preparation to completion.
    Whole,
    Completion,
    Submission,
}

/// Parameters of a log line.
#[derive(Clone, Copy)]
pub(super) struct LogLine {
    /// Added to every time, ms.
    pub epoch_ms: u64,
    offset: bool,
    /// Class and level, if they are logged.
    priority: Option<u16>,
    /// Added to every issue time, ns, if these are logged.
    issue_ns: Option<u64>,
}

impl LogLine {
    fn of_job(job: &Job, began_ms: u64) -> Self {
        let logs = &job.report.logs;
        let priority = super::priorities::of_job(job);
        Self {
            epoch_ms: if logs.wall_clock { began_ms } else { 0 },
            offset: logs.offset,
            priority: logs.priority.then_some(priority),
            issue_ns: logs.issue.then_some(0),
        }
    }

    /// Applies the priority of a single operation, if it has one.
    pub fn of(self, priority: u16) -> Self {
        Self { priority: self.priority.map(|job| if priority > 0 { priority } else { job }), ..self }
    }

    /// Writes what follows the block size, with the line end. `issued_ns` is the issue time; 0 if the log has none.
    pub fn end(self, out: &mut String, offset: u64, issued_ns: u64) {
        if self.offset {
            let _ = write!(out, ", {offset}");
        }
        let _ = match self.priority {
            Some(priority) => write!(out, ", 0x{priority:04x}"),
            None => write!(out, ", 0"),
        };
        let _ = match self.issue_ns {
            Some(later_ns) if issued_ns > 0 => writeln!(out, ", {}", later_ns.saturating_add(issued_ns)),
            Some(_) => writeln!(out, ", 0"),
            None => writeln!(out),
        };
    }
}

/// How much later than its phase a worker starts measuring, when delays or warm-ups differ.
fn own_ms(plan: &Plan, run: &Run, phase: u32, worker: u32) -> u64 {
    // Every clone is a group with one worker.
    let group = plan.workload.phases.get(phase as usize).and_then(|p| p.groups.get(worker as usize));
    group.map_or(0, |group| {
        if group.times.ramp_bytes.0 > 0 {
            let done = run.phases.iter().find(|p| p.seq == phase).and_then(|p| p.repetitions.last());
            return done.and_then(|r| r.workers.get(worker as usize)).map_or(0, |w| w.start_ns / 1_000_000);
        }
        let ramp_ns = group.times.ramp.map_or(0, |ramp| ramp.0);
        group.times.delay.0.saturating_add(ramp_ns) / 1_000_000
    })
}

/// The logs of a clone: its job, then the read-back.
fn one(
    plan: &Plan,
    job: &Job,
    (clone, number): (u32, u32),
    run: &Run,
    noted: &RecordedData<'_>,
    out: &mut dyn FnMut(&Path, &str),
) -> Vec<String> {
    if !job.report.logs.any() {
        return Vec::new();
    }
    let names = names(job, number);
    // A log without entries exists but is empty.
    names.iter().for_each(|(path, _)| out(path, ""));
    let places = job.places.iter();
    places.filter_map(|place| of_place(plan, job, (*place, clone), &names, run, noted, &mut *out)).collect()
}

/// The entries of a clone in one phase.
fn of_place(
    plan: &Plan,
    job: &Job,
    (place, clone): (JobPlace, u32),
    names: &[(PathBuf, LoggedOperation)],
    run: &Run,
    noted: &RecordedData<'_>,
    out: &mut dyn FnMut(&Path, &str),
) -> Option<String> {
    let asked = &job.report.logs;
    let (phase, index) = (place.phase, place.worker + clone);
    let repetition = run.phases.iter().find(|p| p.seq == phase)?.repetitions.first()?;
    let worker = repetition.workers.iter().find(|w| w.index == index)?;
    let began_ms = |of: JobPlace| {
        (noted.began_ms)(of.phase).saturating_add(own_ms(plan, run, of.phase, of.worker + clone))
    };
    let mut line = LogLine::of_job(job, began_ms(place));
    if let Some(first) = job.places.first() {
        // Times continue through the read-back.
        let later_ms = began_ms(place).saturating_sub(began_ms(*first));
        if !asked.wall_clock {
            line.epoch_ms = later_ms;
        }
        // Issue times always count from the start, as in fio.
        line.issue_ns = line.issue_ns.map(|_| later_ms.saturating_mul(1_000_000));
    }
    if let Some(width_ns) = asked.intervals_ns() {
        for (path, what) in names {
            if let LoggedOperation::Value(value) = what {
                let mut text = String::new();
                lines(&mut text, worker, width_ns, &kinds(*value, job), *value, line);
                out(path, &text);
            }
        }
    }
    if !asked.of_operations() {
        return None;
    }
    let mut logs: Vec<OperationLog> = names
        .iter()
        .filter(|(_, what)| match what {
            LoggedOperation::Value(_) => asked.intervals_ns().is_none(),
            LoggedOperation::Histogram => asked.histogram_width_ns.is_some(),
        })
        .map(|(path, what)| OperationLog::new(path.clone(), *what))
        .collect();
    let written = log_operations::write(
        &mut logs,
        (asked, line, worker.elapsed_ns),
        super::engine_batch(job).is_some(),
        (noted.operations)(phase, index),
        out,
    );
    let done: u64 = worker.stats.iter().filter(|s| DATA.contains(&s.op)).map(|s| s.ops).sum();
    (written < done).then(|| {
        format!(
            "the logs of job {} hold {written} operations of {done}: the others could not be written down",
            job.name
        )
    })
}

/// The combined logs of all jobs for reads, writes and trims: names and texts. Idle intervals have a line, too.
#[must_use]
pub fn together(run: &Run) -> [(&'static str, String); 3] {
    let mut logs = [
        ("agg-read_bw.log", Some(OpKind::Read)),
        ("agg-write_bw.log", Some(OpKind::Write)),
        ("agg-trim_bw.log", Some(OpKind::Trim)),
    ]
    .map(|(name, kind)| (name, kind, String::new()));
    let mut begin_ns = 0;
    for repetition in run.phases.iter().filter_map(|phase| phase.repetitions.first()) {
        for interval in &repetition.intervals {
            let time_ms = (begin_ns + interval.end_ns) / 1_000_000;
            for (direction, (_, kind, text)) in logs.iter_mut().enumerate() {
                let of = |moved: &&(OpKind, u64)| Some(moved.0) == *kind;
                let bytes: u64 = interval.moved.iter().filter(of).map(|moved| moved.1).sum();
                let _ =
                    writeln!(text, "{time_ms}, {}, {direction}, 0, 0", kib_per_s(bytes, interval.width_ns));
            }
        }
        begin_ns += repetition.elapsed_ns;
    }
    logs.map(|(name, _, text)| (name, text))
}

/// The log files of a clone, with the content of each.
fn names(job: &Job, number: u32) -> Vec<(PathBuf, LoggedOperation)> {
    let (report, asked): (_, &Logs) = (&job.report, &job.report.logs);
    let kinds = [
        ("bw", &asked.bandwidth, true, LoggedOperation::Value(LoggedQuantity::Bandwidth)),
        ("iops", &asked.operations, true, LoggedOperation::Value(LoggedQuantity::Operations)),
        ("lat", &asked.latency, report.lat, LoggedOperation::Value(LoggedQuantity::Whole)),
        ("clat", &asked.latency, report.clat, LoggedOperation::Value(LoggedQuantity::Completion)),
        ("slat", &asked.latency, report.slat, LoggedOperation::Value(LoggedQuantity::Submission)),
        ("clat_hist", &asked.histograms, true, LoggedOperation::Histogram),
    ];
    let named = kinds.into_iter().filter(|(_, _, shown, _)| *shown);
    let named = named.filter_map(|(kind, name, _, what)| Some((kind, name.as_ref()?, what)));
    named
        .map(|(kind, name, what)| {
            let number = if asked.per_job { format!(".{number}") } else { String::new() };
            // Histograms are always text.
            let packed = asked.packed && matches!(what, LoggedOperation::Value(_));
            let file = format!("{name}_{kind}{number}.log{}", if packed { ".fz" } else { "" });
            (PathBuf::from(file), what)
        })
        .collect()
}

/// Reads, writes and trims, in order of fio's numbers.
const DATA: [OpKind; 3] = [OpKind::Read, OpKind::Write, OpKind::Trim];

/// The operation kinds that a value is made from, by direction. Trims are never queued.
fn kinds(value: LoggedQuantity, job: &Job) -> Vec<OpKind> {
    let queued = super::engine_batch(job).is_some();
    match value {
        LoggedQuantity::Submission => vec![OpKind::ReadSubmission, OpKind::WriteSubmission],
        LoggedQuantity::Completion if queued => {
            vec![OpKind::ReadCompletion, OpKind::WriteCompletion, OpKind::Trim]
        }
        _ => DATA.to_vec(),
    }
}

/// Means of windows, from the interval series.
fn lines(
    out: &mut String,
    worker: &Worker,
    width_ns: u64,
    kinds: &[OpKind],
    value: LoggedQuantity,
    line: LogLine,
) {
    let mut ended_ns = 0;
    for (number, window) in windows::of(worker, width_ns) {
        // The last window ends with the job.
        ended_ns += window.width_ns;
        let time_ms = ((number + 1) * width_ns).min(ended_ns.max(number * width_ns)) / 1_000_000;
        for (direction, kind) in kinds.iter().enumerate() {
            if let Some(value) = mean(value, &window, *kind) {
                let _ = write!(out, "{}, {value}, {direction}, 0", line.epoch_ms + time_ms);
                line.end(out, 0, 0);
            }
        }
    }
}

/// The value of a window; `None` if it had no I/O.
fn mean(value: LoggedQuantity, window: &Window, kind: OpKind) -> Option<u64> {
    let [ops, bytes, sum_ns] = window.of(kind);
    (ops > 0).then(|| match value {
        LoggedQuantity::Bandwidth => kib_per_s(bytes, window.width_ns),
        LoggedQuantity::Operations => per_s(ops, window.width_ns),
        _ => sum_ns / ops,
    })
}

pub(super) fn kib_per_s(bytes: u64, width_ns: u64) -> u64 {
    (bytes as f64 * 1e9 / width_ns.max(1) as f64) as u64 / 1024
}

pub(super) fn per_s(operations: u64, width_ns: u64) -> u64 {
    (operations as f64 * 1e9 / width_ns.max(1) as f64).round() as u64
}
