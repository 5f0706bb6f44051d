//! Copying by cache level: how much longer a page takes because it, or the caller's buffer, has left a CPU's cache since it was last
//! copied. No line is simulated. The caches are indexed by physical addresses, and pages lie anywhere in memory: of `n` other pages
//! that were copied meanwhile each falls upon the page's own place with the chance 1 / colours (size / ways / 4 KiB), and the page is
//! still there if fewer than `ways` did. So a cache forgets gradually: a buffer of half its size is half lost.
//!
//! Whoever reads copies from pages of the file to his buffer; between two uses of a page of the buffer lie the rest of the buffer and
//! as many pages of the file. Between two uses of a page of a file lie the pages copied meanwhile, by whomever, and one buffer. A page
//! that came from the device is in no cache.

use crate::host;
use std::cell::Cell;

const PAGE_KIB: u32 = 4;

/// What copying costs beside `page_us`.
#[derive(Default)]
pub(crate) struct Copies {
    levels: Vec<Level>,
    activate_ns: u64,
    /// Pages of files copied so far: the clock by which ages are told.
    clock: Cell<u32>,
    /// Pages of other memory that the program has walked through since the last call.
    walked: Cell<u64>,
}

struct Level {
    /// How likely a page is still there after so many others; behind the end: not at all.
    kept: Vec<f64>,
    source_miss_ns: f64,
    target_miss_ns: f64,
}

/// Which way data go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// From the file to the buffer.
    Read,
    /// From the buffer to the file.
    Write,
}

impl Copies {
    /// Of a profile; nothing costs more if it says nothing.
    pub fn of(profile: Option<&host::Copying>) -> Self {
        let Some(profile) = profile else { return Self::default() };
        let levels = profile.cache.iter().map(|c| Level {
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

    /// What a page costs more that a read moves to the active list, ns.
    pub fn activation_ns(&self) -> u64 {
        self.activate_ns
    }

    /// The clock, one page further.
    pub fn tick(&self) -> u32 {
        self.clock.set(self.clock.get().wrapping_add(1).max(1));
        self.clock.get()
    }

    /// The program walks through so many pages of other memory: what was copied before is so much older, the buffer of the next call
    /// included.
    pub fn walk(&self, pages: u64) {
        let ticks = u32::try_from(pages).unwrap_or(u32::MAX);
        self.clock.set(self.clock.get().wrapping_add(ticks).max(1));
        self.walked.set(self.walked.get().saturating_add(pages));
    }

    /// What each page of a call of so many pages costs more because of the caller's buffer, ns.
    pub fn buffer_ns(&self, way: Way, pages: u64) -> u64 {
        let others = (2 * pages).saturating_sub(1).saturating_add(self.walked.take());
        self.missed_ns(way == Way::Read, Some(others))
    }

    /// What a page of a file costs more that was last copied at `before`, ns, in a call of so many pages.
    pub fn page_ns(&self, way: Way, now: u32, before: Option<u32>, pages: u64) -> u64 {
        let others = before.map(|at| u64::from(now.wrapping_sub(at)).saturating_sub(1) + pages);
        self.missed_ns(way == Way::Write, others)
    }

    fn missed_ns(&self, is_target: bool, others: Option<u64>) -> u64 {
        let of = |level: &Level| {
            let kept = others.and_then(|n| level.kept.get(usize::try_from(n).ok()?)).copied().unwrap_or(0.0);
            (1.0 - kept) * if is_target { level.target_miss_ns } else { level.source_miss_ns }
        };
        self.levels.iter().map(of).sum::<f64>() as u64
    }
}

/// How likely a page stays in a cache while 0, 1, 2 ... other pages are copied.
fn kept(kib: u32, ways: u32) -> Vec<f64> {
    /// Below this nobody sees it any more.
    const NOTHING: f64 = 1e-4;
    let colours = f64::from(kib) / f64::from(ways * PAGE_KIB);
    if colours <= 1.0 {
        // All pages share one place, of which a page takes more than one way.
        return vec![1.0; (kib / PAGE_KIB) as usize];
    }
    // chances[k]: that k of the others have fallen upon the page's place; more than fit count as gone.
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
        // Half of the cache as a buffer: 127 others upon 16 places of 8.
        assert!(kept[127] > 0.4 && kept[127] < 0.5, "{}", kept[127]);
        assert!(kept[63] > 0.9 && kept[255] < 0.02, "{} {}", kept[63], kept[255]);
        assert_eq!(super::kept(8, 4), [1.0; 2]);
    }

    #[test]
    fn what_a_profile_does_not_say_costs_nothing() {
        let none = Copies::of(None);
        assert!(!none.matter());
        assert_eq!((none.buffer_ns(Way::Read, 9), none.page_ns(Way::Write, 9, None, 1)), (0, 0));
    }

    #[test]
    fn source_and_target_change_places_with_the_direction() {
        let host = host::shipped("ncsa-2005-linux-2.4").unwrap();
        let copies = Copies::of(host.copying.as_ref());
        let level = &host.copying.as_ref().unwrap().cache[0];
        let ns = |us: f64| (us * 1000.0) as u64;
        let (source, target) = (ns(level.source_miss_us.get()), ns(level.target_miss_us.get()));
        assert_eq!(copies.buffer_ns(Way::Read, 4096), target);
        assert_eq!(copies.buffer_ns(Way::Write, 4096), source);
        assert_eq!(copies.page_ns(Way::Read, 1, None, 1), source);
        assert_eq!(copies.page_ns(Way::Write, 1, None, 1), target);
        let now = (0..10).map(|_| copies.tick()).last().unwrap();
        assert_eq!((now, copies.page_ns(Way::Read, now, Some(now - 3), 2)), (10, 0));
        assert_eq!(copies.buffer_ns(Way::Read, 1), 0);
        // Who walks through other memory finds neither the buffer nor the page, and the buffer again after that call.
        let before = copies.tick();
        copies.walk(4096);
        assert_eq!(copies.buffer_ns(Way::Read, 1), target);
        assert_eq!(copies.buffer_ns(Way::Read, 1), 0);
        assert_eq!(copies.page_ns(Way::Read, copies.tick(), Some(before), 1), source);
    }
}
