//! What a worker does before its clock starts: opening files, touching its counters, waiting for the others.

use super::{Fault, StreamPlan};
use crate::backend::Handle;
use crate::clock::Clock;
use crate::contents::Contents;
use crate::settle;
use crate::shared::{
    FINAL_SYNC, Figures, KINDS, KindStat, READ, READ_COMPLETION, READ_SUBMISSION, RESPONSE, STOP_INTERRUPT,
    SYNC, Shared, TRIM, WRITE, WRITE_COMPLETION, WRITE_SUBMISSION, futex_wait,
};
use std::sync::atomic::Ordering;

/// Touches the counters that the stream will use.
pub(super) fn touch(stats: &[KindStat; KINDS], plan: &StreamPlan) {
    let stream = plan.stream;
    let asynchronous = stream.backend.is_asynchronous() || stream.queue_depth > 1;
    let mut used = Vec::new();
    for (does, kinds) in [
        (crate::files::reads(stream), [READ, READ_SUBMISSION, READ_COMPLETION]),
        (stream.direction.writes(), [WRITE, WRITE_SUBMISSION, WRITE_COMPLETION]),
    ] {
        if does {
            used.extend(&kinds[..if asynchronous { 3 } else { 1 }]);
        }
    }
    if stream.trims() {
        used.push(TRIM);
    }
    if stream.pace.rate.is_some() || stream.access.is_timed() {
        used.push(RESPONSE);
    }
    if stream.sync_series.is_some() {
        used.extend([SYNC, FINAL_SYNC]);
    }
    used.into_iter().for_each(|kind| stats[kind].touch());
    // The end of a warm-up checks every kind for recorded operations.
    std::hint::black_box(stats.iter().map(KindStat::ops).sum::<u64>());
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

/// Waits for the start. Until shortly before it the worker is bound to a separate CPU: otherwise the kernel might wake two
/// workers on one CPU, and the first could finish a short phase before the second has begun. Then the binding is released, and
/// the worker spins until the agreed time.
///
/// A delayed worker stops waiting once the phase ends.
pub(super) fn wait_for_release(
    (index, delayed): (usize, bool),
    start_cpu: Option<usize>,
    shared: &Shared,
    clock: Clock,
) {
    const FREE_BEFORE_NS: u64 = 30_000;
    let control = shared.control();
    let home = start_cpu.and_then(|cpu| {
        let home = rustix::thread::sched_getaffinity(None).ok()?;
        settle::bind(cpu).then_some(home)
    });
    if shared.workers() < std::thread::available_parallelism().map_or(1, std::num::NonZero::get) {
        // With a CPU to spare for the parent, stay awake: a CPU that has just slept is slow for the first milliseconds, which may
        // be all of a short phase.
        const AWAKE_NS: u64 = 1_000_000;
        let until = clock.now() + clock.ticks(AWAKE_NS);
        while control.go.load(Ordering::Acquire) == 0 && clock.now() < until {
            std::hint::spin_loop();
        }
    }
    while control.go.load(Ordering::Acquire) == 0 {
        futex_wait(&control.go, 0, 100_000_000);
    }
    let start_at = shared.live(index).start_at.load(Ordering::Acquire);
    let stopped = || {
        let stop = control.stop_of(shared.live(index));
        stop == STOP_INTERRUPT || delayed && stop != 0
    };
    let left_ns = || clock.between(clock.now(), start_at);
    while left_ns() > FREE_BEFORE_NS && !stopped() {
        if left_ns() > 300_000 {
            std::thread::sleep(std::time::Duration::from_nanos((left_ns() - 200_000).min(50_000_000)));
        } else {
            // With more workers than CPUs the others must get to this point, too.
            rustix::thread::sched_yield();
        }
    }
    if let Some(home) = home {
        let _ = rustix::thread::sched_setaffinity(None, &home);
    }
    while left_ns() > 0 && !stopped() {
        std::hint::spin_loop();
    }
}
