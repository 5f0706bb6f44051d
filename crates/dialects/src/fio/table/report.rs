//! Options that say what is printed: output, percentiles, logs, groups.

use super::Kind::{Bool, Flag, Floats, Number, OptionalText, Text, Time, Word};
use super::{Row, also, done, harmless, refused};
use crate::fio::number::MS;

const LOGS: &str = "logs of fio's form are not written";
const EXPORT: &str = "fathom export --format intervals: rates and latencies over time";

pub(super) static ROWS: &[Row] = &[
    done("group_reporting", Flag, "one report for each group"),
    refused("stats", Bool, &["1"], "report this job", "every job is reported", "leave it out"),
    done("per_job_logs", Bool, "a log for each clone; 0: one for all"),
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
    done("write_bw_log", OptionalText, "bandwidth over time, into NAME_bw.N.log; with log_avg_msec"),
    done(
        "write_lat_log",
        OptionalText,
        "latencies over time, into NAME_lat, _clat and _slat.N.log; with log_avg_msec",
    ),
    done("write_iops_log", OptionalText, "operations over time, into NAME_iops.N.log; with log_avg_msec"),
    refused("write_hist_log", Text, &[], "histograms over time, into a file", LOGS, EXPORT),
    done(
        "log_avg_msec",
        Time(MS),
        "width of averages in logs, a multiple of 10 ms; without it logs are refused",
    ),
    harmless("log_hist_msec", Time(MS), "width of histograms in logs", "without logs it means nothing"),
    harmless("log_hist_coarseness", Number, "width of their buckets", "without logs it means nothing"),
    done("log_max_value", Bool, "largest instead of mean values: with logs it is refused"),
    done("log_window_value", Text, "largest or mean values: with logs only avg is taken"),
    done("log_offset", Bool, "a column for offsets in logs; of averages it is 0"),
    harmless("log_prio", Bool, "priorities in logs", "averages have none"),
    harmless("log_issue_time", Bool, "times of issue in logs", "averages have none"),
    harmless("log_entries", Number, "room for entries of logs", "there is no such limit"),
    done("log_unix_epoch", Bool, "wall clock in logs: with logs it is refused"),
    done("log_alternate_epoch", Bool, "another clock in logs: with logs it is refused"),
    harmless("log_alternate_epoch_clock_id", Number, "which clock", "without logs it means nothing"),
    harmless("log_compression", Number, "compress logs in memory", "they are small"),
    harmless("log_compression_cpus", Text, "by which CPUs", "logs are not compressed"),
    harmless("log_store_compressed", Bool, "leave them compressed", "logs are not compressed"),
];
