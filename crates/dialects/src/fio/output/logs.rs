//! The logs of `write_bw_log`, `write_iops_log` and `write_lat_log`: a line for each window and direction, `time, value, direction, block
//! size, priority`, separated by comma and blank, as the programs that read them expect it.

use super::super::plan::{Job, Plan};
use super::windows::{self, Window};
use fathom_record::{OpKind, Run, Worker};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

/// The logs of a run: where each belongs, and its text.
#[must_use]
pub fn of(plan: &Plan, run: &Run) -> BTreeMap<PathBuf, String> {
    let mut logs = BTreeMap::new();
    let mut number = 0;
    for job in &plan.jobs {
        for clone in 0..job.clones {
            number += 1;
            one(plan, job, (clone, number), run, &mut logs);
        }
    }
    logs
}

/// What stands in a log.
#[derive(Clone, Copy)]
enum Value {
    Bandwidth,
    Operations,
    /// The mean of this kind of latency, of reads and of writes.
    Latency([OpKind; 2]),
}

fn one(plan: &Plan, job: &Job, (clone, number): (u32, u32), run: &Run, logs: &mut BTreeMap<PathBuf, String>) {
    let (report, asked) = (&job.report, &job.report.logs);
    let Some(width_ns) = asked.width_ns else { return };
    let worker = job.places.first().and_then(|place| {
        let phase = run.phases.iter().find(|p| p.seq == place.phase)?;
        phase.repetitions.first()?.workers.iter().find(|w| w.index == place.worker + clone)
    });
    let asynchronous = super::engine_batch(job).is_some();
    let completion = [OpKind::ReadCompletion, OpKind::WriteCompletion];
    let whole = [OpKind::Read, OpKind::Write];
    let kinds = [
        ("bw", &asked.bandwidth, true, Value::Bandwidth),
        ("iops", &asked.operations, true, Value::Operations),
        ("lat", &asked.latency, report.lat, Value::Latency(whole)),
        ("clat", &asked.latency, report.clat, Value::Latency(if asynchronous { completion } else { whole })),
        (
            "slat",
            &asked.latency,
            report.slat,
            Value::Latency([OpKind::ReadSubmission, OpKind::WriteSubmission]),
        ),
    ];
    for (kind, name, shown, value) in kinds {
        let Some(name) = name.as_ref().filter(|_| shown) else { continue };
        let file =
            if asked.per_job { format!("{name}_{kind}.{number}.log") } else { format!("{name}_{kind}.log") };
        let path = plan.general.aux_path.as_ref().map_or_else(|| PathBuf::from(&file), |dir| dir.join(&file));
        let text = logs.entry(path).or_default();
        if let Some(worker) = worker {
            lines(text, worker, width_ns, value, asked.offset);
        }
    }
}

fn lines(out: &mut String, worker: &Worker, width_ns: u64, value: Value, offset: bool) {
    let mut ended_ns = 0;
    for (number, window) in windows::of(worker, width_ns) {
        // The last one ends with the job.
        ended_ns += window.width_ns;
        let time_ms = ((number + 1) * width_ns).min(ended_ns.max(number * width_ns)) / 1_000_000;
        for direction in 0..2 {
            if let Some(value) = value.of(&window, direction) {
                let offset = if offset { " 0," } else { "" };
                let _ = writeln!(out, "{time_ms}, {value}, {direction}, 0,{offset} 0");
            }
        }
    }
}

impl Value {
    /// The value of a window; nothing where there was no I/O.
    fn of(self, window: &Window, direction: usize) -> Option<u64> {
        let kind = match self {
            Self::Latency(kinds) => kinds[direction],
            _ => [OpKind::Read, OpKind::Write][direction],
        };
        let [ops, bytes, sum_ns] = window.of(kind);
        let per_s = |n: u64| (n as f64 * 1e9 / window.width_ns.max(1) as f64) as u64;
        (ops > 0).then(|| match self {
            Self::Bandwidth => per_s(bytes) / 1024,
            Self::Operations => (ops as f64 * 1e9 / window.width_ns.max(1) as f64).round() as u64,
            Self::Latency(_) => sum_ns / ops,
        })
    }
}
