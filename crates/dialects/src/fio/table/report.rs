//! Options for reporting: output, percentiles, logs, groups.

use super::Kind::{Bool, Flag, Floats, Number, OptionalText, Text, Time, Word};
use super::{FioOption, also, done, harmless};
use crate::fio::number::MS;

pub(super) static ROWS: &[FioOption] = &[
    done("group_reporting", Flag, "one report for each group"),
    done("stats", Bool, "0: leave this job out of the report"),
    done("per_job_logs", Bool, "a log for each clone; 0: one for all"),
    done(
        "gtod_reduce",
        Bool,
        "report no latencies; fathom still measures them, as this costs next to nothing",
    ),
    done("disable_lat", Bool, "report no latency"),
    done("disable_clat", Bool, "report no completion latency"),
    done("disable_slat", Bool, "report no submission latency"),
    also(done("disable_bw_measurement", Bool, "report no bandwidth over time"), &["disable_bw"]),
    done("clat_percentiles", Bool, "percentiles of the completion latency"),
    done("lat_percentiles", Bool, "percentiles of the latency"),
    done("slat_percentiles", Bool, "percentiles of the submission latency"),
    done("percentile_list", Floats, "which percentiles, at most 20"),
    done(
        "significant_figures",
        Number,
        "1 to 10: figures of bandwidths, amounts and numbers of operations in the text; 4 without",
    ),
    done(
        "unified_rw_reporting",
        Word(&["none", "0", "mixed", "1", "both", "2"]),
        "combine reads, writes and trims: mixed, only combined; both, also separately",
    ),
    done("unit_base", Word(&["0", "8", "1"]), "rates in the text: of bytes (0, 8) or of bits (1)"),
    done(
        "kb_base",
        Word(&["1024", "1000"]),
        "meaning of k in its section, or to its right on a command line, and the first unit in the text",
    ),
    done("bwavgtime", Number, "windows of bandwidth over time, in ms; rounded up to 10 ms"),
    done("iopsavgtime", Number, "windows of operations over time, in ms; rounded up to 10 ms"),
    done(
        "write_bw_log",
        OptionalText,
        "bandwidth, into NAME_bw.N.log: a line for each operation, or for each window of log_avg_msec",
    ),
    done("write_lat_log", OptionalText, "latencies likewise, into NAME_lat, _clat and _slat.N.log"),
    done("write_iops_log", OptionalText, "operations likewise, into NAME_iops.N.log"),
    done(
        "write_hist_log",
        OptionalText,
        "histograms of completion latencies, into NAME_clat_hist.N.log; with log_hist_msec",
    ),
    done("log_avg_msec", Time(MS), "width of averages in logs; without it every operation has a line"),
    done("log_hist_msec", Time(MS), "width of histograms in logs; without it they stay empty, as in fio"),
    done("log_hist_coarseness", Number, "merge 2^N buckets of these histograms, N from 0 to 6"),
    done("log_max_value", Bool, "largest instead of mean latencies in windows of logs"),
    done("log_window_value", Text, "of latencies in windows: avg, max, or both in two columns"),
    done("log_offset", Bool, "a column for offsets in logs; of averages it is 0"),
    done("log_prio", Bool, "class and level of the I/O priority in logs, in hexadecimal"),
    done(
        "log_issue_time",
        Bool,
        "a last column in logs: ns from the start until the operation was issued, in NAME_clat and NAME_slat, else 0; with write_lat_log and log_offset",
    ),
    harmless("log_entries", Number, "room for entries of logs", "there is no such limit"),
    done("log_unix_epoch", Bool, "times of logs count from 1970"),
    done("log_alternate_epoch", Bool, "times of logs are those of another clock"),
    done("log_alternate_epoch_clock_id", Number, "that clock; 0: the wall clock"),
    done(
        "log_compression",
        Number,
        "compress logs in pieces of this size before they are written; fathom writes them as they come",
    ),
    harmless("log_compression_cpus", Text, "by which CPUs", "logs are compressed when the jobs are done"),
    done(
        "log_store_compressed",
        Bool,
        "leave them compressed, as NAME.log.fz, which --inflate-log of fathom and of fio reads",
    ),
];
