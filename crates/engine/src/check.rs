//! Checks what this engine cannot execute, before anything starts. The model can express more than one executor supports; nothing
//! is silently ignored. A table lists what is unsupported on any machine; this module checks the machine.

mod unsupported;

use crate::EngineError;
use crate::action::Sets;
use crate::backend::probe::{StreamRequest, Tried};
use crate::error::unsupported;
use fathom_workload::caps::Lacking;
use fathom_workload::{Access, Amount, FileSet, IoClass, Pinning, Program, Stream, Thread, Workload};
use std::sync::Arc;

pub(crate) fn check(
    workload: &Workload,
    spooled: bool,
    sets: impl FnOnce() -> Result<Arc<Sets>, EngineError>,
) -> Result<(), EngineError> {
    if let Err(errors) = workload.check() {
        let first = &errors[0];
        return Err(unsupported(&first.place, &first.message));
    }
    let unspooled = if spooled { Vec::new() } else { unsupported::UNSPOOLED.lacking(workload) };
    if let Some(Lacking { place, sentence }) =
        unsupported::ALWAYS.lacking(workload).into_iter().chain(unspooled).next()
    {
        return Err(unsupported(&place, &sentence));
    }
    let sets = sets()?;
    let mut tried = Tried::default();
    for (number, phase) in workload.phases.iter().enumerate() {
        for group in &phase.groups {
            let place = format!("phase {number} ({}), group {}", phase.name, group.name);
            check_cpus(&place, &group.pinning)?;
            for thread in &group.threads {
                check_io_priority(&place, thread)?;
                if let Some(sentence) = crate::settle::run_as_refusal(thread.run_as) {
                    return Err(unsupported(&place, &sentence));
                }
                match &thread.program {
                    Program::Flow(flow) => crate::flow::check(&place, workload, phase, thread, flow)?,
                    Program::Stream(stream) => {
                        if let Some(sentence) = machine_refusal(stream) {
                            return Err(unsupported(&place, &sentence));
                        }
                        let set = workload.fileset(&stream.fileset);
                        let asked = StreamRequest {
                            stream,
                            set,
                            workers: u64::from(group.instances) * u64::from(thread.instances),
                            buffer_bytes: least_buffer_bytes(stream, set, &sets),
                            largest: largest_record(stream),
                            sets: &sets,
                        };
                        if let Some(sentence) = tried.refusal(&asked) {
                            return Err(unsupported(&place, &sentence));
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

/// CPUs that do not exist or are not allowed.
fn check_cpus(place: &str, pinning: &Pinning) -> Result<(), EngineError> {
    let Pinning::Among(wanted) = pinning else { return Ok(()) };
    let ours = crate::layout::allowed_cpus();
    match wanted.iter().find(|cpu| !ours.contains(&(**cpu as usize))) {
        Some(cpu) => Err(unsupported(place, &format!("fathom may not use CPU {cpu}"))),
        None => Ok(()),
    }
}

/// I/O priorities that the kernel does not grant.
fn check_io_priority(place: &str, thread: &Thread) -> Result<(), EngineError> {
    let shares = match &thread.program {
        Program::Stream(stream) => stream.priorities.as_slice(),
        Program::Flow(_) => &[],
    };
    let own = (thread.io_class.unwrap_or(IoClass::BestEffort), thread.io_hint);
    // The other classes need no privilege, and without hints every kernel has them.
    let asked = std::iter::once(own).chain(shares.iter().map(|share| (share.class, share.hint)));
    let mut doubted = asked.filter(|(class, hint)| *class == IoClass::RealTime || *hint > 0);
    match doubted.find_map(|(class, hint)| crate::settle::io_priority_refusal(class, hint)) {
        Some(sentence) => Err(unsupported(place, &sentence)),
        None => Ok(()),
    }
}

/// Why this machine cannot execute a stream; `None` if it can.
fn machine_refusal(stream: &Stream) -> Option<String> {
    let polls = stream.backend.ring().is_some_and(|options| options.submission_polling);
    if polls && std::thread::available_parallelism().is_ok_and(|n| n.get() < 2) {
        return Some(
            "submission_polling needs a second CPU: on one, poller and submitter take turns by the scheduler's tick".into(),
        );
    }
    crate::numa::refusal(stream.buffers.node)
}

fn largest_record(stream: &Stream) -> u64 {
    match &stream.access {
        Access::Listed(list) => list.iter().map(|op| u64::from(op.bytes)).max().unwrap_or(0),
        _ => stream.record.largest().0,
    }
}

/// Minimum buffer bytes of each worker of a stream.
fn least_buffer_bytes(stream: &Stream, set: Option<&FileSet>, sets: &Sets) -> u64 {
    let largest = largest_record(stream);
    let region = stream
        .length
        .map_or_else(|| set.map_or(0, |s| sets.largest(s)).saturating_sub(stream.start.0), |length| length.0);
    let operations = match (&stream.access, stream.amount) {
        (_, Amount::Operations(n)) => n,
        (_, Amount::Endless) => u64::MAX,
        (Access::Listed(list), _) => list.len() as u64,
        (_, Amount::Bytes(bytes)) => bytes.0 / largest.max(1),
        (_, Amount::Pass | Amount::Passes(_)) => region / largest.max(1),
    };
    largest.saturating_mul(operations.min(stream.queue_depth.into()))
}
