//! The terse formats, versions 2 to 5: one line per job, fields separated by semicolons.

use super::super::plan::{Job, Plan};
use super::Disk;
use super::stats::{self, Entry, Side};
use fathom_record::{Histogram, Run};

/// Number of percentile fields.
const PERCENTILES: usize = 20;

/// The lines of a run.
#[must_use]
pub fn lines(plan: &Plan, run: &Run, version: u8) -> String {
    // Version 2 has no disk fields.
    let disks = if version == 2 { Vec::new() } else { super::devices(plan, run) };
    let mut out = String::new();
    for entry in stats::entries(plan, run) {
        out += &line(&plan.jobs[entry.job], &entry, version, &disks);
        out.push('\n');
    }
    out
}

fn line(job: &Job, entry: &Entry, version: u8, disks: &[Disk]) -> String {
    let mut fields: Vec<String> = vec![version.to_string()];
    if version > 2 {
        fields.push(job.report.version.name().into());
    }
    fields.extend([job.name.clone(), job.group.to_string(), entry.errno().to_string()]);
    for (name, of) in entry.reported(job.report.unified) {
        // Only version 3 omits trims.
        if version != 3 || name != "trim" {
            side(&mut fields, job, of, version);
        }
    }
    let (user, system) = entry.cpu_percent();
    fields.extend([format!("{user:.6}%"), format!("{system:.6}%")]);
    let counts = entry.counts;
    fields.extend([counts.switches, counts.major_faults, counts.minor_faults].map(|n| n.to_string()));
    fields.extend(entry.queue()[0].map(|d| format!("{d:.1}%")));
    let [ns, us, ms] = entry.tables(job);
    // There is no nanosecond table: these count as below two microseconds.
    let below: f64 = ns.iter().sum();
    for (place, share) in us.iter().enumerate() {
        fields.push(format!("{:.2}%", if place == 0 { share + below } else { *share }));
    }
    fields.extend(ms.iter().map(|share| format!("{share:.2}%")));
    for disk in disks {
        fields.push(disk.name.clone());
        let counts = [disk.read_ios, disk.write_ios, disk.read_merges, disk.write_merges];
        let times = [disk.read_ms, disk.write_ms, disk.queue_ms];
        fields.extend(counts.into_iter().chain(times).map(|n| n.to_string()));
        fields.push(format!("{:.2}%", disk.util_percent));
    }
    if let Some((total, first)) = entry.errors.reported(job) {
        fields.extend([total.to_string(), first.to_string()]);
    }
    match (job.settings.text("description"), version) {
        (Some(text), 2) => fields.join(";") + "\n;" + text,
        (Some(text), _) => fields.join(";") + ";" + text,
        (None, _) => fields.join(";"),
    }
}

fn side(fields: &mut Vec<String>, job: &Job, side: &Side, version: u8) {
    let whole = |n: u64| n.to_string();
    let rate = side.bytes_per_s();
    fields.extend([
        whole(side.bytes / 1024),
        whole(rate / 1024),
        whole(side.iops() as u64),
        whole(side.runtime_ms()),
    ]);
    let r = &job.report;
    let none = Histogram::default();
    latency(fields, if r.slat { &side.slat } else { &none });
    let clat = if r.clat { &side.clat } else { &none };
    latency(fields, clat);
    // The format has fields for one kind of percentiles.
    let of = if r.lat && r.lat_percentiles {
        Some(&side.lat)
    } else {
        Some(clat).filter(|_| r.clat && r.clat_percentiles)
    };
    for place in 0..PERCENTILES {
        fields.push(match (r.percentiles.get(place), of) {
            (Some(p), Some(of)) => {
                format!("{p:.6}%={}", if of.count() > 0 { stats::percentile(of, *p) / 1000 } else { 0 })
            }
            _ => "0%=0".into(),
        });
    }
    latency(fields, if r.lat { &side.lat } else { &none });
    let windows = super::windows(job, side);
    let (least, most) = windows.kib_range();
    let (mean, deviation) = stats::mean_and_deviation(&windows.kib);
    let share = super::shares::share(side, mean);
    fields.extend([
        whole(least),
        whole(most),
        format!("{share:.6}%"),
        format!("{mean:.6}"),
        format!("{deviation:.6}"),
    ]);
    if version > 4 {
        let (mean, deviation) = stats::mean_and_deviation(&windows.iops);
        let end = |n: Option<&u64>| whole(n.copied().unwrap_or(0));
        fields.extend([
            whole(windows.kib.len() as u64),
            end(windows.iops.iter().min()),
            end(windows.iops.iter().max()),
            format!("{mean:.6}"),
            format!("{deviation:.6}"),
            whole(windows.iops.len() as u64),
        ]);
    }
}

/// Minimum, maximum, mean and deviation in microseconds.
fn latency(fields: &mut Vec<String>, h: &Histogram) {
    let (mean, deviation) = stats::spread(h);
    let least = if h.count() > 0 { h.min_ns() } else { 0 };
    fields.extend([
        (least / 1000).to_string(),
        (h.max_ns() / 1000).to_string(),
        format!("{:.6}", mean / 1000.0),
        format!("{:.6}", deviation / 1000.0),
    ]);
}
