//! What this engine cannot execute, said before anything starts. The model holds more than one executor can do; nothing of it is
//! silently left out.

use crate::EngineError;
use crate::action::Sets;
use crate::backend::probe::{Asked, Tried};
use fathom_workload::{
    Access, Amount, Backend, Data, FileSet, IoClass, Isolation, MapFlush, Pick, Pinning, Program, Record,
    Share, Sizing, Stream, Thread, Verify, Workload,
};
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
                        check_share(&place, workload.fileset(&stream.fileset), stream)?;
                        check_set(&place, workload.fileset(&stream.fileset), stream)?;
                        if thread.memory.0 > 0 {
                            return Err(unsupported(
                                &place,
                                "memory belongs to flows; streams have buffer_area",
                            ));
                        }
                        check_stream(&place, stream, spooled)?;
                        if stream.backend == Backend::Posix && group.isolation == Isolation::Process {
                            return Err(unsupported(
                                &place,
                                "the C library's asynchronous I/O (posix) is done by threads that no process inherits; isolation = \"thread\" is needed",
                            ));
                        }
                        let set = workload.fileset(&stream.fileset);
                        let asked = Asked {
                            stream,
                            set,
                            workers: u64::from(group.instances) * u64::from(thread.instances),
                            buffer_bytes: least_buffer_bytes(stream, set, &sets),
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

/// CPUs that are not there, or not ours to use.
fn check_cpus(place: &str, pinning: &Pinning) -> Result<(), EngineError> {
    let Pinning::Among(wanted) = pinning else { return Ok(()) };
    let ours = crate::engine::allowed_cpus();
    match wanted.iter().find(|cpu| !ours.contains(&(**cpu as usize))) {
        Some(cpu) => Err(unsupported(place, &format!("CPU {cpu} is none of those that fathom may use"))),
        None => Ok(()),
    }
}

/// I/O priorities that the kernel does not give to us.
fn check_io_priority(place: &str, thread: &Thread) -> Result<(), EngineError> {
    let shares = match &thread.program {
        Program::Stream(stream) => stream.priorities.as_slice(),
        Program::Flow(_) => &[],
    };
    let own = (thread.io_class.unwrap_or(IoClass::BestEffort), thread.io_hint);
    // The other classes are anybody's, and without hints every kernel has them.
    let asked = std::iter::once(own).chain(shares.iter().map(|share| (share.class, share.hint)));
    let mut doubted = asked.filter(|(class, hint)| *class == IoClass::RealTime || *hint > 0);
    match doubted.find_map(|(class, hint)| crate::settle::io_priority_refusal(class, hint)) {
        Some(sentence) => Err(unsupported(place, &sentence)),
        None => Ok(()),
    }
}

/// What streams cannot do with a file set.
fn check_set(place: &str, set: Option<&FileSet>, stream: &Stream) -> Result<(), EngineError> {
    let Some(set) = set else { return Ok(()) };
    let refuse = |message: &str| Err(unsupported(place, message));
    if set.preallocated_percent != 100 {
        return refuse(
            "preallocated_percent below 100 belongs to flows, which create the missing files; streams need all files of their set",
        );
    }
    if set.files.count() == 0 {
        return refuse("its file set has no file (leaf directories belong to flows)");
    }
    // A list says itself where it works in which file.
    let listed = matches!(stream.access, Access::Listed(_)) && matches!(set.size, Sizing::Each(_));
    let alike = matches!(set.size, Sizing::Fixed(_)) || listed;
    if stream.pick == Pick::All && stream.turns.is_none() && !alike {
        return refuse(
            "pick = \"all\" without turns needs files of one size; the files of this set have sizes of their own",
        );
    }
    Ok(())
}

/// A set that may only be read is not written, and the other way round.
fn check_share(place: &str, set: Option<&FileSet>, stream: &Stream) -> Result<(), EngineError> {
    let writes = crate::files::writes(stream) || stream.open.read_write;
    match set.map(|s| s.share) {
        Some(Share::ReadOnly) if writes => {
            Err(unsupported(place, "its file set is read-only, and the stream opens it for writing"))
        }
        Some(Share::WriteOnly) if crate::files::reads(stream) || stream.open.read_write => {
            Err(unsupported(place, "its file set is write-only, and the stream reads it"))
        }
        _ => Ok(()),
    }
}

fn check_stream(place: &str, stream: &Stream, spooled: bool) -> Result<(), EngineError> {
    let refuse = |message: &str| Err(unsupported(place, message));
    check_depth(place, stream)?;
    if let Some(sentence) = crate::numa::refusal(stream.buffers.node) {
        return refuse(&sentence);
    }
    if stream.verify == Verify::Marks && !matches!(stream.data, Data::Marked { .. }) {
        return refuse("verify = \"marks\" needs marked data");
    }
    if stream.verify == Verify::Full && matches!(stream.data, Data::Unique | Data::Reducible { .. }) {
        return refuse(
            "unique data cannot be verified in full (only its stamps are known); use data = { positioned = { tag = 1 } }",
        );
    }
    if stream.timed.open && (stream.sync_before || stream.warm_first_record) {
        return refuse(
            "opening inside the clock excludes sync_before and warm_first_record, which come after opening",
        );
    }
    let counted = match (stream.amount, &stream.access) {
        (Amount::Endless, _) => false,
        (Amount::Operations(_), _) => true,
        (amount, Access::Listed(_)) => !matches!(amount, Amount::Bytes(_)),
        _ => matches!(stream.record, Record::Fixed(_)),
    };
    let reads_back = stream.written_by.is_some() || stream.keep_written.is_some_and(|kept| kept.reads_back());
    let counted = counted && !reads_back;
    if stream.log_operations && !counted && !spooled {
        return refuse("log_operations needs a known number of operations; give amount = { operations = N }");
    }
    if matches!(stream.access, Access::Listed(_)) && (stream.start.0 > 0 || stream.length.is_some()) {
        return refuse("a list of operations says where it works; start and length do not go with it");
    }
    check_backend(place, stream)?;
    if let Access::Listed(list) = &stream.access
        && list.iter().any(|op| op.bytes == 0 && !op.does.is_some_and(fathom_workload::Does::syncs))
    {
        return refuse("an operation of the list has 0 bytes");
    }
    if let Some(rate) = stream.pace.rate
        && !(rate.operations_per_s > 0.0 && rate.operations_per_s <= 1e9)
    {
        return refuse("a rate lies above 0 and at most at 1e9 operations per second");
    }
    Ok(())
}

/// What back-ends exclude by themselves, on every machine.
fn check_backend(place: &str, stream: &Stream) -> Result<(), EngineError> {
    use fathom_workload::Backend::{Aio, Mmap, Pvsync2, Uring};
    use fathom_workload::{Pvsync2 as Pvsync2Flags, Uring as UringFlags};
    let direct = stream.open.direct;
    let refuse = |message: &str| Err(unsupported(place, message));
    match stream.backend {
        Mmap { flush_every: 0, .. } => refuse("flush_every is 0; at least 1 is needed"),
        Mmap { flush: MapFlush::No, flush_every: 2.., .. } => {
            refuse("flush_every needs flush = \"async\" or \"sync\"; without it nothing is flushed")
        }
        Pvsync2(o) if o.high_priority && !direct => {
            refuse("high_priority polls for completions of the device, which only direct = true waits for")
        }
        Pvsync2(Pvsync2Flags { atomic: true, .. })
        | Aio { atomic: true, .. }
        | Uring(UringFlags { atomic: true, .. })
            if !direct =>
        {
            refuse("atomic writes need direct = true")
        }
        Pvsync2(o) if o.uncached && direct => {
            refuse("uncached is about the page cache, which direct = true goes around; take one of the two")
        }
        _ => Ok(()),
    }
}

/// Bytes of buffers that each worker of a stream has at least.
fn least_buffer_bytes(stream: &Stream, set: Option<&FileSet>, sets: &Sets) -> u64 {
    let largest = match &stream.access {
        Access::Listed(list) => list.iter().map(|op| u64::from(op.bytes)).max().unwrap_or(0),
        _ => stream.record.largest().0,
    };
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

/// Most operations in flight: twice as many buffers may be registered, and the kernel takes 16384.
const MAX_DEPTH: u32 = 4096;

/// What several operations in flight exclude.
fn check_depth(place: &str, stream: &Stream) -> Result<(), EngineError> {
    use fathom_workload::Backend::{Null, Uring};
    let refuse = |message: &str| Err(unsupported(place, message));
    let asynchronous = stream.backend.is_asynchronous();
    if stream.queue_depth > MAX_DEPTH {
        return refuse("queue_depth is above 4096");
    }
    if stream.queue_depth > 1 && !asynchronous && stream.backend != Null {
        return refuse(
            "this back-end does one operation after the other; queue_depth above 1 needs uring, aio, posix or null",
        );
    }
    if let Uring(options) = stream.backend {
        if options.completion_polling && !stream.open.direct {
            return refuse("completion_polling works only with direct = true");
        }
        if options.submission_cpu.is_some() && !options.submission_polling {
            return refuse("submission_cpu is the CPU of the thread of submission_polling");
        }
        if options.submission_polling && std::thread::available_parallelism().is_ok_and(|n| n.get() < 2) {
            return refuse(
                "submission_polling needs a second CPU: on one, poller and submitter take turns by the scheduler's tick",
            );
        }
    }
    let listed_think = matches!(&stream.access, Access::Listed(l) if l.iter().any(|o| o.think.0 > 0));
    let rare = stream.pace.think.is_some_and(|think| !think.counted)
        || stream.pace.burst.is_some()
        || stream.purge.0 > 0
        || stream.lock == fathom_workload::Lock::Record
        || stream.disturb_every > 0
        || listed_think;
    if rare && (asynchronous || stream.queue_depth > 1) {
        return refuse(
            "pauses outside the clock (think without counted = true), bursts, purging, record locks and disturbed reads are executed only one operation after the other (psync, pvsync2, stdio, mmap)",
        );
    }
    Ok(())
}

pub(crate) fn unsupported(place: &str, message: &str) -> EngineError {
    EngineError::Unsupported { place: place.into(), message: message.into() }
}
