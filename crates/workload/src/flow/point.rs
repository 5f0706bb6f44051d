//! Where workers wait for each other: blocks, and the counts of semaphores. What a number means is decided here; how one sleeps until
//! it changes is the executor's.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Whoever has waited so long for a semaphore waits for ever, ns.
pub const PATIENCE_NS: u64 = 600_000_000_000;

/// Where one worker waits, at one operation. All zero is the beginning, so it may lie in memory that was just mapped.
#[repr(C, align(128))]
#[derive(Debug, Default)]
pub struct WaitPoint {
    /// Rises with every waking.
    pub woken: AtomicU32,
    /// The semaphore's count.
    pub count: AtomicU32,
    /// Workers asleep here: waiting to take, and waiting to post.
    takers: AtomicU32,
    posters: AtomicU32,
    /// What is being waited for; posters may always get so far ahead.
    wanted: AtomicU64,
}

/// What came of trying to take or to give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tried {
    /// Not now.
    No,
    /// It worked.
    Yes,
    /// It worked, and somebody waits for just that.
    Wake,
}

impl Tried {
    /// Whether it worked.
    #[must_use]
    pub fn worked(self) -> bool {
        self != Self::No
    }
}

impl WaitPoint {
    /// Takes so many, if there are.
    pub fn take(&self, value: u32) -> Tried {
        let took = self.count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(value));
        tried(took.is_ok(), &self.posters)
    }

    /// Gives so many, unless there would be more than `most` then. A supply that is empty always takes one gift, and whoever takes
    /// more than `most` at a time is waited for until he has enough.
    pub fn give(&self, value: u32, most: Option<u64>) -> Tried {
        let most = most.map(|m| m.max(self.wanted.load(Ordering::SeqCst)));
        let room =
            |count: u32| most.is_none_or(|most| count == 0 || u64::from(count) + u64::from(value) <= most);
        let gave = self.count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |count| {
            room(count).then(|| count.saturating_add(value))
        });
        tried(gave.is_ok(), &self.takers)
    }

    /// Somebody is about to wait until he can take so many. Whether posters are to be woken, who may give more from now on.
    pub fn want(&self, value: u32) -> bool {
        self.wanted.store(value.into(), Ordering::SeqCst);
        self.takers.fetch_add(1, Ordering::SeqCst);
        self.posters.load(Ordering::SeqCst) > 0
    }

    /// He does not wait any more.
    pub fn wanted_no_more(&self) {
        self.takers.fetch_sub(1, Ordering::SeqCst);
        self.wanted.store(0, Ordering::SeqCst);
    }

    /// Somebody is about to wait until he can give.
    pub fn offer(&self) {
        self.posters.fetch_add(1, Ordering::SeqCst);
    }

    /// He does not wait any more.
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
    fn whoever_wants_more_than_the_mark_gets_it() {
        let p = WaitPoint::default();
        assert!(!p.want(10), "nobody posts");
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
