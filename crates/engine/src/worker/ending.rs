//! What a worker does after its last operation: syncing and closing, inside or outside the clock.

use crate::backend::Handle;
use crate::clock::Clock;
use crate::fault::{FailedCall, Fault};
use crate::kind_stats::{KindStat, KindStats};
use crate::shared::{Figures, STOP_INTERRUPT, Shared, futex_wait};
use crate::stream_plan::StreamPlan;
use fathom_record::OpKind;
use fathom_workload::{Lock, Stream};
use std::sync::atomic::Ordering;

pub(super) fn finish_in_clock<B: Handle>(
    plan: &StreamPlan,
    slot: &mut Figures,
    stats: &KindStats,
    clock: Clock,
    start: u64,
    backend: &mut Option<B>,
) -> Result<(), Fault> {
    if plan.stream.timed.fsync
        && let Some(b) = backend
    {
        let stat = &stats[last_sync(plan.stream)];
        if plan.stream.timed.syncfs {
            sync_file_system(slot, stat, clock, start, b)?;
        } else {
            sync_and_mark(syncs_data_only(plan.stream), slot, stat, clock, start, b)?;
        }
    }
    if plan.stream.timed.close
        && let Some(b) = backend.take()
    {
        close_and_mark(slot, clock, start, b)?;
    }
    Ok(())
}

pub(super) fn finish_outside_clock<B: Handle>(
    plan: &StreamPlan,
    shared: &Shared,
    slot: &mut Figures,
    clock: Clock,
    start: u64,
    backend: Option<B>,
) -> Result<(), Fault> {
    let Some(mut b) = backend else { return Ok(()) };
    if plan.stream.sync_after {
        // A worker that holds its file's lock must not wait here: workers blocked on the lock could not finish.
        if plan.stream.lock == Lock::No {
            wait_until_seen(shared);
        }
        sync_and_mark(
            syncs_data_only(plan.stream),
            slot,
            &shared.stats(plan.index)[last_sync(plan.stream)],
            clock,
            start,
            &mut b,
        )?;
    }
    close_and_mark(slot, clock, start, b)
}

/// Waits until the parent has read its counters: other workers may still be timed, and write-back now would slow them and change
/// those counters. The parent signals this even if a worker was killed.
fn wait_until_seen(shared: &Shared) {
    const NAP_NS: u64 = 20_000_000;
    // Sleeps left for the parent to wake up once all clocks have stopped.
    let mut patience = 50;
    let control = shared.control();
    while control.seen.load(Ordering::Acquire) == 0
        && control.stop.load(Ordering::Relaxed) != STOP_INTERRUPT
        && patience > 0
    {
        futex_wait(&control.seen, 0, NAP_NS);
        if control.clocked.load(Ordering::Acquire) as usize >= shared.workers() {
            patience -= 1;
        }
    }
}

fn sync_and_mark<B: Handle>(
    data_only: bool,
    slot: &mut Figures,
    syncs: &KindStat,
    clock: Clock,
    start: u64,
    backend: &mut B,
) -> Result<(), Fault> {
    // The same call as the stream's own syncs, if any.
    for file in 0..backend.files() {
        backend.select(file);
        let from = clock.now();
        backend.sync(data_only).map_err(|f| f.in_file(file))?;
        let now = clock.now();
        syncs.record(clock.between(from, now), 0);
        slot.fsync_ns = clock.between(start, now);
    }
    Ok(())
}

/// Syncs the file system of the first file: a worker's files are expected to be on one.
fn sync_file_system<B: Handle>(
    slot: &mut Figures,
    syncs: &KindStat,
    clock: Clock,
    start: u64,
    backend: &mut B,
) -> Result<(), Fault> {
    backend.select(0);
    let Some(file) = backend.descriptor() else { return Ok(()) };
    let from = clock.now();
    rustix::fs::syncfs(file).map_err(|e| Fault::of(FailedCall::SyncFileSystem, e, 0))?;
    let now = clock.now();
    syncs.record(clock.between(from, now), 0);
    slot.fsync_ns = clock.between(start, now);
    Ok(())
}

/// Counter for the final sync, kept apart from the periodic ones.
fn last_sync(stream: &Stream) -> OpKind {
    if stream.sync_series.is_some() { OpKind::FinalSync } else { OpKind::Sync }
}

/// Whether the final sync is an fdatasync, like the periodic ones.
fn syncs_data_only(stream: &Stream) -> bool {
    stream.sync_series.is_some_and(|s| s.data_only)
}

fn close_and_mark<B: Handle>(slot: &mut Figures, clock: Clock, start: u64, backend: B) -> Result<(), Fault> {
    let from = clock.now();
    backend.close()?;
    let now = clock.now();
    slot.close_call_ns = clock.between(from, now);
    slot.close_ns = clock.between(start, now);
    Ok(())
}
