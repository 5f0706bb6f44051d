//! Waiting: for another worker (blocks, semaphores), for a time, for the CPU. Workers of all processes meet at points in shared
//! memory. A waiting worker sleeps there and is woken, or notices within some hundredths of a second that the phase is over.

use super::worker::{Break, FlowWorker};
use crate::punctual::NAP_NS;
use crate::shared::{futex_wait, wake_all};
use fathom_workload::flow::{FlatOp, Number, PATIENCE_NS, Tried, WaitPoint, Wrong};
use std::sync::atomic::{AtomicU32, Ordering};

impl FlowWorker<'_> {
    /// Whether to stop waiting. Also handles the end of the warm-up.
    fn over(&mut self, now: u64) -> Result<(), Break> {
        self.look(now)?;
        // The worker that should wake it may have ended with the phase's amount.
        if self.amount_is_used_up() { Err(Break::Enough) } else { Ok(()) }
    }

    /// Sleeps briefly while the word has this value.
    fn nap(&mut self, word: &AtomicU32, value: u32) -> Result<(), Break> {
        let now = self.clock.now();
        self.over(now)?;
        futex_wait(word, value, NAP_NS.min(self.clock.between(now, self.deadline)).max(1));
        Ok(())
    }

    /// Waits until a tick.
    pub(super) fn wait_until(&mut self, tick: u64) -> Result<(), Break> {
        loop {
            let now = self.clock.now();
            self.over(now)?;
            if now >= tick {
                return Ok(());
            }
            self.sleeps.approach(self.clock, now, tick.min(self.deadline));
        }
    }

    /// Waits to be woken. Earlier wake-ups are not remembered.
    pub(super) fn block(&mut self, op: &FlatOp) -> Result<(), Break> {
        let from = self.clock.now();
        let setting = self.setting;
        let point = &setting.waits[self.place.first_wait + op.wait];
        let seen = point.woken.load(Ordering::SeqCst);
        while point.woken.load(Ordering::SeqCst) == seen {
            self.nap(&point.woken, seen)?;
        }
        self.done(op, from, 0)
    }

    /// Wakes every instance of the target.
    pub(super) fn wake(&mut self, op: &FlatOp) -> Result<(), Break> {
        for &(point, _) in &op.target_waits {
            let from = self.clock.now();
            let woken = &self.setting.waits[point].woken;
            woken.fetch_add(1, Ordering::SeqCst);
            wake_all(woken);
            self.done(op, from, 0)?;
        }
        Ok(())
    }

    /// Takes `value` from its own semaphore.
    pub(super) fn semaphore_wait(&mut self, op: &FlatOp) -> Result<(), Break> {
        let from = self.clock.now();
        let value = self.small(op.value);
        let setting = self.setting;
        let point = &setting.waits[self.place.first_wait + op.wait];
        let take = || wake_if_needed(point, point.take(value));
        if !take() {
            if point.want(value) {
                wake_all(&point.count);
            }
            let outcome = self.until(from, &point.count, take);
            point.wanted_no_more();
            outcome?;
        }
        self.done(op, from, 0)
    }

    /// Gives `value` to every instance of the target.
    pub(super) fn semaphore_post(&mut self, op: &FlatOp) -> Result<(), Break> {
        let from = self.clock.now();
        let value = self.small(op.value);
        let setting = self.setting;
        for &(point, high_water) in &op.target_waits {
            let point = &setting.waits[point];
            let most = op.blocking.then(|| self.thread.numbers.of(high_water));
            let give = || wake_if_needed(point, point.give(value, most));
            if give() {
                continue;
            }
            point.offer();
            let outcome = self.until(from, &point.count, give);
            point.offered_no_more();
            outcome?;
        }
        self.done(op, from, 0)
    }

    /// Retries until it succeeds, sleeping in between.
    fn until(&mut self, from: u64, word: &AtomicU32, works: impl Fn() -> bool) -> Result<(), Break> {
        loop {
            let seen = word.load(Ordering::SeqCst);
            if works() {
                return Ok(());
            }
            self.nap(word, seen)?;
            let waited_ns = self.clock.between(from, self.clock.now());
            if waited_ns > PATIENCE_NS {
                return Err(Wrong::Patience.into());
            }
        }
    }

    fn small(&mut self, number: Number) -> u32 {
        u32::try_from(self.thread.numbers.of(number)).unwrap_or(u32::MAX)
    }

    /// Sleeps `value` seconds.
    pub(super) fn delay(&mut self, op: &FlatOp) -> Result<(), Break> {
        let from = self.clock.now();
        let seconds = self.thread.numbers.of(op.value);
        let ticks = self.clock.ticks(seconds.saturating_mul(1_000_000_000));
        self.wait_until(from.saturating_add(ticks))?;
        self.done(op, from, 0)
    }

    /// Stores a byte `value` times.
    pub(super) fn spin(&mut self, op: &FlatOp) -> Result<(), Break> {
        /// A stop must be noticed during a computation of minutes, too.
        const LOOK_EVERY: u64 = 1 << 16;
        let from = self.clock.now();
        let mut left = self.thread.numbers.of(op.value);
        while left > 0 {
            let now = left.min(LOOK_EVERY);
            let scratch = self.memory.scratch();
            for n in 0..now {
                let at = n as usize % scratch.len();
                // SAFETY: inside the buffer; volatile, so that the stores are not optimised away.
                unsafe { std::ptr::write_volatile(&raw mut scratch[at], n as u8) };
            }
            left -= now;
            if left > 0 {
                self.over(self.clock.now())?;
            }
        }
        self.done(op, from, 0)
    }

    /// Sends the operation's text to the user.
    pub(super) fn say(&mut self, op: &FlatOp) -> Result<(), Break> {
        while !self.setting.messages.leave(self.worker, op.row) {
            self.wait_until(self.clock.now() + self.clock.ticks(1_000_000))?;
        }
        crate::shared::add_and_wake(&self.control.event);
        Ok(())
    }
}

/// Wakes the workers that wait for what was taken or given. Returns whether it was.
fn wake_if_needed(point: &WaitPoint, tried: Tried) -> bool {
    if tried == Tried::Wake {
        wake_all(&point.count);
    }
    tried.worked()
}
