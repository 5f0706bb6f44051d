//! The terminal status line: progress, rates, and remaining time of the running jobs.

use super::super::plan::{Job, Plan, Trims};
use super::normal::bits;
use super::units::{FIGURES, count, rate};
use fathom_record::{Interval, OpKind};
use fathom_workload::Record;

/// The status line for phase `phase`, with the rates of an interval.
#[must_use]
pub fn line(plan: &Plan, phase: u32, interval: &Interval) -> String {
    let running: Vec<&Job> = plan.jobs.iter().filter(|j| j.places.iter().any(|p| p.phase == phase)).collect();
    let workers: u32 = running.iter().map(|j| j.clones).sum();
    let letters: Vec<String> = running
        .iter()
        .map(|job| {
            let back = job.places.get(1).is_some_and(|p| p.phase == phase) || job.only_reads_back;
            format!("{}({})", letter(job, back), job.clones)
        })
        .collect();
    let per_s =
        |n: u64| if interval.width_ns == 0 { 0 } else { (n as f64 * 1e9 / interval.width_ns as f64) as u64 };
    let mut rates = Vec::new();
    let mut operations = Vec::new();
    for (kind, letter) in [(OpKind::Read, 'r'), (OpKind::Write, 'w'), (OpKind::Trim, 't')] {
        let bytes: u64 = interval.moved.iter().filter(|m| m.0 == kind).map(|m| m.1).sum();
        let ops: u64 = interval.latencies.iter().filter(|l| l.0 == kind).map(|l| l.1.count()).sum();
        if bytes + ops > 0 {
            rates.push(format!("{letter}={}", rate(per_s(bytes), 1024, FIGURES, bits(plan))));
            operations.push(format!("{letter}={}", count(per_s(ops), FIGURES)));
        }
    }
    let total = running.iter().map(|j| j.times.runtime + j.times.ramp).max().unwrap_or(0);
    let (done, left) = if total > 0 {
        let done = (interval.end_ns as f64 * 100.0 / total as f64).min(100.0);
        let left_s = total.saturating_sub(interval.end_ns).div_ceil(1_000_000_000);
        (format!("{done:.1}%"), format!("{:02}m:{:02}s", left_s / 60, left_s % 60))
    } else {
        ("-.-%".into(), "--".into())
    };
    format!(
        "Jobs: {workers} (f={workers}){}: [{}][{done}][{}][{} IOPS][eta {left}]",
        limits(&running),
        letters.join(","),
        rates.join(","),
        operations.join(",")
    )
}

/// The combined rate limits of all jobs, minimum to maximum; empty if no job has one.
fn limits(jobs: &[&Job]) -> String {
    let (mut operations, mut bytes) = (0.0, 0.0);
    for job in jobs {
        let Some(rate) = &job.stream.pace.rate else { continue };
        let all = rate.operations_per_s * f64::from(job.clones);
        match (job.settings.last("rate"), &job.stream.record) {
            _ if rate.per.0 > 0 => bytes += all * rate.per.0 as f64,
            (Some(_), Record::Fixed(size)) => bytes += all * size.0 as f64,
            _ => operations += all,
        }
    }
    if operations > 0.0 {
        format!(", 0-{operations:.0} IOPS")
    } else if bytes > 0.0 {
        format!(", 0B/s-{}", rate(bytes.round() as u64, 1024, FIGURES, jobs[0].report.bits))
    } else {
        String::new()
    }
}

/// fio's status letter of a job.
fn letter(job: &Job, back: bool) -> char {
    if back {
        return 'V';
    }
    if job.rw.trims == Trims::Only {
        return if job.rw.random { 'd' } else { 'D' };
    }
    match (job.rw.random, job.rw.mixed, job.rw.reads()) {
        (true, true, _) => 'm',
        (false, true, _) => 'M',
        (true, false, true) => 'r',
        (false, false, true) => 'R',
        (true, false, false) => 'w',
        (false, false, false) => 'W',
    }
}
