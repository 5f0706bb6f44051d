//! The processes: CPUs, priorities, errors.

use super::Kind::{Bool, Number, Signed, Text, Word};
use super::{Row, also, done, harmless, refused};

const ERRORS: super::Kind = Word(&["none", "read", "write", "io", "verify", "all", "0", "1"]);

pub(super) static ROWS: &[Row] = &[
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
        "where its buffers lie: local, bind:NODE and prefer:NODE; others are refused",
    ),
    done("nice", Signed, "niceness"),
    done("prio", Number, "I/O priority, 0 to 7"),
    done("prioclass", Number, "I/O class: 2 (best effort) is done, others are refused"),
    refused("priohint", Number, &["0"], "hint of the I/O priority", "hints are not passed on", "prio"),
    refused("uid", Number, &[], "user of the job", "fathom changes no user", "sudo -u USER fathom fio ..."),
    refused(
        "gid",
        Number,
        &[],
        "group of the job",
        "fathom changes no group",
        "sudo -g GROUP fathom fio ...",
    ),
    harmless(
        "cgroup",
        Text,
        "control group of the job",
        "fathom makes no control groups; systemd-run --scope does",
    ),
    harmless(
        "cgroup_weight",
        Number,
        "its weight",
        "fathom makes no control groups; systemd-run --scope -p IOWeight=N does",
    ),
    harmless("cgroup_nodelete", Bool, "keep it", "without cgroup it means nothing"),
    harmless("comm", Text, "name of the process", "names of threads change nothing"),
    refused(
        "exec_prerun",
        Text,
        &[],
        "a command before the job",
        "a job file runs no programs",
        "run it before fathom",
    ),
    refused(
        "exec_postrun",
        Text,
        &[],
        "a command after the job",
        "a job file runs no programs",
        "run it after fathom",
    ),
    refused(
        "continue_on_error",
        ERRORS,
        &["none", "0"],
        "go on after errors",
        "an error ends the job, and what was measured is kept",
        "leave it out",
    ),
    refused("ignore_error", Text, &[], "errors that are none", "an error ends the job", "leave it out"),
    harmless("error_dump", Bool, "report errors one by one", "the error that ends a job is always reported"),
    also(
        harmless(
            "clocksource",
            Word(&["gettimeofday", "clock_gettime", "cpu"]),
            "the clock",
            "fathom takes the cheapest that is exact, and checks it",
        ),
        &["clock_source"],
    ),
    harmless(
        "gtod_cpu",
        Number,
        "a CPU that only reads the clock",
        "reading the clock costs less than asking another CPU",
    ),
    harmless("alloc-size", Number, "memory of fio's own", "there is no such pool"),
    harmless("max-jobs", Number, "most jobs", "there is no such limit"),
];
