//! Noise of the machine: from A against itself before the comparison, or, if not requested, from its first quads.
//! Either way, reports how many runs and how much time it takes to detect the requested change.

use super::{CompareEnd, CompareSession, NOISE_QUADS, QuadRun, compared, letters};
use crate::commands::compare::run::progress::CompareProgress;
use crate::commands::sweep::stage::StopReason;
use crate::console;
use fathom_compare::sequential::FIRST_LOOK;
use fathom_compare::wording;
use fathom_report::compared::{Compared, ComparedRow, Noise, NoiseOf, SessionPart};

impl CompareSession<'_> {
    /// Measures A against itself. Returns why nothing can be compared, or what was found if there is no B.
    pub(super) fn calibrate(
        &mut self,
        progress: &mut CompareProgress,
    ) -> Result<Option<CompareEnd>, StopReason> {
        for (number, order) in self.noise_orders.clone().iter().enumerate() {
            if self.budget_holds_no_quad() {
                return Ok(Some(CompareEnd::Complete(format!(
                    "--budget has no time left for another quad; {number} of {NOISE_QUADS} of A against itself are done, and nothing was compared"
                ))));
            }
            let words = letters(order);
            progress.quad(
                "noise: quad",
                number + 1,
                &NOISE_QUADS.to_string(),
                &words,
                self.left(4 * (NOISE_QUADS - number)),
            );
            for (place, side) in order.iter().enumerate() {
                if self.request.warm_up == 0 && number == 0 && !self.budget_holds(4 - place) {
                    return Ok(Some(CompareEnd::Complete(format!(
                        "--budget is too short for the first of {NOISE_QUADS} quads of A against itself; nothing was compared"
                    ))));
                }
                let turn = QuadRun {
                    part: SessionPart::Noise,
                    cell: 0,
                    side: *side,
                    quad: number + 1,
                    place: place + 1,
                    order: &words,
                };
                let runs = self.turn(turn, progress)?;
                self.noise[*side].extend(runs);
            }
        }
        let found = compared(&self.plan, &self.noise, &self.asked);
        let orders: Vec<String> = self.noise_orders.iter().map(|o| letters(o)).collect();
        let of = |row: &ComparedRow| NoiseOf {
            cell: row.cell.clone(),
            operation: row.operation.clone(),
            metric: row.metric.clone(),
            values: in_order(&row.a, &row.b, &orders),
        };
        let figures: Vec<NoiseOf> = found.rows.iter().filter(|r| self.plan.watches(r)).map(of).collect();
        if figures.is_empty() {
            return Err(StopReason::Failed(
                "A against itself has no figure that could be watched: the noise is not known, and nothing was compared".into(),
            ));
        }
        let noise = Noise { most_quads: self.quads_that_fit(), figures, orders };
        let (mut passed, mut failed) = (0, Vec::new());
        for figure in &noise.figures {
            let Some(gate) = noise.gate(figure, self.plan.effect, self.plan.threshold) else {
                let message = format!(
                    "{}, {}: not every run of A has it, or it is 0: its noise is not known",
                    figure.cell, figure.metric
                );
                if noise.figures.len() == 1 || self.plan.figure.is_some() {
                    return Err(StopReason::Failed(format!("{message}, and nothing was compared")));
                }
                progress.warn(&message);
                continue;
            };
            let needed = fathom_compare::noise::quads_needed(gate.cv, self.plan.effect, self.plan.threshold);
            let takes = needed.map_or(String::new(), |n| format!(" {}", self.takes(n)));
            let message =
                format!("{}, {}: {}{takes}", figure.cell, figure.metric, wording::noise_gate(&gate));
            if gate.passed() {
                passed += 1;
                progress.say(&message);
            } else {
                failed.push(message);
            }
        }
        self.plan.noise = Some(noise);
        if !self.request.alone && self.budget_holds_no_quad() {
            return Ok(Some(CompareEnd::Complete(
                "the noise was measured, and --budget has no time left for a quad of the comparison".into(),
            )));
        }
        if passed == 0 && !failed.is_empty() {
            return Ok(Some(CompareEnd::TooNoisy(failed.join("\n"))));
        }
        // A cell that is too noisy does not silence the others.
        for message in &failed {
            progress.warn(message);
        }
        if self.request.alone {
            return Ok(Some(CompareEnd::Complete(
                "the noise was measured; there is nothing to compare".into(),
            )));
        }
        if !failed.is_empty() {
            progress.warn(&format!(
                "{} of {} figures get no verdict of faster, slower or the same, because of their noise; the others are compared",
                failed.len(),
                failed.len() + passed
            ));
        }
        Ok(None)
    }

    /// "A change of 3 % takes about 25 quads: 100 runs, about 4 min."
    fn takes(&self, quads: u32) -> String {
        let time = self
            .left(4 * quads as usize)
            .map_or(String::new(), |t| format!(", about {}", console::duration(t)));
        format!(
            "A change of {} % takes about {quads} quads: {} runs{time}.",
            wording::short(self.plan.effect * 100.0),
            4 * quads
        )
    }

    /// Reports what the first three quads show: whether the requested change can be detected within the budget.
    pub(super) fn tell_noise(&self, found: &Compared, progress: &CompareProgress) {
        let fit = self.quads_that_fit().saturating_add(FIRST_LOOK as u32).min(self.orders.len() as u32);
        for scatter in found.session.iter().flat_map(|s| &s.noise) {
            let of = format!("{}, {}", scatter.cell, scatter.metric);
            match scatter.quads_needed {
                Some(needed) if needed > fit => progress.warn(&format!(
                    "{of}: single runs scatter by {} %. {} This comparison may do {fit}: it may well end undecided. Longer runs scatter \
                     less; --max-quads and --budget allow more of them.",
                    wording::short(scatter.cv * 100.0),
                    self.takes(needed)
                )),
                _ => progress.say(&format!("{of}: {}", scatter.sentence)),
            }
        }
    }
}

/// The values of both sides in measuring order.
pub(super) fn in_order(a: &[f64], b: &[f64], orders: &[String]) -> Vec<f64> {
    let (mut a, mut b) = (a.iter(), b.iter());
    let letters = orders.iter().flat_map(|o| o.chars());
    letters.filter_map(|c| if c == 'A' { a.next() } else { b.next() }).copied().collect()
}
