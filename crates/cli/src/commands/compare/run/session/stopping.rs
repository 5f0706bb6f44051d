//! Looks at the figures once after each quad, by a rule fixed before the first.

use super::CompareSession;
use crate::commands::compare::run::progress::CompareProgress;
use crate::commands::sweep::stage::StopReason;
use fathom_compare::quads::effect::half_width;
use fathom_compare::sequential::{Decision, FIRST_LOOK, Precision, Spending};
use fathom_report::compared::{ComparedRow, Stopping, first_look};

impl CompareSession<'_> {
    /// The only look after a quad. Returns why to stop, if so.
    pub(super) fn look(
        &self,
        quads: usize,
        progress: &CompareProgress,
    ) -> Result<Option<String>, StopReason> {
        let found = self.compared();
        let watched: Vec<&ComparedRow> = found.rows.iter().filter(|r| self.plan.watches(r)).collect();
        if watched.is_empty() {
            return Err(StopReason::Failed("the sides have no figure in common".into()));
        }
        if quads == FIRST_LOOK && self.plan.noise.is_none() {
            self.tell_noise(&found, progress);
        }
        let first = first_look(watched.len());
        let seen: Vec<Watched> = watched.into_iter().map(Watched::of).collect();
        Ok(enough(&self.plan.stopping, &seen, quads, first))
    }
}

/// One figure as a look sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watched {
    pub(super) p: Option<f64>,
    pub(super) half_width: Option<f64>,
}

impl Watched {
    fn of(row: &ComparedRow) -> Self {
        let bounds = row.effect.filter(|_| row.ratio().is_some()).and_then(|e| Some((e.low?, e.high?)));
        Self { p: row.p, half_width: bounds.map(|(low, high)| half_width(low, high)) }
    }
}

/// Whether the rule ends the comparison now. It must hold for every watched figure, so that none stops because of
/// another.
pub(super) fn enough(rule: &Stopping, watched: &[Watched], quads: usize, first: usize) -> Option<String> {
    if quads < first {
        return None;
    }
    let budget = rule.most_quads() as usize;
    // Nothing is left to stop at the last look: the quads are used up.
    if quads >= budget {
        return None;
    }
    match *rule {
        Stopping::Spending { early, last, .. } => {
            let rule = Spending { early, last, budget };
            let ends = watched.iter().all(|s| rule.decide(quads, s.p) == Decision::Changed);
            ends.then(|| format!("the result is certain after {quads} quads"))
        }
        Stopping::Precision { half_width, .. } => {
            let rule = Precision { half_width, budget };
            let ends = watched.iter().all(|s| rule.decide(quads, s.half_width) == Decision::Test);
            ends.then(|| format!("the interval is narrow enough after {quads} quads"))
        }
    }
}
