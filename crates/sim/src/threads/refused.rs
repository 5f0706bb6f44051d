//! What the simulator cannot execute, said before anything starts, in words that tell what to do. What has no cost worth simulating
//! (contents of files, buffers, NUMA nodes) is accepted: no figure depends on it.

use super::mapping::is_known;
use fathom_workload::{Access, Action, Backend, Direction, Lock, Phase, Pick, Program, Stream, Workload};

/// MADV_POPULATE_WRITE, by its Linux number.
const POPULATE_WRITE: u8 = 23;
/// As deep as the engine goes.
const DEEPEST: u32 = 4096;

/// The first thing that it cannot execute.
pub(crate) fn refusal(workload: &Workload) -> Option<String> {
    if let Err(errors) = workload.check() {
        return errors.first().map(|e| format!("{}: {}", e.place, e.message));
    }
    let phases = workload.phases.iter().enumerate();
    phases.flat_map(|(number, phase)| of_phase(workload, number, phase)).next()
}

fn of_phase(workload: &Workload, number: usize, phase: &Phase) -> Vec<String> {
    let place = format!("phase {number} ({})", phase.name);
    let mut refused = Vec::new();
    if phase.before.iter().chain(&phase.after).any(|a| matches!(a, Action::Command(_))) {
        refused.push(format!("{place}: a command cannot be run in virtual time; take the action out"));
    }
    if phase.before.iter().chain(&phase.after).any(|a| matches!(a, Action::Extend(_))) {
        refused.push(format!(
            "{place}: files that have their size and no space (extend) cannot be simulated; reserve them, or make them empty (fio: fallocate=native or none)"
        ));
    }
    if phase.before.iter().chain(&phase.after).any(|a| matches!(a, Action::ReserveBehind(_))) {
        refused.push(format!(
            "{place}: files that have their space and not their size (reserve-behind) cannot be simulated; reserve them, or make them empty (fio: fallocate=native or none)"
        ));
    }
    if phase.before.iter().chain(&phase.after).any(|a| matches!(a, Action::MakeDirectories(_))) {
        refused.push(format!(
            "{place}: the directories of a set (make-directories) cannot be simulated; a flow makes directories"
        ));
    }
    if phase.groups.iter().any(|g| g.times.ends_with_io) {
        refused.push(format!(
            "{place}: workers that end with the I/O of others cannot be simulated; give them a time (fio: exit_on_io_done; a workload: ends_with_io)"
        ));
    }
    if !phase.stop.steady_groups.is_empty() {
        refused.push(format!(
            "{place}: groups that end by themselves when they are steady cannot be simulated; take the stop steady for the whole phase \
             (fio: leave steadystate out)"
        ));
    }
    for group in &phase.groups {
        for thread in &group.threads {
            let place = format!("{place}, group {}", group.name);
            if thread.locked_memory.0 > 0 {
                refused.push(format!(
                    "{place}: locked memory cannot be simulated; leave it out, and choose a smaller host.memory.cache_mib \
                     (fio: lockmem; a workload: locked_memory)"
                ));
            }
            match &thread.program {
                Program::Flow(flow) => {
                    let why = crate::flows::refusal(workload, phase, thread, flow);
                    refused.extend(why.map(|why| format!("{place}: {why}")));
                }
                Program::Stream(stream) => {
                    refused.extend(of_stream(stream).map(|why| format!("{place}: {why}")));
                }
            }
        }
    }
    refused
}

