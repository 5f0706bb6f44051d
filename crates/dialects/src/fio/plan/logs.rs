//! The logs of a job, their names and sources: most averages come from the interval series of the run, everything else from
//! single operations, which are then recorded during the run.

use super::super::UsageError;
use super::super::settings::Settings;
use super::Plan;
use fathom_workload::Program;

/// Which logs are written; `None` means not written, otherwise the base name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Logs {
    /// Bandwidth log.
    pub bandwidth: Option<String>,
    /// IOPS log.
    pub operations: Option<String>,
    /// Latency logs: three files.
    pub latency: Option<String>,
    /// Histograms of completion latencies.
    pub histograms: Option<String>,
    /// Window width of the first three, ns; `None`: one line per operation.
    pub width_ns: Option<u64>,
    /// Window width of histograms, ns; `None`: the file stays empty.
    pub histogram_width_ns: Option<u64>,
    /// log2 of the number of histogram buckets merged into one.
    pub coarseness: u32,
    /// Statistic of the latencies in a window.
    pub value: WindowStatistic,
    /// Whether each clone has its own file.
    pub per_job: bool,
    /// Whether offsets are logged; averages have none.
    pub offset: bool,
    /// Whether the full I/O priority is logged.
    pub priority: bool,
    /// Whether issue times are logged; averages have none.
    pub issue: bool,
    /// Whether times count from 1970.
    pub wall_clock: bool,
    /// Whether the logs are stored compressed.
    pub packed: bool,
}

/// Statistic of the latencies in a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindowStatistic {
    /// Their mean.
    #[default]
    Mean,
    /// The largest.
    Largest,
    /// Mean and largest, in this order.
    Both,
}

/// Minimum interval of the series of a run.
const LEAST_INTERVAL_NS: u64 = 10_000_000;
/// Coarsest histogram that is still useful.
const COARSEST: u32 = 6;

impl Logs {
    /// Whether any log is written.
    #[must_use]
    pub fn any(&self) -> bool {
        self.of_values() || self.histograms.is_some()
    }

    fn of_values(&self) -> bool {
        self.bandwidth.is_some() || self.operations.is_some() || self.latency.is_some()
    }

    /// The width that must be a multiple of the run's intervals, if logs are made from them.
    #[must_use]
    pub fn intervals_ns(&self) -> Option<u64> {
        let whole = |width: &u64| width.is_multiple_of(LEAST_INTERVAL_NS);
        self.width_ns.filter(whole).filter(|_| self.of_values() && self.value == WindowStatistic::Mean)
    }

    /// Whether a log is made from single operations.
    #[must_use]
    pub fn of_operations(&self) -> bool {
        self.histograms.is_some() && self.histogram_width_ns.is_some()
            || self.of_values() && self.intervals_ns().is_none()
    }
}

impl super::Job {
    /// Whether its operations are recorded one by one.
    fn notes_operations(&self) -> bool {
        self.report.logs.of_operations() || self.iolog().is_some() || !self.stream.priorities.is_empty()
    }
}

impl Plan {
    /// Enables recording for the jobs whose logs need it. Returns whether any does.
    pub fn note_operations(&mut self) -> bool {
        let mut any = false;
        for job in self.jobs.iter().filter(|job| job.notes_operations()) {
            // Logs include the read-back phase; an iolog does not.
            let places = if job.report.logs.of_operations() { job.places.len() } else { 1 };
            for place in job.places.iter().take(places) {
                let Some(phase) = self.workload.phases.get_mut(place.phase as usize) else { continue };
                // Every clone is a group with one worker.
                let groups = phase.groups.iter_mut().skip(place.worker as usize).take(job.clones as usize);
                for thread in groups.flat_map(|group| &mut group.threads) {
                    if let Program::Stream(stream) = &mut thread.program {
                        stream.log_operations = true;
                        any = true;
                    }
                }
            }
        }
        any
    }
}

