//! Errors that phases passed over because their workloads say so: one sentence per phase with their number and the first one.

use crate::section::full_title;
use fathom_record::Run;
use fathom_record::passed::passed_over;

pub(crate) fn sentences(run: &Run) -> impl Iterator<Item = String> + '_ {
    run.phases.iter().filter_map(|phase| {
        let workers = phase.repetitions.iter().flat_map(|r| &r.workers);
        let sentence = passed_over(workers.filter_map(|w| w.passed.as_ref()))?;
        Some(format!("{}: {sentence}", full_title(phase)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use fathom_record::{OpError, PassedOver};

    #[test]
    fn a_phase_that_went_on_behind_errors_says_so() {
        let mut run = samples::engine_run();
        assert_eq!(sentences(&run).count(), 0);
        run.phases[0].repetitions[0].workers[0].passed = Some(PassedOver {
            errors: 16,
            writes: 16,
            first: OpError { message: "cannot write f".into(), ..OpError::default() },
            ..PassedOver::default()
        });
        let sentences: Vec<String> = sentences(&run).collect();
        assert_eq!(sentences.len(), 1);
        assert!(
            sentences[0].ends_with(": 16 errors were passed over, the first: cannot write f"),
            "{sentences:?}"
        );
        let shown = crate::story::Story::of(&run);
        assert!(format!("{shown:?}").contains("16 errors were passed over"));
    }
}
