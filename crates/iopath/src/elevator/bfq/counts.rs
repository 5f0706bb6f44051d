//! Counters of `bfq-lite` for reports: how turns ended, and how often the disk was kept idle.

use super::budget::Ended;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) turns: u64,
    pub(super) exhausted: u64,
    pub(super) timeouts: u64,
    pub(super) preempted: u64,
    pub(super) idles: u64,
    pub(super) idle_hits: u64,
    pub(super) joined_queues: u64,
}

impl Counts {
    pub(super) fn ended(&mut self, how: Ended) {
        match how {
            Ended::Exhausted => self.exhausted += 1,
            Ended::Timeout => self.timeouts += 1,
            Ended::Preempted => self.preempted += 1,
            Ended::Idle | Ended::Empty => {}
        }
    }

    pub(super) fn each(&self, each: &mut dyn FnMut(&'static str, u64)) {
        each("turns", self.turns);
        each("exhausted", self.exhausted);
        each("timeouts", self.timeouts);
        each("preempted", self.preempted);
        each("idles", self.idles);
        each("idle_hits", self.idle_hits);
        each("joined_queues", self.joined_queues);
    }
}
