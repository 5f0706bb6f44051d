//! The JSON of fio: the same keys in the same order, blanks before colons, whole numbers without and others with six decimals. What fathom
//! knows beyond it stands under one key, `fathom`, at the end.

use super::super::plan::{Job, Plan};
use super::super::settings::Level;
use super::stats::{self, BUCKETS, DEPTHS, Entry, Side};
use super::{Moment, VERSION, engine_batch};
use fathom_record::{Histogram, Run};

/// A document in the making.
struct Json {
    out: String,
    /// Whether something stands already in each open object or list.
    filled: Vec<bool>,
}

impl Json {
    fn entry(&mut self, key: Option<&str>) {
        if let Some(filled) = self.filled.last_mut() {
            self.out += if *filled { ",\n" } else { "\n" };
            *filled = true;
        }
        self.out += &"  ".repeat(self.filled.len());
        if let Some(key) = key {
            self.out += &format!("{} : ", quoted(key));
        }
    }

    fn inside(&mut self, key: Option<&str>, brackets: [char; 2], fill: impl FnOnce(&mut Self)) {
        if !self.filled.is_empty() {
            self.entry(key);
        }
        self.out.push(brackets[0]);
        self.filled.push(false);
        fill(self);
        let filled = self.filled.pop().unwrap_or(false);
        if filled {
            self.out += &format!("\n{}", "  ".repeat(self.filled.len()));
        }
        self.out.push(brackets[1]);
    }

    fn object(&mut self, key: &str, fill: impl FnOnce(&mut Self)) {
        self.inside(Some(key), ['{', '}'], fill);
    }

    fn list(&mut self, key: &str, fill: impl FnOnce(&mut Self)) {
        self.inside(Some(key), ['[', ']'], fill);
    }

    fn raw(&mut self, key: &str, value: impl std::fmt::Display) {
        self.entry(Some(key));
        self.out += &value.to_string();
    }

    fn float(&mut self, key: &str, value: f64) {
        self.raw(key, format_args!("{value:.6}"));
    }

