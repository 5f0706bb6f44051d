//! Runs that did not end as they should: with such on a side, a gate may find a regression, but cannot say that there is none.

use super::Side;
use super::layout::Layout;
use crate::history::counted;
use fathom_record::{Run, Status};

/// Code of the doubt that a comparison writes on its last run when it is ended by a signal or an error, not by its plan.
pub const ENDED_EARLY: &str = "comparison-ended-early";

/// Each in a clause.
pub(super) fn of(a: &Side<'_>, b: &Side<'_>, layout: &Layout) -> Vec<String> {
    // A sweep or a comparison leaves out what was interrupted, and runs it again or does with less; what fails, it cannot mend.
    let counts = |run: &Run| match run.status {
        Status::Completed => false,
        Status::Failed => true,
        Status::Running | Status::Interrupted => !layout.leaves_out_incomplete,
    };
    let mut found = Vec::new();
    for (letter, side) in [("A", a), ("B", b)] {
        let bad = side.runs.iter().filter(|r| counts(r)).count();
        if bad > 0 {
            found.push(format!("{bad} of {} of {letter} did not end well", counted(side.runs.len(), "run")));
        }
    }
    let ends = a.runs.iter().chain(&b.runs).flat_map(|r| &r.doubts).filter(|d| d.code == ENDED_EARLY);
    found.extend(ends.map(|d| d.sentence.trim_end_matches('.').to_owned()));
    found
}
