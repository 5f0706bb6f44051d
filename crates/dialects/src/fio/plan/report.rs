//! What is printed of a job: which of its figures, in which groups, under which percentiles.

use super::super::Wrong;
use super::super::settings::Settings;

/// What is printed of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// One report for the group.
    pub grouped: bool,
    /// Latency from preparing to completion ("lat").
    pub lat: bool,
    /// Completion latency ("clat").
    pub clat: bool,
    /// Submission latency ("slat").
    pub slat: bool,
    /// Bandwidth and operations over time.
    pub bandwidth: bool,
    /// Percentiles of clat, lat, slat.
    pub clat_percentiles: bool,
    /// See `clat_percentiles`.
    pub lat_percentiles: bool,
    /// See `clat_percentiles`.
    pub slat_percentiles: bool,
    /// Which percentiles, ascending.
    pub percentiles: Vec<f64>,
    /// 1024 or 1000.
    pub kb_base: u64,
    /// Files of what happened over time.
    pub logs: Logs,
}

/// Which logs are written, and under which names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Logs {
    /// Bandwidth.
    pub bandwidth: Option<String>,
    /// Operations.
    pub operations: Option<String>,
    /// Latencies: three files.
    pub latency: Option<String>,
    /// Width of their windows, if there are any.
    pub width_ns: Option<u64>,
    /// A file for each clone.
    pub per_job: bool,
    /// With a column for offsets, which averages have not.
    pub offset: bool,
}

fn logs(s: &Settings) -> Result<Logs, Wrong> {
    // Without a name they are called like the job.
    let name = |option: &'static str| s.last(option).map(|_| s.text(option).unwrap_or(&s.job).to_owned());
    let mut logs = Logs {
        bandwidth: name("write_bw_log"),
        operations: name("write_iops_log"),
        latency: name("write_lat_log"),
        width_ns: None,
        per_job: s.on("per_job_logs", true),
        offset: s.on("log_offset", false),
    };
    let width_ns = s.time("log_avg_msec")?;
    let marked =
        [s.on("log_max_value", false), s.on("log_unix_epoch", false), s.on("log_alternate_epoch", false)];
    let (given, kind) =
        (s.last_of(&["write_bw_log", "write_iops_log", "write_lat_log"]), s.word("log_window_value"));
    let Some(given) = given else { return Ok(logs) };
    if width_ns == 0 {
        return Err(s
            .wrong(given, format!("{given} with a line for every operation is not supported"))
            .hint("log_avg_msec=500, for example: a line for every half second"));
    }
    if width_ns % LEAST_WINDOW_NS != 0 {
        return Err(s
            .wrong("log_avg_msec", "windows of logs are multiples of 10 ms")
            .hint("log_avg_msec=100, for example"));
    }
    if kind.is_some_and(|kind| !matches!(kind, "avg" | "0")) || marked[0] {
        return Err(s
            .wrong(given, "the largest value of a window is not kept")
            .hint("leave log_max_value and log_window_value out"));
    }
    if marked[1] || marked[2] {
        return Err(s
            .wrong(given, "times of logs count from the start of the job")
            .hint("leave log_unix_epoch and log_alternate_epoch out"));
    }
    logs.width_ns = Some(width_ns);
    Ok(logs)
}

/// The interval series of a run is at least so wide.
const LEAST_WINDOW_NS: u64 = 10_000_000;

/// fio's.
const PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];

/// Reads it.
pub fn read(s: &Settings) -> Result<Report, Wrong> {
    let reduced = s.on("gtod_reduce", false);
    let shown = |name: &'static str| !s.on(name, reduced);
    let mut percentiles = s.floats("percentile_list")?.unwrap_or_else(|| PERCENTILES.to_vec());
    if let Some(p) = percentiles.iter().find(|p| !(**p > 0.0 && **p <= 100.0)) {
        return Err(
            s.wrong("percentile_list", format!("percentile {p}: above 0 and at most 100 is expected"))
        );
    }
    percentiles.sort_by(f64::total_cmp);
    Ok(Report {
        grouped: s.on("group_reporting", false),
        lat: shown("disable_lat"),
        clat: shown("disable_clat"),
        slat: shown("disable_slat"),
        bandwidth: shown("disable_bw_measurement"),
        clat_percentiles: s.on("clat_percentiles", true),
        lat_percentiles: s.on("lat_percentiles", false),
        slat_percentiles: s.on("slat_percentiles", false),
        percentiles,
        kb_base: s.kb_base(),
        logs: logs(s)?,
    })
}
