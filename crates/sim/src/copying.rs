//! Copying cost by CPU cache level: how much longer a page takes because it, or the caller's buffer, has left a CPU cache since it was
//! last copied. Cache lines are not simulated. Caches are indexed by physical address and pages lie anywhere in memory. Each of the `n`
//! other pages copied since then falls on the page's own set with probability 1 / colours (colours = size / ways / 4 KiB), and the page
//! is still cached if fewer than `ways` did. So a cache forgets gradually: a buffer of half its size is half lost.
//!
//! A read copies from file pages to the caller's buffer. Between two uses of a buffer page lie the rest of the buffer and as many file
//! pages. Between two uses of a file page lie all pages copied since, by any task, and one buffer. A page that came from the device is in
//! no cache.

use crate::host;
use std::cell::Cell;

const PAGE_KIB: u32 = 4;

/// Copying costs on top of `page_us`.
#[derive(Default)]
pub(crate) struct Copies {
    levels: Vec<LevelModel>,
    activate_ns: u64,
    /// Pages of files copied so far: the clock for ages.
    clock: Cell<u32>,
    /// Pages of other memory that the program has touched since the last call.
    walked: Cell<u64>,
}

struct LevelModel {
    /// Probability that a page is still cached after `index` other pages; 0 past the end.
    kept: Vec<f64>,
    source_miss_ns: f64,
    target_miss_ns: f64,
}

/// Direction of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyDirection {
    /// From the file to the buffer.
    Read,
    /// From the buffer to the file.
    Write,
}

impl Copies {
    /// Built from a profile; without one there is no extra cost.
    pub fn of(profile: Option<&host::Copying>) -> Self {
        let Some(profile) = profile else { return Self::default() };
        let levels = profile.cache.iter().map(|c| LevelModel {
            kept: kept(c.kib.get(), c.ways.get()),
            source_miss_ns: c.source_miss_us.get() * 1000.0,
            target_miss_ns: c.target_miss_us.get() * 1000.0,
        });
        Self {
            levels: levels.collect(),
            activate_ns: (profile.activate_us.get() * 1000.0) as u64,
            clock: Cell::new(0),
            walked: Cell::new(0),
        }
    }

    /// Whether ages matter.
    pub fn matter(&self) -> bool {
        !self.levels.is_empty()
    }

    /// Extra cost of a page that a read moves to the active list, ns.
    pub fn activation_ns(&self) -> u64 {
        self.activate_ns
    }

    /// Advances the clock by one page and returns it.
    pub fn tick(&self) -> u32 {
        self.clock.set(self.clock.get().wrapping_add(1).max(1));
        self.clock.get()
    }

    /// The program touches `pages` pages of other memory: everything copied before ages by that much, including the buffer of the next
    /// call.
    pub fn walk(&self, pages: u64) {
        let ticks = u32::try_from(pages).unwrap_or(u32::MAX);
        self.clock.set(self.clock.get().wrapping_add(ticks).max(1));
        self.walked.set(self.walked.get().saturating_add(pages));
    }

    /// Extra cost per page of a call of `pages` pages, from the caller's buffer, ns.
    pub fn buffer_ns(&self, way: CopyDirection, pages: u64) -> u64 {
        let others = (2 * pages).saturating_sub(1).saturating_add(self.walked.take());
        self.missed_ns(way == CopyDirection::Read, Some(others))
    }

    /// Extra cost of a file page last copied at `before`, in a call of `pages` pages, ns.
    pub fn page_ns(&self, way: CopyDirection, now: u32, before: Option<u32>, pages: u64) -> u64 {
        let others = before.map(|at| u64::from(now.wrapping_sub(at)).saturating_sub(1) + pages);
        self.missed_ns(way == CopyDirection::Write, others)
    }

    fn missed_ns(&self, is_target: bool, others: Option<u64>) -> u64 {
        let of = |level: &LevelModel| {
            let kept = others.and_then(|n| level.kept.get(usize::try_from(n).ok()?)).copied().unwrap_or(0.0);
            (1.0 - kept) * if is_target { level.target_miss_ns } else { level.source_miss_ns }
        };
        self.levels.iter().map(of).sum::<f64>() as u64
    }
}

/// Probability that a page stays in a cache while 0, 1, 2 ... other pages are copied.
fn kept(kib: u32, ways: u32) -> Vec<f64> {
    /// Below this the effect is negligible.
    const NOTHING: f64 = 1e-4;
    let colours = f64::from(kib) / f64::from(ways * PAGE_KIB);
    if colours <= 1.0 {
        // A way is no larger than a page, so pages compete only for space: the cache keeps as many as fit.
        return vec![1.0; (kib / PAGE_KIB) as usize];
    }
    // chances[k]: probability that k other pages share the page's set. If they fill all ways, the page is evicted.
    let mut chances = vec![0.0; ways as usize];
    chances[0] = 1.0;
    let mut kept = Vec::new();
    loop {
        let sum: f64 = chances.iter().sum();
        if sum < NOTHING {
            return kept;
        }
        kept.push(sum);
        for k in (0..chances.len()).rev() {
            let from_below = if k > 0 { chances[k - 1] / colours } else { 0.0 };
            chances[k] = chances[k] * (1.0 - 1.0 / colours) + from_below;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_forgets_gradually() {
        let kept = kept(512, 8);
        assert_eq!(kept[..8], [1.0; 8], "eight pages always have a place");
        assert!(kept.windows(2).all(|w| w[1] <= w[0]));
        // For a buffer of half the cache, 127 other pages fall on 16 sets of 8 ways.
        assert!(kept[127] > 0.4 && kept[127] < 0.5, "{}", kept[127]);
        assert!(kept[63] > 0.9 && kept[255] < 0.02, "{} {}", kept[63], kept[255]);
        assert_eq!(super::kept(8, 4), [1.0; 2]);
    }

    #[test]
    fn copying_without_cache_levels_costs_nothing_extra() {
        let none = Copies::of(None);
        assert!(!none.matter());
        assert_eq!(
            (none.buffer_ns(CopyDirection::Read, 9), none.page_ns(CopyDirection::Write, 9, None, 1)),
            (0, 0)
        );
    }

    #[test]
    fn source_and_target_change_places_with_the_direction() {
        let host = host::shipped("ncsa-2005-linux-2.4").unwrap();
        let copies = Copies::of(host.copying.as_ref());
        let level = &host.copying.as_ref().unwrap().cache[0];
        let ns = |us: f64| (us * 1000.0) as u64;
        let (source, target) = (ns(level.source_miss_us.get()), ns(level.target_miss_us.get()));
        assert_eq!(copies.buffer_ns(CopyDirection::Read, 4096), target);
        assert_eq!(copies.buffer_ns(CopyDirection::Write, 4096), source);
        assert_eq!(copies.page_ns(CopyDirection::Read, 1, None, 1), source);
        assert_eq!(copies.page_ns(CopyDirection::Write, 1, None, 1), target);
        let now = (0..10).map(|_| copies.tick()).last().unwrap();
        assert_eq!((now, copies.page_ns(CopyDirection::Read, now, Some(now - 3), 2)), (10, 0));
        assert_eq!(copies.buffer_ns(CopyDirection::Read, 1), 0);
        // After a walk through other memory neither buffer nor page is cached; the buffer is again after that call.
        let before = copies.tick();
        copies.walk(4096);
        assert_eq!(copies.buffer_ns(CopyDirection::Read, 1), target);
        assert_eq!(copies.buffer_ns(CopyDirection::Read, 1), 0);
        assert_eq!(copies.page_ns(CopyDirection::Read, copies.tick(), Some(before), 1), source);
    }
}
