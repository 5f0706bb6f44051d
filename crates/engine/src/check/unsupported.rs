//! Table of the features that this engine does not support on any machine.

use fathom_workload::Backend::{Aio, Mmap, Null, Nvme, Posix, Pvsync2, Uring};
use fathom_workload::caps::{Capabilities, Lack};
use fathom_workload::{
    Access, Amount, Data, FileSet, Isolation, Lock, MapFlush, OpenSync, Program, Pvsync2 as Pvsync2Flags,
    Record, Share, Stream, Uring as UringFlags, Verify,
};

/// Maximum queue depth. Up to twice as many buffers are registered, and the kernel accepts 16384.
const MAX_DEPTH: u32 = 4096;

pub(super) const ALWAYS: Capabilities = Capabilities {
    cannot: "cannot be executed",
    phases: &[],
    threads: &[Lack::says("memory is for flows; use buffer_area for a stream", |thread| {
        thread.memory.0 > 0 && matches!(thread.program, Program::Stream(_))
    })],
    streams: &[
        Lack::says("its file set is read-only, and the stream opens it for writing", |s| {
            has(s.set, |set| set.share == Share::ReadOnly) && (s.changes_files() || s.open.read_write)
        }),
        Lack::says("its file set is write-only, and the stream reads it", |s| {
            has(s.set, |set| set.share == Share::WriteOnly) && (s.direction.reads() || s.open.read_write)
        }),
        Lack::says(
            "preallocated_percent below 100 is for flows, which create the missing files; streams need all files of their set",
            |s| has(s.set, |set| set.preallocated_percent != 100),
        ),
        Lack::says("its file set has no file (leaf directories are for flows)", |s| {
            has(s.set, |set| set.files.count() == 0)
        }),
        Lack::says("queue_depth is above 4096", |s| s.queue_depth > MAX_DEPTH),
        Lack::says(
            "this back-end does one operation after another; queue_depth above 1 needs uring, nvme, aio, posix or null",
            |s| s.queue_depth > 1 && !s.backend.is_asynchronous() && s.backend != Null,
        ),
        Lack::says("completion_polling works only with direct = true", |s| {
            s.backend.ring().is_some_and(|o| o.completion_polling) && !s.open.direct
        }),
        Lack::says("submission_cpu (the CPU of the polling thread) needs submission_polling = true", |s| {
            s.backend.ring().is_some_and(|o| o.submission_cpu.is_some() && !o.submission_polling)
        }),
        Lack::says(
            "pauses outside the clock (think without counted = true), bursts, purging, record locks and disturbed reads need a back-end that does one operation after another (psync, pvsync2, stdio, mmap)",
            |s| goes_alone(s) && (s.backend.is_asynchronous() || s.queue_depth > 1),
        ),
        Lack::says("NVMe commands bypass the page cache; say so with open = { direct = true }", |s| {
            matches!(s.backend, Nvme(_)) && !s.open.direct
        }),
        Lack::says(
            "NVMe commands know neither open.sync nor atomic; leave them out",
            |s| matches!(s.backend, Nvme(options) if options.atomic || s.open.sync != OpenSync::No),
        ),
        Lack::says("verify = \"marks\" needs marked data", |s| {
            s.verify == Verify::Marks && !matches!(s.data, Data::Marked { .. })
        }),
        Lack::says(
            "unique data cannot be verified in full (only its stamps are known); use data = { positioned = { tag = 1 } }",
            |s| s.verify == Verify::Full && matches!(s.data, Data::Unique | Data::Reducible { .. }),
        ),
        Lack::says(
            "timed.open cannot be combined with sync_before or warm_first_record, which come after opening",
            |s| s.timed.open && (s.sync_before || s.warm_first_record),
        ),
        Lack::says(
            "a list of operations contains its offsets; start and length cannot be combined with it",
            |s| matches!(s.access, Access::Listed(_)) && (s.start.0 > 0 || s.length.is_some()),
        ),
        Lack::says("flush_every needs flush = \"async\" or \"sync\"; without it nothing is flushed", |s| {
            matches!(s.backend, Mmap { flush: MapFlush::No, flush_every: 2.., .. })
        }),
        Lack::says("high_priority polls the device for completions; it needs direct = true", |s| {
            matches!(s.backend, Pvsync2(o) if o.high_priority) && !s.open.direct
        }),
        Lack::says("atomic writes need direct = true", |s| is_atomic(s) && !s.open.direct),
        Lack::says("uncached cannot be combined with direct = true, which bypasses the page cache", |s| {
            matches!(s.backend, Pvsync2(o) if o.uncached) && s.open.direct
        }),
        Lack::says("a rate must be above 0 and at most 1e9 operations per second", |s| {
            s.pace.rate.is_some_and(|r| !(r.operations_per_s > 0.0 && r.operations_per_s <= 1e9))
        }),
        Lack::says(
            "the back-end posix does its I/O in threads of the C library, which a new process does not inherit; it needs isolation = \"thread\"",
            |s| s.backend == Posix && s.group.isolation == Isolation::Process,
        ),
    ],
};

