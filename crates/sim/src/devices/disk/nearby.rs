//! Accesses waiting for the mechanism, sorted by sector. The nearest is found by looking outwards from the heads until the seek alone
//! would take longer than the best so far. With 256 cached writes that takes a dozen looks instead of 256.

use super::mechanism::{Mechanism, Target};

/// The seek curve is rounded to whole nanoseconds, so a longer seek may appear one shorter.
const ROUNDING_NS: u64 = 2;

#[derive(Clone, Copy, Debug)]
struct NearbyEntry<T> {
    sector: u64,
    /// Arrival number, to break ties.
    order: u64,
    target: Target,
    what: T,
}

/// Accesses sorted by first sector, then arrival.
#[derive(Clone, Debug)]
pub(super) struct Nearby<T> {
    entries: Vec<NearbyEntry<T>>,
    next: u64,
}

impl<T: Copy> Nearby<T> {
    pub fn new() -> Self {
        Self { entries: Vec::new(), next: 0 }
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().map(|e| &e.what)
    }

    pub fn get(&self, at: usize) -> &T {
        &self.entries[at].what
    }

    pub fn get_mut(&mut self, at: usize) -> &mut T {
        &mut self.entries[at].what
    }

    /// Arrival number of an access.
    pub fn order(&self, at: usize) -> u64 {
        self.entries[at].order
    }

    /// Index of the first access that starts at or after a sector.
    pub fn from(&self, sector: u64) -> usize {
        self.entries.partition_point(|e| e.sector < sector)
    }

    pub fn push(&mut self, sector: u64, target: Target, what: T) {
        let order = self.next;
        self.next += 1;
        let at = self.entries.partition_point(|e| e.sector <= sector);
        self.entries.insert(at, NearbyEntry { sector, order, target, what });
    }

    pub fn remove(&mut self, at: usize) -> T {
        self.entries.remove(at).what
    }

    /// The access with the smallest key; among equals the first to arrive.
    pub fn first_by<K: Ord>(&self, key: impl Fn(&T) -> K) -> Option<usize> {
        let rank = |at: &usize| (key(&self.entries[*at].what), self.entries[*at].order);
        (0..self.entries.len()).min_by_key(rank)
    }

    /// The access reached soonest if the arm starts at `now`; among equals the first to arrive.
    pub fn nearest(&self, now: u64, mechanism: &Mechanism, writes: impl Fn(&T) -> bool) -> Option<usize> {
        let here = mechanism.cylinder();
        let since_turn = mechanism.since_turn(now);
        let distance = |at: usize| self.entries[at].target.cylinder().abs_diff(here);
        let mut above = self.entries.partition_point(|e| e.target.cylinder() < here);
        let mut below = above;
        let mut best: Option<(u64, u64, usize)> = None;
        loop {
            let inner = below.checked_sub(1);
            let outer = (above < self.entries.len()).then_some(above);
            let at = match (inner, outer) {
                (Some(inner), Some(outer)) if distance(inner) < distance(outer) => inner,
                (_, Some(outer)) => outer,
                (Some(inner), None) => inner,
                (None, None) => break,
            };
            if at == above {
                above += 1;
            } else {
                below = at;
            }
            let entry = &self.entries[at];
            let (arm_ns, ns) = mechanism.way_ns(since_turn, entry.target, writes(&entry.what));
            match best {
                Some((best_ns, ..)) if arm_ns > best_ns + ROUNDING_NS => break,
                Some((best_ns, order, _)) if (best_ns, order) <= (ns, entry.order) => {}
                _ => best = Some((ns, entry.order, at)),
            }
        }
        best.map(|(.., at)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::small_disk;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn searching_outwards_finds_the_same_as_searching_all(
            sectors in prop::collection::vec((0u64..199_000, any::<bool>()), 1..60),
            stands in 0u64..199_000,
            now in 0u64..50_000_000,
        ) {
            let mut mechanism = small_disk().mechanism().clone();
            mechanism.stands_at(stands);
            let mut nearby = Nearby::new();
            for (order, &(sector, write)) in sectors.iter().enumerate() {
                nearby.push(sector, mechanism.target(sector), (order, sector, write));
            }
            let way = |&(order, sector, write): &(usize, u64, bool)| {
                (mechanism.positioning(now, sector, write).total_ns(), order)
            };
            let found = nearby.nearest(now, &mechanism, |what| what.2).map(|at| *nearby.get(at));
            let all = nearby.iter().min_by_key(|what| way(what)).copied();
            prop_assert_eq!(found, all);
            prop_assert!(nearby.entries.is_sorted_by_key(|e| (e.sector, e.order)));
        }
    }
}
