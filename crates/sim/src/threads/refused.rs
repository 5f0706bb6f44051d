//! Features that the simulator cannot execute, refused before anything starts with a hint on what to do. Features without a simulated
//! cost (contents of files, buffers, NUMA nodes) are accepted, since no figure depends on them.

use super::mapping::is_known;
use fathom_workload::caps::{Capabilities, Lack};
use fathom_workload::{
    Access, Action, Backend, Direction, Lock, Phase, Pick, Program, Stream, Uring, Workload,
};

/// MADV_POPULATE_WRITE on Linux.
const POPULATE_WRITE: u8 = 23;
/// The engine's deepest queue.
const DEEPEST: u32 = 4096;

/// Reports everything that cannot be executed, as sentences.
pub(crate) fn refusals(workload: &Workload) -> Vec<String> {
    if let Err(errors) = workload.check() {
        return errors.iter().map(|e| format!("{}: {}", e.place, e.message)).collect();
    }
    let lacking = CAPABILITIES.lacking(workload);
    let mut refused: Vec<String> = lacking.iter().map(ToString::to_string).collect();
    for (number, phase) in workload.phases.iter().enumerate() {
        for group in &phase.groups {
            let flows = group.threads.iter().filter_map(|thread| match &thread.program {
                Program::Flow(flow) => crate::flows::refusal(workload, phase, thread, flow),
                Program::Stream(_) => None,
            });
            refused.extend(
                flows.map(|why| format!("phase {number} ({}), group {}: {why}", phase.name, group.name)),
            );
        }
    }
    refused
}

fn has(phase: &Phase, action: fn(&Action) -> bool) -> bool {
    phase.before.iter().chain(&phase.after).any(action)
}

/// Whether a stream needs one operation at a time.
fn goes_alone(stream: &Stream) -> bool {
    stream.pace.think.is_some()
        || stream.pace.burst.is_some()
        || matches!(&stream.access, Access::Listed(list) if list.iter().any(|op| op.think.0 > 0))
        || stream.purge.0 > 0
        || stream.disturb_every > 0
}

