//! Who may allocate a request: one pool (2.4), a pool per direction with batches and congestion (2.6), or tags (today). Only counts; the
//! requests themselves are in the table.

use super::rules::PoolRule;
use crate::bio::Op;
use crate::elevator::{Held, MayQueue};
use crate::task::TaskId;
use crate::time::Nanos;

/// Requests that a task may take beyond the limit after it was let in (2.6's batch).
const BATCH: u8 = 32;
/// Time limit of a batch.
const BATCH_TIME: Nanos = Nanos::from_millis(20);

#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    left: u8,
    since: Nanos,
}

/// Requests or tags in use.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    rule: PoolRule,
    /// Without an elevator a request takes the driver's tag immediately.
    bare: bool,
    held: [u32; 2],
    full: [bool; 2],
    congested: [bool; 2],
    batches: Vec<Batch>,
    /// Tags freed since a submitter was refused one; `None`: none was refused.
    freed: Option<u32>,
}

impl Pool {
    pub(crate) fn new(rule: PoolRule, bare: bool) -> Self {
        Self {
            rule,
            bare,
            held: [0; 2],
            full: [false; 2],
            congested: [false; 2],
            batches: Vec::new(),
            freed: None,
        }
    }

    pub(crate) fn held(&self) -> Held {
        Held { reads: self.held[0], writes: self.held[1], limit: self.limit() }
    }

    pub(crate) fn set_bare(&mut self, bare: bool) {
        self.bare = bare;
    }

    pub(crate) fn congested(&self, op: Op) -> bool {
        self.congested[op.direction()]
    }

    fn limit(&self) -> u32 {
        match self.rule {
            PoolRule::Shared { requests } | PoolRule::PerDirection { requests } => requests,
            PoolRule::Tags { driver, .. } if self.bare => driver,
            PoolRule::Tags { scheduler, .. } => scheduler,
            PoolRule::Unlimited => u32::MAX,
        }
    }

    /// Takes a slot for a request, if its submitter may have one. A refused submitter is expected to sleep and ask again.
    pub(crate) fn take(&mut self, now: Nanos, op: Op, task: TaskId, elevator: MayQueue) -> bool {
        let way = op.direction();
        let given = elevator != MayQueue::No
            && match self.rule {
                PoolRule::PerDirection { requests } => {
                    self.take_of_direction(now, way, requests, task, elevator)
                }
                PoolRule::Shared { requests } => self.take_shared(requests),
                PoolRule::Tags { .. } => self.take_tag(),
                PoolRule::Unlimited => true,
            };
        if given {
            self.held[way] += 1;
        }
        given
    }

    fn take_shared(&mut self, requests: u32) -> bool {
        let given = !self.full[0] && self.held[0] + self.held[1] < requests;
        self.full[0] = !given;
        given
    }

    /// Newcomers take a tag if one is free; refused submitters sleep until a batch of tags has been freed.
    fn take_tag(&mut self) -> bool {
        let given = self.held[0] + self.held[1] < self.limit();
        if !given && self.freed.is_none_or(|freed| freed >= self.wake_batch()) {
            self.freed = Some(0);
        }
        given
    }

    /// Number of freed tags that wakes sleepers.
    fn wake_batch(&self) -> u32 {
        (self.limit() / 8).clamp(1, 8)
    }

    fn take_of_direction(
        &mut self,
        now: Nanos,
        way: usize,
        requests: u32,
        task: TaskId,
        elevator: MayQueue,
    ) -> bool {
        let held = self.held[way];
        if held + 1 >= congestion_on(requests) {
            self.congested[way] = true;
        }
        if held + 1 >= requests {
            if !self.full[way] {
                // The task that fills the pool finishes its batch.
                self.full[way] = true;
                self.start_batch(now, task);
            } else if elevator != MayQueue::Must && !self.in_batch(now, task) {
                return false;
            }
        }
        if held >= requests + requests / 2 {
            return false;
        }
        if self.in_batch(now, task) {
            self.batches[task.index()].left -= 1;
        }
        true
    }

    /// Lets in a task that slept for a request: it may take a batch.
    pub(crate) fn let_in(&mut self, now: Nanos, task: TaskId) {
        if matches!(self.rule, PoolRule::PerDirection { .. }) {
            self.start_batch(now, task);
        }
    }

    fn start_batch(&mut self, now: Nanos, task: TaskId) {
        if self.batches.len() <= task.index() {
            self.batches.resize(task.index() + 1, Batch::default());
        }
        self.batches[task.index()] = Batch { left: BATCH, since: now };
    }

    fn in_batch(&self, now: Nanos, task: TaskId) -> bool {
        self.batches
            .get(task.index())
            .is_some_and(|batch| batch.left == BATCH || (batch.left > 0 && now < batch.since + BATCH_TIME))
    }

