//! fio's text output: a line for each job before the run; afterwards a report for each entry, and group totals.

use super::super::Version;
use super::super::plan::{Job, Plan};
use super::Moment;
use super::shares::share;
use super::stats::{self, BUCKETS, Entry, Side};
use super::steady::SteadyReport;
use super::units::{FIGURES, bytes, count, rate, short, time};
use fathom_record::{Histogram, Run};
use fathom_workload::{Backend, Record};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Text printed before the run.
#[must_use]
pub fn head(plan: &Plan) -> String {
    let (mut out, mut computing) = (String::new(), String::new());
    for job in &plan.jobs {
        let (reads, writes) = match &job.stream.record {
            Record::ByKind { read, write } => (sizes(job, read), sizes(job, write)),
            both => (sizes(job, both), sizes(job, both)),
        };
        let engine = job.settings.word("ioengine").unwrap_or("psync");
        if !job.stream.backend.counts_bytes() {
            computing.extend((0..job.clones).map(|_| beside_io(job)));
            if job.clones > 1 {
                out += "...\n";
            }
            continue;
        }
        let _ = writeln!(
            out,
            "{}: (g={}): rw={}, bs=(R) {reads}, (W) {writes}, (T) {writes}, ioengine={engine}, iodepth={}",
            job.name,
            job.group,
            job.rw.word(),
            job.settings.number("iodepth").ok().flatten().unwrap_or(1)
        );
        if job.clones > 1 {
            out += "...\n";
        }
    }
    let _ = writeln!(out, "{}", plan.general.version.name());
    let threads: u32 = plan.jobs.iter().filter(|j| j.settings.on("thread", false)).map(|j| j.clones).sum();
    let processes: u32 = plan.jobs.iter().map(|j| j.clones).sum::<u32>() - threads;
    let one = |n: u32, one: &str, many: &str| if n == 1 { format!("1 {one}") } else { format!("{n} {many}") };
    let parts = [(threads, "thread", "threads"), (processes, "process", "processes")];
    let said: Vec<String> = parts.into_iter().filter(|p| p.0 > 0).map(|(n, a, b)| one(n, a, b)).collect();
    let _ = writeln!(out, "Starting {}", said.join(" and "));
    out + &computing
}

fn sizes(job: &Job, record: &Record) -> String {
    let size_text = |size: u64| bytes(size, job.report.kb_base, job.report.figures);
    format!("{}-{}", size_text(record.unit().0), size_text(record.largest().0))
}

/// Lines for a job that computes or runs a program, one per clone.
fn beside_io(job: &Job) -> String {
    if let Backend::Compute(compute) = job.stream.backend {
        let load = job.settings.number("cpuload").ok().flatten().unwrap_or(0).min(100);
        let mode = if compute.sort { "qsort" } else { "noop" };
        return format!(
            "{} ({mode}): ioengine=cpuio, cpuload={load}, cpucycle={}\n",
            job.name,
            compute.time.0 / 1000
        );
    }
    let text = |name| job.settings.text(name).unwrap_or("(null)");
    format!("{} : program={}, arguments={}\n", job.name, text("program"), text("arguments"))
}

/// Message printed before files of a job are laid out.
#[must_use]
pub fn laying_out(job: &Job, there: impl Fn(&Path) -> bool) -> String {
    let mut out = String::new();
    let mut laid: BTreeMap<&Path, u64> = BTreeMap::new();
    for (clone, (part, files)) in job.parts.iter().zip(&job.files).enumerate() {
        // Several files have individual sizes; the size of a single file is in the part.
        let sizes = job.sizes.get(clone).filter(|sizes| sizes.len() == files.len());
        let size = |at: usize| sizes.and_then(|sizes| sizes.get(at)).copied().unwrap_or(part.file);
        // Shared files are laid out once, and again if a clone needs a larger one.
        let missing = |&(at, path): &(usize, &Path)| match laid.get(path) {
            Some(bytes) => *bytes < size(at),
            None => !there(path),
        };
        let files = files.iter().map(PathBuf::as_path).enumerate();
        let new: Vec<(u64, &Path)> = files.filter(missing).map(|(at, path)| (size(at), path)).collect();
        let mib = new.iter().fold(0, |sum: u64, (bytes, _)| sum.saturating_add(*bytes)) >> 20;
        let _ = match new.len() {
            0 => continue,
            1 => writeln!(out, "{}: Laying out IO file (1 file / {mib}MiB)", job.name),
            n => writeln!(out, "{}: Laying out IO files ({n} files / total {mib}MiB)", job.name),
        };
        laid.extend(new.into_iter().map(|(bytes, path)| (path, bytes)));
    }
    out
}

