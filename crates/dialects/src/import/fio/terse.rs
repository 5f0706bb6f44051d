//! Terse lines, versions 2 to 5: fields separated by semicolons, in an order that each version extends.

use super::super::Block;
use super::super::cell::{add, converted, run};
use super::super::lines::{Lines, number};
use super::super::units::Unit;
use super::names::JobOptions;
use fathom_record::Phase;
use fathom_record::imported::names::{OPERATIONS, THROUGHPUT, TIME};
use fathom_record::imported::units::{BYTES, BYTES_PER_S, COUNT, NS, OPS_PER_S, PERCENT};

/// Fields of a direction before the percentiles, with their units.
const FIRST: [(&str, &str, f64); 12] = [
    ("bytes", BYTES, 1024.0),
    (THROUGHPUT, BYTES_PER_S, 1024.0),
    (OPERATIONS, OPS_PER_S, 1.0),
    (TIME, NS, 1e6),
    ("submission latency min", NS, 1e3),
    ("submission latency max", NS, 1e3),
    ("submission latency avg", NS, 1e3),
    ("submission latency stddev", NS, 1e3),
    ("completion latency min", NS, 1e3),
    ("completion latency max", NS, 1e3),
    ("completion latency avg", NS, 1e3),
    ("completion latency stddev", NS, 1e3),
];
const PERCENTILES: usize = 20;
/// Fields after the percentiles; the last five exist only in version 5, which includes the number of samples.
const LAST: [(&str, &str, f64); 15] = [
    ("latency min", NS, 1e3),
    ("latency max", NS, 1e3),
    ("latency avg", NS, 1e3),
    ("latency stddev", NS, 1e3),
    ("bw_min", BYTES_PER_S, 1024.0),
    ("bw_max", BYTES_PER_S, 1024.0),
    ("bw_agg", PERCENT, 1.0),
    ("bw_mean", BYTES_PER_S, 1024.0),
    ("bw_dev", BYTES_PER_S, 1024.0),
    ("bw_samples", COUNT, 1.0),
    ("iops_min", OPS_PER_S, 1.0),
    ("iops_max", OPS_PER_S, 1.0),
    ("iops_mean", OPS_PER_S, 1.0),
    ("iops_stddev", OPS_PER_S, 1.0),
    ("iops_samples", COUNT, 1.0),
];

/// Limit on jobs per run: concatenated output of many fio calls is split.
const MOST_JOBS: usize = 1000;

/// Field layout of a version.
struct TerseLayout {
    /// Fields before the first direction.
    head: usize,
    directions: &'static [&'static str],
    /// Number of `LAST` fields.
    last: usize,
}

impl TerseLayout {
    fn of(version: &str) -> Option<Self> {
        let three = &["read", "write", "trim"][..];
        Some(match version {
            "2" => Self { head: 5, directions: three, last: 9 },
            "3" => Self { head: 5, directions: &three[..2], last: 9 },
            "4" => Self { head: 5, directions: three, last: 9 },
            "5" => Self { head: 5, directions: three, last: 15 },
            _ => return None,
        })
    }
}

/// Consecutive terse lines starting here; each is a job.
pub(super) fn parse(lines: &Lines, at: usize) -> Option<Block> {
    let mut phases = Vec::new();
    let mut version = String::new();
    let (mut jobs, mut last) = (0, at);
    for n in at..lines.len().min(at + MOST_JOBS) {
        let Some(more) = job(lines.trimmed(n), n, &mut version) else { break };
        phases.extend(more);
        jobs += 1;
        last = n;
    }
    if jobs == 0 {
        return None;
    }
    let what = format!("fio terse output, {jobs} job{}", if jobs == 1 { "" } else { "s" });
    let run = run("fio", if version.is_empty() { "fio".into() } else { version }, phases);
    Some(Block { last, what, runs: vec![run], ..Block::default() })
}

fn job(line: &str, n: usize, version: &mut String) -> Option<Vec<Phase>> {
    let fields: Vec<&str> = line.split(';').collect();
    let layout = TerseLayout::of(fields.first()?)?;
    // Version 2 has no program name, and puts the job before its group.
    let (head, name) = if fields[0] == "2" { (4, 1) } else { (layout.head, 2) };
    let numbers = |range: std::ops::Range<usize>| {
        fields.get(range).is_some_and(|f| f.iter().all(|w| number(w).is_some()))
    };
    if fields.len() < head + FIRST.len() || !numbers(head - 2..head + 4) {
        return None;
    }
    if head == 5 {
        *version = fields[1].into();
    }
    let job = JobOptions { name: fields[name].into(), ..JobOptions::default() };
    let mut phases = Vec::new();
    let width = FIRST.len() + PERCENTILES + layout.last;
    for (which, direction) in layout.directions.iter().enumerate() {
        let start = head + which * width;
        let Some(fields) = fields.get(start..).filter(|f| !f.is_empty()) else { break };
        let phase = read(&job, direction, &fields[..fields.len().min(width)], n);
        if phase.repetitions[0].figures.iter().any(|f| f.value != 0.0) {
            phases.push(phase);
        }
    }
    let behind = head + layout.directions.len() * width;
    phases.extend(processors(&job, fields.get(behind..).unwrap_or_default(), n));
    Some(phases)
}

fn read(job: &JobOptions, direction: &str, fields: &[&str], n: usize) -> Phase {
    let mut phase = job.cell(direction);
    let mut put = |(name, base, factor): (&str, &'static str, f64), text: &str| {
        let Some(value) = number(text.trim_end_matches('%')) else { return };
        let mut figure = converted(name, value, Unit { base, factor }, text.into(), n);
        if name.ends_with("stddev") || name.ends_with("_dev") {
            figure.higher_is_better = None;
        }
        add(&mut phase, figure);
    };
    for (what, text) in FIRST.into_iter().zip(fields) {
        put(what, text);
    }
    for text in fields.iter().skip(FIRST.len()).take(PERCENTILES) {
        // "99.000000%=569"; unused slots are "0%=0".
        if let Some((p, value)) = text.split_once("%=").filter(|(p, _)| *p != "0") {
            let p = p.trim_end_matches('0').trim_end_matches('.');
            put((&format!("completion latency p{p}"), NS, 1e3), value);
        }
    }
    for (what, text) in LAST.into_iter().zip(fields.iter().skip(FIRST.len() + PERCENTILES)) {
        put(what, text);
    }
    phase
}

/// CPU times, depths and devices after the directions.
fn processors(job: &JobOptions, fields: &[&str], n: usize) -> Option<Phase> {
    let mut phase = job.cell("job");
    let mut device = "";
    let mut in_device = 0;
    for (at, text) in fields.iter().enumerate() {
        let name = match at {
            0 => "usr_cpu".to_string(),
            1 => "sys_cpu".into(),
            2 => "ctx".into(),
            3 => "majf".into(),
            4 => "minf".into(),
            5..=11 => format!("iodepth_level {}", ["1", "2", "4", "8", "16", "32", ">=64"][at - 5]),
            12..=33 => format!("latency class {}", at - 11),
            _ if number(text.trim_end_matches('%')).is_none() => {
                (device, in_device) = (text, 0);
                continue;
            }
            _ => {
                in_device += 1;
                format!("{device}, field {in_device}")
            }
        };
        let base = if text.ends_with('%') { PERCENT } else { COUNT };
        if let Some(value) = number(text.trim_end_matches('%')) {
            add(&mut phase, converted(&name, value, Unit { base, factor: 1.0 }, (*text).into(), n));
        }
    }
    (!phase.repetitions[0].figures.is_empty()).then_some(phase)
}