    /// Returns slots to the pool.
    pub(crate) fn give_back(&mut self, op: Op, places: u32) {
        let way = op.direction();
        debug_assert!(self.held[way] >= places, "no more is given back than was taken");
        self.held[way] -= places;
        match self.rule {
            PoolRule::Shared { requests } => {
                if self.held[0] + self.held[1] + requests / 4 <= requests {
                    self.full[0] = false;
                }
            }
            PoolRule::PerDirection { requests } => {
                if self.held[way] < congestion_off(requests) {
                    self.congested[way] = false;
                }
                if self.held[way] < requests {
                    self.full[way] = false;
                }
            }
            PoolRule::Tags { .. } => self.freed = self.freed.map(|freed| freed.saturating_add(places)),
            PoolRule::Unlimited => {}
        }
    }

    /// Whether a sleeper of this direction would now be let in.
    pub(crate) fn has_room(&self, op: Op) -> bool {
        let way = op.direction();
        match self.rule {
            PoolRule::Shared { requests } => !self.full[0] && self.held[0] + self.held[1] < requests,
            PoolRule::PerDirection { requests } => self.held[way] < requests,
            PoolRule::Tags { .. } => {
                let woken = self.freed.is_none_or(|freed| freed >= self.wake_batch());
                woken && self.held[0] + self.held[1] < self.limit()
            }
            PoolRule::Unlimited => true,
        }
    }
}

/// 113 of 128.
const fn congestion_on(requests: u32) -> u32 {
    let on = requests - requests / 8 + 1;
    if on > requests { requests } else { on }
}

/// 103 of 128.
const fn congestion_off(requests: u32) -> u32 {
    let off = (requests - requests / 8 - requests / 16).saturating_sub(1);
    if off < 1 { 1 } else { off }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: TaskId = TaskId(0);
    const B: TaskId = TaskId(1);

    fn take(pool: &mut Pool, now: u64, op: Op, task: TaskId) -> bool {
        pool.take(Nanos::from_millis(now), op, task, MayQueue::Yes)
    }

    #[test]
    fn a_pool_per_direction_is_congested_before_it_is_full() {
        let mut pool = Pool::new(PoolRule::PerDirection { requests: 128 }, false);
        for n in 0..112 {
            assert!(!pool.congested(Op::Write), "{n}");
            assert!(take(&mut pool, 0, Op::Write, A));
        }
        assert!(take(&mut pool, 0, Op::Write, A) && pool.congested(Op::Write) && !pool.congested(Op::Read));
        pool.give_back(Op::Write, 10);
        assert!(pool.congested(Op::Write));
        pool.give_back(Op::Write, 1);
        assert!(!pool.congested(Op::Write));
    }

    #[test]
    fn who_fills_it_finishes_a_batch_and_others_wait() {
        let mut pool = Pool::new(PoolRule::PerDirection { requests: 128 }, false);
        let mut taken = 0;
        while take(&mut pool, 0, Op::Write, A) {
            taken += 1;
        }
        // 127 below the limit, then the batch of the task that reached it.
        assert_eq!(taken, 127 + 32);
        assert!(!take(&mut pool, 0, Op::Write, B) && take(&mut pool, 0, Op::Read, B));
        assert!(pool.take(Nanos::ZERO, Op::Write, B, MayQueue::Must));
        pool.let_in(Nanos::ZERO, B);
        assert!(take(&mut pool, 0, Op::Write, B));
        assert!(!take(&mut pool, 20, Op::Write, B), "a batch ends after 20 ms");
        // Never more than half beyond the limit.
        pool.let_in(Nanos::ZERO, B);
        while take(&mut pool, 0, Op::Write, B) {}
        assert_eq!(pool.held().writes, 192);
    }

    #[test]
    fn one_pool_opens_again_when_a_quarter_is_free() {
        let mut pool = Pool::new(PoolRule::Shared { requests: 128 }, false);
        while take(&mut pool, 0, Op::Write, A) {}
        assert_eq!(pool.held().writes, 128);
        pool.give_back(Op::Write, 31);
        assert!(!take(&mut pool, 0, Op::Read, B) && !pool.has_room(Op::Read));
        pool.give_back(Op::Write, 1);
        assert!(take(&mut pool, 0, Op::Read, B));
    }

    #[test]
    fn sleepers_for_a_tag_are_woken_by_the_batch() {
        let mut pool = Pool::new(PoolRule::Tags { driver: 128, scheduler: 256 }, false);
        while take(&mut pool, 0, Op::Read, A) {}
        pool.give_back(Op::Read, 7);
        assert!(!pool.has_room(Op::Read));
        assert!(take(&mut pool, 0, Op::Read, B), "a newcomer finds one");
        pool.give_back(Op::Read, 1);
        assert!(pool.has_room(Op::Read));
        let mut few = Pool::new(PoolRule::Tags { driver: 2, scheduler: 4 }, false);
        while take(&mut few, 0, Op::Read, A) {}
        few.give_back(Op::Read, 1);
        assert!(few.has_room(Op::Read));
    }

    #[test]
    fn tags_are_the_drivers_without_an_elevator() {
        let rule = PoolRule::Tags { driver: 2, scheduler: 4 };
        for (bare, tags) in [(true, 2), (false, 4)] {
            let mut pool = Pool::new(rule, bare);
            assert_eq!((0..9).filter(|_| take(&mut pool, 0, Op::Read, A)).count(), tags);
        }
    }
}
