//! Pauses of a stream with several operations in flight: what is in flight ends first, and nothing new begins meanwhile.

use super::Hot;
use super::rare::{Rare, wait_until};
use crate::clock::Clock;
use fathom_workload::WhenStopped;

/// When they come, and how long they are.
pub(super) struct Pauses {
    every: u64,
    by_issue: bool,
    spell_ns: u64,
    /// Operations so far: those that `every` counts, and how many they were at the last pause.
    counted: u64,
    last: u64,
    /// Tick of the end of the last pause, or of the start.
    since: u64,
    is_due: bool,
}

impl Pauses {
    pub fn of(rare: &Rare<'_>, start: u64) -> Option<Self> {
        (rare.think_ns > 0).then_some(Self {
            every: rare.think_every,
            by_issue: rare.think_by_issue,
            spell_ns: rare.think_spell_ns,
            counted: 0,
            last: 0,
            since: start,
            is_due: false,
        })
    }

    /// Whether what is in flight is only to end.
    pub fn is_due(&self) -> bool {
        self.is_due
    }

    /// An operation was issued.
    pub fn issued(&mut self, clock: Clock) {
        self.counted += u64::from(self.by_issue);
        self.look(clock);
    }

    /// An operation is done. Those that end before a pause begins count for the next one, as in fio 3.33.
    pub fn done(&mut self, clock: Clock) {
        self.counted += u64::from(!self.by_issue);
        self.look(clock);
    }

    /// Whether a pause is due now.
    fn look(&mut self, clock: Clock) {
        let by_time = || self.spell_ns > 0 && clock.between(self.since, clock.now()) >= self.spell_ns;
        let enough = self.every > 0 && self.counted - self.last >= self.every;
        if !self.is_due && (enough || by_time()) {
            self.is_due = true;
            self.last = self.counted;
        }
    }

    /// Nothing is in flight any more: the pause. It ends early when the stream does.
    #[cold]
    pub fn pause(&mut self, hot: &Hot<'_>, when_stopped: WhenStopped) {
        let Some(rare) = &hot.rare else { return };
        let (from, busy, all) = (hot.clock.now(), rare.think_busy_ns, rare.think_ns);
        let until = |ns: u64| from.saturating_add(hot.clock.ticks(ns));
        if busy > 0 {
            wait_until(hot, until(busy), true, when_stopped);
        }
        wait_until(hot, until(all), !rare.think_asleep, when_stopped);
        self.is_due = false;
        self.since = hot.clock.now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Operations between pauses, with so many in flight, as fio 3.33 was seen to make them.
    fn between(depth: usize, every: u64, by_issue: bool) -> Vec<u64> {
        let clock = Clock::calibrated();
        let mut p = Pauses { every, by_issue, spell_ns: 0, counted: 0, last: 0, since: 0, is_due: false };
        let (mut found, mut in_flight, mut issued) = (Vec::new(), 0, 0);
        while found.len() < 6 {
            in_flight += 1;
            issued += 1;
            p.issued(clock);
            if in_flight == depth && !p.is_due() {
                in_flight -= 1;
                p.done(clock);
            }
            if p.is_due() {
                (0..in_flight).for_each(|_| p.done(clock));
                p.is_due = false;
                found.push(std::mem::take(&mut issued));
                in_flight = 0;
            }
        }
        found
    }

    #[test]
    fn what_ends_before_a_pause_counts_for_the_next() {
        assert_eq!(between(1, 4, false), [4; 6]);
        assert_eq!(between(4, 4, true), [4; 6]);
        assert_eq!(between(16, 4, true), [4; 6]);
        assert_eq!(between(16, 1, false), [16, 1, 1, 1, 1, 1]);
        // The first four that end make it due: those in flight then make the next one due at once.
        assert_eq!(between(16, 4, false), [19, 1, 18, 1, 18, 1]);
    }
}
