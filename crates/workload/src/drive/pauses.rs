//! Pauses of a stream with several operations in flight: those in flight complete first, and nothing is submitted during a pause.

use super::Timeline;
use crate::Think;

/// Decides when to pause.
#[derive(Clone, Copy, Debug)]
pub struct Pauses {
    think: Think,
    /// Operations counted by `every` so far, and their number at the last pause.
    counted: u64,
    last: u64,
    /// End of the last pause, or start of the stream.
    since: u64,
    is_due: bool,
}

impl Pauses {
    /// The pauses of a stream that begins at `start`; `None` if it has none.
    #[must_use]
    pub fn new(think: Think, start: u64) -> Option<Self> {
        (think.time.0 > 0).then_some(Self { think, counted: 0, last: 0, since: start, is_due: false })
    }

    /// Whether to pause as soon as the operations in flight are done.
    #[must_use]
    pub fn is_due(&self) -> bool {
        self.is_due
    }

    /// An operation was issued.
    pub fn issued<T: Timeline>(&mut self, time: T, now: impl FnOnce() -> u64) {
        self.counted += u64::from(self.think.by_issue);
        self.look(time, now);
    }

    /// `operations` were reaped together. Those that complete before a pause begins count for the next one, as in fio 3.33.
    pub fn done<T: Timeline>(&mut self, operations: u64, time: T, now: impl FnOnce() -> u64) {
        if !self.think.by_issue {
            self.counted += operations;
        }
        if operations > 0 {
            self.look(time, now);
        }
    }

    fn look<T: Timeline>(&mut self, time: T, now: impl FnOnce() -> u64) {
        let Think { every, interval, .. } = self.think;
        let by_time = || interval.0 > 0 && time.between(self.since, now()) >= interval.0;
        let enough = every > 0 && self.counted - self.last >= every;
        if !self.is_due && (enough || by_time()) {
            self.is_due = true;
            self.last = self.counted;
        }
    }

    /// The pause is over.
    pub fn over(&mut self, now: u64) {
        self.is_due = false;
        self.since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::super::Nanoseconds;
    use super::*;
    use crate::Duration;

    /// Operations between pauses at a queue depth, as observed with fio 3.33.
    fn between(depth: usize, every: u64, by_issue: bool) -> Vec<u64> {
        taken_by(1, depth, every, by_issue)
    }

    /// The same, if `batch` completions are reaped together when the queue is full.
    fn taken_by(batch: usize, depth: usize, every: u64, by_issue: bool) -> Vec<u64> {
        let think = Think { time: Duration(1), every, by_issue, ..Think::default() };
        let mut p = Pauses::new(think, 0).expect("it pauses");
        let (mut found, mut in_flight, mut issued) = (Vec::new(), 0, 0);
        while found.len() < 6 {
            in_flight += 1;
            issued += 1;
            p.issued(Nanoseconds, || 0);
            if in_flight == depth && !p.is_due() {
                in_flight -= batch;
                p.done(batch as u64, Nanoseconds, || 0);
            }
            if p.is_due() {
                (0..in_flight).for_each(|_| p.done(1, Nanoseconds, || 0));
                p.over(0);
                found.push(std::mem::take(&mut issued));
                in_flight = 0;
            }
        }
        found
    }

    #[test]
    fn operations_finished_before_a_pause_count_for_the_next() {
        assert_eq!(between(1, 4, false), [4; 6]);
        assert_eq!(between(4, 4, true), [4; 6]);
        assert_eq!(between(16, 4, true), [4; 6]);
        assert_eq!(between(16, 1, false), [16, 1, 1, 1, 1, 1]);
        // The first four completions trigger a pause; the rest of those in flight trigger the next one at once.
        assert_eq!(between(16, 4, false), [19, 1, 18, 1, 18, 1]);
        // All completions reaped together count before the check for a pause.
        assert_eq!(taken_by(16, 16, 6, false), [16; 6]);
    }
}
