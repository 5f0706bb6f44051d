//! Waiting: for another worker (blocks, semaphores), for a time, for the CPU. Workers of all processes find each other at points in
//! shared memory; whoever waits sleeps there and is woken, or sees within some hundredths of a second that the phase is over.

use super::hand::{Break, Hand};
use super::program::Op;
use crate::mapped::Sharable;
use crate::shared::{Call, futex_wait, wake_all};
use crate::worker::Fault;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A stop is seen after at most so long, also by who sleeps.
const NAP_NS: u64 = 20_000_000;
/// A sleep ends this long before its time and spinning does the rest.
const SPIN_NS: u64 = 60_000;
/// Who has waited so long for a semaphore waits for ever.
const PATIENCE_NS: u64 = 600_000_000_000;

/// Where one worker waits, at one operation.
#[repr(C, align(128))]
pub(crate) struct WaitPoint {
    /// Rises with every waking.
    woken: AtomicU32,
    /// The semaphore's count.
    count: AtomicU32,
    /// Workers asleep here: waiting to take, and waiting to post.
    takers: AtomicU32,
    posters: AtomicU32,
    /// What is being waited for; posters may always get so far ahead.
    wanted: AtomicU64,
}

// SAFETY: atomics, of which 0 is a value.
unsafe impl Sharable for WaitPoint {}

impl WaitPoint {
    /// Takes so many, if there are.
    fn take(&self, value: u32) -> bool {
        let took = self
            .count
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |count| count.checked_sub(value))
            .is_ok();
        if took && self.posters.load(Ordering::SeqCst) > 0 {
            wake_all(&self.count);
        }
        took
    }

    /// Gives so many, unless there would be more than `most` then. A supply that is empty always takes one gift, and whoever takes
    /// more than `most` at a time is waited for until he has enough.
    fn give(&self, value: u32, most: Option<u64>) -> bool {
        let most = most.map(|m| m.max(self.wanted.load(Ordering::SeqCst)));
        let room =
            |count: u32| most.is_none_or(|most| count == 0 || u64::from(count) + u64::from(value) <= most);
        let gave = self
            .count
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |count| {
                room(count).then(|| count.saturating_add(value))
            })
            .is_ok();
        if gave && self.takers.load(Ordering::SeqCst) > 0 {
            wake_all(&self.count);
        }
        gave
    }
}

