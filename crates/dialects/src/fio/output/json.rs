//! fio's JSON: the same keys in the same order, with blanks before colons, and six decimals for all numbers except integers. Fathom's
//! additions are under one key, `fathom`, at the end.

use super::super::Version;
use super::super::error::COMMAND_LINE;
use super::super::plan::{Job, Plan};
use super::super::settings::Level;
use super::Moment;
use super::stats::{self, BUCKETS, DEPTHS, Entry, Side};
use super::steady::{SteadyReport, mean};
use fathom_record::{Histogram, Run};

struct Json {
    out: String,
    /// For each open object or array, whether it has an element.
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
    let seconds = seconds_of(run);
    let newest = plan.general.version >= Version::V3_42;
    json.inside(None, ['{', '}'], |json| {
        json.text("fio version", plan.general.version.name());
        json.raw("timestamp", moment.unix_ms / 1000);
        json.raw("timestamp_ms", moment.unix_ms);
        json.text("time", &moment.text);
        if plan.jobs.iter().any(|job| !options(job, false).is_empty()) {
            json.object("global options", |json| {
                // fio repeats a key if the option is repeated; JSON parsers then keep the last.
                let mut seen: Vec<(&str, &str)> = Vec::new();
                for (name, value) in plan.jobs.iter().flat_map(|job| options(job, false)) {
                    match seen.iter_mut().find(|of| of.0 == name) {
                        Some(of) => of.1 = value,
                        None => seen.push((name, value)),
                    }
                }
                seen.iter().for_each(|(name, value)| json.text(name, value));
            });
        }
        json.list("jobs", |json| {
            for entry in &entries {
                let start_ms =
                    newest.then(|| started_ms(run) + (entry.start_ns.unwrap_or(0) / 1_000_000) as i64);
                json.inside(None, ['{', '}'], |json| job(json, plan, entry, (seconds, start_ms, plus)));
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
                        if newest {
                            json.raw("read_sectors", device.read_sectors);
                            json.raw("write_sectors", device.write_sectors);
                        }
                        json.raw("read_merges", device.read_merges);
                        json.raw("write_merges", device.write_merges);
                        json.raw("read_ticks", device.read_ms);
                        json.raw("write_ticks", device.write_ms);
                        json.raw("in_queue", device.queue_ms);
                        json.float("util", device.util_percent);
                    });
                }
            });
        }
        beyond(json, plan, run);
    });
    json.out + "\n"
}

/// Options set in a job, or inherited by it. fio 3.33 omits those without a value; both versions have a separate order for options from
/// a file.
fn options(job: &Job, own: bool) -> Vec<(&'static str, &str)> {
    let of = job.settings.all().filter(|(level, _)| (*level == Level::Own) == own);
    let newest = job.report.version >= Version::V3_42;
    let without = newest.then_some("");
    // A separate option in 3.33.
    let called = |name| if newest && name == "allrandrepeat" { "randrepeat" } else { name };
    let printed = of.filter_map(|(_, s)| {
        Some((&*s.spot.source, called(s.printed_name), s.value.as_deref().or(without)?))
    });
    let mut printed: Vec<_> = printed.collect();
    printed.sort_by_key(|(source, name, _)| match *name {
        _ if *source == COMMAND_LINE => 1,
        "kb_base" | "unit_base" | "lockfile" => 0,
        "filename" | "filename_format" => 2,
        _ => 1,
    });
    printed.into_iter().map(|(_, name, value)| (name, value)).collect()
}

/// When a run began, ms since 1970.
fn started_ms(run: &Run) -> i64 {
    run.started_at.parse::<jiff::Timestamp>().map_or(0, |at| at.as_millisecond())
}

/// fio's run time of every job: that of the whole run, in seconds, rounded up.
fn seconds_of(run: &Run) -> u64 {
    let repetitions = run.phases.iter().filter_map(|phase| phase.repetitions.first());
    repetitions.map(|repetition| repetition.elapsed_ns).sum::<u64>() / 1_000_000_000 + 1
}

