//! Sleeping until a tick. A sleep ends early by a margin, and spinning covers the rest. The margin follows how late the sleeps of
//! this worker are, which depends on the machine: a few microseconds on bare metal, some tens in a virtual machine.

use crate::clock::Clock;
use std::cell::Cell;
use std::time::Duration;

/// Longest sleep, so that a stop is noticed.
pub(crate) const NAP_NS: u64 = 20_000_000;
/// A shorter sleep saves no CPU time.
const SHORTEST_NS: u64 = 5_000;
/// The margin at first, and at most: sleeps that are later than this are stalls of the machine, which no margin covers.
const MOST_NS: u64 = 100_000;
/// The margin grows by this after a sleep that was later than it, and shrinks after any other, so that one in 100 is later.
const GROWTH_NS: u64 = 5_000;
const SHRINKAGE_NS: u64 = GROWTH_NS / 100;

/// How one worker sleeps.
pub(crate) struct Punctual {
    margin_ns: Cell<u64>,
    /// How late the last sleep was.
    late_ns: Cell<u64>,
    /// The tick waited for.
    tick: Cell<u64>,
}

impl Punctual {
    pub fn new() -> Self {
        Self { margin_ns: Cell::new(MOST_NS), late_ns: Cell::new(0), tick: Cell::new(0) }
    }

    /// Sleeps until shortly before `tick`, or for [`NAP_NS`], or spins for a moment. `now` is before `tick`.
    pub fn approach(&self, clock: Clock, now: u64, tick: u64) {
        let left_ns = clock.between(now, tick);
        let begins = self.tick.replace(tick) != tick;
        let margin_ns = self.margin_ns.get();
        if left_ns >= margin_ns + SHORTEST_NS {
            let asked_ns = (left_ns - margin_ns).min(NAP_NS);
            std::thread::sleep(Duration::from_nanos(asked_ns));
            self.learn(clock.between(now, clock.now()).saturating_sub(asked_ns));
            return;
        }
        if begins && margin_ns > self.late_ns.get() {
            // Too short for a sleep with this margin, which may be too large by now.
            self.margin_ns.set(margin_ns.saturating_sub(SHRINKAGE_NS));
        }
        std::hint::spin_loop();
    }

    fn learn(&self, late_ns: u64) {
        self.late_ns.set(late_ns);
        let margin_ns = self.margin_ns.get();
        let grown = || (margin_ns + GROWTH_NS).min(MOST_NS);
        let next_ns = if late_ns > margin_ns { grown() } else { margin_ns.saturating_sub(SHRINKAGE_NS) };
        self.margin_ns.set(next_ns);
    }
}

/// The kernel may delay a wake-up by 50 us to coalesce timers; a stream with a rate needs it on time.
pub(crate) fn punctual_sleeps() {
    // SAFETY: a plain prctl on the calling thread. If it fails, sleeps are as late as before, and the lateness is measured.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Most sleeps are late by 10 us, one in 50 by 30.
    #[test]
    fn the_margin_follows_the_late_sleeps() {
        let punctual = Punctual::new();
        let margin_after = |sleeps: u32, often_ns: u64, seldom_ns: u64| {
            (0..sleeps).for_each(|n| punctual.learn(if n % 50 == 49 { seldom_ns } else { often_ns }));
            punctual.margin_ns.get()
        };
        let margin_ns = margin_after(40_000, 10_000, 30_000);
        assert!((25_000..35_000).contains(&margin_ns), "{margin_ns}");
        let margin_ns = margin_after(40_000, 2_000, 4_000);
        assert!((2_000..10_000).contains(&margin_ns), "{margin_ns}");
        let margin_ns = margin_after(1000, 200_000, 200_000);
        assert_eq!(margin_ns, MOST_NS);
    }

    /// Waits too short for a sleep do not make the margin smaller than a sleep needs.
    #[test]
    fn short_waits_keep_the_margin_above_the_last_sleep() {
        let clock = Clock::calibrated();
        let punctual = Punctual::new();
        punctual.learn(40_000);
        let now = clock.now();
        for n in 0..20_000 {
            punctual.approach(clock, now, now + clock.ticks(15_000) + n % 2);
        }
        let margin_ns = punctual.margin_ns.get();
        assert!((39_000..=40_000).contains(&margin_ns), "{margin_ns}");
    }

    #[test]
    fn a_long_wait_is_left_in_time_to_notice_a_stop() {
        let clock = Clock::calibrated();
        let now = clock.now();
        let tick = now + clock.ticks(600_000_000_000);
        Punctual::new().approach(clock, now, tick);
        assert!(clock.now() < tick);
    }
}
