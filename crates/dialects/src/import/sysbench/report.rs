//! Reads a report line by line; the section determines the meaning of "min" or "read".

use super::super::cell::{add, converted, figure};
use super::super::lines::{leading, unit as word_of};
use super::super::pairs::pairs;
use super::super::units::{Prefix, Unit, unit};
use fathom_record::Phase;
use fathom_record::imported::names::{OPERATIONS, THROUGHPUT, TIME};
use fathom_record::imported::units::{BYTES, BYTES_PER_S, COUNT, NS, OPS_PER_S};

const MS: Unit = Unit { base: NS, factor: 1e6 };
const MIB_PER_S: Unit = Unit { base: BYTES_PER_S, factor: 1048576.0 };

/// Current section of the report.
#[derive(Default)]
pub(super) struct SysbenchReport {
    section: String,
    reported: bool,
}

impl SysbenchReport {
    /// Whether the run's figures have been read.
    pub(super) fn done(&self) -> bool {
        self.reported
    }

    /// Reads a line. Returns whether it was understood.
    pub(super) fn takes(&mut self, phase: &mut Phase, line: &str, n: usize) -> bool {
        let lower = line.to_ascii_lowercase();
        if is_interval(line) {
            return interval(phase, &lower, n);
        }
        if let Some((key, rest)) = line.split_once(':') {
            let key = key.trim();
            if rest.trim().is_empty() {
                self.section = key.to_ascii_lowercase();
                return SECTIONS.iter().any(|s| self.section.starts_with(s));
            }
            if key == "Operations performed" {
                self.reported = true;
                return performed(phase, &lower, n);
            }
            return self.keyed(phase, key, rest.trim(), n);
        }
        if line.contains("Total transferred") {
            return transferred(phase, line, n);
        }
        if line.ends_with("Requests/sec executed") {
            return push(phase, OPERATIONS, line, Unit { base: OPS_PER_S, factor: 1.0 }, n);
        }
        self.histogram(phase, line, n)
    }

    fn keyed(&mut self, phase: &mut Phase, key: &str, value: &str, n: usize) -> bool {
        let word = leading(value).map_or("", |(_, _, rest)| word_of(rest));
        match key {
            "reads/s" | "writes/s" | "fsyncs/s" => {
                self.reported = true;
                push(phase, key, value, Unit { base: OPS_PER_S, factor: 1.0 }, n)
            }
            "read, MiB/s" => push(phase, "read throughput", value, MIB_PER_S, n),
            "written, MiB/s" => push(phase, "write throughput", value, MIB_PER_S, n),
            "read" | "write" | "fsync" if value.contains("IOPS") => self.of_1_1(phase, key, value, n),
            "total time" | "total time taken by event execution" => {
                let name = if key == "total time" { TIME } else { key };
                push(phase, name, value, Unit { base: NS, factor: 1e9 }, n)
            }
            "total number of events" => push(phase, key, value, Unit { base: COUNT, factor: 1.0 }, n),
            "min" | "avg" | "max" | "sum" => {
                let unit = unit(word, Prefix::Binary).filter(|_| !word.is_empty()).unwrap_or(MS);
                push(phase, &format!("latency {key}"), value, unit, n)
            }
            _ if key.contains("percentile") => {
                let Some(p) = pairs(key).first().map(|p| p.value) else { return false };
                let unit = unit(word, Prefix::Binary).filter(|_| !word.is_empty()).unwrap_or(MS);
                push(phase, &format!("latency p{p}"), value, unit, n)
            }
            _ if key.ends_with("(avg/stddev)") => fairness(phase, key, value, n),
            _ => false,
        }
    }

    /// "read:  IOPS=14159.16 221.24 MiB/s (231.98 MB/s)".
    fn of_1_1(&mut self, phase: &mut Phase, key: &str, value: &str, n: usize) -> bool {
        self.reported = true;
        let all = pairs(value);
        if let Some(iops) = all.first() {
            add(phase, figure(&format!("{key}s/s"), iops.value, OPS_PER_S, iops.word.into(), n));
        }
        for p in all.iter().filter(|p| p.unit == "MiB/s") {
            add(phase, converted(&format!("{key} throughput"), p.value, MIB_PER_S, p.printed(), n));
        }
        true
    }

    /// "       0.010 |****************************************  1000".
    fn histogram(&self, phase: &mut Phase, line: &str, n: usize) -> bool {
        if line.starts_with("Latency histogram") || line.starts_with("value ") {
            return true;
        }
        let Some((value, rest)) = line.split_once('|') else { return false };
        let count = rest.trim_start_matches(['*', ' ']).trim();
        let (Some((_, word, "")), Some((count, printed, ""))) = (leading(value.trim_end()), leading(count))
        else {
            return false;
        };
        add(phase, figure(&format!("latencies near {word} ms"), count, COUNT, printed.into(), n));
        true
    }

