//! A drive's write cache: acknowledged writes that are not on the medium yet. They are written back first come, first served, or nearest
//! first; an older write to the same sectors always goes first.

use super::mechanism::Mechanism;
use super::nearby::Nearby;

/// Write-back order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DestageOrder {
    /// In order of arrival.
    Fifo,
    /// Shortest access time first.
    ShortestFirst,
}

/// Size and write-back rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteCacheRules {
    /// Capacity in bytes; 0: no cache.
    pub bytes: u64,
    /// Capacity in commands.
    pub commands: usize,
    /// Write-back order.
    pub order: DestageOrder,
    /// Idle time before write-back starts, ns.
    pub idle_ns: u64,
}

/// A cached write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CachedWrite {
    /// Sequence number of the write, compared by flushes.
    pub number: u64,
    /// First sector.
    pub sector: u64,
    /// Length in sectors.
    pub sectors: u64,
}

impl CachedWrite {
    fn end(&self) -> u64 {
        self.sector + self.sectors
    }

    fn overlaps(&self, sector: u64, end: u64) -> bool {
        self.sector < end && sector < self.end()
    }
}

/// Writes acknowledged but not on the medium yet.
#[derive(Clone, Debug)]
pub struct WriteCache {
    rules: WriteCacheRules,
    held: Nearby<CachedWrite>,
    /// The contiguous run being written back.
    leaving: Vec<CachedWrite>,
    sectors: u64,
    number: u64,
    /// Length of the longest write so far: bounds how far before a sector an overlapping write may start.
    longest: u64,
}

impl WriteCache {
    /// An empty cache.
    #[must_use]
    pub fn new(rules: WriteCacheRules) -> Self {
        Self { rules, held: Nearby::new(), leaving: Vec::new(), sectors: 0, number: 0, longest: 0 }
    }

    /// Whether writes of this length can be cached at all.
    #[must_use]
    pub fn takes(&self, sectors: u64) -> bool {
        self.rules.commands > 0 && sectors * 512 <= self.rules.bytes
    }

    /// Whether there is space now.
    #[must_use]
    pub fn has_room(&self, sectors: u64) -> bool {
        let commands = self.held.len() + self.leaving.len();
        commands < self.rules.commands && (self.sectors + sectors) * 512 <= self.rules.bytes
    }

    /// Caches a write; the caller has checked `has_room`.
    pub fn keep(&mut self, sector: u64, sectors: u64, mechanism: &Mechanism) {
        self.number += 1;
        // A repeated write to the same sectors replaces the cached one.
        let same = self.held_at(sector).find(|&at| self.held.get(at).sectors == sectors);
        if let Some(at) = same {
            self.held.get_mut(at).number = self.number;
            return;
        }
        let held = CachedWrite { number: self.number, sector, sectors };
        self.held.push(sector, mechanism.target(sector), held);
        self.sectors += sectors;
        self.longest = self.longest.max(sectors);
    }

