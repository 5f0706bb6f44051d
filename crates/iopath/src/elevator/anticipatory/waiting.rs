//! Anticipation: when waiting for a better request begins, what ends it, and when it is given up.

use super::tunables::ANTIC_EXPIRE;
use super::{ASYNC, Anticipatory, SYNC};
use crate::request::{Requests, Slot};

/// State of the wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// Not waiting.
    Off,
    /// Waiting for the expected process's request to complete; then its think time starts.
    WaitRequest,
    /// The expected process is in its think time.
    WaitNext,
    /// The wait is over, successful or not: the next request goes.
    Finished,
}

impl Anticipatory {
    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.status, Status::WaitRequest | Status::WaitNext)
    }

    /// The jiffy at which the wait is given up.
    pub(super) fn wait_end(&self) -> u64 {
        self.wait_start + self.ticks(ANTIC_EXPIRE)
    }

    pub(super) fn begin_wait(&mut self) {
        if self.status == Status::Off {
            if self.expected.is_none() || self.expected_served {
                self.wait_next();
            } else {
                self.status = Status::WaitRequest;
            }
        }
    }

    pub(super) fn wait_next(&mut self) {
        self.waits += 1;
        self.status = Status::WaitNext;
    }

    /// Called when the wait's timer expires.
    pub(super) fn time_out(&mut self, jiffies: u64) {
        if self.status != Status::WaitNext || jiffies < self.wait_end() {
            return;
        }
        self.status = Status::Finished;
        self.timeouts += 1;
        let unknown = self.expected.is_some_and(|task| self.processes[task.index()].think_mean().is_none());
        if unknown {
            self.newcomers.one_went_away();
        }
    }

    /// Checks whether a new request ends the wait.
    pub(super) fn consider(&mut self, jiffies: u64, requests: &Requests, slot: Slot) {
        if self.is_waiting() && self.may_break(jiffies, requests, Some(slot)) {
            self.status = Status::Finished;
            self.hits += 1;
        }
    }

    /// Whether to wait for something better than the best request available.
    pub(super) fn may_wait(&mut self, jiffies: u64, requests: &Requests, best: Option<Slot>) -> bool {
        self.expected.is_some() && self.status != Status::Finished && !self.may_break(jiffies, requests, best)
    }

    /// Whether waiting is pointless: `best` is as good as what could come, or no request is expected.
    fn may_break(&mut self, jiffies: u64, requests: &Requests, best: Option<Slot>) -> bool {
        let Some(task) = self.expected else { return true };
        if best.is_some_and(|slot| Self::task(requests, slot) == task) {
            return true;
        }
        let longest = self.ticks(ANTIC_EXPIRE);
        if self.expected_served && jiffies >= self.wait_start + longest {
            return true;
        }
        let process = &self.processes[task.index()];
        let think = process.think_mean();
        if process.exited {
            if think.is_none() {
                self.newcomers.one_went_away();
            }
            return true;
        }
        if process.queued > 0 || process.with_device > 0 {
            return true;
        }
        if let Some(slot) = best
            && requests[slot].is_sync()
            && self.is_close(jiffies, requests[slot].sector())
        {
            // Processes cooperating in one area: this one's think time starts again.
            self.processes[task.index()].last_completion = jiffies;
            return true;
        }
        let thinks_too_long = match think {
            None => self.newcomers.think_mean > longest || self.newcomers.exit_chance > 128,
            Some(mean) => mean > longest,
        };
        if thinks_too_long {
            return true;
        }
        let Some(slot) = best else { return false };
        let distance = self.last_sector[SYNC].abs_diff(requests[slot].sector());
        self.processes[task.index()].seek_mean().unwrap_or(self.newcomers.seek_mean) > distance
    }

    /// Near the last request: within 64 sectors ahead or half as many behind, doubled for each millisecond of waiting.
    fn is_close(&self, jiffies: u64, sector: u64) -> bool {
        let last = self.last_sector[if self.batch == SYNC { SYNC } else { ASYNC }];
        let waited = if self.status == Status::Off || !self.expected_served {
            0
        } else {
            (jiffies - self.wait_start) * self.hz.tick().0 / 1_000_000
        };
        let reach = match waited {
            0 | 1 => 64,
            2..=20 if waited <= self.ticks(ANTIC_EXPIRE) => 64u64 << (waited - 1),
            _ => return true,
        };
        last.saturating_sub(reach / 2) <= sector && sector <= last + reach
    }
}