/// Where operations are logged after the run instead of during it.
pub(super) const UNSPOOLED: Capabilities = Capabilities {
    streams: &[Lack::says(
        "log_operations needs a known number of operations; give amount = { operations = N }",
        |s| s.log_operations && !is_counted(s),
    )],
    threads: &[],
    ..ALWAYS
};

fn has(set: Option<&FileSet>, what: impl FnOnce(&FileSet) -> bool) -> bool {
    set.is_some_and(what)
}

/// Whether a stream needs something that requires one operation at a time.
fn goes_alone(stream: &Stream) -> bool {
    stream.pace.think.is_some_and(|think| !think.counted)
        || stream.pace.burst.is_some()
        || stream.purge.0 > 0
        || stream.lock == Lock::Record
        || stream.disturb_every > 0
        || matches!(&stream.access, Access::Listed(list) if list.iter().any(|op| op.think.0 > 0))
}

fn is_atomic(stream: &Stream) -> bool {
    matches!(
        stream.backend,
        Pvsync2(Pvsync2Flags { atomic: true, .. })
            | Aio { atomic: true, .. }
            | Uring(UringFlags { atomic: true, .. })
    )
}

/// Whether the number of its operations is known in advance.
fn is_counted(stream: &Stream) -> bool {
    let counted = match (stream.amount, &stream.access) {
        (Amount::Endless, _) => false,
        (Amount::Operations(_), _) => true,
        (amount, Access::Listed(_)) => !matches!(amount, Amount::Bytes(_)),
        _ => matches!(stream.record, Record::Fixed(_)),
    };
    let reads_back = stream.written_by.is_some() || stream.keep_written.is_some_and(|kept| kept.reads_back());
    counted && !reads_back
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_workload::Workload;

    /// What is unsupported in a stream with these keys, in a group or thread and on a set with these.
    fn said(group: &str, set: &str, stream: &str) -> Vec<String> {
        let text = format!(
            "name = 't'\n[[fileset]]\nname = 'f'\n{set}\n[[phase]]\nname = 'p'\n[[phase.group]]\nname = 'g'\n{group}\n\
             [phase.group.thread.program.stream]\nfileset = 'f'\nrecord = {{ fixed = '4KiB' }}\n{stream}"
        );
        let workload = Workload::from_toml(&text).unwrap();
        assert_eq!(workload.check(), Ok(()), "{group} {set} {stream}: it makes no sense to any executor");
        let mut all = ALWAYS.lacking(&workload);
        all.extend(UNSPOOLED.lacking(&workload));
        assert!(all.iter().all(|lacking| lacking.place == "phase 0 (p), group g"), "{all:?}");
        all.into_iter().map(|lacking| lacking.sentence).collect()
    }

    const THREAD: &str = "[[phase.group.thread]]";
    const SIZE: &str = "files = { list = ['x'] }\nsize = { fixed = '1MiB' }";

    #[test]
    fn unsupported_streams_are_refused_with_the_reason() {
        for (stream, words) in [
            ("queue_depth = 4097\nbackend = { uring = {} }", "queue_depth is above 4096"),
            ("queue_depth = 2", "this back-end does one operation after another"),
            ("backend = { uring = { completion_polling = true } }", "completion_polling works only"),
            ("backend = { uring = { submission_cpu = 0 } }", "submission_cpu (the CPU"),
            ("backend = { aio = {} }\npurge = '1MiB'", "pauses outside the clock"),
            ("backend = { aio = {} }\nlock = 'record'", "pauses outside the clock"),
            ("backend = { aio = {} }\npace = { think = { time = '1ms' } }", "pauses outside the clock"),
            ("verify = 'marks'", "verify = \"marks\" needs marked data"),
            ("verify = 'full'\ndata = 'unique'", "unique data cannot be verified in full"),
            ("timed = { open = true }\nsync_before = true", "timed.open cannot be combined with sync_before"),
            ("start = '4KiB'\naccess = { listed = [{ offset = 0, bytes = 512 }] }", "a list of operations"),
            ("backend = { mmap = { flush_every = 2 } }", "flush_every needs flush"),
            ("backend = { pvsync2 = { high_priority = true } }", "high_priority polls"),
            ("backend = { pvsync2 = { atomic = true } }", "atomic writes need"),
            ("backend = { aio = { atomic = true } }", "atomic writes need"),
            ("backend = { uring = { atomic = true } }", "atomic writes need"),
            (
                "backend = { pvsync2 = { uncached = true } }\nopen = { direct = true }",
                "uncached cannot be combined with direct",
            ),
            ("pace = { rate = { operations_per_s = 2e9 } }", "a rate must be above 0"),
            (
                "log_operations = true\namount = { bytes = 512 }\naccess = { listed = [{ offset = 0, bytes = 512 }] }",
                "log_operations needs a known number",
            ),
        ] {
            let said = said(THREAD, SIZE, &format!("direction = 'read'\n{stream}"));
            assert!(said.len() == 1 && said[0].starts_with(words), "{stream}: {said:?}");
        }
    }

    #[test]
    fn unsupported_sets_and_groups_are_refused_with_the_reason() {
        for (set, stream, words) in [
            ("share = 'read-only'", "direction = 'write'", "its file set is read-only"),
            ("share = 'write-only'", "direction = 'read'", "its file set is write-only"),
            ("preallocated_percent = 50", "direction = 'read'", "preallocated_percent below 100"),
        ] {
            let said = said(THREAD, &format!("{SIZE}\n{set}"), stream);
            assert!(said.len() == 1 && said[0].starts_with(words), "{set}: {said:?}");
        }
        let leaves = "size = { fixed = '1MiB' }\n\
             files = { tree = { root = 't', entries = 0, leaf_directories = 2, width = { fixed = 2 } } }";
        assert!(said(THREAD, leaves, "direction = 'read'")[0].starts_with("its file set has no file"));
        let said = |group| said(group, SIZE, "direction = 'read'\nbackend = 'posix'");
        assert!(said(THREAD).is_empty());
        let processes = said("isolation = 'process'\n[[phase.group.thread]]");
        assert!(processes[0].starts_with("the back-end posix does its I/O in threads"));
        let memory = said("[[phase.group.thread]]\nmemory = '1MiB'");
        assert!(memory[0].starts_with("memory is for flows"));
    }

    #[test]
    fn plain_streams_lack_nothing() {
        for stream in ["", "backend = { uring = {} }\nqueue_depth = 4096", "log_operations = true"] {
            assert!(said(THREAD, SIZE, &format!("direction = 'read'\n{stream}")).is_empty(), "{stream}");
        }
    }
}
