//! Options that say what is printed: output, percentiles, logs, groups.

use super::Kind::{Bool, Flag, Floats, Number, Text, Time, Word};
use super::{Row, also, done, harmless, refused};
use crate::fio::number::MS;

const LOGS: &str = "logs of fio's form are not written";
const EXPORT: &str = "fathom export --format intervals: rates and latencies over time";

pub(super) static ROWS: &[Row] = &[
    done("group_reporting", Flag, "one report for each group"),
    refused("stats", Bool, &["1"], "report this job", "every job is reported", "leave it out"),
    harmless("per_job_logs", Bool, "a log for each job", "without logs it means nothing"),
    done(
        "gtod_reduce",
        Bool,
        "report no latencies; fathom measures them all the same, as it costs next to nothing",
    ),
    done("disable_lat", Bool, "report no latency"),
    done("disable_clat", Bool, "report no completion latency"),
    done("disable_slat", Bool, "report no submission latency"),
    also(done("disable_bw_measurement", Bool, "report no bandwidth over time"), &["disable_bw"]),
    done("clat_percentiles", Bool, "percentiles of the completion latency"),
    done("lat_percentiles", Bool, "percentiles of the latency"),
    done("slat_percentiles", Bool, "percentiles of the submission latency"),
    done("percentile_list", Floats, "which percentiles, at most 20"),
    harmless(
        "significant_figures",
        Number,
        "figures of a percentile",
        "numbers are printed as fio prints them by default",
    ),
    refused(
        "unified_rw_reporting",
        Word(&["none", "0", "mixed", "1", "both", "2"]),
        &["none", "0"],
        "reads and writes in one figure",
        "they are reported side by side",
        "leave it out",
    ),
    refused("unit_base", Number, &["0"], "bits or bytes", "bandwidth is in bytes", "leave it out"),
    done("kb_base", Number, "what k means: 1024 or 1000"),
    refused(
        "bwavgtime",
        Time(MS),
        &["500"],
        "windows of bandwidth over time",
        "they have 500 ms",
        "leave it out",
    ),
    refused(
        "iopsavgtime",
        Time(MS),
        &["500"],
        "windows of operations over time",
        "they have 500 ms",
        "leave it out",
    ),
    refused("write_bw_log", Text, &[], "bandwidth over time, into a file", LOGS, EXPORT),
    refused("write_lat_log", Text, &[], "latencies, into files", LOGS, EXPORT),
    refused("write_iops_log", Text, &[], "operations over time, into a file", LOGS, EXPORT),
    refused("write_hist_log", Text, &[], "histograms over time, into a file", LOGS, EXPORT),
    harmless("log_avg_msec", Time(MS), "width of averages in logs", "without logs it means nothing"),
    harmless("log_hist_msec", Time(MS), "width of histograms in logs", "without logs it means nothing"),
    harmless("log_hist_coarseness", Number, "width of their buckets", "without logs it means nothing"),
    harmless("log_max_value", Bool, "largest instead of mean values", "without logs it means nothing"),
    harmless("log_window_value", Text, "largest or mean values", "without logs it means nothing"),
    harmless("log_offset", Bool, "offsets in logs", "without logs it means nothing"),
    harmless("log_prio", Bool, "priorities in logs", "without logs it means nothing"),
    harmless("log_issue_time", Bool, "times of issue in logs", "without logs it means nothing"),
    harmless("log_entries", Number, "room for entries of logs", "without logs it means nothing"),
    harmless("log_unix_epoch", Bool, "wall clock in logs", "without logs it means nothing"),
    harmless("log_alternate_epoch", Bool, "another clock in logs", "without logs it means nothing"),
    harmless("log_alternate_epoch_clock_id", Number, "which clock", "without logs it means nothing"),
    harmless("log_compression", Number, "compress logs in memory", "without logs it means nothing"),
    harmless("log_compression_cpus", Text, "by which CPUs", "without logs it means nothing"),
    harmless("log_store_compressed", Bool, "leave them compressed", "without logs it means nothing"),
];
