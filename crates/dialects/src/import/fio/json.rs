//! JSON and JSON+: every number of a job's directions is a figure; those that mean the same in every program get the common names.

use super::super::Block;
use super::super::cell::{add, cell, converted, run};
use super::super::lines::Lines;
use super::super::units::Unit;
use super::names::Job;
use super::scan::{Leaf, scan};
use fathom_record::Phase;
use fathom_record::imported::names::{OPERATIONS, THROUGHPUT, TIME};
use fathom_record::imported::units::{BYTES, BYTES_PER_S, COUNT, NS, OPS_PER_S, PERCENT};
use std::collections::BTreeMap;

/// A document that begins at this line.
pub(super) fn parse(lines: &Lines, at: usize) -> Option<Block> {
    if !lines.document(at).next()?.trim_start().starts_with('{') {
        return None;
    }
    // Twice: what a job is called and does may stand behind its figures.
    let mut version = None;
    let mut all = Jobs::default();
    let scanned = scan(lines.document(at), |leaf| {
        if version.is_none() && leaf.path == ["fio version"] {
            version = Some(leaf.text.clone());
        }
        all.see(&leaf);
    });
    let version = version?;
    if !scanned.whole && !scanned.broken && lines.document_is_cut() {
        return Some(Block { last: at, too_long: true, ..Block::default() });
    }
    let jobs = all.jobs;
    let mut phases: BTreeMap<(usize, u8, String), Phase> = BTreeMap::new();
    scan(lines.document(at), |leaf| {
        if !leaf.number {
            return;
        }
        let Some((key, name, phase)) = place(&leaf, &jobs) else { return };
        let Ok(value) = leaf.text.parse::<f64>() else { return };
        let (name, unit) = meaning(&name);
        let phase = phases.entry(key).or_insert(phase);
        let mut figure = converted(&name, value, unit, leaf.text.clone(), at + leaf.line);
        // Only rates and latencies are good or bad; a spread, a count of bytes or a share are not.
        if name.contains("stddev") || name.contains("deviation") {
            figure.higher_is_better = None;
        }
        add(phase, figure);
    });
    // A direction in which nothing was done says only zeros.
    phases.retain(|(_, direction, _), p| {
        *direction > 4 || p.repetitions[0].figures.iter().any(|f| f.value != 0.0)
    });
    let count = jobs.len();
    let mut run = run("fio", version, phases.into_values().collect());
    if run.phases.is_empty() {
        return None;
    }
    run.argv.clear();
    let cut = if scanned.whole { "" } else { ", cut off" };
    let what = format!("fio JSON, {count} job{}{cut}", if count == 1 { "" } else { "s" });
    Some(Block { last: at + scanned.last, what, runs: vec![run], is_document: true, ..Block::default() })
}

/// The jobs by their position, with the options that were given to all.
#[derive(Default)]
struct Jobs {
    all: Job,
    jobs: BTreeMap<usize, Job>,
}

impl Jobs {
    fn see(&mut self, leaf: &Leaf) {
        let path: Vec<&str> = leaf.path.iter().map(String::as_str).collect();
        match path.as_slice() {
            ["global options", key] => self.all.option(key, &leaf.text),
            ["jobs" | "client_stats", n, rest @ ..] => {
                let Ok(n) = n.parse() else { return };
                let job = self.jobs.entry(n).or_insert_with(|| self.all.clone());
                match rest {
                    ["jobname"] => job.name.clone_from(&leaf.text),
                    ["job options", key] => job.option(key, &leaf.text),
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

type Place = ((usize, u8, String), String, Phase);

/// Which cell a number belongs to, and its name in it.
fn place(leaf: &Leaf, jobs: &BTreeMap<usize, Job>) -> Option<Place> {
    let path: Vec<&str> = leaf.path.iter().map(String::as_str).collect();
    match path.as_slice() {
        ["jobs" | "client_stats", n, rest @ ..] => {
            let n: usize = n.parse().ok()?;
            let job = jobs.get(&n)?;
            match rest {
                [direction @ ("read" | "write" | "trim" | "mixed"), name @ ..] => {
                    let at = ["read", "write", "trim", "mixed"].iter().position(|d| d == direction)? as u8;
                    Some(((n, at, String::new()), name.join("."), job.cell(direction)))
                }
                ["sync", name @ ..] => Some(((n, 4, String::new()), name.join("."), job.cell("sync"))),
                ["job options", ..] => None,
                name => Some(((n, 5, String::new()), name.join("."), job.cell("job"))),
            }
        }
        ["disk_util", n, name] => {
            Some(((usize::MAX, 6, (*n).to_string()), (*name).to_string(), cell(&format!("device {n}"))))
        }
        _ => None,
    }
}

/// Name and unit of a number by its path.
fn meaning(path: &str) -> (String, Unit) {
    let unit = |base, factor| Unit { base, factor };
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let latency = match first {
        "lat_ns" => Some("latency"),
        "clat_ns" => Some("completion latency"),
        "slat_ns" => Some("submission latency"),
        _ => None,
    };
    if let Some(latency) = latency {
        return match rest.split_once('.') {
            Some(("percentile", p)) => (format!("{latency} p{}", percentile(p)), unit(NS, 1.0)),
            Some(("bins", ns)) => (format!("{latency}, operations near {ns} ns"), unit(COUNT, 1.0)),
            _ if rest == "N" => (format!("{latency}, operations"), unit(COUNT, 1.0)),
            _ => (format!("{latency} {}", if rest == "mean" { "avg" } else { rest }), unit(NS, 1.0)),
        };
    }
    match path {
        "bw_bytes" => (THROUGHPUT.into(), unit(BYTES_PER_S, 1.0)),
        "iops" => (OPERATIONS.into(), unit(OPS_PER_S, 1.0)),
        "runtime" => (TIME.into(), unit(NS, 1e6)),
        "io_bytes" => (path.into(), unit(BYTES, 1.0)),
        "io_kbytes" => (path.into(), unit(BYTES, 1024.0)),
        "bw" | "bw_min" | "bw_max" | "bw_mean" | "bw_dev" => (path.into(), unit(BYTES_PER_S, 1024.0)),
        "iops_min" | "iops_max" | "iops_mean" | "iops_stddev" => (path.into(), unit(OPS_PER_S, 1.0)),
        "job_runtime" => (path.into(), unit(NS, 1e6)),
        "elapsed" => (path.into(), unit(NS, 1e9)),
        "bw_agg" | "usr_cpu" | "sys_cpu" | "util" | "latency_percentile" => (path.into(), unit(PERCENT, 1.0)),
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
    }
}

/// "99.000000" is "99", "99.900000" is "99.9".
fn percentile(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}
