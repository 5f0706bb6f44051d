//! Runs that did not end as they should: with one on a side, a gate may find a regression, but cannot show its absence.

use super::Side;
use super::layout::Layout;
use crate::units::counted;
use fathom_record::{Run, Status};

/// Code of the doubt that a comparison writes on its last run when a signal or an error ends it before its plan does.
pub const ENDED_EARLY: &str = "comparison-ended-early";

/// The obstacles, one clause each.
pub(super) fn of(a: &Side<'_>, b: &Side<'_>, layout: &Layout) -> Vec<String> {
    // A sweep or a comparison leaves out interrupted runs and continues with fewer. It cannot repair a failed run, and a run
    // that was killed was not done.
    let counts = |run: &Run| match run.status {
        Status::Completed => false,
        Status::Failed => true,
        Status::Running => layout.session.is_some() || !layout.leaves_out_incomplete,
        Status::Interrupted => !layout.leaves_out_incomplete,
    };
    let mut found = Vec::new();
    for (letter, side) in [("A", a), ("B", b)] {
        let bad = side.runs.iter().filter(|r| counts(r)).count();
        if bad > 0 {
            found.push(format!("{bad} of {} of {letter} did not end well", counted(side.runs.len(), "run")));
        }
    }
    found.extend(early_ends(a, b, layout).map(|why| {
        let mut letters = why.trim_end_matches('.').chars();
        letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
    }));
    found
}

/// Why the comparison that made these runs ended early; ignored when the runs are compared in another way.
pub(super) fn early_ends<'s>(
    a: &'s Side<'_>,
    b: &'s Side<'_>,
    layout: &Layout,
) -> impl Iterator<Item = &'s str> {
    let asked = layout.session.is_some();
    let doubts = a.runs.iter().chain(&b.runs).flat_map(|r| &r.doubts);
    doubts.filter(move |d| asked && d.code == ENDED_EARLY).map(|d| d.sentence.as_str())
}
