//! What the simulator cannot execute, said before anything starts, in words that tell what to do. What has no cost worth simulating
//! (contents of files, buffers, NUMA nodes) is accepted: no figure depends on it.

use fathom_workload::{Access, Action, Backend, Lock, Phase, Program, Stream, Workload};

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
    if phase.stop.steady.is_some() {
        refused.push(format!(
            "{place}: the simulator knows no stop rule \"steady\"; give it a time or an amount"
        ));
    }
    for group in &phase.groups {
        for thread in &group.threads {
            let place = format!("{place}, group {}", group.name);
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
    let no = |what: &str, instead: &str| Some(format!("{what} cannot be simulated; {instead}"));
    if stream.backend == Backend::Null {
        return no(
            "the back-end null (it calls nothing, so there is nothing to simulate)",
            "use the back-end psync",
        );
    }
    if matches!(stream.backend, Backend::Mmap { .. }) {
        return no("a mapped file (page faults)", "use the back-end psync");
    }
    if matches!(stream.backend, Backend::Stdio { .. }) {
        return no("the C library's buffer", "use the back-end psync");
    }
    if matches!(stream.backend, Backend::Aio { .. }) && !stream.open.direct && stream.queue_depth > 1 {
        return no("aio without O_DIRECT (its calls wait)", "open with O_DIRECT, or use the back-end uring");
    }
    if let Backend::Pvsync2(flags) = stream.backend
        && (flags.uncached || flags.nowait || flags.high_priority || flags.atomic)
    {
        return no("a flag of preadv2 other than dsync and sync", "leave it out");
    }
    if stream.adaptive_depth.is_some() {
        return no("an adaptive queue depth", "give queue_depth a number");
    }
    let listed_think = matches!(&stream.access, Access::Listed(list) if list.iter().any(|op| op.think.0 > 0));
    if stream.queue_depth > 1 && (stream.pace.think.is_some() || stream.pace.burst.is_some() || listed_think)
    {
        return no(
            "a pause between operations or a burst with a queue_depth above 1",
            "they go one operation after the other: take queue_depth, think and burst apart",
        );
    }
    if stream.lock != Lock::No {
        return no("a file lock", "take lock out");
    }
    if stream.purge.0 > 0 {
        return no("a CPU cache that is purged", "take purge out");
    }
    if stream.disturb_every > 0 {
        return no("a disturbing read (disturb_every)", "take it out");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> Option<String> {
        let text = format!(
            "name = \"t\"\n[[fileset]]\nname = \"f\"\nfiles = {{ list = [\"x\"] }}\nsize = {{ fixed = \"1MiB\" }}\n\
             [[phase]]\nname = \"read\"\n[[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\n\
             [phase.group.thread.program.stream]\nfileset = \"f\"\ndirection = \"read\"\nrecord = {{ fixed = \"4KiB\" }}\n{text}"
        );
        refusal(&Workload::from_toml(&text).unwrap())
    }

    #[test]
    fn what_is_refused_is_told_with_its_place() {
        assert_eq!(refused(""), None);
        assert_eq!(
            refused("backend = { mmap = {} }").as_deref(),
            Some(
                "phase 0 (read), group g: a mapped file (page faults) cannot be simulated; use the back-end psync"
            )
        );
        assert!(refused("backend = \"null\"").unwrap().contains("the back-end null"));
        assert!(refused("lock = \"file\"").unwrap().contains("file lock"));
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
        ] {
            let why = refused(&format!("{deep}{pace}")).unwrap();
            assert!(why.contains("queue_depth above 1"), "{why}");
            assert_eq!(refused(pace), None);
        }
    }
}
