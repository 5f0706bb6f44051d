//! How a worker reports that it is ready, waits for the common start, and reports that its clock has stopped.

use crate::clock::Clock;
use crate::settle;
use crate::shared::{STOP_INTERRUPT, Shared, add_and_wake, futex_wait};
use std::sync::atomic::Ordering;

/// Start and end of a worker's clock, for streams and flows.
pub(crate) struct Starting<'a, 'b> {
    pub ready: &'a mut Ready<'b>,
    pub clocks: &'a mut ClockStop<'b>,
}

impl Starting<'_, '_> {
    /// Reports the worker as prepared, and waits for the start.
    pub fn wait_for_release(
        &mut self,
        index: usize,
        start_cpu: Option<usize>,
        shared: &Shared,
        clock: Clock,
    ) {
        self.ready.report();
        wait_for_release((index, false), start_cpu, shared, clock);
    }

    /// Ends the measured part: the worker's later actions are in no rate.
    pub fn clock_stopped(&mut self) {
        self.clocks.report();
    }
}

/// Reports that the worker's clock has stopped, exactly once, also when it failed.
pub(crate) struct ClockStop<'a> {
    pub shared: &'a Shared,
    pub worker: usize,
    pub reported: bool,
}

impl ClockStop<'_> {
    pub fn report(&mut self) {
        if !self.reported {
            self.reported = true;
            let control = self.shared.control();
            self.shared.live(self.worker).clocked.store(1, Ordering::Release);
            let stopped = control.clocked.fetch_add(1, Ordering::AcqRel) as usize + 1;
            add_and_wake(&control.event);
            if stopped == self.shared.workers() {
                // The last worker gives the parent time to read the counters, as an fsync outside the clock would change them at
                // once. On a busy machine the parent may be late by many scheduler ticks; an fsync that starts before the reading
                // would attribute cached writes to the device.
                const PATIENCE_NS: u64 = 1_000_000_000;
                futex_wait(&control.seen, 0, PATIENCE_NS);
            }
        }
    }
}

/// Reports readiness exactly once, also when preparing failed.
pub(crate) struct Ready<'a> {
    pub shared: &'a Shared,
    pub reported: bool,
}

impl Ready<'_> {
    pub fn report(&mut self) {
        if !self.reported {
            self.reported = true;
            add_and_wake(&self.shared.control().ready);
        }
    }
}

/// Waits for the start. Until shortly before it the worker is bound to a separate CPU: otherwise the kernel might wake two
/// workers on one CPU, and the first could finish a short phase before the second has begun. Then the binding is released, and
/// the worker spins until the agreed time.
///
/// A delayed worker stops waiting once the phase ends.
pub(crate) fn wait_for_release(
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
