//! How many things were somewhere, and for how long: the time at each depth, kept while events go by.

use super::super::activity::DepthTime;

/// A depth and the time that was spent at each so far. Its memory is bounded by what can be in it.
#[derive(Default)]
pub(super) struct DepthClock {
    depth: usize,
    spent_ns: Vec<u64>,
}

impl DepthClock {
    /// Time goes by.
    #[inline]
    pub(super) fn pass(&mut self, ns: u64) {
        if self.depth >= self.spent_ns.len() {
            self.spent_ns.resize(self.depth + 1, 0);
        }
        self.spent_ns[self.depth] = self.spent_ns[self.depth].saturating_add(ns);
    }

    /// One more.
    #[inline]
    pub(super) fn up(&mut self) {
        self.depth += 1;
    }

    /// So many fewer.
    #[inline]
    pub(super) fn down(&mut self, by: usize) {
        self.depth = self.depth.saturating_sub(by);
    }

    /// How many now.
    #[inline]
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// The depth stays, the time begins anew.
    pub(super) fn restart(&mut self) {
        self.spent_ns.clear();
    }

    /// Nothing is there any more.
    pub(super) fn empty(&mut self) {
        self.depth = 0;
    }

    /// Time with at least one.
    pub(super) fn busy_ns(&self) -> u64 {
        self.spent_ns.iter().skip(1).fold(0, |sum, &ns| sum.saturating_add(ns))
    }

    /// The depths that lasted, ascending.
    pub(super) fn times(&self) -> Vec<DepthTime> {
        let all = (0..).zip(&self.spent_ns).filter(|&(_, &ns)| ns > 0);
        all.map(|(depth, &ns)| DepthTime { depth, ns }).collect()
    }
}
