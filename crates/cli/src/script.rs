//! What a run executes next. A workload runs in its order and repetitions; a survey decides by the results so far.

use fathom_record::{OpError, Run};
use fathom_workload::Workload;

pub trait Script {
    /// The current workload. Existing phases and file sets keep their content and index.
    fn workload(&self) -> &Workload;

    /// The phase to execute next and its repetition, given the results so far; `None` ends the run. May add phases
    /// first.
    fn next(&mut self, run: &Run) -> Option<(usize, u32)>;

    /// Whether a failed operation is tolerated rather than failing the run.
    fn bears(&self, _error: &OpError) -> bool {
        false
    }
}

/// All phases in order, repeated as the workload says.
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
