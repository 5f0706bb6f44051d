//! Per-process statistics of the anticipatory scheduler: think time between reads and distance between reads, as decaying means (7/8,
//! fixed point with 256 for one). Times in jiffies, distances in sectors.

use crate::elevator::mean::Mean;

/// Statistics of one process and its requests.
#[derive(Clone, Debug, Default)]
pub(super) struct AnticipatedProcess {
    pub(super) exited: bool,
    /// Has submitted a synchronous request.
    started: bool,
    /// Has had one completed.
    pub(super) served: bool,
    pub(super) queued: u32,
    pub(super) with_device: u32,
    pub(super) last_completion: u64,
    last_end: u64,
    think: Mean,
    seek: Mean,
}

/// Expectations for processes without statistics.
#[derive(Clone, Debug, Default)]
pub(super) struct Newcomers {
    think_total: u64,
    pub(super) think_mean: u64,
    seek_total: u64,
    pub(super) seek_mean: u64,
    /// Probability, of 256, that one exits or never submits again.
    pub(super) exit_chance: u64,
}

impl Newcomers {
    pub(super) fn one_went_away(&mut self) {
        self.exit_chance = (7 * self.exit_chance + 256) / 8;
    }
}

impl AnticipatedProcess {
    /// Mean time between completion and submission; `None` before the first sample.
    pub(super) fn think_mean(&self) -> Option<u64> {
        self.think.get()
    }

    /// Mean distance between reads; `None` before the first sample.
    pub(super) fn seek_mean(&self) -> Option<u64> {
        self.seek.get()
    }

    /// Records a submitted synchronous request. Think time is measured only while the process has no request queued or in flight, and is
    /// capped at `longest`.
    pub(super) fn submitted(
        &mut self,
        jiffies: u64,
        sector: u64,
        end: u64,
        longest: u64,
        others: &mut Newcomers,
    ) {
        if self.served || self.started {
            let idle = self.served && self.queued + self.with_device == 0;
            let thought = if idle { (jiffies - self.last_completion).min(longest) } else { 0 };
            self.add_think(thought, others);
            self.add_seek(self.last_end.abs_diff(sector), others);
        }
        self.last_end = end;
        self.started = true;
    }

    fn add_think(&mut self, thought: u64, others: &mut Newcomers) {
        if self.think.get().is_none() {
            others.think_total = (7 * others.think_total + 256 * thought) / 8;
            others.think_mean = others.think_total / 256;
            others.exit_chance = 7 * others.exit_chance / 8;
        }
        self.think.add(thought, 128);
    }

    fn add_seek(&mut self, distance: u64, others: &mut Newcomers) {
        if self.seek.get().is_none() {
            others.seek_total = (7 * others.seek_total + 256 * distance) / 8;
            others.seek_mean = others.seek_total / 256;
        }
        self.seek.add_distance(distance);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinking_is_timed_only_when_nothing_is_under_way() {
        let (mut process, mut others) = (AnticipatedProcess::default(), Newcomers::default());
        process.submitted(0, 0, 8, 19, &mut others);
        assert_eq!(process.think_mean(), None);
        process.served = true;
        process.last_completion = 10;
        process.submitted(14, 8, 16, 19, &mut others);
        // The process thought for 4 jiffies. The kernel's rounding doubles the first sample.
        assert_eq!(process.think_mean(), Some(8));
        process.queued = 1;
        process.submitted(100, 16, 24, 19, &mut others);
        assert_eq!(process.think_mean(), Some(4));
        process.queued = 0;
        for _ in 0..60 {
            process.submitted(1_000, 16, 24, 19, &mut others);
        }
        assert_eq!(process.think_mean(), Some(20), "capped at 19, and rounded");
        assert_eq!(others.think_mean, 0, "256*4/8 of 256");
    }

    #[test]
    fn one_jump_in_four_keeps_the_mean_seek_large() {
        // Four adjacent reads, then a jump of 1.5 million sectors: the case of the benchmark of 2004.
        let (mut process, mut others) = (AnticipatedProcess::default(), Newcomers::default());
        let mut at = 0;
        for round in 0..100u64 {
            for _ in 0..4 {
                process.submitted(0, at, at + 8, 19, &mut others);
                at += 8;
            }
            at = (round + 1) * 1_500_000;
        }
        let mean = process.seek_mean().unwrap();
        assert!((100_000..400_000).contains(&mean), "{mean}");
    }
}
