//! JSON and JSON+: every number of a job's directions is a figure; numbers that exist in every program get common names.
//! Of repeated status documents only the last is read. Latencies by priority have class and level in their names, devices their name.

use super::super::Block;
use super::super::cell::{add, cell, converted, run};
use super::super::json_leaves::{Leaf, scan};
use super::super::lines::Lines;
use super::super::units::Unit;
use super::names::JobOptions;
use fathom_record::imported::names::{OPERATIONS, THROUGHPUT, TIME};
use fathom_record::imported::units::{BYTES, BYTES_PER_S, COUNT, NS, OPS_PER_S, PERCENT};
use fathom_record::{Phase, Status};
use std::collections::BTreeMap;

pub(super) fn parse(lines: &Lines, at: usize) -> Option<Block> {
    if !lines.document(at).next()?.trim_start().starts_with('{') {
        return None;
    }
    // Two passes: job names and options may follow the figures.
    let mut version = None;
    let mut all = Jobs::default();
    let scanned = scan(lines.document(at), |leaf| {
        if version.is_none() && leaf.path == ["fio version"] {
            version = Some(leaf.text.clone());
        }
        all.see(&leaf);
    });
    let version = version?;
    // A cut may leave none of the keys that show the age.
    all.age.has_io_kbytes |= !scanned.whole && version.starts_with("fio-3");
    if !scanned.whole && !scanned.broken && lines.document_is_cut() {
        return Some(Block { last: at, too_long: true, ..Block::default() });
    }
    if let Some(next) = super::states::next(lines, at, at + scanned.last) {
        // With --status-interval, the last document includes the earlier ones.
        let mut block = parse(lines, next)?;
        if !block.what.ends_with(LAST_STATE) {
            block.what += LAST_STATE;
        }
        return Some(block);
    }
    let mut phases: BTreeMap<(usize, u8, String), Phase> = BTreeMap::new();
    scan(lines.document(at), |leaf| {
        if !leaf.number {
            return;
        }
        let Some(NumberPlace { key, of, name, phase }) = place(&leaf, &all) else { return };
        let Ok(value) = leaf.text.parse::<f64>() else { return };
        let Some((name, unit)) = meaning(&name, &all.age) else { return };
        let is_of_device = key.1 == DEVICE;
        let phase = phases.entry(key).or_insert(phase);
        let name = format!("{of}{name}");
        let mut figure = converted(&name, value, unit, leaf.text.clone(), at + leaf.line);
        // Only rates and latencies have a better direction; deviations, byte counts, shares and device busy times do not.
        if is_of_device || NEITHER.iter().any(|word| name.contains(word)) {
            figure.higher_is_better = None;
        }
        add(phase, figure);
    });
    // Unused directions contain only zeros.
    phases.retain(|(_, direction, _), p| {
        *direction > SYNC || p.repetitions[0].figures.iter().any(|f| f.value != 0.0)
    });
    let count = all.jobs.len();
    let mut run = run("fio", version, phases.into_values().collect());
    if run.phases.is_empty() {
        return None;
    }
    run.argv.clear();
    if let Some(failed) = all.jobs.values().find(|job| job.error != 0) {
        // fio's messages precede the document.
        let said = (at.saturating_sub(MOST_BEFORE)..at).rev().map(|n| lines.trimmed(n));
        let said = said.take_while(|line| line.starts_with("fio: ")).find(|line| line.contains(" error="));
        run.status = Status::Failed;
        run.error = Some(super::error(&failed.name, failed.error, said));
    }
    let cut = if scanned.whole { "" } else { ", cut off" };
    let what = format!("fio JSON, {count} job{}{cut}", if count == 1 { "" } else { "s" });
    Some(Block { last: at + scanned.last, what, runs: vec![run], is_document: true, ..Block::default() })
}

/// Says that earlier documents of the run were left out.
const LAST_STATE: &str = ", only the last of its states";

/// Name parts of figures without a better direction.
const NEITHER: [&str; 6] = ["stddev", "deviation", "duration", "elapsed", "job_runtime", "bw_dev"];

/// Lines before a document that may contain fio's error message.
const MOST_BEFORE: usize = 8;

/// Sort keys of phases: 0 to 3 are a job's directions (read, write, trim, mixed), then come its syncs and its other figures. Devices come
/// after all jobs.
const SYNC: u8 = 4;
const JOB: u8 = 5;
const DEVICE: u8 = 6;

