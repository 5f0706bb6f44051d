//! Moving requests from the processes to the dispatch list: the passes, the request chosen per process, and its position in the list.

use super::{Cfq2, FIFO_BATCH_EXPIRE, FIFO_EXPIRE_R, FIFO_EXPIRE_W, QUANTUM};
use crate::list::List;
use crate::request::{Requests, Slot, Stage};

impl Cfq2 {
    pub(super) fn fill(&mut self, jiffies: u64, requests: &mut Requests) {
        let (mut moved, mut first) = (0, true);
        while !self.busy.is_empty() {
            self.pass.clone_from(&self.busy);
            let mut still_busy = false;
            for at in 0..self.pass.len() {
                let key = self.pass[at];
                if first && self.processes[usize::from(key)].in_flight > 0 {
                    continue;
                }
                still_busy |= self.dispatch_one(jiffies, requests, key);
                moved += 1;
            }
            if moved >= self.tunables[QUANTUM] || !(still_busy || first) {
                return;
            }
            first = false;
        }
    }

    /// Moves a request of a process to the dispatch list; returns whether the process has more.
    fn dispatch_one(&mut self, jiffies: u64, requests: &mut Requests, key: u16) -> bool {
        let expired = self.expired_of(jiffies, requests, key);
        self.expired += u64::from(expired.is_some());
        let Some(slot) = expired.or(self.processes[usize::from(key)].best) else { return false };
        self.move_out(requests, slot);
        requests.set_stage(slot, Stage::Parked);
        self.insert_sorted(requests, slot);
        self.processes[usize::from(key)].busy
    }

    /// Removes a request from its process's tree and age queue, as it is being dispatched.
    pub(super) fn move_out(&mut self, requests: &mut Requests, slot: Slot) {
        self.last_sector = requests[slot].end();
        self.leave(requests, slot);
        let kind = usize::from(requests[slot].is_sync());
        let process = &mut self.processes[usize::from(requests[slot].private.queue)];
        process.ages[kind].remove(requests, slot);
        process.in_flight += 1;
    }

    fn expired_of(&mut self, jiffies: u64, requests: &Requests, key: u16) -> Option<Slot> {
        let tick = |row| self.hz.jiffies_of_millis(self.tunables[row]);
        let (interval, expires) = (tick(FIFO_BATCH_EXPIRE), [tick(FIFO_EXPIRE_R), tick(FIFO_EXPIRE_W)]);
        let process = &mut self.processes[usize::from(key)];
        if jiffies < process.last_age_served + interval {
            return None;
        }
        let old = |(list, expire): (&List, u64)| {
            list.first().filter(|&slot| jiffies > requests[slot].private.count as u64 + expire)
        };
        let found = process.ages.iter().zip(expires).find_map(old)?;
        process.last_age_served = jiffies;
        Some(found)
    }

    /// Intended as a one-way sweep from the last sector on; since that is set to the end of the very request being inserted, requests
    /// further back are appended, too.
    fn insert_sorted(&mut self, requests: &mut Requests, slot: Slot) {
        let sector = requests[slot].sector();
        let mut place = None;
        for other in self.dispatch.iter_back(requests) {
            let its = requests[other].sector();
            if sector > its {
                place = Some(other);
                break;
            }
            if its > self.last_sector && sector < self.last_sector {
                self.last_sector = sector;
                place = Some(other);
                break;
            }
        }
        match place {
            Some(other) => self.dispatch.insert_after(requests, other, slot),
            None => self.dispatch.push_front(requests, slot),
        }
    }
}
