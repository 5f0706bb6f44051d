//! A controller's write cache: which parts of each stripe are dirty, and which stripe is written back next. Full stripes go first, in
//! runs. A partial stripe waits for the rest until the merge window is over or space is needed.

use std::collections::{BTreeMap, VecDeque};

/// The dirty part of a stripe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dirty {
    /// Runs of offsets inside the stripe, ascending, not touching.
    pub runs: Vec<(u64, u64)>,
    /// Arrival of the oldest dirty data, ns.
    pub since: u64,
}

/// A unit of write-back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DestageUnit {
    /// Consecutive full stripes: first and number.
    Full(u64, u64),
    /// Parts of a stripe.
    Part(u64, Vec<(u64, u64)>),
}

#[derive(Clone, Debug)]
pub struct DirtyStripes {
    stripe_sectors: u64,
    stripes: BTreeMap<u64, Dirty>,
    /// Stripes in the order in which they became dirty and became full. Entries of written-back stripes are stale.
    order: VecDeque<(u64, u64)>,
    full: VecDeque<u64>,
    sectors: u64,
}

impl DirtyStripes {
    /// An empty cache for stripes of `stripe_sectors` sectors.
    #[must_use]
    pub fn new(stripe_sectors: u64) -> Self {
        Self {
            stripe_sectors,
            stripes: BTreeMap::new(),
            order: VecDeque::new(),
            full: VecDeque::new(),
            sectors: 0,
        }
    }

    /// Number of dirty sectors.
    #[must_use]
    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Adds a run of offsets of a stripe; returns how many sectors became dirty.
    pub fn add(&mut self, now: u64, stripe: u64, from: u64, to: u64) -> u64 {
        let order = &mut self.order;
        let dirty = self.stripes.entry(stripe).or_insert_with(|| {
            order.push_back((stripe, now));
            Dirty { runs: Vec::with_capacity(1), since: now }
        });
        let before = covered(&dirty.runs);
        join(&mut dirty.runs, from, to);
        let after = covered(&dirty.runs);
        if after == self.stripe_sectors && before < after {
            self.full.push_back(stripe);
        }
        self.sectors += after - before;
        after - before
    }

    /// Whether a whole run of a stripe is dirty, so that a read can be served from it.
    #[must_use]
    pub fn covers(&self, stripe: u64, from: u64, to: u64) -> bool {
        let dirty = self.stripes.get(&stripe);
        dirty.is_some_and(|d| d.runs.iter().any(|&(start, end)| start <= from && to <= end))
    }

    /// Time at which the oldest stripe will have waited for `window`, ns.
    #[must_use]
    pub fn due(&self, window: u64) -> Option<u64> {
        // The front is never stale: stale entries are removed whenever stripes leave.
        self.order.front().map(|&(_, since)| since.saturating_add(window))
    }

    fn drop_stale(&mut self) {
        let stripes = &self.stripes;
        let stale = |&(stripe, since): &(u64, u64)| stripes.get(&stripe).is_none_or(|d| d.since != since);
        while self.order.front().is_some_and(stale) {
            self.order.pop_front();
        }
        while self.full.front().is_some_and(|stripe| !self.is_full(*stripe)) {
            self.full.pop_front();
        }
    }

    fn is_full(&self, stripe: u64) -> bool {
        self.stripes.get(&stripe).is_some_and(|d| covered(&d.runs) == self.stripe_sectors)
    }

    /// Takes the next stripes: the first full stripe and its full successors, up to `run`; or, if `wanted`, the oldest partial one.
    /// Stripes that are `busy` stay.
    pub fn take(&mut self, run: u64, wanted: bool, busy: impl Fn(u64) -> bool) -> Option<DestageUnit> {
        if let Some(&first) = self.full.front().filter(|&&stripe| !busy(stripe)) {
            let fits = |stripe: &u64| self.is_full(*stripe) && !busy(*stripe);
            let count = (first..first.saturating_add(run.max(1))).take_while(fits).count() as u64;
            for stripe in first..first + count {
                self.leave(stripe);
            }
            self.drop_stale();
            return Some(DestageUnit::Full(first, count));
        }
        let &(stripe, _) = self.order.front().filter(|&&(stripe, _)| wanted && !busy(stripe))?;
        let left = self.leave(stripe);
        self.drop_stale();
        left.map(|dirty| DestageUnit::Part(stripe, dirty.runs))
    }

    fn leave(&mut self, stripe: u64) -> Option<Dirty> {
        let dirty = self.stripes.remove(&stripe)?;
        self.sectors -= covered(&dirty.runs);
        Some(dirty)
    }
}

fn covered(runs: &[(u64, u64)]) -> u64 {
    runs.iter().map(|(from, to)| to - from).sum()
}

/// Adds a run to ascending runs that do not touch.
fn join(runs: &mut Vec<(u64, u64)>, from: u64, to: u64) {
    let first = runs.partition_point(|&(_, end)| end < from);
    let last = runs.partition_point(|&(start, _)| start <= to);
    if first == last {
        runs.insert(first, (from, to));
        return;
    }
    let joined = (from.min(runs[first].0), to.max(runs[last - 1].1));
    runs.splice(first..last, [joined]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_stripes_leave_in_runs_and_parts_when_they_are_wanted() {
        let mut cache = DirtyStripes::new(384);
        for stripe in [7, 3, 4, 5] {
            assert_eq!(cache.add(stripe, stripe, 0, 200), 200);
        }
        for stripe in [3, 4, 5] {
            assert_eq!(cache.add(10, stripe, 100, 384), 184);
        }
        assert_eq!(cache.take(2, false, |_| false), Some(DestageUnit::Full(3, 2)));
        assert_eq!(cache.take(8, false, |stripe| stripe == 5), None);
        assert_eq!(cache.take(8, false, |_| false), Some(DestageUnit::Full(5, 1)));
        assert_eq!(cache.take(8, false, |_| false), None);
        assert_eq!(cache.due(100), Some(107));
        assert_eq!(cache.take(8, true, |_| false), Some(DestageUnit::Part(7, vec![(0, 200)])));
        assert_eq!((cache.sectors(), cache.due(100)), (0, None));
    }

    #[test]
    fn runs_are_joined() {
        let mut runs = vec![(0, 10), (20, 30), (40, 50)];
        join(&mut runs, 10, 20);
        assert_eq!(runs, [(0, 30), (40, 50)]);
        join(&mut runs, 60, 70);
        join(&mut runs, 5, 65);
        assert_eq!(runs, [(0, 70)]);
    }

    #[test]
    fn a_stripe_that_left_may_come_back() {
        let mut cache = DirtyStripes::new(10);
        cache.add(1, 0, 0, 10);
        assert_eq!(cache.take(1, false, |_| false), Some(DestageUnit::Full(0, 1)));
        cache.add(9, 0, 0, 5);
        assert!(cache.covers(0, 1, 4) && !cache.covers(0, 4, 6));
        assert_eq!(cache.due(0), Some(9));
        assert_eq!(cache.take(1, false, |_| false), None);
    }
}