/// Jobs by index, with global options and other names in the document.
#[derive(Default)]
struct Jobs {
    all: JobOptions,
    jobs: BTreeMap<usize, JobOptions>,
    /// By job, direction, and index in the list.
    priorities: BTreeMap<[String; 3], PriorityLatencies>,
    /// Device names by index.
    devices: BTreeMap<String, String>,
    age: Age,
}

/// Evidence of the fio version: 2.x has neither of these keys, and its "bytes" are KiB.
#[derive(Default)]
struct Age {
    has_io_kbytes: bool,
    has_bw_bytes: bool,
}

/// A priority with separate latencies.
#[derive(Default)]
struct PriorityLatencies {
    class: String,
    level: String,
    hint: String,
}

impl PriorityLatencies {
    /// Prefix of its figures' names.
    fn prefix(&self) -> String {
        let hint = match self.hint.as_str() {
            "" | "0" => String::new(),
            hint => format!(" hint {hint}"),
        };
        format!("class {} level {}{hint}: ", self.class, self.level)
    }
}

impl Jobs {
    fn see(&mut self, leaf: &Leaf) {
        let path: Vec<&str> = leaf.path.iter().map(String::as_str).collect();
        self.age.has_io_kbytes |= path.last() == Some(&"io_kbytes");
        self.age.has_bw_bytes |= path.last() == Some(&"bw_bytes");
        match path.as_slice() {
            ["global options", key] => self.all.option(key, &leaf.text),
            ["jobs" | "client_stats", n, direction, "prios", k, key] => {
                let key_of_list = [n, direction, k].map(|part| (*part).to_owned());
                let priority = self.priorities.entry(key_of_list).or_default();
                match *key {
                    "prioclass" => priority.class.clone_from(&leaf.text),
                    "prio" => priority.level.clone_from(&leaf.text),
                    "priohint" => priority.hint.clone_from(&leaf.text),
                    _ => {}
                }
            }
            ["jobs" | "client_stats", n, rest @ ..] => {
                let Ok(n) = n.parse() else { return };
                let job = self.jobs.entry(n).or_insert_with(|| self.all.clone());
                match rest {
                    ["jobname"] => job.name.clone_from(&leaf.text),
                    ["error"] => job.error = leaf.text.parse().unwrap_or(0),
                    ["job options", key] => job.option(key, &leaf.text),
                    _ => {}
                }
            }
            ["disk_util", n, "name"] => {
                let _ = self.devices.insert((*n).to_owned(), leaf.text.clone());
            }
            _ => {}
        }
    }
}

/// Position of a number.
struct NumberPlace {
    /// Job, kind of cell, and device.
    key: (usize, u8, String),
    /// Prefix for its priority.
    of: String,
    /// Path within the cell.
    name: String,
    phase: Phase,
}

/// The cell and name of a number; `None` if it is not a figure.
fn place(leaf: &Leaf, all: &Jobs) -> Option<NumberPlace> {
    let path: Vec<&str> = leaf.path.iter().map(String::as_str).collect();
    match path.as_slice() {
        ["jobs" | "client_stats", n, rest @ ..] => {
            let job = all.jobs.get(&n.parse().ok()?)?;
            let at = |kind, of: String, name: &[&str], phase| {
                let n = n.parse().ok()?;
                Some(NumberPlace { key: (n, kind, String::new()), of, name: name.join("."), phase })
            };
            match rest {
                [direction @ ("read" | "write" | "trim" | "mixed"), name @ ..] => {
                    let kind = ["read", "write", "trim", "mixed"].iter().position(|d| d == direction)? as u8;
                    let phase = job.cell(direction);
                    match name {
                        ["prios", _, "prioclass" | "prio" | "priohint"] => None,
                        ["prios", k, name @ ..] => {
                            let of = all.priorities.get(&[n, direction, k].map(|part| (*part).to_owned()))?;
                            at(kind, of.prefix(), name, phase)
                        }
                        name => at(kind, String::new(), name, phase),
                    }
                }
                ["sync", name @ ..] => at(SYNC, String::new(), name, job.cell("sync")),
                // Requested options, identifiers, timestamps, estimates; and the error, which is stored with the run.
                ["job options", ..]
                | ["groupid" | "job_start" | "eta" | "error" | "total_err" | "first_error"] => None,
                name => at(JOB, String::new(), name, job.cell("job")),
            }
        }
        ["disk_util", n, name] => {
            let device = all.devices.get(*n).map_or(*n, String::as_str);
            Some(NumberPlace {
                key: (usize::MAX, DEVICE, (*n).to_owned()),
                of: String::new(),
                name: (*name).to_owned(),
                phase: cell(&format!("device {device}")),
            })
        }
        _ => None,
    }
}