    /// Writes that start at a sector, in order of arrival.
    fn held_at(&self, sector: u64) -> impl Iterator<Item = usize> + '_ {
        (self.held.from(sector)..self.held.len()).take_while(move |&at| self.held.get(at).sector == sector)
    }

    /// Writes that may overlap a sector and start before `end`.
    fn around(&self, sector: u64, end: u64) -> impl Iterator<Item = usize> + '_ {
        let first = self.held.from((sector + 1).saturating_sub(self.longest));
        (first..self.held.len()).take_while(move |&at| self.held.get(at).sector < end)
    }

    /// Whether it holds all of a read.
    #[must_use]
    pub fn covers(&self, sector: u64, end: u64) -> bool {
        let has = |h: &CachedWrite| h.sector <= sector && end <= h.end();
        self.around(sector, sector + 1).any(|at| has(self.held.get(at)))
            || self.leaving.first().is_some_and(|h| h.sector <= sector) && self.leaving.iter().any(has)
    }

    /// Whether any write waits for write-back.
    #[must_use]
    pub fn waits(&self) -> bool {
        !self.held.is_empty()
    }

    /// Whether every write up to `number` is on the medium.
    #[must_use]
    pub fn clean_up_to(&self, number: u64) -> bool {
        self.held.iter().chain(&self.leaving).all(|h| h.number > number)
    }

    /// The number of the last cached write.
    #[must_use]
    pub fn last_number(&self) -> u64 {
        self.number
    }

    /// Idle time before write-back starts, ns.
    #[must_use]
    pub fn idle_ns(&self) -> u64 {
        self.rules.idle_ns
    }

    /// Takes the next write to write back, with all writes that directly follow it: (sector, sectors).
    pub fn next(&mut self, now: u64, mechanism: &Mechanism) -> Option<(u64, u64)> {
        let first = self.held.remove(self.choose(now, mechanism)?);
        self.leaving.push(first);
        let mut end = first.end();
        while let Some(at) = self.following(end) {
            let next = self.held.remove(at);
            self.leaving.push(next);
            end = next.end();
        }
        Some((first.sector, end - first.sector))
    }

    /// A write that starts where another ended, and may be written now.
    fn following(&self, end: u64) -> Option<usize> {
        self.held_at(end).find(|&at| self.blocked_by(self.held.get(at)).is_none())
    }

    fn choose(&self, now: u64, mechanism: &Mechanism) -> Option<usize> {
        if self.rules.order == DestageOrder::Fifo {
            return self.held.first_by(|h| h.number);
        }
        let mut chosen = self.held.nearest(now, mechanism, |_| true)?;
        while let Some(older) = self.blocked_by(self.held.get(chosen)) {
            chosen = older;
        }
        Some(chosen)
    }

    /// An older write to overlapping sectors, which must go first; the oldest of several.
    fn blocked_by(&self, held: &CachedWrite) -> Option<usize> {
        let older = |at: &usize| {
            let h = self.held.get(*at);
            h.number < held.number && h.overlaps(held.sector, held.end())
        };
        self.around(held.sector, held.end()).filter(older).min_by_key(|&at| self.held.order(at))
    }

    /// The run being written back is on the medium.
    pub fn written(&mut self) {
        self.sectors -= self.leaving.iter().map(|h| h.sectors).sum::<u64>();
        self.leaving.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::small_disk;
    use super::*;

    fn cache(order: DestageOrder) -> WriteCache {
        WriteCache::new(WriteCacheRules { bytes: 64 * 512, commands: 4, order, idle_ns: 0 })
    }

    #[test]
    fn it_is_full_by_bytes_or_by_commands() {
        let mechanism = small_disk().mechanism().clone();
        let mut cache = cache(DestageOrder::Fifo);
        assert!(cache.takes(64) && !cache.takes(65));
        cache.keep(0, 60, &mechanism);
        assert!(cache.has_room(4) && !cache.has_room(5));
        cache.keep(100, 1, &mechanism);
        cache.keep(200, 1, &mechanism);
        cache.keep(200, 1, &mechanism);
        assert!(cache.has_room(1), "the second write of the same took its place");
        cache.keep(300, 1, &mechanism);
        assert!(!cache.has_room(1));
    }

    #[test]
    fn neighbours_leave_together_and_older_writes_first() {
        let mechanism = small_disk().mechanism().clone();
        let mut cache = cache(DestageOrder::ShortestFirst);
        cache.keep(90_000, 8, &mechanism);
        cache.keep(90_004, 8, &mechanism);
        cache.keep(90_012, 4, &mechanism);
        assert_eq!(cache.next(0, &mechanism), Some((90_000, 8)));
        assert!(cache.covers(90_000, 90_008) && cache.covers(90_013, 90_016));
        cache.written();
        assert_eq!(cache.next(0, &mechanism), Some((90_004, 12)));
        assert!(!cache.clean_up_to(3));
        cache.written();
        assert!(cache.clean_up_to(3) && !cache.waits());
    }
}
