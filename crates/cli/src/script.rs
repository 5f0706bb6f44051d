//! What a run executes next. A workload is executed in its order, as often as it says; a survey decides by what was measured so far.

use fathom_record::{OpError, Run};
use fathom_workload::Workload;

/// Says what comes next.
pub trait Script {
    /// The workload as it is now. Phases and file sets that are there stay as they are and where they are.
    fn workload(&self) -> &Workload;

    /// The phase to execute next and its repetition, by what was measured so far; `None` ends the run. It may add phases first.
    fn next(&mut self, run: &Run) -> Option<(usize, u32)>;

    /// Whether an operation that failed is no failure of the run.
    fn bears(&self, _error: &OpError) -> bool {
        false
    }
}

/// All phases in order, and all of it as often as the workload has repetitions.
pub struct InOrder<'w> {
    workload: &'w Workload,
    done: u64,
}

impl<'w> InOrder<'w> {
    pub fn of(workload: &'w Workload) -> Self {
        Self { workload, done: 0 }
    }
}

impl Script for InOrder<'_> {
    fn workload(&self) -> &Workload {
        self.workload
    }

    fn next(&mut self, _run: &Run) -> Option<(usize, u32)> {
        let phases = self.workload.phases.len() as u64;
        if self.done >= phases * u64::from(self.workload.repetitions) {
            return None;
        }
        let turn = ((self.done % phases) as usize, (self.done / phases) as u32);
        self.done += 1;
        Some(turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_workload::Phase;

    #[test]
    fn every_phase_comes_in_every_round() {
        let workload = Workload { repetitions: 2, phases: vec![Phase::default(); 3], ..Workload::default() };
        let mut script = InOrder::of(&workload);
        let turns: Vec<_> = std::iter::from_fn(|| script.next(&Run::default())).collect();
        assert_eq!(turns, [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)]);
        let nothing = Workload { repetitions: 5, ..Workload::default() };
        assert_eq!(InOrder::of(&nothing).next(&Run::default()), None);
    }
}
