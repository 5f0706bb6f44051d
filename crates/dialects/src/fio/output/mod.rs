//! fio's output made from the record: text, JSON, terse lines. `stats` makes report entries from workers (with `windows` over time),
//! `units` formats numbers; `logs` (with `log_operations`) and `iolog` write side files.

pub mod errors;
pub mod iolog;
pub mod json;
pub mod limits;
pub mod log_operations;
pub mod logs;
pub mod normal;
pub mod packed;
pub mod priorities;
pub mod queue;
pub mod shares;
pub mod stats;
pub mod status;
pub mod steady;
pub mod terse;
pub mod units;
pub mod verify;
pub mod windows;

use super::general::Format;
use super::plan::{Job, Plan};
use fathom_record::physical::JOURNAL;
use fathom_record::{DeviceDelta, Histogram, OpKind, Phase, Run};
use fathom_workload::{Backend, ops};
use stats::Side;
use std::fmt::Write as _;

/// Time and process of a report.
#[derive(Clone, Debug, Default)]
pub struct Moment {
    /// Time in milliseconds since 1970.
    pub unix_ms: i64,
    /// Time as formatted by ctime(3).
    pub text: String,
    /// Process ID.
    pub pid: u32,
}

/// The reports printed after the run, in all requested formats. fio's order: terse, JSON, text.
#[must_use]
pub fn results(plan: &Plan, run: &Run, moment: &Moment) -> String {
    let formats = formats(plan);
    let mut out = String::new();
    if formats.contains(&Format::Terse) {
        out += &terse::lines(plan, run, plan.general.terse_version.unwrap_or(3));
    }
    let json = formats.iter().find(|f| matches!(f, Format::Json | Format::JsonPlus));
    if let Some(json) = json {
        out += &json::document(plan, run, moment, *json == Format::JsonPlus);
    }
    if formats.contains(&Format::Normal) {
        out += &normal::report(plan, run, moment);
    }
    out
}

/// Output of `--debug=random`: the seeds of each clone's random generators, in fio's words. There are fewer than in fio, and none for
/// 3.33.
#[must_use]
pub fn seeds(plan: &Plan, pid: u32) -> String {
    let mut out = String::from("fio: set debug option random\n");
    if plan.general.version < super::Version::V3_42 {
        return out;
    }
    for job in &plan.jobs {
        let Some(place) = job.places.first() else { continue };
        let seed = job.stream.seed_or(plan.workload.seed.0);
        for worker in place.worker..place.worker + job.clones {
            let place = ops::Place { phase: place.phase, worker, repetition: 0 };
            let _ = writeln!(out, "random   {pid:<5} FIO_RAND_NR_OFFS={}", ops::PURPOSES.count());
            for (number, purpose) in ops::PURPOSES.enumerate() {
                let seed = ops::derive_seed(seed, place, purpose);
                let _ = writeln!(out, "random   {pid:<5} rand_seeds[{number}]={seed}");
            }
        }
    }
    out
}

/// The requested formats; text by default.
#[must_use]
pub fn formats(plan: &Plan) -> Vec<Format> {
    if plan.general.formats.is_empty() { vec![Format::Normal] } else { plan.general.formats.clone() }
}

/// Operations per submission; `None` for synchronous engines.
#[must_use]
pub fn engine_batch(job: &Job) -> Option<u32> {
    match job.stream.backend {
        Backend::Aio { batch, .. } => Some(batch),
        Backend::Uring(ring) | Backend::Nvme(ring) => Some(ring.batch),
        Backend::Posix => Some(1),
        _ => None,
    }
}

/// Activity of a disk during the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Disk {
    /// Kernel name.
    pub name: String,
    /// Completed requests.
    pub read_ios: u64,
    /// See `read_ios`.
    pub write_ios: u64,
    /// Sectors of 512 bytes moved by them.
    pub read_sectors: u64,
    /// See `read_sectors`.
    pub write_sectors: u64,
    /// Merged requests.
    pub read_merges: u64,
    /// See `read_merges`.
    pub write_merges: u64,
    /// Total time of requests in milliseconds.
    pub read_ms: u64,
    /// See `read_ms`.
    pub write_ms: u64,
    /// Total time of requests of any kind in milliseconds.
    pub queue_ms: u64,
    /// Percentage of the time with requests in flight.
    pub util_percent: f64,
}

/// The disks below the files, unless no job reports them. As in fio, calls by name have none.
fn devices(plan: &Plan, run: &Run) -> Vec<Disk> {
    // fio finds the disk only of files that exist when it starts.
    let are_there = |j: &Job| matches!(j.settings.word("ioengine"), Some("filestat" | "filedelete"));
    let has_files = |j: &Job| !j.stream.backend.is_by_name() || are_there(j);
    let are_told = |j: &Job| j.settings.on("disk_util", true) && has_files(j);
    if !plan.jobs.iter().any(are_told) {
        return Vec::new();
    }
    let mut disks: Vec<Disk> = Vec::new();
    let repetitions = || run.phases.iter().filter_map(|p| p.repetitions.first());
    let elapsed_ms = repetitions().map(|r| r.elapsed_ns).sum::<u64>() as f64 / 1e6;
    // Several disks also get a sum. fio does not look for an external journal.
    let is_disk = |d: &&DeviceDelta| d.level == 0 && !d.name.contains('+') && d.kind != JOURNAL;
    for device in repetitions().flat_map(|r| r.physical.devices.iter()).filter(is_disk) {
        let at = disks.iter().position(|d| d.name == device.name).unwrap_or_else(|| {
            disks.push(Disk { name: device.name.clone(), ..Disk::default() });
            disks.len() - 1
        });
        let disk = &mut disks[at];
        disk.read_ios += device.read_ios;
        disk.write_ios += device.write_ios;
        disk.read_sectors += device.read_bytes / 512;
        disk.write_sectors += device.write_bytes / 512;
        disk.read_merges += device.read_merges;
        disk.write_merges += device.write_merges;
        disk.read_ms += device.read_ms;
        disk.write_ms += device.write_ms;
        disk.queue_ms += device.queue_ms;
        if elapsed_ms > 0.0 {
            disk.util_percent = (disk.util_percent + device.busy_ms as f64 * 100.0 / elapsed_ms).min(100.0);
        }
    }
    disks
}

/// Windows of a direction, if reported.
struct Windows {
    /// KiB per second.
    kib: Vec<u64>,
    /// Operations per second.
    iops: Vec<u64>,
}

impl Windows {
    fn kib_range(&self) -> (u64, u64) {
        (self.kib.iter().min().copied().unwrap_or(0), self.kib.iter().max().copied().unwrap_or(0))
    }
}

fn windows(job: &Job, side: &Side) -> Windows {
    if !job.report.bandwidth {
        return Windows { kib: Vec::new(), iops: Vec::new() };
    }
    Windows { kib: side.bandwidth.iter().map(|b| b / 1024).collect(), iops: side.operations.clone() }
}

/// Latencies counted from the scheduled start, if there is a rate.
fn responses(phase: &Phase) -> Option<Histogram> {
    let mut all = Histogram::default();
    for stat in phase.repetitions.iter().flat_map(|r| &r.workers).flat_map(|w| &w.stats) {
        if stat.op == OpKind::Response {
            all.merge(&stat.latency);
        }
    }
    (all.count() > 0).then_some(all)
}

#[cfg(test)]
mod tests;