    /// Adds totals that the report omits: reads and writes together.
    pub(super) fn complete(&self, phase: &mut Phase) {
        for (first, second, name, unit) in [
            ("read throughput", "write throughput", THROUGHPUT, BYTES_PER_S),
            ("reads/s", "writes/s", OPERATIONS, OPS_PER_S),
        ] {
            let Some(r) = phase.repetitions.last() else { return };
            let (Some(a), Some(b)) = (r.figure(first), r.figure(second)) else { continue };
            if r.figure(name).is_some() {
                continue;
            }
            let (value, line) = (a.value + b.value, b.line.saturating_sub(1) as usize);
            let printed = format!("{} + {}", a.printed, b.printed);
            add(phase, figure(name, value, unit, printed, line));
        }
    }
}

const SECTIONS: [&str; 9] = [
    "file operations",
    "throughput",
    "general statistics",
    "latency",
    "threads fairness",
    "test execution summary",
    "per-request statistics",
    "response time",
    "running the test with following options",
];

fn push(phase: &mut Phase, name: &str, value: &str, unit: Unit, n: usize) -> bool {
    let Some((number, word, rest)) = leading(value) else { return false };
    let suffix = word_of(rest);
    let printed = if rest.starts_with(' ') && !suffix.is_empty() {
        format!("{word} {suffix}")
    } else {
        format!("{word}{suffix}")
    };
    let mut figure = converted(name, number, unit, printed, n);
    if name.starts_with("total time taken") || name == "latency sum" {
        figure.higher_is_better = None;
    }
    add(phase, figure);
    true
}

/// "events (avg/stddev):           250.0000/69.85".
fn fairness(phase: &mut Phase, key: &str, value: &str, n: usize) -> bool {
    let Some((mean, deviation)) = value.split_once('/') else { return false };
    let (Some((mean, a, _)), Some((deviation, b, _))) = (leading(mean), leading(deviation)) else {
        return false;
    };
    let what = key.trim_end_matches("(avg/stddev)").trim();
    let (unit, factor) = if what.starts_with("execution") { (NS, 1e9) } else { (COUNT, 1.0) };
    for (name, value, printed) in [("mean", mean, a), ("standard deviation", deviation, b)] {
        let mut figure =
            figure(&format!("{what} of a thread, {name}"), value * factor, unit, printed.into(), n);
        figure.higher_is_better = None;
        add(phase, figure);
    }
    true
}

/// "Operations performed:  6008 Read, 3997 Write, 12800 Other = 22805 Total", or "6000 reads, 4000 writes, ...".
fn performed(phase: &mut Phase, lower: &str, n: usize) -> bool {
    let all = pairs(lower);
    for p in &all {
        let name = match p.unit {
            "read" | "reads" => "reads",
            "write" | "writes" => "writes",
            "other" => "other operations",
            "total" => "all operations",
            _ => return false,
        };
        add(phase, figure(name, p.value, COUNT, p.word.into(), n));
    }
    !all.is_empty()
}

/// "Read 93.875Mb  Written 62.453Mb  Total transferred 156.33Mb  (2.9644Mb/sec)".
fn transferred(phase: &mut Phase, line: &str, n: usize) -> bool {
    let names = ["bytes read", "bytes written", "bytes transferred", THROUGHPUT];
    let all = pairs(line);
    for (p, name) in all.iter().zip(names) {
        let Some(unit) = unit(p.unit, Prefix::Binary).filter(|u| matches!(u.base, BYTES | BYTES_PER_S))
        else {
            return false;
        };
        add(phase, converted(name, p.value, unit, p.printed(), n));
    }
    all.len() == names.len()
}

/// "[ 1s ] reads: 258.51 MiB/s writes: 172.24 MiB/s fsyncs: 432.50/s latency (ms,95%): 0.018".
fn is_interval(line: &str) -> bool {
    line.starts_with('[') && (line.contains("reads:") || line.ends_with("Checkpoint report:"))
}

fn interval(phase: &mut Phase, lower: &str, n: usize) -> bool {
    let Some((when, rest)) = lower[1..].split_once(']') else { return false };
    let when = when.trim();
    for (key, name) in [
        ("reads:", "read throughput"),
        ("writes:", "write throughput"),
        ("fsyncs:", "fsyncs/s"),
        ("%):", "latency percentile"),
        ("response time:", "latency percentile"),
    ] {
        let Some((value, word, behind)) = rest.find(key).and_then(|at| leading(&rest[at + key.len()..]))
        else {
            continue;
        };
        let unit = match name {
            "fsyncs/s" => Unit { base: OPS_PER_S, factor: 1.0 },
            "latency percentile" => MS,
            _ => unit(word_of(behind), Prefix::Binary).filter(|u| u.base == BYTES_PER_S).unwrap_or(MIB_PER_S),
        };
        add(phase, converted(&format!("{name} at {when}"), value, unit, word.into(), n));
    }
    true
}
