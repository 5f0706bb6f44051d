//! Options for pacing: rates, pauses, latency targets.

use super::Kind::{Bool, BytesTriple, Flag, Float, Number, Text, Time, Word};
use super::{FioOption, also, done, harmless};
use crate::fio::number::{MS, S, US};

pub(super) static ROWS: &[FioOption] = &[
    done("rate", BytesTriple, "bytes a second, for reads and writes each"),
    done("rate_iops", BytesTriple, "operations a second, for reads and writes each"),
    also(
        done("rate_min", BytesTriple, "minimum bytes a second: a slower job ends with an error"),
        &["ratemin"],
    ),
    done("rate_iops_min", BytesTriple, "minimum operations a second, likewise"),
    also(
        done(
            "rate_cycle",
            Time(MS),
            "interval over which minimum rates are averaged; the first begins after two seconds, as in fio",
        ),
        &["ratecycle"],
    ),
    done("rate_process", Word(&["linear", "poisson"]), "even gaps, or those of a Poisson process"),
    done(
        "rate_ignore_thinktime",
        Bool,
        "with a rate and thinktime: 0, operations delayed by a pause are caught up; 1, the schedule shifts by the pause",
    ),
    done("thinktime", Time(US), "pause after operations, asleep except for thinktime_spin"),
    done("thinktime_spin", Time(US), "part of thinktime that is spent computing, at its start"),
    done("thinktime_blocks", Number, "pause after every N operations"),
    done(
        "thinktime_blocks_type",
        Word(&["complete", "issue"]),
        "with a queue: whether blocks count at completion or at issue. Operations in flight complete before a pause begins",
    ),
    done("thinktime_iotime", Time(S), "pause after this time; with thinktime_blocks, whichever comes first"),
    done(
        "latency_target",
        Time(US),
        "find the largest depth, up to iodepth, at which latency stays below this",
    ),
    done("latency_window", Time(US), "duration of each trial, and of the measurement at the depth found"),
    done("latency_percentile", Float, "percentile that must stay below it (default 100)"),
    done("latency_run", Bool, "count the search in the results, and continue it to the end"),
    done(
        "max_latency",
        Text,
        "time (bare: microseconds) for reads,writes: an operation that takes longer ends its job with an error",
    ),
    also(
        done(
            "steadystate",
            Word(&["iops", "iops_slope", "bw", "bw_slope", "lat", "lat_slope"]),
            "end the job when its figures are steady: the largest distance from their mean, or the slope of the line through them, is below \
             what follows a colon, as it is or in percent of the mean",
        ),
        &["ss"],
    ),
    also(done("steadystate_duration", Time(S), "over how long"), &["ss_dur"]),
    also(
        done("steadystate_ramp_time", Time(S), "time after the start of the job before it is judged"),
        &["ss_ramp"],
    ),
    also(
        done("steadystate_check_interval", Time(S), "interval between figures (default 1 s)"),
        &["ss_interval"],
    ),
    done(
        "read_iolog",
        Text,
        "replay a trace: an iolog (version 2 or 3), or a trace of block devices as blktrace and others write it",
    ),
    done("replay_no_stall", Bool, "replay without waiting for the times of the trace"),
    done("replay_redirect", Text, "replay on this file"),
    done("replay_align", Number, "round offsets of a replay down to multiples of this, after replay_scale"),
    done("replay_scale", Number, "divide offsets of a replay by this"),
    done(
        "replay_time_scale",
        Number,
        "rate of a replay in percent of that of the trace: 50 takes twice as long",
    ),
    done("replay_skip", Text, "leave these out of a replay: read,write,trim,sync"),
    harmless(
        "read_iolog_chunked",
        Flag,
        "read a trace piece by piece",
        "a trace is read before the start, as a whole",
    ),
    done(
        "merge_blktrace_file",
        Text,
        "the traces of blktrace that read_iolog names are merged by time, written to this file, and replayed as one; fio 3.42 fails in this",
    ),
    done(
        "merge_blktrace_scalars",
        super::Kind::Floats,
        "for each trace, its times in percent of what they were",
    ),
    done(
        "merge_blktrace_iters",
        super::Kind::Floats,
        "for each trace, how many times it is replayed, one after the other",
    ),
    done(
        "write_iolog",
        Text,
        "write down every read, write and sync with its time, as version 3 of fio's iolog",
    ),
];