/// Text printed after the run.
#[must_use]
pub fn report(plan: &Plan, run: &Run, moment: &Moment) -> String {
    let mut out = String::new();
    let entries = stats::entries(plan, run);
    // One blank line, whatever the number of entries.
    out.push('\n');
    for entry in entries.iter().filter(|entry| !plan.jobs[entry.job].only_lays_out) {
        report_of(&mut out, plan, entry, moment);
    }
    let last = plan.jobs.iter().map(|j| j.group).max().unwrap_or(0);
    for group in 0..=last {
        let of_group: Vec<&Entry> = entries.iter().filter(|e| plan.jobs[e.job].group == group).collect();
        let _ = writeln!(out, "\nRun status group {group} (all jobs):");
        for (name, of) in SUMS {
            sums(
                &mut out,
                name,
                &of_group.iter().map(|e| of(e)).collect::<Vec<_>>(),
                (base(plan), figures(plan), bits(plan)),
            );
        }
    }
    let disks = super::devices(plan, run);
    if !disks.is_empty() {
        out += "\nDisk stats (read/write):\n";
    }
    for disk in disks {
        let _ = write!(out, "  {}: ios={}/{}, ", disk.name, disk.read_ios, disk.write_ios);
        if plan.general.version >= Version::V3_42 {
            let _ = write!(out, "sectors={}/{}, ", disk.read_sectors, disk.write_sectors);
        }
        let _ = writeln!(
            out,
            "merge={}/{}, ticks={}/{}, in_queue={}, util={:.2}%",
            disk.read_merges,
            disk.write_merges,
            disk.read_ms,
            disk.write_ms,
            disk.queue_ms,
            disk.util_percent
        );
    }
    out
}

/// Selects a direction of an entry.
type Selected = fn(&Entry) -> &Side;

/// Group totals by direction; those without operations are omitted.
const SUMS: [(&str, Selected); 4] =
    [("READ", |e| &e.read), ("WRITE", |e| &e.write), ("TRIM", |e| &e.trim), ("MIXED", |e| &e.mixed)];

fn base(plan: &Plan) -> u64 {
    plan.jobs.first().map_or(1024, |j| j.report.kb_base)
}

fn figures(plan: &Plan) -> usize {
    plan.jobs.first().map_or(FIGURES, |j| j.report.figures)
}

pub(super) fn bits(plan: &Plan) -> bool {
    plan.jobs.first().is_some_and(|j| j.report.bits)
}

/// The other base, printed in brackets.
fn other(base: u64) -> u64 {
    if base == 1024 { 1000 } else { 1024 }
}

