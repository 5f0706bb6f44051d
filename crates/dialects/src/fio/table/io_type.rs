//! Options for the work itself: direction, block sizes, amounts, jobs and their order.

use super::Kind::{
    Bool, Bytes, BytesTriple, Flag, Float, Number, Range, RangeTriple, Size, SplitTriple, Text, Time, Word,
};
use super::{FioOption, also, done, harmless, refused};
use crate::fio::number::S;

const RW: super::Kind = Word(&[
    "read",
    "write",
    "randread",
    "randwrite",
    "rw",
    "readwrite",
    "randrw",
    "trim",
    "randtrim",
    "trimwrite",
    "randtrimwrite",
]);

pub(super) static ROWS: &[FioOption] = &[
    done("name", Text, "name of the job"),
    done("description", Text, "a sentence about the job"),
    also(
        done(
            "rw",
            RW,
            "operations and their order. A trim punches a hole in a file and discards on a device. `:N`: N operations at each random offset, or N bytes skipped",
        ),
        &["readwrite"],
    ),
    done(
        "rw_sequencer",
        Word(&["sequential", "identical"]),
        "how `rw=...:N` of a random job goes on: with the blocks that follow, or with the same one",
    ),
    done("rwmixread", Number, "percent of reads in a mix"),
    done("rwmixwrite", Number, "percent of writes in a mix"),
    also(
        done(
            "bs",
            BytesTriple,
            "block size; in a mix separate for reads and writes; trims, and the writes after them, use that of trims",
        ),
        &["blocksize"],
    ),
    also(
        done("bsrange", RangeTriple, "block sizes from, to: multiples of the smallest"),
        &["blocksize_range"],
    ),
    done("bssplit", SplitTriple, "block sizes with their shares"),
    also(
        done(
            "bs_unaligned",
            Flag,
            "arbitrary sizes within bsrange: refused, as sizes are multiples of the smallest; no effect on other sizes",
        ),
        &["blocksize_unaligned"],
    ),
    also(
        done(
            "ba",
            BytesTriple,
            "alignment of random offsets, which repeat if it is not the (smallest) block size; one file, not verified",
        ),
        &["blockalign"],
    ),
    done(
        "bs_is_seq_rand",
        Bool,
        "sequential jobs use the first block size, random jobs the second, for reads, writes and trims alike; with percentage_random the two must be equal",
    ),
    done("size", Size, "bytes of the job's files together"),
    also(
        done(
            "io_size",
            Size,
            "bytes to move, in as many passes as needed; bytes that verify reads back after each pass count",
        ),
        &["io_limit"],
    ),
    done("filesize", Range, "bytes of each file; from a range they are drawn, the same in every run"),
    also(
        done("nrfiles", Number, "number of files of each clone, which share size and take turns"),
        &["nr_files"],
    ),
    done("openfiles", Number, "files of a clone that take turns at once: another comes when one is done"),
    done(
        "file_append",
        Bool,
        "work beyond the existing end of a file, for one pass; no other job may use it before",
    ),
    also(
        done("fill_device", Bool, "write until there is no space, which ends the job without an error"),
        &["fill_fs"],
    ),
    done(
        "offset",
        Size,
        "first byte of the job's part of the file; a percentage is one of the file's size as it is found",
    ),
    done(
        "offset_increment",
        Size,
        "added to the offset, times the number of the clone; percentages likewise",
    ),
    done("offset_align", Bytes, "what percentages in offset are rounded up to; 0: the (smallest) block size"),
    done("loops", Number, "number of passes"),
    done("number_ios", Number, "most operations of a loop; nothing with time_based"),
    also(done("runtime", Time(S), "longest time"), &["timeout"]),
    done("time_based", Flag, "go on until runtime is over"),
    done("ramp_time", Time(S), "warm-up that is not counted"),
    done(
        "ramp_size",
        Bytes,
        "warm-up that is not counted, until a job has done this much; with group_reporting all jobs of its report together",
    ),
    also(
        done(
            "startdelay",
            Text,
            "wait before the start (bare: seconds); from-to: a time that each clone draws",
        ),
        &["start_delay"],
    ),
    also(done("stonewall", Flag, "begin when all earlier jobs are done"), &["wait_for_previous"]),
    done("wait_for", Text, "begin when the job of that name is done, if no other runs beside it"),
    done("new_group", Flag, "begin a new group in reports"),
    done(
        "exitall",
        Flag,
        "given for one job, and even with 0, every job that is done ends the others that run with it, as its exit_what says",
    ),
    done(
        "exit_what",
        Word(&["group", "all", "stonewall"]),
        "jobs that a finished job ends, with exitall: group, those of its group that run with it; stonewall, all that run with it; all is supported where no job follows",
    ),
    done("exitall_on_error", Flag, "an error ends the jobs that run together; without it they go on"),
    done("numjobs", Number, "number of clones"),
    also(
        done(
            "thread",
            Flag,
            "threads instead of processes; fathom takes threads either way (mmap: processes) and says so in JSON",
        ),
        &["threads"],
    ),
    refused(
        "profile",
        Text,
        &[],
        "a built-in workload of fio",
        "fathom has no profiles",
        "examples/ has workloads",
    ),
    done(
        "sprandom",
        Bool,
        "precondition an SSD: each block once, in no order, region by region, with blocks of the region before written again; over all of the file, as in fio",
    ),
    done("spr_num_regions", Number, "regions of sprandom"),
    done("spr_op", Float, "over-provisioning of the device, as a share of its visible blocks; below 5/3"),
    done(
        "spr_cs",
        Bytes,
        "cache of the device: with one, blocks are written again one region later; a region is larger than it",
    ),
    done(
        "flow",
        Number,
        "weight: jobs of one flow_id do reads and writes in proportion to it, as fast as the slowest allows",
    ),
    done("flow_id", Number, "which jobs share a flow, of those that run together"),
    harmless(
        "flow_watermark",
        Number,
        "how far a flow may run ahead",
        "removed in fio 3.33: no job runs ahead",
    ),
    done("flow_sleep", Number, "microseconds that a job that is ahead sleeps before it checks again"),
];
