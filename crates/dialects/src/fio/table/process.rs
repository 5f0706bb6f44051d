//! Options for processes: CPUs, priorities, errors.

use super::Kind::{Bool, Number, Signed, Text, Word};
use super::{FioOption, also, done, harmless};

const ERRORS: super::Kind = Word(&["none", "read", "write", "io", "verify", "all", "0", "1"]);

pub(super) static ROWS: &[FioOption] = &[
    done("cpus_allowed", Text, "CPUs of a job: 0,2-4"),
    done(
        "cpus_allowed_policy",
        Word(&["shared", "split"]),
        "all of them for every clone, or one CPU each, by the number of the clone among those of all jobs",
    ),
    done("cpumask", Number, "CPUs of a job, as a mask"),
    done("numa_cpu_nodes", Text, "CPUs of a job, by their NUMA nodes: 0,2-4, or all"),
    done(
        "numa_mem_policy",
        Text,
        "where its memory lies: default, local, prefer:NODE, bind:NODES and interleave:NODES",
    ),
    done("nice", Signed, "niceness"),
    done("prio", Number, "I/O priority, 0 to 7"),
    done(
        "prioclass",
        Number,
        "I/O class: 1 (real time, which takes a privilege), 2 (best effort) or 3 (idle)",
    ),
    done(
        "priohint",
        Number,
        "hint to the device with the I/O priority, 0 to 1023, as 1 to 7 for the limits of command durations; it takes Linux 6.5",
    ),
    done(
        "uid",
        Number,
        "user ID that each clone switches to before it opens its files; files are laid out, and logs and states written, as fathom's user; only root can switch to another user",
    ),
    done("gid", Number, "group ID, likewise; supplementary groups stay"),
    done(
        "cgroup",
        Text,
        "control group that all jobs run in: below where blkio of version 1 is mounted, or else version 2; without both it does nothing. It is made if it is missing, and then removed at the end",
    ),
    done(
        "cgroup_weight",
        Number,
        "its share of the I/O, 100 to 1000, in the file blkio.weight of version 1; an error where there is none",
    ),
    done("cgroup_nodelete", Bool, "keep a group that was created"),
    harmless("comm", Text, "name of the process", "names of threads change nothing"),
    done(
        "exec_prerun",
        Text,
        "a command of the shell before the job, once for all clones; what it prints goes to JOB.prerun.txt, and if it fails nothing is run",
    ),
    done("exec_postrun", Text, "a command after the job, likewise, with JOB.postrun.txt"),
    done(
        "continue_on_error",
        ERRORS,
        "continue after errors of reads, writes, both (io), verification (verify) or all: EIO and verification errors, unless ignore_error lists others",
    ),
    done(
        "ignore_error",
        Text,
        "errors to continue after, by name or number, separated by colons: those of reads, of writes and of checks, separated by commas",
    ),
    harmless(
        "error_dump",
        Bool,
        "report errors one by one",
        "the error that ends a job is always reported; of ignored errors, the number and the first, and error_dump=1 is refused with them",
    ),
    also(
        harmless(
            "clocksource",
            Word(&["gettimeofday", "clock_gettime", "cpu"]),
            "the clock",
            "fathom uses the cheapest exact clock, and checks it",
        ),
        &["clock_source"],
    ),
    harmless(
        "gtod_cpu",
        Number,
        "a CPU that only reads the clock",
        "reading the clock costs less than asking another CPU",
    ),
    harmless("alloc-size", Number, "size of fio's memory pool", "there is no such pool"),
    harmless("max-jobs", Number, "maximum number of jobs", "there is no such limit"),
];
