//! Wait points between workers: blocks, and the counts of semaphores. The numbers are interpreted here; the executor implements sleeping
//! until they change.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Wait for a semaphore that counts as a deadlock, ns.
pub const PATIENCE_NS: u64 = 600_000_000_000;

/// Where one worker waits, at one operation. All zeros is the initial state, so it may lie in freshly mapped memory.
#[repr(C, align(128))]
#[derive(Debug, Default)]
pub struct WaitPoint {
    /// Incremented by every wake.
    pub woken: AtomicU32,
    /// The semaphore's count.
    pub count: AtomicU32,
    /// Workers asleep here to take, and to post.
    takers: AtomicU32,
    posters: AtomicU32,
    /// Largest amount being waited for; posters may always get this far ahead.
    wanted: AtomicU64,
}

/// Result of an attempt to take or to give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tried {
    /// Not possible now.
    No,
    /// Done.
    Yes,
    /// Done, and a waiter must be woken.
    Wake,
}

impl Tried {
    /// Whether the attempt succeeded.
    #[must_use]
    pub fn worked(self) -> bool {
        self != Self::No
    }
}

impl WaitPoint {
    /// Takes `value`, if available.
    pub fn take(&self, value: u32) -> Tried {
        let took = self.count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(value));
        tried(took.is_ok(), &self.posters)
    }

    /// Gives `value`, unless the count would exceed `most`. An empty semaphore always accepts one gift, and `most` is raised to what a
    /// waiting taker needs.
    pub fn give(&self, value: u32, most: Option<u64>) -> Tried {
        let most = most.map(|m| m.max(self.wanted.load(Ordering::SeqCst)));
        let room =
            |count: u32| most.is_none_or(|most| count == 0 || u64::from(count) + u64::from(value) <= most);
        let gave = self.count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |count| {
            room(count).then(|| count.saturating_add(value))
        });
        tried(gave.is_ok(), &self.takers)
    }

    /// Announces a taker about to wait for `value`. Returns whether to wake posters, which may now give more.
    pub fn want(&self, value: u32) -> bool {
        self.wanted.store(value.into(), Ordering::SeqCst);
        self.takers.fetch_add(1, Ordering::SeqCst);
        self.posters.load(Ordering::SeqCst) > 0
    }

    /// The taker has stopped waiting.
    pub fn wanted_no_more(&self) {
        self.takers.fetch_sub(1, Ordering::SeqCst);
        self.wanted.store(0, Ordering::SeqCst);
    }

    /// Announces a poster about to wait.
    pub fn offer(&self) {
        self.posters.fetch_add(1, Ordering::SeqCst);
    }

    /// The poster has stopped waiting.
    pub fn offered_no_more(&self) {
        self.posters.fetch_sub(1, Ordering::SeqCst);
    }
}

fn tried(worked: bool, waiting: &AtomicU32) -> Tried {
    match worked {
        false => Tried::No,
        true if waiting.load(Ordering::SeqCst) > 0 => Tried::Wake,
        true => Tried::Yes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_semaphore_gives_no_more_than_was_posted() {
        let p = WaitPoint::default();
        let took = |n| p.take(n).worked();
        assert!(!took(1));
        assert!(p.give(3, None).worked() && took(2) && !took(2) && took(1));
    }

    #[test]
    fn a_blocking_poster_is_held_at_the_high_water_mark() {
        let p = WaitPoint::default();
        assert!((0..4).all(|_| p.give(1, Some(4)).worked()));
        assert!(!p.give(1, Some(4)).worked());
        assert!(p.take(1).worked() && p.give(1, Some(4)).worked());
        let p = WaitPoint::default();
        assert!(p.give(5, Some(1)).worked(), "an empty supply takes one gift of any size");
        assert!(!p.give(5, Some(1)).worked());
    }

    #[test]
    fn a_want_above_the_mark_is_fulfilled() {
        let p = WaitPoint::default();
        assert!(!p.want(10), "no thread posts");
        assert!((0..10).all(|_| p.give(1, Some(2)) == Tried::Wake));
        assert!(!p.give(1, Some(2)).worked() && p.take(10).worked());
        p.wanted_no_more();
        assert_eq!(p.give(1, Some(2)), Tried::Yes);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_made_up(steps in prop::collection::vec((any::<bool>(), 0u32..9, prop::option::of(0u64..12)), 0..200)) {
            let p = WaitPoint::default();
            let mut there = 0u64;
            for (give, value, most) in steps {
                if give {
                    let room = most.is_none_or(|m| there == 0 || there + u64::from(value) <= m);
                    prop_assert_eq!(p.give(value, most).worked(), room);
                    there += if room { u64::from(value) } else { 0 };
                } else {
                    let enough = there >= u64::from(value);
                    prop_assert_eq!(p.take(value).worked(), enough);
                    there -= if enough { u64::from(value) } else { 0 };
                }
                prop_assert_eq!(u64::from(p.count.load(Ordering::SeqCst)), there);
            }
        }
    }
}
