//! Sleeps and their stacks in memory: each distinct stack once.

use super::{FRAMES, LOCKED, SLEEP};
use std::collections::HashMap;

/// Maximum number of sleeps kept per phase: 10 MB.
const MOST_SLEEPS: usize = 1 << 18;

/// A long sleep of a measured thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sleep {
    /// The thread.
    pub thread: u32,
    /// When it fell asleep, ns of CLOCK_MONOTONIC.
    pub since_ns: u64,
    /// When what it waited for had come.
    pub woken_ns: u64,
    /// When it had a processor again.
    pub until_ns: u64,
    /// Index of its stack.
    pub stack: u32,
}

/// The long sleeps of a phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LongSleeps {
    /// The sleeps, in order of their end.
    pub sleeps: Vec<Sleep>,
    /// Stacks as addresses, the innermost function first, and whether a lock was waited for.
    pub stacks: Vec<(Vec<u64>, bool)>,
    /// Long sleeps that could not be kept.
    pub lost: u64,
    pub(super) known: HashMap<(Vec<u64>, bool), u32>,
}

impl LongSleeps {
    /// Adds one as the programs have it, if there is room. One without a stack says nothing and is left out.
    pub(super) fn add(&mut self, raw: &[u64; SLEEP]) {
        let frames = &raw[SLEEP - FRAMES..];
        let depth = frames.iter().position(|&address| address == 0).unwrap_or(FRAMES);
        if depth == 0 {
            self.lost += 1;
            return;
        }
        if self.sleeps.len() >= MOST_SLEEPS {
            self.keep_longer_half();
        }
        let stack = (frames[..depth].to_vec(), raw[1] >> 32 & LOCKED != 0);
        let next = self.stacks.len() as u32;
        let stack = *self.known.entry(stack).or_insert_with_key(|new| {
            self.stacks.push(new.clone());
            next
        });
        let [_, thread, since_ns, woken_ns, until_ns, ..] = *raw;
        // A wake-up that was not seen: the whole sleep counts as waiting.
        let woken_ns = if (since_ns..=until_ns).contains(&woken_ns) { woken_ns } else { until_ns };
        self.sleeps.push(Sleep { thread: thread as u32, since_ns, woken_ns, until_ns, stack });
    }

    /// Makes room: the slowest calls have the longest sleeps, whenever they come.
    fn keep_longer_half(&mut self) {
        let length = |s: &Sleep| s.until_ns.saturating_sub(s.since_ns);
        let mut lengths: Vec<u64> = self.sleeps.iter().map(length).collect();
        let middle = lengths.len() / 2;
        let median = *lengths.select_nth_unstable(middle).1;
        let before = self.sleeps.len();
        // Of many equal ones the later half stays.
        let mut equal_to_drop = middle - lengths[..middle].iter().filter(|l| **l < median).count();
        self.sleeps.retain(|sleep| {
            let drops = length(sleep) == median && equal_to_drop > 0;
            equal_to_drop -= usize::from(drops);
            length(sleep) >= median && !drops
        });
        self.lost += (before - self.sleeps.len()) as u64;
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stack_is_kept_once() {
        let raw = |thread: u64, frames: &[u64]| {
            let mut raw = [0; SLEEP];
            raw[1..5].copy_from_slice(&[thread, 100, 170, 200]);
            raw[5..5 + frames.len()].copy_from_slice(frames);
            raw
        };
        let mut all = LongSleeps::default();
        all.add(&raw(7, &[1, 2, 3]));
        all.add(&raw(8, &[1, 2, 3]));
        all.add(&raw(7 | LOCKED << 32, &[1, 2, 3]));
        all.add(&raw(7, &[]));
        all.add(&raw(7, &[9; FRAMES]));
        assert_eq!(all.stacks, [(vec![1, 2, 3], false), (vec![1, 2, 3], true), (vec![9; FRAMES], false)]);
        assert_eq!(all.sleeps.iter().map(|s| s.stack).collect::<Vec<_>>(), [0, 0, 1, 2]);
        assert_eq!(all.sleeps[1], Sleep { thread: 8, since_ns: 100, woken_ns: 170, until_ns: 200, stack: 0 });
        let mut unseen = raw(7, &[1]);
        unseen[3] = 0;
        all.add(&unseen);
        assert_eq!(all.sleeps[4].woken_ns, 200);
        assert_eq!(all.lost, 1);
    }

    #[test]
    fn the_longest_stay_when_there_is_no_room() {
        let mut all = LongSleeps::default();
        let sleep = |ns: u64| {
            let mut raw = [0; SLEEP];
            raw[1..6].copy_from_slice(&[7, 0, 0, ns, 1]);
            raw
        };
        // Every third sleep is long.
        for n in 0..MOST_SLEEPS as u64 + 1 {
            all.add(&sleep(if n % 3 == 0 { 1000 } else { 10 }));
        }
        assert_eq!(all.sleeps.len(), MOST_SLEEPS / 2 + 1);
        assert_eq!(all.lost, MOST_SLEEPS as u64 / 2);
        let long = all.sleeps.iter().filter(|s| s.until_ns == 1000).count();
        assert_eq!(long, MOST_SLEEPS.div_ceil(3), "all of them");
    }
}