fn report_of(out: &mut String, plan: &Plan, entry: &Entry, moment: &Moment) {
    let job = &plan.jobs[entry.job];
    let _ =
        write!(out, "{}: (groupid={}, jobs={}): err={:2}", job.name, job.group, entry.clones, entry.errno());
    if let Some(error) = entry.error.as_ref().or(entry.errors.passed.as_ref()) {
        let _ = write!(out, " (file:{}, func={}, error={})", error.path, error.call, error.message);
    }
    let _ = writeln!(out, ": pid={}: {}", moment.pid, moment.text);
    if let Some(text) = job.settings.text("description") {
        let _ = writeln!(out, "  Description  : [{text}]");
    }
    let unified = job.report.unified;
    for (name, of) in entry.reported(unified) {
        side(out, job, name, of);
    }
    tables(out, entry, job);
    if entry.sync.count() > 0 {
        let more = if job.report.version >= Version::V3_42 { "/syncfs" } else { "" };
        let _ = writeln!(out, "  fsync/fdatasync/sync_file_range{more}:");
        latency(out, "sync", &entry.sync);
        percentiles(out, "sync", &entry.sync, job);
    }
    let ((user, system), counts) = (entry.cpu_percent(), entry.counts);
    let _ = writeln!(
        out,
        "  cpu          : usr={user:3.2}%, sys={system:3.2}%, ctx={}, majf={}, minf={}",
        counts.switches, counts.major_faults, counts.minor_faults
    );
    let row = |names: [&str; 7], shares: [f64; 7]| {
        names
            .iter()
            .zip(shares)
            .map(|(name, share)| format!("{name}={share:3.1}%"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let [depth, submit, complete] = entry.queue();
    let _ = writeln!(out, "  IO depths    : {}", row(["1", "2", "4", "8", "16", "32", ">=64"], depth));
    for (word, calls) in [("submit    ", submit), ("complete  ", complete)] {
        let _ = writeln!(out, "     {word}: {}", row(["0", "4", "8", "16", "32", "64", ">=64"], calls));
    }
    let _ = writeln!(
        out,
        "     issued rwts: total={},{},{},{} short=0,0,0,0 dropped=0,0,0,0",
        // The first field counts combined operations, as in fio.
        if unified.is_separate() { entry.read.ios } else { entry.mixed.ios },
        entry.write.ios,
        entry.trim.ios,
        entry.sync.count()
    );
    if let Some((total, first)) = entry.errors.reported(job) {
        let said = super::errors::words(first);
        let _ = writeln!(out, "     errors    : total={total}, first_error={first}/<{said}>");
    }
    let (target, window, percentile) = stats::latency_target(job);
    let depth = entry.depth(job);
    let (target, window) = match job.report.version {
        Version::V3_33 => (target.to_string(), (window / 1000).to_string()),
        Version::V3_42 => (span(target), span(window)),
    };
    let _ = writeln!(
        out,
        "     latency   : target={target}, window={window}, percentile={percentile:.2}%, depth={depth}"
    );
    if let Some(rule) = &job.steady {
        *out +=
            &SteadyReport::of(rule, entry.steady.as_ref()).line(rule, (job.report.kb_base, job.report.bits));
    }
}

/// A duration in ns, as formatted by fio 3.42.
fn span(ns: u64) -> String {
    let (mut value, mut unit) = (ns as f64, "ns");
    for larger in ["us", "ms", "s"] {
        if value >= 2000.0 {
            (value, unit) = (value / 1000.0, larger);
        }
    }
    format!("{value:.2}{unit}")
}

fn side(out: &mut String, job: &Job, name: &str, side: &Side) {
    // A computing job has operations but moves no data.
    if side.ios == 0 || side.bytes == 0 {
        return;
    }
    let (kb, figures) = (job.report.kb_base, job.report.figures);
    let per_s = side.bytes_per_s();
    let _ = writeln!(
        out,
        "  {name}: IOPS={}, BW={} ({})({}/{}msec){}",
        count(side.iops() as u64, figures),
        rate(per_s, kb, figures, job.report.bits),
        rate(per_s, other(kb), figures, job.report.bits),
        bytes(side.bytes, kb, figures),
        side.runtime_ms(),
        if name == "write" && job.report.version < Version::V3_42 { "; 0 zone resets" } else { "" }
    );
    let r = &job.report;
    if r.slat && side.slat.count() > 0 {
        latency(out, "slat", &side.slat);
    }
    if r.clat && side.clat.count() > 0 {
        latency(out, "clat", &side.clat);
    }
    if r.lat && side.lat.count() > 0 {
        latency(out, "lat", &side.lat);
    }
    for by in &side.priorities {
        let (name, h) = by.reported(job);
        latency(out, &format!("    {name} prio {}", by.text(job)), h);
    }
    for (name, h, on) in [
        ("slat", &side.slat, r.slat && r.slat_percentiles),
        ("clat", &side.clat, r.clat && r.clat_percentiles),
        ("lat", &side.lat, r.lat && r.lat_percentiles),
    ] {
        if on && h.count() > 0 {
            percentiles(out, name, h, job);
        }
    }
    for by in side.priorities.iter().filter(|_| r.clat_percentiles || r.lat_percentiles) {
        let (name, h) = by.reported(job);
        let share = h.count() as f64 * 100.0 / side.ios.max(1) as f64;
        percentiles(out, &format!("{name} prio {} ({share:.2}% of IOs)", by.text(job)), h, job);
    }
    let windows = super::windows(job, side);
    if windows.kib.is_empty() {
        return;
    }
    let (mean, deviation) = stats::mean_and_deviation(&windows.kib);
    let (least, most) = windows.kib_range();
    let (unit, by) = if mean > 1024.0 * 1024.0 { ("MiB/s", 1024.0) } else { ("KiB/s", 1.0) };
    let scaled = |n: u64| (n as f64 / by) as u64;
    let _ = writeln!(
        out,
        "   bw ({unit:>7}): min={:5}, max={:5}, per={:3.2}%, avg={:5.2}, stdev={:5.2}, samples={}",
        scaled(least),
        scaled(most),
        share(side, mean),
        mean / by,
        deviation / by,
        windows.kib.len()
    );
    let (mean, deviation) = stats::mean_and_deviation(&windows.iops);
    let end = |n: Option<&u64>| n.copied().unwrap_or(0);
    let _ = writeln!(
        out,
        "   iops        : min={:5}, max={:5}, avg={mean:5.2}, stdev={deviation:5.2}, samples={}",
        end(windows.iops.iter().min()),
        end(windows.iops.iter().max()),
        windows.iops.len()
    );
}

fn latency(out: &mut String, name: &str, h: &Histogram) {
    let (mean, deviation) = stats::spread(h);
    let (unit, ns) = time(h.min_ns(), h.max_ns(), deviation);
    let scaled = |value: f64| value / ns as f64;
    let _ = writeln!(
        out,
        "{name:>8} ({unit}): min={}, max={}, avg={:5.2}, stdev={:5.2}",
        short(h.min_ns() / ns, 6, 1000, ""),
        short(h.max_ns() / ns, 6, 1000, ""),
        scaled(mean),
        scaled(deviation)
    );
}

fn percentiles(out: &mut String, name: &str, h: &Histogram, job: &Job) {
    let values: Vec<(f64, u64)> =
        job.report.percentiles.iter().map(|p| (*p, stats::percentile(h, *p))).collect();
    let Some(largest) = values.iter().map(|v| v.1).max() else { return };
    let (unit, ns) = time(values.iter().map(|v| v.1).min().unwrap_or(0), largest, f64::INFINITY);
    let _ = writeln!(out, "    {name} percentiles ({unit}):");
    let scaled = |value: u64| (value + ns / 2) / ns;
    let width = scaled(largest).to_string().len().max(5);
    // Use the number of decimals of the most precise percentile.
    let decimals = |(p, _): &(f64, u64)| p.to_string().split_once('.').map_or(0, |(_, after)| after.len());
    let decimals = values.iter().map(decimals).max().unwrap_or(0);
    let wide = decimals + 3;
    let in_line = (73 / (10 + decimals + width)).max(1);
    for (number, chunk) in values.chunks(in_line).enumerate() {
        let cells: Vec<String> = chunk
            .iter()
            .map(|(p, value)| format!("{p:wide$.decimals$}th=[{:width$}]", scaled(*value)))
            .collect();
        let more = (number + 1) * in_line < values.len();
        let _ = writeln!(out, "     | {}{}", cells.join(", "), if more { "," } else { "" });
    }
}

fn tables(out: &mut String, entry: &Entry, job: &Job) {
    const IN_LINE: usize = 5;
    let names: Vec<String> =
        BUCKETS.iter().map(ToString::to_string).chain(["2000".into(), ">=2000".into()]).collect();
    for (unit, table) in ["nsec", "usec", "msec"].into_iter().zip(entry.tables(job)) {
        let cells: Vec<String> = names
            .iter()
            .zip(table)
            .filter(|(_, share)| *share > 0.0)
            .map(|(name, share)| format!("{name}={share:3.2}%"))
            .collect();
        for chunk in cells.chunks(IN_LINE) {
            let _ = writeln!(out, "  lat ({unit})   : {}", chunk.join(", "));
        }
    }
}

fn sums(out: &mut String, name: &str, sides: &[&Side], (base, figures, bits): (u64, usize, bool)) {
    let active: Vec<&&Side> = sides.iter().filter(|s| s.ios > 0 && s.bytes > 0).collect();
    let (Some(longest), Some(shortest)) =
        (active.iter().map(|s| s.runtime_ns).max(), active.iter().map(|s| s.runtime_ns).min())
    else {
        return;
    };
    let total: u64 = active.iter().map(|s| s.bytes).sum();
    let all = if longest == 0 { 0 } else { (total as f64 * 1e9 / longest as f64) as u64 };
    let least = active.iter().map(|s| s.bytes_per_s()).min().unwrap_or(0);
    let most = active.iter().map(|s| s.bytes_per_s()).max().unwrap_or(0);
    let o = other(base);
    let _ = writeln!(
        out,
        "{name:>7}: bw={} ({}), {}-{} ({}-{}), io={} ({}), run={}-{}msec",
        rate(all, base, figures, bits),
        rate(all, o, figures, bits),
        rate(least, base, figures, bits),
        rate(most, base, figures, bits),
        rate(least, o, figures, bits),
        rate(most, o, figures, bits),
        bytes(total, base, figures),
        bytes(total, o, figures),
        stats::milliseconds(shortest),
        stats::milliseconds(longest)
    );
}
