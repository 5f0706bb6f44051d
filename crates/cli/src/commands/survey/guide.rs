//! Selects the next phase. In the first round the parts run one after another and adapt to what they measure; later
//! rounds repeat everything while time permits; the long write ends the survey.

use super::MIB;
use super::depth::Search;
use super::plan::SurveyPlan;
use super::surface::Surfaces;
use super::{budget, ladder, mix, scaling, small, sustained};
use crate::script::Script;
use fathom_record::{OpError, Run};
use fathom_workload::{Duration, Workload};
use std::collections::VecDeque;
use std::time::Instant;

enum SurveyPart {
    /// Phases known in advance.
    Known(fn(&mut SurveyPlan<'_>)),
    Depth(Search),
    Surface(Option<Surfaces>),
}

pub struct Guide<'a> {
    plan: SurveyPlan<'a>,
    parts: VecDeque<SurveyPart>,
    /// Phases added but not executed yet.
    queue: VecDeque<usize>,
    started: Instant,
    /// Last duration of each phase, with everything around it.
    costs: Vec<std::time::Duration>,
    running: Option<(usize, Instant)>,
    round: u32,
    /// Phases of the first round.
    repeated: usize,
    at: usize,
    ended: bool,
    /// Every cell of the surfaces, and nothing else.
    dense: bool,
}

impl<'a> Guide<'a> {
    pub fn new(mut plan: SurveyPlan<'a>) -> Self {
        ladder::add(&mut plan);
        let parts = [
            SurveyPart::Depth(Search::default()),
            SurveyPart::Known(small::add),
            SurveyPart::Known(scaling::add),
            SurveyPart::Known(mix::add),
            SurveyPart::Surface(None),
        ];
        Self::with(plan, parts.into())
    }

    /// All cells of the surfaces, for a comparison with sampling.
    pub fn dense(mut plan: SurveyPlan<'a>) -> Self {
        plan.workload.repetitions = 2;
        plan.effort.rounds = 2;
        if let Some(surfaces) = Surfaces::new(&plan) {
            let _ = surfaces.all(&mut plan);
        }
        Self { dense: true, ..Self::with(plan, VecDeque::new()) }
    }

    fn with(plan: SurveyPlan<'a>, parts: VecDeque<SurveyPart>) -> Self {
        Self {
            queue: (0..plan.workload.phases.len()).collect(),
            parts,
            plan,
            started: Instant::now(),
            costs: Vec::new(),
            running: None,
            round: 0,
            repeated: 0,
            at: 0,
            ended: false,
            dense: false,
        }
    }

    fn explore(&mut self, run: &Run) -> Option<usize> {
        loop {
            let late = !self.dense && self.started.elapsed() >= self.plan.effort.total;
            if late && self.plan.workload.phases.len() > self.queue.len() + 1 {
                self.queue.clear();
            }
            if let Some(number) = self.queue.pop_front() {
                if self.dense || budget::allows(&self.plan, number, run) {
                    return Some(number);
                }
                continue;
            }
            let passed = self.started.elapsed();
            let hurry = passed >= self.plan.effort.first_round();
            // On a busy machine or slow storage the rest is skipped; the record shows it.
            if passed >= self.plan.effort.rounds_time() {
                self.parts.clear();
            }
            let found = match self.parts.front_mut()? {
                SurveyPart::Known(add) => {
                    let from = self.plan.workload.phases.len();
                    add(&mut self.plan);
                    self.queue.extend(from..self.plan.workload.phases.len());
                    None
                }
                SurveyPart::Depth(search) => search.next(&mut self.plan, run),
                SurveyPart::Surface(surfaces) => {
                    if surfaces.is_none() {
                        *surfaces = Surfaces::new(&self.plan);
                    }
                    surfaces.as_mut().and_then(|s| s.next(&mut self.plan, run, hurry))
                }
            };
            if let Some(number) = found {
                if budget::allows(&self.plan, number, run) {
                    return found;
                }
                if let Some(SurveyPart::Surface(Some(surfaces))) = self.parts.front_mut() {
                    surfaces.leave(&mut self.plan, number);
                    continue;
                }
            }
            self.parts.pop_front();
        }
    }

    /// The next phase that fits the remaining time.
    fn repeat(&mut self, run: &Run) -> Option<usize> {
        let all = self.plan.effort.rounds_time();
        while self.round < self.plan.effort.rounds {
            let left = all.saturating_sub(self.started.elapsed());
            while self.at < self.repeated {
                let number = self.at;
                self.at += 1;
                let fits = self.dense || self.costs.get(number).is_some_and(|cost| *cost <= left);
                let measured = run.phases.iter().any(|p| p.seq as usize == number && !p.failed());
                if fits && measured && (self.dense || budget::allows(&self.plan, number, run)) {
                    return Some(number);
                }
            }
            self.at = 0;
            self.round += 1;
        }
        None
    }

    fn last(&mut self, run: &Run) -> Option<usize> {
        if std::mem::replace(&mut self.ended, true) || self.dense {
            return None;
        }
        let planned = self.plan.effort.sustained;
        let left = self.plan.effort.total.saturating_sub(self.started.elapsed());
        let left = Duration(u64::try_from(left.as_nanos()).unwrap_or(u64::MAX));
        let time = left.clamp(Duration(planned.0 / 2), planned);
        let most = self.plan.effort.most_written.saturating_sub(budget::written(&self.plan, run)).max(MIB);
        sustained::add(&mut self.plan, time, most)
    }

    fn note_cost(&mut self) {
        let Some((number, since)) = self.running.take() else { return };
        if self.costs.len() <= number {
            self.costs.resize(number + 1, std::time::Duration::MAX);
        }
        if let Some(cost) = self.costs.get_mut(number) {
            *cost = since.elapsed();
        }
    }
}

impl Script for Guide<'_> {
    fn workload(&self) -> &Workload {
        &self.plan.workload
    }

    fn next(&mut self, run: &Run) -> Option<(usize, u32)> {
        self.note_cost();
        let mut found = if self.round == 0 { self.explore(run) } else { None };
        if found.is_none() && self.round == 0 {
            self.round = 1;
            self.repeated = self.plan.workload.phases.len();
        }
        let mut repetition = 0;
        if found.is_none() && !self.ended {
            found = self.repeat(run);
            repetition = self.round;
        }
        if found.is_none() {
            found = self.last(run);
            repetition = 0;
        }
        let number = found?;
        self.running = Some((number, Instant::now()));
        Some((number, repetition))
    }

    fn bears(&self, error: &OpError) -> bool {
        // Unsupported by this storage; a full disk or a failing device is another matter.
        [libc::EINVAL, libc::EOPNOTSUPP].contains(&error.errno)
    }
}