fn of_stream(stream: &Stream) -> Option<String> {
    // What to do instead is said in the words of whoever can ask for it.
    let no = |what: &str, instead: &str| Some(format!("{what} cannot be simulated; {instead}"));
    if stream.backend == Backend::Null {
        return no(
            "the back-end null (it calls nothing, so there is nothing to simulate)",
            "take another one (fio: any other ioengine)",
        );
    }
    if stream.trims() {
        return no(
            "a trim (what a device makes of one is not modelled)",
            "write instead, or leave it out (fio: rw=write for trimwrite)",
        );
    }
    let moved = match stream.backend {
        Backend::Calls(_) => Some((
            "calls about files and directories (allocate, truncate, create, stat, remove, make-directory, remove-directory)",
            "a flow has such operations",
        )),
        Backend::Compute(_) => Some(("computing", "leave the stream out, or give another a think")),
        Backend::Beside => Some(("a program beside the streams", "leave the stream out")),
        Backend::Posix => Some(("the C library's asynchronous I/O (posix)", "take aio or uring")),
        Backend::Splice => Some(("splice through a pipe", "take psync")),
        _ => None,
    };
    if let Some((what, instead)) = moved {
        return no(what, instead);
    }
    if stream.until_full {
        return no("a stream that goes on until there is no space (until_full)", "give it an amount");
    }
    if stream.pass_over != fathom_workload::PassOver::default() {
        return no(
            "an error to pass over, of which there is no model,",
            "leave it out (fio: continue_on_error, ignore_error; a workload: pass_over)",
        );
    }
    let one_by_one = matches!(stream.backend, Backend::Mmap { .. } | Backend::Stdio { .. });
    if one_by_one && stream.queue_depth > 1 {
        return no(
            "a queue_depth above 1 with the back-ends stdio and mmap, which do one operation after the other,",
            "leave queue_depth out",
        );
    }
    if let Backend::Mmap { advice: Some(advice), .. } = stream.backend
        && !is_known(advice)
    {
        return no(
            &format!("madvise advice {advice} of a mapped file"),
            "leave it out (IOzone: -+A 4; a workload: advice), or take 0 normal, 1 random or 2 sequential",
        );
    }
    if let Backend::Mmap { huge_pages: true, .. } = stream.backend {
        return no("huge pages of a mapped file", "leave them out (fio: thp; a workload: huge_pages)");
    }
    if let Backend::Mmap { advice: Some(POPULATE_WRITE), .. } = stream.backend
        && stream.direction == Direction::Read
    {
        return no(
            "madvise advice 23 (populate_write) of a mapping that is only read",
            "take 22 (populate_read)",
        );
    }
    if matches!(stream.backend, Backend::Stdio { .. }) && stream.open.direct {
        return no("O_DIRECT with the C library's buffers, which lie as they like,", "take one of them");
    }
    if stream.queue_depth > DEEPEST {
        return no(&format!("a queue_depth above {DEEPEST}"), "the engine takes none either");
    }
    if let Backend::Pvsync2(flags) = stream.backend
        && (flags.uncached || flags.nowait || flags.high_priority || flags.atomic)
    {
        return no(
            "a flag of preadv2 other than dsync and sync",
            "leave it out (fio: hipri, nowait, uncached, atomic; a workload: high_priority, nowait, uncached, atomic)",
        );
    }
    if let Backend::Aio { atomic: true, .. } | Backend::Uring(fathom_workload::Uring { atomic: true, .. }) =
        stream.backend
    {
        return no("writes that are whole or not at all", "leave it out (fio: atomic; a workload: atomic)");
    }
    if !stream.priorities.is_empty() {
        return no(
            "an I/O priority of single operations",
            "leave priorities out (fio: cmdprio_percentage, cmdprio_bssplit)",
        );
    }
    if stream.adaptive_depth.is_some() {
        return no("an adaptive queue depth", "give queue_depth a number");
    }
    if stream.pick == Pick::All && matches!(stream.access, Access::Listed(_)) {
        return no(
            "a list of operations on several files",
            "give each a stream of its own (fio: a trace of one file, or replay_redirect), or replay the trace itself: \
             fathom sim replay",
        );
    }
    let listed_think = matches!(&stream.access, Access::Listed(list) if list.iter().any(|op| op.think.0 > 0));
    let alone = stream.pace.think.is_some()
        || stream.pace.burst.is_some()
        || listed_think
        || stream.purge.0 > 0
        || stream.disturb_every > 0;
    if stream.queue_depth > 1 && alone {
        return no(
            "a pause between operations, a burst, a purged CPU cache or a disturbing read with a queue_depth above 1",
            "they go one operation after the other: leave them out (IOzone: -J, -p, -K; fio: thinktime) or the depth \
             (IOzone: -k, -H; fio: iodepth)",
        );
    }
    if stream.pace.ratio.is_some() && stream.queue_depth > 1 {
        return no(
            "a ratio to other workers with a queue_depth above 1",
            "leave the depth out (fio: iodepth with flow)",
        );
    }
    if stream.apart && stream.queue_depth > 1 {
        return no(
            "operations in flight that wait for those they overlap",
            "leave that out (fio: serialize_overlap; a workload: apart)",
        );
    }
    if stream.pace.least.is_some() {
        return no("a least rate", "leave it out (fio: rate_min, rate_iops_min; a workload: pace.least)");
    }
    if stream.pace.longest.is_some() {
        return no("a longest latency", "leave it out (fio: max_latency; a workload: pace.longest)");
    }
    if stream.sync_every.is_some_and(|sync| sync.range.is_some()) {
        return no(
            "writing back a range (sync_file_range)",
            "leave it out (fio: sync_file_range; a workload: range of sync_every), or sync (fio: fdatasync)",
        );
    }
    if stream.timed.syncfs {
        return no(
            "syncing a whole file system",
            "sync the files (fio: end_fsync for end_syncfs; a workload: timed = { fsync = true } alone)",
        );
    }
    if stream.lock != Lock::No {
        return no("a file lock", "leave it out (IOzone: -W, -+l, -+L; a workload: lock)");
    }
    None
}

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
        refusal(&workload(text))
    }

    #[test]
    fn what_is_refused_is_told_with_its_place() {
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
        assert!(advised.contains("advice 3") && advised.contains("-+A"), "{advised}");
    }

    #[test]
    fn locked_memory_is_refused() {
        let mut locked = workload("");
        locked.phases[0].groups[0].threads[0].locked_memory = fathom_workload::Bytes(1);
        let why = refusal(&locked).unwrap();
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
    fn what_the_engine_refuses_or_the_kernel_would_is_refused() {
        for (stream, words) in [
            ("backend = { mmap = { advice = 23 } }", "populate_write"),
            ("backend = { mmap = { huge_pages = true } }", "huge_pages"),
            ("backend = { aio = { atomic = true } }\nopen = { direct = true }", "whole or not at all"),
            ("backend = { uring = { atomic = true } }\nopen = { direct = true }", "whole or not at all"),
            ("backend = { stdio = {} }\nopen = { direct = true }", "O_DIRECT"),
            ("backend = { uring = {} }\nqueue_depth = 5000", "above 4096"),
        ] {
            let why = refused(stream).unwrap();
            assert!(why.contains(words), "{stream}: {why}");
        }
    }

    #[test]
    fn what_the_engine_does_without_o_direct_is_done() {
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
