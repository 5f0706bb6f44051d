//! Time spent at each queue depth, kept while events pass.

use super::super::activity::DepthTime;

/// The current depth and the time spent at each depth so far. Memory is bounded by the maximum depth.
#[derive(Default)]
pub(super) struct DepthClock {
    depth: usize,
    spent_ns: Vec<u64>,
}

impl DepthClock {
    #[inline]
    pub(super) fn pass(&mut self, ns: u64) {
        if self.depth >= self.spent_ns.len() {
            self.spent_ns.resize(self.depth + 1, 0);
        }
        self.spent_ns[self.depth] = self.spent_ns[self.depth].saturating_add(ns);
    }

    #[inline]
    pub(super) fn up(&mut self) {
        self.depth += 1;
    }

    #[inline]
    pub(super) fn down(&mut self, by: usize) {
        self.depth = self.depth.saturating_sub(by);
    }

    #[inline]
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Resets the times, keeping the depth.
    pub(super) fn restart(&mut self) {
        self.spent_ns.clear();
    }

    /// Drops everything in flight.
    pub(super) fn empty(&mut self) {
        self.depth = 0;
    }

    pub(super) fn busy_ns(&self) -> u64 {
        self.spent_ns.iter().skip(1).fold(0, |sum, &ns| sum.saturating_add(ns))
    }

    /// The depths with time spent, ascending.
    pub(super) fn times(&self) -> Vec<DepthTime> {
        let all = (0..).zip(&self.spent_ns).filter(|&(_, &ns)| ns > 0);
        all.map(|(depth, &ns)| DepthTime { depth, ns }).collect()
    }
}