fn job(json: &mut Json, plan: &Plan, entry: &Entry, (seconds, start_ms, plus): (u64, Option<i64>, bool)) {
    let job = &plan.jobs[entry.job];
    json.text("jobname", &job.name);
    json.raw("groupid", job.group);
    if let Some(start_ms) = start_ms {
        json.raw("job_start", start_ms);
    }
    json.raw("error", entry.errno());
    // fio computes the remaining time, which is 0, only in runs that are long enough.
    json.raw("eta", if seconds > 2 { 0 } else { i32::MAX });
    json.raw("elapsed", seconds);
    let last = &plan.jobs[entry.last];
    let named = &*last.settings.spot.source == COMMAND_LINE;
    // fio omits this key for a job without options.
    if named || !options(last, true).is_empty() {
        json.object("job options", |json| {
            if named {
                json.text("name", &last.name);
            }
            for (name, value) in options(last, true) {
                json.text(name, value);
            }
        });
    }
    let unified = job.report.unified;
    let mut reported = entry.reported(unified);
    // As in fio, after the syncs; combined figures come without them.
    let mixed = reported.pop_if(|_| unified.is_combined());
    for (name, of) in reported {
        json.object(name, |json| side(json, job, of, plus));
    }
    if unified.is_separate() {
        json.object("sync", |json| {
            json.raw("total_ios", entry.sync.count().saturating_sub(entry.syncs_at_end));
            latency(json, "lat_ns", &entry.sync, entry.sync.count() > 0, job, plus);
        });
    }
    if let Some((name, of)) = mixed {
        json.object(name, |json| side(json, job, of, plus));
    }
    json.raw("job_runtime", stats::milliseconds(entry.clock_ns));
    let (user, system) = entry.cpu_percent();
    json.float("usr_cpu", user);
    json.float("sys_cpu", system);
    json.raw("ctx", entry.counts.switches);
    json.raw("majf", entry.counts.major_faults);
    json.raw("minf", entry.counts.minor_faults);
    let [depth, submit, complete] = entry.queue();
    json.object("iodepth_level", |json| {
        for (end, share) in DEPTHS.iter().zip(depth) {
            json.float(&if *end == 64 { ">=64".to_owned() } else { end.to_string() }, share);
        }
    });
    for (key, calls) in [("iodepth_submit", submit), ("iodepth_complete", complete)] {
        json.object(key, |json| {
            for (name, share) in ["0", "4", "8", "16", "32", "64", ">=64"].into_iter().zip(calls) {
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
    if let Some((total, first)) = entry.errors.reported(job) {
        json.raw("total_err", total);
        json.raw("first_error", first);
    }
    // For a job that only lays out files, fio has no depth.
    if !job.settings.on("create_only", false) {
        let (target, window, percentile) = stats::latency_target(job);
        json.raw("latency_depth", entry.depth(job));
        let newest = job.report.version >= Version::V3_42;
        json.raw("latency_target", target);
        if newest {
            json.raw("latency_target_ns", target);
        }
        json.float("latency_percentile", percentile);
        json.raw("latency_window", window / 1000);
        if newest {
            json.raw("latency_window_us", window / 1000);
        }
    }
    if let Some(text) = job.settings.text("description") {
        json.text("desc", text);
    }
    if let Some(rule) = &job.steady {
        let report = SteadyReport::of(rule, entry.steady.as_ref());
        json.object("steadystate", |json| steady(json, &report));
    }
}

fn steady(json: &mut Json, report: &SteadyReport) {
    json.text("ss", &report.option);
    json.raw("duration", report.seconds);
    json.raw("attained", u8::from(report.attained));
    json.text("criterion", &report.criterion);
    json.float("max_deviation", report.deviation);
    json.float("slope", report.slope);
    json.object("data", |json| {
        json.raw("bw_mean", mean(&report.bytes));
        json.raw("iops_mean", mean(&report.operations));
        if let Some(latencies) = &report.latencies {
            json.raw("lat_mean", mean(latencies));
        }
        let latencies = report.latencies.iter().map(|list| ("lat_ns", list));
        for (key, list) in latencies.chain([("iops", &report.operations), ("bw", &report.bytes)]) {
            json.list(key, |json| {
                for number in list {
                    json.entry(None);
                    json.out += &number.to_string();
                }
            });
        }
    });
}

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
    if !side.priorities.is_empty() {
        json.list("prios", |json| {
            for by in &side.priorities {
                json.inside(None, ['{', '}'], |json| {
                    let (class, level, hint) = by.parts();
                    json.raw("prioclass", class);
                    json.raw("prio", level);
                    if job.report.version >= Version::V3_42 {
                        json.raw("priohint", hint);
                    }
                    let (name, h) = by.reported(job);
                    let percentiles = r.lat_percentiles || r.clat_percentiles;
                    latency(json, &format!("{name}_ns"), h, percentiles, job, plus);
                });
            }
        });
    }
    let windows = super::windows(job, side);
    let (least, most) = windows.kib_range();
    json.raw("bw_min", least);
    json.raw("bw_max", most);
    let (mean, deviation) = stats::mean_and_deviation(&windows.kib);
    json.float("bw_agg", super::shares::share(side, mean));
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

/// Fathom's additions to fio's document.
fn beyond(json: &mut Json, plan: &Plan, run: &Run) {
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
        json.list("notes", |json| {
            for note in &plan.notes {
                json.entry(None);
                json.out += &quoted(note);
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
