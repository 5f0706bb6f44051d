//! The batches of the anticipatory scheduler: which kind and which request goes next.

use super::tunables::{ANTIC_EXPIRE, READ_BATCH_EXPIRE, READ_EXPIRE, WRITE_BATCH_EXPIRE, WRITE_EXPIRE};
use super::{ASYNC, Anticipatory, SYNC};
use crate::request::{Requests, Slot};

impl Anticipatory {
    /// The next request; `None` if nothing waits, a batch must end first, or the elevator waits for a better request.
    pub(super) fn choose(&mut self, jiffies: u64, requests: &Requests) -> Option<Slot> {
        let (reads, writes) = (!self.lanes[SYNC].is_empty(), !self.lanes[ASYNC].is_empty());
        if self.batch == ASYNC && !reads && (self.write_left == 0 || !writes) {
            self.write_idled = true; // no reads compete, so the time of this batch says nothing
        }
        if !(reads || writes) || self.is_waiting() || self.changing {
            return None;
        }
        let mut chosen = None;
        let mut by_age = false;
        if !(reads && writes && self.batch_is_over(jiffies)) {
            let best = self.best[self.batch];
            if self.batch == SYNC && self.tunables[ANTIC_EXPIRE] > 0 {
                by_age = self.age_expired(jiffies, requests, SYNC);
                if !by_age && self.may_wait(jiffies, requests, best) {
                    self.begin_wait();
                    return None;
                }
            }
            if !by_age && best.is_some() {
                if reads && !writes {
                    self.batch_expires = jiffies + self.ticks(READ_BATCH_EXPIRE);
                }
                chosen = best;
            }
        }
        if chosen.is_none() && !by_age {
            chosen = self.begin_batch(jiffies, reads, writes);
        }
        if by_age || self.age_expired(jiffies, requests, self.batch) {
            self.expired += 1;
            chosen = self.lanes[self.batch].oldest();
        }
        if self.changing {
            if self.with_device > 0 {
                return None;
            }
            if self.batch == ASYNC {
                self.batch_expires = jiffies + self.ticks(WRITE_BATCH_EXPIRE);
            } else {
                self.starting = true;
            }
            self.changing = false;
        }
        chosen
    }

    /// Switches to the other kind if it has requests, and returns its first request.
    fn begin_batch(&mut self, jiffies: u64, reads: bool, writes: bool) -> Option<Slot> {
        self.batches += 1;
        if reads && !(writes && self.batch == SYNC) {
            self.changing |= self.batch == ASYNC;
            self.batch = SYNC;
            self.last_age_check[SYNC] = jiffies;
            return self.lanes[SYNC].oldest();
        }
        if self.batch == SYNC {
            self.changing = true;
            // Reads may have run out before the first one of their batch completed.
            self.starting = false;
        }
        self.batch = ASYNC;
        self.write_left = self.write_budget;
        self.write_idled = false;
        self.best[ASYNC]
    }

    fn batch_is_over(&self, jiffies: u64) -> bool {
        if self.changing || self.starting {
            return false;
        }
        jiffies > self.batch_expires || (self.batch == ASYNC && self.write_left == 0)
    }

    /// Whether the oldest request of a kind has expired. Checked once per expiry time, so that many old requests do not cause a storm of
    /// seeks.
    fn age_expired(&mut self, jiffies: u64, requests: &Requests, kind: usize) -> bool {
        let interval = self.ticks(if kind == SYNC { READ_EXPIRE } else { WRITE_EXPIRE });
        if jiffies - self.last_age_check[kind] < interval {
            return false;
        }
        self.last_age_check[kind] = jiffies;
        let now = self.hz.moment(jiffies);
        self.lanes[kind].oldest().is_some_and(|slot| requests[slot].private.due < now)
    }
}