    fn text(&mut self, key: &str, value: &str) {
        self.raw(key, quoted(value));
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The document of a run.
#[must_use]
pub fn document(plan: &Plan, run: &Run, moment: &Moment, plus: bool) -> String {
    let mut json = Json { out: String::new(), filled: Vec::new() };
    let entries = stats::entries(plan, run);
    json.inside(None, ['{', '}'], |json| {
        json.text("fio version", VERSION);
        json.raw("timestamp", moment.unix_ms / 1000);
        json.raw("timestamp_ms", moment.unix_ms);
        json.text("time", &moment.text);
        if plan.jobs.iter().any(|job| options(job, false).next().is_some()) {
            json.object("global options", |json| {
                let mut seen: Vec<&str> = Vec::new();
                for (name, value) in plan.jobs.iter().flat_map(|job| options(job, false)) {
                    if !seen.contains(&name) {
                        seen.push(name);
                        json.text(name, value);
                    }
                }
            });
        }
        json.list("jobs", |json| {
            for entry in &entries {
                json.inside(None, ['{', '}'], |json| job(json, plan, entry, plus));
            }
        });
        let devices: Vec<_> = super::devices(plan, run);
        if !devices.is_empty() {
            json.list("disk_util", |json| {
                for device in &devices {
                    json.inside(None, ['{', '}'], |json| {
                        json.text("name", &device.name);
                        json.raw("read_ios", device.read_ios);
                        json.raw("write_ios", device.write_ios);
                        json.raw("read_merges", device.read_merges);
                        json.raw("write_merges", device.write_merges);
                        json.raw("read_ticks", 0);
                        json.raw("write_ticks", 0);
                        json.raw("in_queue", 0);
                        json.float("util", device.util_percent);
                    });
                }
            });
        }
        beyond(json, plan, run, !devices.is_empty());
    });
    json.out + "\n"
}

/// Options of a job that stand in it, or above it. fio tells none that has no value.
fn options(job: &Job, own: bool) -> impl Iterator<Item = (&'static str, &str)> {
    let of = job.settings.all().filter(move |(level, _)| (*level == Level::Own) == own);
    of.filter_map(|(_, s)| Some((s.row.name, s.value.as_deref()?)))
}

fn job(json: &mut Json, plan: &Plan, entry: &Entry, plus: bool) {
    let job = &plan.jobs[entry.job];
    json.text("jobname", &job.name);
    json.raw("groupid", job.group);
    json.raw("error", entry.errno());
    json.raw("eta", i32::MAX);
    json.raw("elapsed", entry.runtime_ns.div_ceil(1_000_000_000).max(1));
    json.object("job options", |json| {
        if &*job.settings.spot.source == super::super::wrong::COMMAND_LINE {
            json.text("name", &job.name);
        }
        for (name, value) in options(job, true) {
            json.text(name, value);
        }
    });
    json.object("read", |json| side(json, job, &entry.read, plus));
    json.object("write", |json| side(json, job, &entry.write, plus));
    json.object("trim", |json| side(json, job, &Side::default(), plus));
    json.object("sync", |json| {
        json.raw("total_ios", entry.sync.count().saturating_sub(entry.syncs_at_end));
        latency(json, "lat_ns", &entry.sync, entry.sync.count() > 0, job, plus);
    });
    json.raw("job_runtime", stats::milliseconds(entry.clock_ns));
    let (user, system) = entry.cpu_percent();
    json.float("usr_cpu", user);
    json.float("sys_cpu", system);
    for key in NOT_MEASURED {
        json.raw(key, 0);
    }
    let any = entry.read.ios + entry.write.ios > 0;
    let depth = stats::depths(job.stream.queue_depth, any);
    json.object("iodepth_level", |json| {
        for (end, share) in DEPTHS.iter().zip(depth) {
            json.float(&if *end == 64 { ">=64".to_owned() } else { end.to_string() }, share);
        }
    });
    let batches = stats::batches(engine_batch(job).filter(|_| any));
    for key in ["iodepth_submit", "iodepth_complete"] {
        json.object(key, |json| {
            for (name, share) in ["0", "4", "8", "16", "32", "64", ">=64"].into_iter().zip(batches) {
                json.float(name, share);
            }
        });
    }
    for (key, table) in ["latency_ns", "latency_us", "latency_ms"].into_iter().zip(entry.tables(job)) {
        json.object(key, |json| {
            let names = BUCKETS.iter().map(ToString::to_string).chain(["2000".into(), ">=2000".into()]);
            for (name, share) in names.zip(table) {
                json.float(&name, share);
            }
        });
    }
    json.raw("latency_depth", job.stream.queue_depth);
    json.raw("latency_target", 0);
    json.float("latency_percentile", 100.0);
    json.raw("latency_window", 0);
    if let Some(text) = job.settings.text("description") {
        json.text("desc", text);
    }
}

/// What fathom does not count for each job.
pub const NOT_MEASURED: [&str; 3] = ["ctx", "majf", "minf"];

fn side(json: &mut Json, job: &Job, side: &Side, plus: bool) {
    let rate = side.bytes_per_s();
    json.raw("io_bytes", side.bytes);
    json.raw("io_kbytes", side.bytes / 1024);
    json.raw("bw_bytes", rate);
    json.raw("bw", rate / 1024);
    json.float("iops", side.iops());
    json.raw("runtime", side.runtime_ms());
    json.raw("total_ios", side.ios);
    json.raw("short_ios", 0);
    json.raw("drop_ios", 0);
    let none = Histogram::default();
    let shown = |on: bool, h| if on { h } else { &none };
    let r = &job.report;
    latency(json, "slat_ns", shown(r.slat, &side.slat), r.slat_percentiles, job, plus);
    latency(json, "clat_ns", shown(r.clat, &side.clat), r.clat_percentiles, job, plus);
    latency(json, "lat_ns", shown(r.lat, &side.lat), r.lat_percentiles, job, plus);
    let windows = super::windows(job, side);
    let (least, most) = windows.kib_range();
    json.raw("bw_min", least);
    json.raw("bw_max", most);
    json.float("bw_agg", if windows.kib.is_empty() { 0.0 } else { 100.0 });
    let (mean, deviation) = stats::mean_and_deviation(&windows.kib);
    json.float("bw_mean", mean);
    json.float("bw_dev", deviation);
    json.raw("bw_samples", windows.kib.len());
    json.raw("iops_min", windows.iops.iter().min().unwrap_or(&0));
    json.raw("iops_max", windows.iops.iter().max().unwrap_or(&0));
    let (mean, deviation) = stats::mean_and_deviation(&windows.iops);
    json.float("iops_mean", mean);
    json.float("iops_stddev", deviation);
    json.raw("iops_samples", windows.iops.len());
}

fn latency(json: &mut Json, key: &str, h: &Histogram, percentiles: bool, job: &Job, plus: bool) {
    json.object(key, |json| {
        let (mean, deviation) = stats::spread(h);
        let any = h.count() > 0;
        json.raw("min", if any { h.min_ns() } else { 0 });
        json.raw("max", h.max_ns());
        json.float("mean", mean);
        json.float("stddev", deviation);
        json.raw("N", h.count());
        if any && percentiles {
            json.object("percentile", |json| {
                for p in &job.report.percentiles {
                    json.raw(&format!("{p:.6}"), stats::percentile(h, *p));
                }
            });
        }
        if plus && any && percentiles {
            json.object("bins", |json| {
                for (value, n) in stats::middles(h) {
                    json.raw(&value.to_string(), n);
                }
            });
        }
    });
}

/// What fathom knows beyond fio.
fn beyond(json: &mut Json, plan: &Plan, run: &Run, disks: bool) {
    json.object("fathom", |json| {
        json.text("version", &run.version);
        json.text("run", &run.id);
        json.text("workers", "threads; processes for mmap");
        json.list("ignored options", |json| {
            for name in &plan.ignored {
                json.entry(None);
                json.out += &quoted(name);
            }
        });
        json.list("not measured", |json| {
            let disk = disks.then_some(["read_ticks", "write_ticks", "in_queue"]);
            for name in NOT_MEASURED.into_iter().chain(disk.into_iter().flatten()) {
                json.entry(None);
                json.out += &quoted(name);
            }
        });
        json.list("phases", |json| {
            for phase in &run.phases {
                json.inside(None, ['{', '}'], |json| {
                    json.text("name", &phase.name);
                    json.text("served by", phase.origin().regime.words());
                    let last = phase.repetitions.last();
                    for (key, resident) in [
                        ("cached before percent", last.and_then(|r| r.resident_before)),
                        ("cached after percent", last.and_then(|r| r.resident_after)),
                    ] {
                        if let Some(share) = resident.and_then(|r| r.cached_share()) {
                            json.float(key, share * 100.0);
                        }
                    }
                    let extents = last.and_then(|r| r.extents);
                    if let Some(extents) = extents {
                        json.raw("hole bytes", extents.hole_bytes);
                        json.raw("unwritten bytes", extents.unwritten_bytes);
                    }
                    if let Some(h) = super::responses(phase) {
                        json.object("response_ns", |json| {
                            json.raw("N", h.count());
                            json.raw("max", h.max_ns());
                            json.raw("p50", stats::percentile(&h, 50.0));
                            json.raw("p99", stats::percentile(&h, 99.0));
                        });
                    }
                });
            }
        });
        json.list("doubts", |json| {
            for doubt in &run.doubts {
                json.inside(None, ['{', '}'], |json| {
                    json.text("code", &doubt.code);
                    json.text("sentence", &doubt.sentence);
                });
            }
        });
        json.list("trust", |json| {
            for check in &run.trust {
                json.inside(None, ['{', '}'], |json| {
                    json.text("code", &check.code);
                    json.text("verdict", check.verdict.word());
                    json.text("sentence", &check.sentence);
                });
            }
        });
    });
}