/// Reads the options.
pub fn read(s: &Settings) -> Result<Logs, UsageError> {
    // Without a value, logs are named after the job.
    let name = |option: &'static str| s.last(option).map(|_| s.text(option).unwrap_or(&s.job).to_owned());
    let width = |option: &'static str| s.time(option).map(|ns| (ns > 0).then_some(ns));
    let coarseness = s.count("log_hist_coarseness", 0, 0)?;
    if coarseness > COARSEST {
        return Err(s.wrong(
            "log_hist_coarseness",
            format!("log_hist_coarseness={coarseness}: 0 to {COARSEST} is expected"),
        ));
    }
    let value = match (s.word("log_window_value"), s.on("log_max_value", false)) {
        (Some("avg" | "0"), _) | (None, false) => WindowStatistic::Mean,
        (Some("max" | "1"), _) | (None, true) => WindowStatistic::Largest,
        (Some("both" | "2"), _) => WindowStatistic::Both,
        (Some(other), _) => {
            return Err(s.wrong(
                "log_window_value",
                format!("log_window_value={other}: avg, max or both is expected"),
            ));
        }
    };
    let clock = s.number("log_alternate_epoch_clock_id")?.unwrap_or(0);
    let alternate = s.on("log_alternate_epoch", false);
    if alternate && clock != 0 {
        return Err(s
            .wrong(
                "log_alternate_epoch_clock_id",
                "times of logs count from the start of the job, or from 1970",
            )
            .hint("log_alternate_epoch_clock_id=0, or leave it out"));
    }
    // The memory limit before compression is irrelevant: logs are written piece by piece.
    let _ = s.number("log_compression")?;
    let packed = s.on("log_store_compressed", false);
    if packed && value == WindowStatistic::Both {
        return Err(s
            .wrong("log_store_compressed", "an entry of a compressed log has room for one value")
            .hint("log_window_value=avg or max"));
    }
    let issue = s.on("log_issue_time", false);
    if issue && (s.last("write_lat_log").is_none() || !s.on("log_offset", false)) {
        return Err(s.wrong("log_issue_time", "log_issue_time requires write_lat_log and log_offset"));
    }
    if issue && packed {
        return Err(s
            .wrong("log_store_compressed", "an entry of a compressed log has no room for a time of issue")
            .hint("log_store_compressed=0, or log_issue_time=0"));
    }
    Ok(Logs {
        bandwidth: name("write_bw_log"),
        operations: name("write_iops_log"),
        latency: name("write_lat_log"),
        histograms: name("write_hist_log"),
        width_ns: width("log_avg_msec")?,
        histogram_width_ns: width("log_hist_msec")?,
        coarseness,
        value,
        per_job: s.on("per_job_logs", true),
        offset: s.on("log_offset", false),
        priority: s.on("log_prio", false),
        issue,
        wall_clock: s.on("log_unix_epoch", false) || alternate,
        packed,
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{planned, refused};
    use super::*;

    fn logs(args: &str) -> Logs {
        planned(&format!("--name=a --size=1m {args}")).jobs[0].report.logs.clone()
    }

    #[test]
    fn means_of_wide_windows_come_from_intervals_and_the_rest_from_operations() {
        let of = |args: &str| {
            let logs = logs(args);
            (logs.intervals_ns(), logs.of_operations())
        };
        assert_eq!(of(""), (None, false));
        assert_eq!(of("--log_avg_msec=100"), (None, false));
        assert_eq!(of("--write_bw_log=x --log_avg_msec=100"), (Some(100_000_000), false));
        assert_eq!(of("--write_bw_log=x --log_avg_msec=25"), (None, true));
        assert_eq!(of("--write_bw_log=x --log_avg_msec=100 --log_max_value=1"), (None, true));
        assert_eq!(of("--write_lat_log=x --log_window_value=both --log_avg_msec=100"), (None, true));
        assert_eq!(of("--write_iops_log=x"), (None, true));
        assert_eq!(of("--write_hist_log=x --log_hist_msec=100"), (None, true));
        assert_eq!(of("--write_hist_log=x"), (None, false), "it stays empty");
    }

    #[test]
    fn only_workers_that_need_it_write_operations_down() {
        let mut plan = planned("--name=a --size=1m --name=b --numjobs=2 --size=1m --write_lat_log=x");
        assert!(plan.note_operations());
        let groups = plan.workload.phases[0].groups.iter();
        let noted: Vec<bool> = groups
            .map(|g| matches!(&g.threads[0].program, Program::Stream(stream) if stream.log_operations))
            .collect();
        assert_eq!(noted, [false, true, true]);
        assert!(!planned("--name=a --size=1m --write_bw_log=x --log_avg_msec=500").note_operations());
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert!(refused("--name=a --size=1m --log_hist_coarseness=7").contains("0 to 6"));
        let both = "--name=a --size=1m --log_window_value=both --log_store_compressed=1";
        assert!(refused(both).contains("one value"));
        assert!(logs("--write_lat_log=p --log_offset=1 --log_issue_time=1").issue);
        for without in ["--write_lat_log=x", "--log_offset=1 --write_bw_log=x", ""] {
            let text = refused(&format!("--name=a --size=1m --log_issue_time=1 {without}"));
            assert!(text.contains("requires write_lat_log and log_offset"), "{without}: {text}");
        }
        let packed = "--write_lat_log=p --log_offset=1 --log_issue_time=1 --log_store_compressed=1";
        assert!(refused(&format!("--name=a --size=1m {packed}")).contains("no room"));
        assert!(logs("--log_compression=10K --log_store_compressed=1").packed);
        assert!(refused("--name=a --size=1m --log_window_value=min").contains("avg, max or both"));
        let clock = "--name=a --size=1m --log_alternate_epoch=1 --log_alternate_epoch_clock_id=1";
        assert!(refused(clock).contains("from 1970"));
        assert!(logs("--log_alternate_epoch=1").wall_clock && logs("--log_unix_epoch=1").wall_clock);
    }
}