impl Hand<'_> {
    /// Why not to wait any longer.
    fn over(&self, now: u64) -> Result<(), Break> {
        self.stopped().map_or(Ok(()), Err)?;
        if now >= self.deadline {
            return Err(Break::TimeOver);
        }
        // Whoever was to wake it may have ended with the last operation of the phase's amount.
        if self.amount_is_used_up() { Err(Break::Enough) } else { Ok(()) }
    }

    /// Sleeps while the word has this value, not for long.
    fn nap(&self, word: &AtomicU32, value: u32) -> Result<(), Break> {
        let now = self.clock.now();
        self.over(now)?;
        futex_wait(word, value, NAP_NS.min(self.clock.between(now, self.deadline)).max(1));
        Ok(())
    }

    /// Waits for a tick.
    pub(super) fn wait_until(&self, tick: u64) -> Result<(), Break> {
        loop {
            let now = self.clock.now();
            self.over(now)?;
            if now >= tick {
                return Ok(());
            }
            let left_ns = self.clock.between(now, tick.min(self.deadline));
            if left_ns > 2 * SPIN_NS {
                std::thread::sleep(std::time::Duration::from_nanos((left_ns - SPIN_NS).min(NAP_NS)));
            } else {
                std::hint::spin_loop();
            }
        }
    }

    /// Waits to be woken. A waking that came before is not remembered.
    pub(super) fn block(&mut self, op: &Op) -> Result<(), Break> {
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
    pub(super) fn wake(&mut self, op: &Op) -> Result<(), Break> {
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
    pub(super) fn semaphore_wait(&mut self, op: &Op) -> Result<(), Break> {
        let from = self.clock.now();
        let value = self.small(op.value);
        let setting = self.setting;
        let point = &setting.waits[self.place.first_wait + op.wait];
        if !point.take(value) {
            point.wanted.store(value.into(), Ordering::SeqCst);
            point.takers.fetch_add(1, Ordering::SeqCst);
            if point.posters.load(Ordering::SeqCst) > 0 {
                wake_all(&point.count);
            }
            let outcome = self.until(from, &point.count, || point.take(value));
            point.takers.fetch_sub(1, Ordering::SeqCst);
            point.wanted.store(0, Ordering::SeqCst);
            outcome?;
        }
        self.done(op, from, 0)
    }

    /// Gives `value` to every instance of the target.
    pub(super) fn semaphore_post(&mut self, op: &Op) -> Result<(), Break> {
        let from = self.clock.now();
        let value = self.small(op.value);
        let setting = self.setting;
        for &(point, high_water) in &op.target_waits {
            let point = &setting.waits[point];
            let most = op.blocking.then(|| self.numbers.of(high_water));
            if point.give(value, most) {
                continue;
            }
            point.posters.fetch_add(1, Ordering::SeqCst);
            let outcome = self.until(from, &point.count, || point.give(value, most));
            point.posters.fetch_sub(1, Ordering::SeqCst);
            outcome?;
        }
        self.done(op, from, 0)
    }

    /// Tries until it works, asleep in between.
    fn until(&self, from: u64, word: &AtomicU32, mut works: impl FnMut() -> bool) -> Result<(), Break> {
        loop {
            let seen = word.load(Ordering::SeqCst);
            if works() {
                return Ok(());
            }
            self.nap(word, seen)?;
            let waited_ns = self.clock.between(from, self.clock.now());
            if waited_ns > PATIENCE_NS {
                return Err(Fault::short(Call::Patience, 0, PATIENCE_NS, waited_ns).into());
            }
        }
    }

    fn small(&mut self, number: super::program::Number) -> u32 {
        u32::try_from(self.numbers.of(number)).unwrap_or(u32::MAX)
    }

    /// Sleeps `value` seconds.
    pub(super) fn delay(&mut self, op: &Op) -> Result<(), Break> {
        let from = self.clock.now();
        let seconds = self.numbers.of(op.value);
        let ticks = self.clock.ticks(seconds.saturating_mul(1_000_000_000));
        self.wait_until(from.saturating_add(ticks))?;
        self.done(op, from, 0)
    }

    /// Stores a byte `value` times.
    pub(super) fn spin(&mut self, op: &Op) -> Result<(), Break> {
        /// A stop is to be seen in a computation of minutes, too.
        const LOOK_EVERY: u64 = 1 << 16;
        let from = self.clock.now();
        let mut left = self.numbers.of(op.value);
        while left > 0 {
            let now = left.min(LOOK_EVERY);
            let scratch = self.memory.scratch();
            for n in 0..now {
                let at = n as usize % scratch.len();
                // SAFETY: inside the buffer; volatile, so that the stores are not left out.
                unsafe { std::ptr::write_volatile(&raw mut scratch[at], n as u8) };
            }
            left -= now;
            if left > 0 {
                self.over(self.clock.now())?;
            }
        }
        self.done(op, from, 0)
    }

    /// Says the operation's text to the user.
    pub(super) fn say(&mut self, op: &Op) -> Result<(), Break> {
        while !self.setting.messages.leave(self.worker, op.row) {
            self.wait_until(self.clock.now() + self.clock.ticks(1_000_000))?;
        }
        crate::shared::add_and_wake(&self.control.event);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapped::Mapped;

    fn point() -> Mapped<WaitPoint> {
        Mapped::new(1).unwrap()
    }

    #[test]
    fn a_semaphore_gives_no_more_than_was_posted() {
        let p = point();
        assert!(!p[0].take(1));
        assert!(p[0].give(3, None) && p[0].take(2) && !p[0].take(2) && p[0].take(1));
    }

    #[test]
    fn a_blocking_poster_is_held_at_the_high_water_mark() {
        let p = point();
        assert!((0..4).all(|_| p[0].give(1, Some(4))));
        assert!(!p[0].give(1, Some(4)));
        assert!(p[0].take(1) && p[0].give(1, Some(4)));
        let p = point();
        assert!(p[0].give(5, Some(1)), "an empty supply takes one gift of any size");
        assert!(!p[0].give(5, Some(1)));
    }

    #[test]
    fn whoever_wants_more_than_the_mark_gets_it() {
        let p = point();
        p[0].wanted.store(10, Ordering::SeqCst);
        assert!((0..10).all(|_| p[0].give(1, Some(2))));
        assert!(!p[0].give(1, Some(2)) && p[0].take(10));
    }
}
