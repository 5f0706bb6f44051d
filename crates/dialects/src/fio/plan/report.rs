//! What a job reports: figures, grouping, and percentiles.

use super::super::settings::Settings;
use super::super::{UsageError, Version};
use super::logs::{self, Logs};

/// Reporting options of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobReport {
    /// fio version whose output is imitated.
    pub version: Version,
    /// Whether the group has one common report.
    pub grouped: bool,
    /// Total latency, from preparation to completion ("lat").
    pub lat: bool,
    /// Completion latency ("clat").
    pub clat: bool,
    /// Submission latency ("slat").
    pub slat: bool,
    /// Bandwidth and IOPS over time.
    pub bandwidth: bool,
    /// Window widths of bandwidth and IOPS, ns.
    pub windows_ns: [u64; 2],
    /// Whether clat percentiles are reported.
    pub clat_percentiles: bool,
    /// Whether lat percentiles are reported.
    pub lat_percentiles: bool,
    /// Whether slat percentiles are reported.
    pub slat_percentiles: bool,
    /// Percentiles in ascending order.
    pub percentiles: Vec<f64>,
    /// Base of `k` in output, 1024 or 1000.
    pub kb_base: u64,
    /// Whether rates are in bits.
    pub bits: bool,
    /// Whether the job is reported at all.
    pub reported: bool,
    /// Significant figures of bandwidths, amounts and operation counts in the text output.
    pub figures: usize,
    /// Whether reads, writes and trims are reported separately.
    pub unified: Unified,
    /// Logs over time.
    pub logs: Logs,
}

/// Whether reads, writes and trims are reported separately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unified {
    /// Separately.
    #[default]
    No,
    /// Combined.
    Mixed,
    /// Separately and combined.
    Both,
}

impl Unified {
    fn of(s: &Settings) -> Self {
        match s.word("unified_rw_reporting") {
            Some("mixed" | "1") => Self::Mixed,
            Some("both" | "2") => Self::Both,
            _ => Self::No,
        }
    }

    /// Whether separate figures are reported.
    #[must_use]
    pub fn is_separate(self) -> bool {
        self != Self::Mixed
    }

    /// Whether combined figures are reported.
    #[must_use]
    pub fn is_combined(self) -> bool {
        self != Self::No
    }
}

/// fio's defaults.
const PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];

/// Significant figures in the text output.
fn figures(s: &Settings) -> Result<usize, UsageError> {
    const NAME: &str = "significant_figures";
    match s.number(NAME)?.map(usize::try_from) {
        None => Ok(4),
        Some(Ok(figures @ 1..=10)) => Ok(figures),
        Some(_) => Err(s.wrong(NAME, format!("{NAME}: 1 to 10 is expected"))),
    }
}

/// Width of the windows over time. fio's are in milliseconds and limited by its clock; here they are limited by the interval of
/// the run.
fn window(s: &Settings, name: &'static str) -> Result<u64, UsageError> {
    const LEAST_MS: u64 = 10;
    let ms = s.number(name)?.unwrap_or(500).max(1);
    Ok(ms.div_ceil(LEAST_MS).saturating_mul(LEAST_MS * 1_000_000))
}

/// Reads the options.
pub fn read(s: &Settings, version: Version) -> Result<JobReport, UsageError> {
    let reduced = s.on("gtod_reduce", false);
    let shown = |name: &'static str| !s.on(name, reduced);
    let mut percentiles = s.floats("percentile_list")?.unwrap_or_else(|| PERCENTILES.to_vec());
    if let Some(p) = percentiles.iter().find(|p| !(**p > 0.0 && **p <= 100.0)) {
        return Err(
            s.wrong("percentile_list", format!("percentile {p}: above 0 and at most 100 is expected"))
        );
    }
    percentiles.sort_by(f64::total_cmp);
    Ok(JobReport {
        version,
        grouped: s.on("group_reporting", false),
        lat: shown("disable_lat"),
        clat: shown("disable_clat"),
        slat: shown("disable_slat"),
        // It needs no clock reading, so gtod_reduce keeps it, as in fio 3.33.
        bandwidth: !s.on("disable_bw_measurement", false),
        windows_ns: [window(s, "bwavgtime")?, window(s, "iopsavgtime")?],
        clat_percentiles: s.on("clat_percentiles", true),
        lat_percentiles: s.on("lat_percentiles", false),
        slat_percentiles: s.on("slat_percentiles", false),
        percentiles,
        kb_base: s.kb_base(),
        bits: s.word("unit_base") == Some("1"),
        reported: s.on("stats", true),
        figures: figures(s)?,
        unified: Unified::of(s),
        logs: logs::read(s)?,
    })
}
