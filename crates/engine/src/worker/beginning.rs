//! What a worker does before its first operation: opening its file, touching its counters, locking its file.

use crate::backend::Handle;
use crate::clock::Clock;
use crate::contents::Contents;
use crate::fault::Fault;
use crate::hot::Hot;
use crate::kind_stats::KindStats;
use crate::locks::fcntl_lock;
use crate::shared::Figures;
use crate::stream_plan::StreamPlan;
use fathom_record::OpKind;
use fathom_workload::Lock;

/// Touches the counters that the stream will use.
pub(super) fn touch(stats: &KindStats, plan: &StreamPlan) {
    let stream = plan.stream;
    let asynchronous = stream.backend.is_asynchronous() || stream.queue_depth > 1;
    let mut used = Vec::new();
    for (does, kinds) in [
        (crate::files::reads(stream), [OpKind::Read, OpKind::ReadSubmission, OpKind::ReadCompletion]),
        (stream.direction.writes(), [OpKind::Write, OpKind::WriteSubmission, OpKind::WriteCompletion]),
    ] {
        if does {
            used.extend(&kinds[..if asynchronous { 3 } else { 1 }]);
        }
    }
    if stream.trims() {
        used.push(OpKind::Trim);
    }
    if stream.pace.rate.is_some() || stream.access.is_timed() {
        used.push(OpKind::Response);
    }
    if stream.sync_series.is_some() {
        used.extend([OpKind::Sync, OpKind::FinalSync]);
    }
    used.into_iter().for_each(|kind| stats[kind].touch());
    // The end of a warm-up checks every kind for recorded operations.
    std::hint::black_box(stats.counted().map(|(_, stat)| stat.ops()).sum::<u64>());
}

pub(super) fn open<B: Handle>(
    plan: &StreamPlan,
    slot: &mut Figures,
    clock: Clock,
    memory: &mut [Contents],
) -> Result<B, Fault> {
    let from = clock.now();
    let mut backend = B::open(plan)?;
    slot.open_call_ns = clock.between(from, clock.now());
    backend.register(memory)?;
    Ok(backend)
}

pub(super) fn prologue<B: Handle>(plan: &StreamPlan, backend: &mut B) -> Result<(), Fault> {
    if plan.stream.sync_before {
        for file in 0..backend.files() {
            backend.select(file);
            backend.sync(false).map_err(|f| f.in_file(file))?;
        }
    }
    if plan.stream.warm_first_record {
        let mut buffer = crate::buffer::Buffer::new(plan.largest)?;
        backend.read_now(plan.region.start, &mut buffer.all_mut()[..plan.largest])?;
    }
    Ok(())
}

/// Locks the whole file, if the stream requests it. Others may hold the lock for their whole phase, so this comes after the
/// start, and a stop that applies to the stream ends the wait.
pub(super) fn lock_file<B: Handle>(plan: &StreamPlan, hot: &Hot, backend: &B) -> Result<(), Fault> {
    let Some(file) = backend.descriptor().filter(|_| plan.stream.lock == Lock::File) else { return Ok(()) };
    let kind = if crate::files::writes(plan.stream) { libc::F_WRLCK } else { libc::F_RDLCK };
    loop {
        match fcntl_lock(file, 0, 0, kind, libc::F_OFD_SETLK) {
            Err(fault) if matches!(fault.errno, libc::EAGAIN | libc::EACCES) => {}
            other => return other,
        }
        if hot.stopped(plan.stream.when_stopped).is_some() {
            return Ok(());
        }
        std::thread::sleep(std::time::Duration::from_micros(200));
    }
}