/// Name and unit of a number by its path; `None` for placeholders.
fn meaning(path: &str, age: &Age) -> Option<(String, Unit)> {
    let unit = |base, factor| Unit { base, factor };
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    // Without "_ns" they are from 2.x, in microseconds.
    let latency = match first {
        "lat_ns" => Some(("latency", 1.0)),
        "clat_ns" => Some(("completion latency", 1.0)),
        "slat_ns" => Some(("submission latency", 1.0)),
        "lat" => Some(("latency", 1e3)),
        "clat" => Some(("completion latency", 1e3)),
        "slat" => Some(("submission latency", 1e3)),
        _ => None,
    };
    if let Some((latency, ns)) = latency {
        return match rest.split_once('.') {
            // 2.x has twenty percentile slots, some unused.
            Some(("percentile", "0.00")) => None,
            Some(("percentile", p)) => Some((format!("{latency} p{}", percentile(p)), unit(NS, ns))),
            Some(("bins", bin)) => Some((format!("{latency}, operations near {bin} ns"), unit(COUNT, 1.0))),
            _ if rest == "N" => Some((format!("{latency}, operations"), unit(COUNT, 1.0))),
            _ => Some((format!("{latency} {}", if rest == "mean" { "avg" } else { rest }), unit(NS, ns))),
        };
    }
    Some(match path {
        "bw" if !age.has_bw_bytes => (THROUGHPUT.into(), unit(BYTES_PER_S, 1024.0)),
        "io_bytes" if !(age.has_io_kbytes || age.has_bw_bytes) => (path.into(), unit(BYTES, 1024.0)),
        "bw_bytes" => (THROUGHPUT.into(), unit(BYTES_PER_S, 1.0)),
        "iops" => (OPERATIONS.into(), unit(OPS_PER_S, 1.0)),
        "runtime" => (TIME.into(), unit(NS, 1e6)),
        "io_bytes" => (path.into(), unit(BYTES, 1.0)),
        "io_kbytes" => (path.into(), unit(BYTES, 1024.0)),
        "bw" | "bw_min" | "bw_max" | "bw_mean" | "bw_dev" => (path.into(), unit(BYTES_PER_S, 1024.0)),
        "iops_min" | "iops_max" | "iops_mean" | "iops_stddev" => (path.into(), unit(OPS_PER_S, 1.0)),
        "job_runtime" => (path.into(), unit(NS, 1e6)),
        "elapsed" | "steadystate.duration" => (path.into(), unit(NS, 1e9)),
        "steadystate.data.lat_mean" => (path.into(), unit(NS, 1.0)),
        "steadystate.data.iops_mean" => (path.into(), unit(OPS_PER_S, 1.0)),
        "steadystate.data.bw_mean" => (path.into(), unit(BYTES_PER_S, 1.0)),
        _ if path.starts_with("steadystate.data.lat_ns.") => (path.into(), unit(NS, 1.0)),
        _ if path.starts_with("steadystate.data.iops.") => (path.into(), unit(OPS_PER_S, 1.0)),
        _ if path.starts_with("steadystate.data.bw.") => (path.into(), unit(BYTES_PER_S, 1.0)),
        "read_ticks" | "write_ticks" | "in_queue" | "aggr_read_ticks" | "aggr_write_ticks"
        | "aggr_in_queue" => (path.into(), unit(NS, 1e6)),
        "bw_agg" | "usr_cpu" | "sys_cpu" | "util" | "aggr_util" | "latency_percentile" => {
            (path.into(), unit(PERCENT, 1.0))
        }
        _ if matches!(
            first,
            "iodepth_level"
                | "iodepth_submit"
                | "iodepth_complete"
                | "latency_ns"
                | "latency_us"
                | "latency_ms"
        ) =>
        {
            (path.into(), unit(PERCENT, 1.0))
        }
        _ => (path.into(), unit(COUNT, 1.0)),
    })
}

/// "99.000000" is "99", "99.900000" is "99.9".
fn percentile(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}
