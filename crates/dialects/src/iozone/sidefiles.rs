//! IOzone's side files: offsets and latencies (-Q), latency histograms (-+z), start and end of each test
//! (-+T). Names and contents only; the caller appends them.

use super::Parsed;
use super::banner::ctime;
use super::options::IozoneOptions;
use super::pass::{self, Pass};
use fathom_record::{OpStat, Phase, Repetition, Worker};
use jiff::ToSpan as _;
use jiff::civil::DateTime;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Text to append to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideFile {
    /// Path relative to the working directory.
    pub path: PathBuf,
    /// Text to append.
    pub text: String,
}

/// Side-file text for a finished phase.
#[must_use]
pub fn after_phase(parsed: &Parsed, phase: &Phase) -> Vec<SideFile> {
    let (Some(pass), Some(repetition)) = (pass::find(&phase.name), phase.repetitions.last()) else {
        return Vec::new();
    };
    if !super::printer::whole(repetition) {
        return Vec::new();
    }
    let o = &parsed.options;
    let mut files = Vec::new();
    for worker in &repetition.workers {
        if o.operation_logs {
            files.extend(operation_log(o, pass, worker));
        }
        if o.throughput() && o.histograms {
            files.push(histogram(pass, worker));
        }
        if o.throughput() && o.child_logs {
            files.push(child_log(pass, worker, repetition, parsed.now));
        }
    }
    files
}

fn operation_log(o: &IozoneOptions, pass: &Pass, worker: &Worker) -> Option<SideFile> {
    let streams = o.throughput();
    let name = match (streams, pass.test) {
        (true, 8) => mixed(worker, "randrol", "randwol"),
        (true, _) => pass.child_log,
        (false, _) => pass.log,
    };
    if name.is_empty() {
        return None;
    }
    let path = if streams { format!("Child_{}_{name}.dat", worker.index) } else { format!("{name}.dat") };
    let mut text = String::from("Offset in kBytes   Latency in microseconds  Transfer size in bytes\n");
    for op in &worker.op_log {
        let _ =
            writeln!(text, "{:>10} {:>10.0} {:>10}", op.offset / 1024, op.latency_ns as f64 / 1e3, op.bytes);
    }
    if !streams {
        let _ = writeln!(
            text,
            "\nSystem time {:>10.3} User time {:>10.3} Real {:>10.3}  (seconds)",
            worker.cpu_system_ns as f64 / 1e9,
            worker.cpu_user_ns as f64 / 1e9,
            worker.elapsed_ns as f64 / 1e9
        );
    }
    Some(SideFile { path: path.into(), text })
}

/// Workers of the mixed test are named after their operation.
fn mixed(worker: &Worker, reader: &'static str, writer: &'static str) -> &'static str {
    if worker.group == "writers" { writer } else { reader }
}

/// Upper bucket bounds by line, in microseconds, with labels; the last bucket has no bound.
const BANDS: [&[(u64, &str)]; 9] = [
    &[(20, "20us"), (40, "40us"), (60, "60us"), (80, "80us"), (100, "100us")],
    &[(200, "200us"), (400, "400us"), (600, "600us"), (800, "800us"), (1000, "1ms")],
    &[(2_000, "2ms"), (4_000, "4ms"), (6_000, "6ms"), (8_000, "8ms"), (10_000, "10ms")],
    &[(12_000, "12ms"), (14_000, "14ms"), (16_000, "16ms"), (18_000, "18ms"), (20_000, "20ms")],
    &[(40_000, "40ms"), (60_000, "60ms"), (80_000, "80ms"), (100_000, "100ms")],
    &[(200_000, "200ms"), (400_000, "400ms"), (600_000, "600ms"), (800_000, "800ms"), (1_000_000, "1s")],
    &[(2_000_000, "2s"), (4_000_000, "4s"), (6_000_000, "6s"), (8_000_000, "8s"), (10_000_000, "10s")],
    &[
        (20_000_000, "20s"),
        (40_000_000, "40s"),
        (60_000_000, "60s"),
        (80_000_000, "80s"),
        (120_000_000, "120s"),
    ],
    &[(u64::MAX, "120+s")],
];

fn histogram(pass: &Pass, worker: &Worker) -> SideFile {
    let name = if pass.test == 8 { mixed(worker, "Random Read", "Random Write") } else { pass.histogram };
    let mut text = format!("Child: {} Op: {name}\n", worker.index);
    let mut below = 0;
    for (i, band) in BANDS.iter().enumerate() {
        let _ = write!(text, "Band {}:   ", i + 1);
        for &(end_us, word) in *band {
            let count = between(&worker.stats, below, end_us.saturating_mul(1000));
            let _ = write!(text, "{word:>5}:{count:<8}");
            below = end_us.saturating_mul(1000);
        }
        text.push('\n');
    }
    text.push('\n');
    SideFile { path: format!("Iozone_histogram_child_{}.txt", worker.index).into(), text }
}

/// Number of reads and writes with latencies of at least `low` and less than `high` ns.
fn between(stats: &[OpStat], low: u64, high: u64) -> u64 {
    use fathom_record::OpKind::{Read, Write};
    stats
        .iter()
        .filter(|s| matches!(s.op, Read | Write))
        .flat_map(|s| s.latency.buckets())
        .filter(|&(start, width, _)| (low..high).contains(&(start + width / 2)))
        .map(|(_, _, count)| count)
        .sum()
}

fn child_log(pass: &Pass, worker: &Worker, repetition: &Repetition, run_began: DateTime) -> SideFile {
    let name = if pass.test == 8 { mixed(worker, "Random read", "Random write") } else { pass.child };
    let start_ns = repetition.started_ns.saturating_add(worker.start_ns);
    let at = |ns: u64| {
        let span = i64::try_from(ns).unwrap_or(i64::MAX).nanoseconds();
        ctime(run_began.checked_add(span).unwrap_or(run_began))
    };
    let text = format!(
        "{:<26}{}\n{:<26}{}\n",
        format!("{name} start:"),
        at(start_ns),
        format!("{name} finished:"),
        at(start_ns.saturating_add(worker.elapsed_ns))
    );
    SideFile { path: format!("Child_{}.log", worker.index).into(), text }
}