const CAPABILITIES: Capabilities = Capabilities {
    cannot: "cannot be simulated",
    phases: &[
        Lack {
            what: "a command",
            instead: "leave the action out",
            asked: |phase| has(phase, |action| matches!(action, Action::Command(_))),
        },
        Lack {
            what: "files with a size but no allocated space (extend)",
            instead: "reserve them, or make them empty (fio: fallocate=native or none)",
            asked: |phase| has(phase, |action| matches!(action, Action::Extend(_))),
        },
        Lack {
            what: "files with allocated space but no size (reserve-behind)",
            instead: "reserve them, or make them empty (fio: fallocate=native or none)",
            asked: |phase| has(phase, |action| matches!(action, Action::ReserveBehind(_))),
        },
        Lack {
            what: "the directories of a set (make-directories)",
            instead: "use a flow, which makes directories",
            asked: |phase| has(phase, |action| matches!(action, Action::MakeDirectories(_))),
        },
        Lack {
            what: "workers that end when the I/O of others ends",
            instead: "give them a time (fio: exit_on_io_done; a workload: ends_with_io)",
            asked: |phase| phase.groups.iter().any(|group| group.times.ends_with_io),
        },
        Lack {
            what: "groups that each stop at a steady state",
            instead: "use stop.steady for the whole phase (fio: leave steadystate out)",
            asked: |phase| !phase.stop.steady_groups.is_empty(),
        },
    ],
    threads: &[Lack {
        what: "locked memory",
        instead: "leave it out, and choose a smaller host.memory.cache_mib (fio: lockmem; a workload: locked_memory)",
        asked: |thread| thread.locked_memory.0 > 0,
    }],
    streams: &[
        Lack {
            what: "the back-end null (it calls nothing, so there is nothing to simulate)",
            instead: "use another one (fio: any other ioengine)",
            asked: |stream| stream.backend == Backend::Null,
        },
        Lack {
            what: "NVMe commands past the kernel's block layer, which is what is simulated",
            instead: "use the back-end uring (fio: ioengine=io_uring with direct=1)",
            asked: |stream| matches!(stream.backend, Backend::Nvme(_)),
        },
        Lack {
            what: "zones with write pointers",
            instead: "leave them out (fio: zonemode=zbd; a workload: zoned_device)",
            asked: |stream| stream.zoned_device.is_some(),
        },
        Lack {
            what: "a trim (its effect on a device is not modelled)",
            instead: "write instead, or leave it out (fio: rw=write for trimwrite, trim_percentage)",
            asked: |stream| stream.trims(),
        },
        Lack {
            what: "calls about files and directories (allocate, truncate, move-extents, create, stat, remove, make-directory, remove-directory)",
            instead: "use a flow, which has such operations",
            asked: |stream| matches!(stream.backend, Backend::Calls(_)),
        },
        Lack {
            what: "computing",
            instead: "leave the stream out, or give another stream a think",
            asked: |stream| matches!(stream.backend, Backend::Compute(_)),
        },
        Lack {
            what: "a program beside the streams",
            instead: "leave the stream out",
            asked: |stream| stream.backend == Backend::Beside,
        },
        Lack {
            what: "the C library's asynchronous I/O (posix)",
            instead: "use aio or uring",
            asked: |stream| stream.backend == Backend::Posix,
        },
        Lack {
            what: "splice through a pipe",
            instead: "use psync",
            asked: |stream| stream.backend == Backend::Splice,
        },
        Lack {
            what: "a stream that runs until the file system is full (until_full)",
            instead: "give it an amount",
            asked: |stream| stream.until_full,
        },
        Lack {
            what: "tolerance of errors, which are not modelled,",
            instead: "leave it out (fio: continue_on_error, ignore_error; a workload: pass_over)",
            asked: |stream| stream.pass_over != fathom_workload::PassOver::default(),
        },
        Lack {
            what: "a queue_depth above 1 with the back-ends stdio and mmap, which do one operation after the other,",
            instead: "leave queue_depth out",
            asked: |stream| {
                stream.queue_depth > 1
                    && matches!(stream.backend, Backend::Mmap { .. } | Backend::Stdio { .. })
            },
        },
        Lack {
            what: "a madvise advice of a mapped file other than 0, 1, 2, 4, 22 and 23",
            instead: "leave it out (IOzone: -+A 4; a workload: advice), or use 0 normal, 1 random or 2 sequential",
            asked: |stream| matches!(stream.backend, Backend::Mmap { advice: Some(advice), .. } if !is_known(advice)),
        },
        Lack {
            what: "huge pages of a mapped file",
            instead: "leave them out (fio: thp; a workload: huge_pages)",
            asked: |stream| matches!(stream.backend, Backend::Mmap { huge_pages: true, .. }),
        },
        Lack {
            what: "madvise advice 23 (populate_write) of a mapping that is only read",
            instead: "use 22 (populate_read)",
            asked: |stream| {
                stream.direction == Direction::Read
                    && matches!(stream.backend, Backend::Mmap { advice: Some(POPULATE_WRITE), .. })
            },
        },
        Lack {
            what: "O_DIRECT with the C library's buffers, which are not aligned,",
            instead: "use one of them",
            asked: |stream| matches!(stream.backend, Backend::Stdio { .. }) && stream.open.direct,
        },
        Lack {
            what: "a queue_depth above 4096",
            instead: "choose 4096 or less, the limit of the engine",
            asked: |stream| stream.queue_depth > DEEPEST,
        },
        Lack {
            what: "a flag of preadv2 other than dsync and sync",
            instead: "leave it out (fio: hipri, nowait, uncached, atomic; a workload: high_priority, nowait, uncached, atomic)",
            asked: |stream| {
                matches!(stream.backend, Backend::Pvsync2(flags)
                    if flags.uncached || flags.nowait || flags.high_priority || flags.atomic)
            },
        },
        Lack {
            what: "atomic writes",
            instead: "leave that out (fio: atomic; a workload: atomic)",
            asked: |stream| {
                matches!(
                    stream.backend,
                    Backend::Aio { atomic: true, .. } | Backend::Uring(Uring { atomic: true, .. })
                )
            },
        },
        Lack {
            what: "an I/O priority of single operations",
            instead: "leave priorities out (fio: cmdprio_percentage, cmdprio_bssplit)",
            asked: |stream| !stream.priorities.is_empty(),
        },
        Lack {
            what: "an adaptive queue depth",
            instead: "give queue_depth a number",
            asked: |stream| stream.adaptive_depth.is_some(),
        },
        Lack {
            what: "a list of operations on several files",
            instead: "give each its own stream (fio: a trace of one file, or replay_redirect), or replay the trace itself: \
                      fathom sim replay",
            asked: |stream| stream.pick == Pick::All && matches!(stream.access, Access::Listed(_)),
        },
        Lack {
            what: "a pause between operations, a burst, a purged CPU cache or a disturbing read with a queue_depth above 1",
            instead: "they need one operation at a time: leave them out (IOzone: -J, -p, -K; fio: thinktime) or the depth \
                      (IOzone: -k, -H; fio: iodepth)",
            asked: |stream| stream.queue_depth > 1 && goes_alone(stream),
        },
        Lack {
            what: "a ratio to other workers with a queue_depth above 1",
            instead: "leave the depth out (fio: iodepth with flow)",
            asked: |stream| stream.queue_depth > 1 && stream.pace.ratio.is_some(),
        },
        Lack {
            what: "operations in flight that wait for those they overlap",
            instead: "leave that out (fio: serialize_overlap; a workload: apart)",
            asked: |stream| stream.queue_depth > 1 && stream.no_overlap,
        },
        Lack {
            what: "a least rate",
            instead: "leave it out (fio: rate_min, rate_iops_min; a workload: pace.least)",
            asked: |stream| stream.pace.least.is_some(),
        },
        Lack {
            what: "a longest latency",
            instead: "leave it out (fio: max_latency; a workload: pace.longest)",
            asked: |stream| stream.pace.longest.is_some(),
        },
        Lack {
            what: "writing back a range (sync_file_range)",
            instead: "leave it out (fio: sync_file_range; a workload: range of sync_every), or sync (fio: fdatasync)",
            asked: |stream| stream.sync_every.is_some_and(|sync| sync.range.is_some()),
        },
        Lack {
            what: "syncing a whole file system",
            instead: "sync the files (fio: end_fsync for end_syncfs; a workload: timed = { fsync = true } alone)",
            asked: |stream| stream.timed.syncfs,
        },
        Lack {
            what: "a file lock",
            instead: "leave it out (IOzone: -W, -+l, -+L; a workload: lock)",
            asked: |stream| stream.lock != Lock::No,
        },
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(text: &str) -> Workload {
        let text = format!(
            "name = \"t\"\n[[fileset]]\nname = \"f\"\nfiles = {{ list = [\"x\"] }}\nsize = {{ fixed = \"1MiB\" }}\n\
             [[phase]]\nname = \"read\"\n[[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\n\
             [phase.group.thread.program.stream]\nfileset = \"f\"\ndirection = \"read\"\nrecord = {{ fixed = \"4KiB\" }}\n{text}"
        );
        Workload::from_toml(&text).unwrap()
    }

    fn refused(text: &str) -> Option<String> {
        let all = refusals(&workload(text));
        (!all.is_empty()).then(|| all.join("\n"))
    }

    #[test]
    fn refusals_name_phase_and_group() {
        assert_eq!(refused(""), None);
        assert_eq!(
            refused("lock = \"file\"").as_deref(),
            Some(
                "phase 0 (read), group g: a file lock cannot be simulated; leave it out (IOzone: -W, -+l, -+L; a workload: lock)"
            )
        );
        let null = refused("backend = \"null\"").unwrap();
        assert!(null.contains("the back-end null") && null.contains("fio: any other ioengine"), "{null}");
        let deep = refused("backend = { stdio = {} }\nqueue_depth = 2").unwrap();
        assert!(deep.contains("one operation after the other"), "{deep}");
        let advised = refused("backend = { mmap = { advice = 3 } }").unwrap();
        assert!(advised.contains("other than 0, 1, 2") && advised.contains("-+A"), "{advised}");
    }

    #[test]
    fn all_unsupported_features_are_reported_at_once() {
        let text = "lock = \"file\"\npace = { least = { reads_per_s = 10 } }";
        assert_eq!(refusals(&workload(text)).len(), 2);
    }

    #[test]
    fn locked_memory_is_refused() {
        let mut locked = workload("");
        locked.phases[0].groups[0].threads[0].locked_memory = fathom_workload::Bytes(1);
        let why = refusals(&locked).join("\n");
        assert!(why.contains("locked memory") && why.contains("cache_mib"), "{why}");
    }

    #[test]
    fn limits_are_refused_and_ratios_go_one_operation_after_the_other() {
        for (stream, words) in [
            ("pace = { least = { reads_per_s = 10 } }", "rate_iops_min"),
            ("pace = { longest = { read = \"1ms\" } }", "max_latency"),
            ("sync_every = { writes = 8, range = { write = true } }", "sync_file_range"),
            ("timed = { fsync = true, syncfs = true }", "end_syncfs"),
            ("pass_over = { reads = [\"EIO\"] }", "ignore_error"),
            (
                "pace = { ratio = { weight = 2 } }\nbackend = { aio = {} }\nqueue_depth = 4",
                "iodepth with flow",
            ),
        ] {
            let why = refused(stream).unwrap();
            assert!(why.contains(words), "{stream}: {why}");
        }
        assert_eq!(refused("pace = { ratio = { weight = 2 } }"), None);
    }

    #[test]
    fn options_refused_by_engine_or_kernel_are_refused() {
        for (stream, words) in [
            ("backend = { mmap = { advice = 23 } }", "populate_write"),
            ("backend = { mmap = { huge_pages = true } }", "huge_pages"),
            ("backend = { aio = { atomic = true } }\nopen = { direct = true }", "atomic writes"),
            ("backend = { uring = { atomic = true } }\nopen = { direct = true }", "atomic writes"),
            ("backend = { stdio = {} }\nopen = { direct = true }", "O_DIRECT"),
            ("backend = { uring = {} }\nqueue_depth = 5000", "above 4096"),
        ] {
            let why = refused(stream).unwrap();
            assert!(why.contains(words), "{stream}: {why}");
        }
    }

    #[test]
    fn streams_without_o_direct_are_accepted() {
        for stream in [
            "backend = { stdio = {} }",
            "backend = { mmap = { flush = \"sync\", populate = true, advice = 1 } }",
            "backend = { aio = {} }\nqueue_depth = 8",
            "backend = { uring = {} }\nqueue_depth = 8",
            "purge = \"1MiB\"",
            "disturb_every = 15",
        ] {
            assert_eq!(refused(stream), None, "{stream}");
        }
    }

    #[test]
    fn pauses_and_bursts_go_one_operation_after_the_other() {
        let deep = "backend = { uring = {} }\nopen = { direct = true }\nqueue_depth = 4\n";
        assert_eq!(refused(deep), None);
        assert_eq!(refused(&format!("{deep}pace = {{ rate = {{ operations_per_s = 10.0 }} }}")), None);
        for pace in [
            "pace = { burst = { bytes = \"1MiB\", pause = \"1ms\" } }",
            "pace = { think = { time = \"1ms\" }, rate = { operations_per_s = 10.0 } }",
            "pace = { think = { time = \"1ms\" } }",
            "purge = \"1MiB\"",
            "disturb_every = 15",
        ] {
            let why = refused(&format!("{deep}{pace}")).unwrap();
            assert!(why.contains("queue_depth above 1"), "{why}");
            assert_eq!(refused(pace), None);
        }
    }
}
