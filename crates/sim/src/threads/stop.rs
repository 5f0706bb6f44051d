//! State shared by the running workers of a phase: the stop flag, the used part of a common amount, the interval series, and the rounds
//! of a steady state.

use super::plan::WorkerPlan;
use super::ratio::Progress;
use super::steady::Rounds;
use super::warming::Warming;
use fathom_record::{Histogram, Interval, OpKind, SteadyState};
use fathom_workload::drive::Taken;
use fathom_workload::{Failed, Steady};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

pub(crate) struct PhaseControl {
    /// The first worker is done, and the others must stop counting.
    pub first_done: Cell<bool>,
    /// Companies stopped by one of their workers.
    pub companies: RefCell<BTreeSet<u32>>,
    /// A worker failed: all must leave.
    pub failed: Cell<bool>,
    /// A failing worker leaves alone.
    fails_alone: bool,
    /// A flow has reached the end of the phase, or the phase is steady.
    pub rule: Cell<bool>,
    /// Workers still running.
    pub alive: Cell<usize>,
    /// Used part of the phase's common amount.
    pub taken: Taken,
    /// Bytes the device had written when the last clock so far stopped.
    pub written_bytes: Cell<u64>,
    /// Progress of workers that keep a ratio.
    pub progress: Progress,
    /// Bytes moved by workers in their warm-up.
    pub warming: Warming,
    series: Option<RefCell<Series>>,
    rounds: Option<RefCell<Rounds>>,
}

struct Series {
    width_ns: u64,
    begin_ns: u64,
    /// Start of the series: when the first worker begins to count.
    began: bool,
    cells: Vec<Cells>,
}

#[derive(Default)]
struct Cells {
    ops: u64,
    bytes: u64,
    kinds: BTreeMap<OpKind, (Vec<u64>, u64)>,
}

impl Series {
    /// The interval at a time. An operation that completes at the end of an interval belongs to it.
    fn cell(&mut self, now: u64) -> &mut Cells {
        let at = (now.saturating_sub(self.begin_ns).saturating_sub(1) / self.width_ns) as usize;
        if self.cells.len() <= at {
            self.cells.resize_with(at + 1, Cells::default);
        }
        &mut self.cells[at]
    }
}

impl PhaseControl {
    /// For `workers` workers, with intervals of `interval_ns` (0: none); `steady` ends the phase once it is steady.
    pub fn new(interval_ns: u64, steady: Option<Steady>, workers: usize) -> Self {
        let series = Series { width_ns: interval_ns, begin_ns: 0, began: false, cells: Vec::new() };
        Self {
            first_done: Cell::new(false),
            companies: RefCell::default(),
            failed: Cell::new(false),
            fails_alone: false,
            rule: Cell::new(false),
            alive: Cell::new(0),
            taken: Taken::default(),
            written_bytes: Cell::new(0),
            progress: Progress::default(),
            warming: Warming::default(),
            series: (interval_ns > 0).then(|| RefCell::new(series)),
            rounds: steady.map(|rule| RefCell::new(Rounds::new(rule, workers))),
        }
    }

    /// Sets the reaction to an error.
    #[must_use]
    pub fn failing(self, failed: Failed) -> Self {
        Self { fails_alone: failed == Failed::Worker, ..self }
    }

    /// For workers that may keep a ratio to each other, or warm up together.
    #[must_use]
    pub fn among(self, plans: &[Rc<WorkerPlan<'_>>]) -> Self {
        let plans = || plans.iter().map(|plan| &**plan);
        Self { progress: Progress::of(plans()), warming: Warming::of(plans()), ..self }
    }

    /// A worker is done and ends others: all, or those of its company.
    pub fn is_done(&self, ends: Option<u32>) {
        match ends {
            Some(company) => drop(self.companies.borrow_mut().insert(company)),
            None => self.first_done.set(true),
        }
    }

    /// A worker failed.
    pub fn has_failed(&self) {
        self.failed.set(!self.fails_alone);
    }

    /// Whether the phase is over for flows.
    pub fn is_over(&self) -> bool {
        self.failed.get() || self.first_done.get() || self.rule.get()
    }

    /// Ends the phase if it is steady by now, or has been waited for long enough.
    pub fn look(&self, now: u64) {
        if let Some(rounds) = &self.rounds
            && rounds.borrow_mut().look(now)
        {
            self.rule.set(true);
        }
    }

    /// Outcome of waiting for a steady state.
    pub fn steadiness(&self) -> Option<SteadyState> {
        self.rounds.as_ref().map(|rounds| rounds.borrow().state())
    }

    /// Counts an operation in the round it completes in.
    fn in_round(&self, now: u64, latency_ns: u64, bytes: u64) {
        self.look(now);
        if let Some(rounds) = &self.rounds {
            rounds.borrow_mut().counted(now, latency_ns, bytes);
        }
    }

    /// A worker begins to count.
    pub fn counting(&self, now: u64) {
        if let Some(rounds) = &self.rounds {
            rounds.borrow_mut().counting(now);
        }
        if let Some(series) = &self.series {
            let mut series = series.borrow_mut();
            if !std::mem::replace(&mut series.began, true) {
                series.begin_ns = now;
            }
        }
    }

    /// A counted operation has completed.
    pub fn counted(&self, now: u64, op: OpKind, latency_ns: u64, bytes: u64) {
        if matches!(op, OpKind::Read | OpKind::Write) {
            self.in_round(now, latency_ns, bytes);
        }
        let Some(series) = &self.series else { return };
        let mut series = series.borrow_mut();
        let cell = series.cell(now);
        if matches!(op, OpKind::Read | OpKind::Write) {
            cell.ops += 1;
            cell.bytes += bytes;
        }
        let kind = cell.kinds.entry(op).or_default();
        kind.0.push(latency_ns);
        kind.1 += bytes;
    }

    /// A counted I/O operation of a flow that neither reads nor writes data has completed.
    pub fn counted_other(&self, now: u64, bytes: u64) {
        self.in_round(now, 0, bytes);
        let Some(series) = &self.series else { return };
        let mut series = series.borrow_mut();
        let cell = series.cell(now);
        cell.ops += 1;
        cell.bytes += bytes;
    }

    /// The series until the last clock stopped. As in a real run, a final piece shorter than half an interval is merged into the one
    /// before.
    pub fn intervals(&self, first_ns: u64, end_ns: u64) -> Vec<Interval> {
        let Some(series) = &self.series else { return Vec::new() };
        let Series { width_ns, begin_ns, cells, .. } = &mut *series.borrow_mut();
        let (width, begin) = (*width_ns, *begin_ns);
        let length = end_ns.saturating_sub(begin);
        let whole = (length / width) as usize;
        let short = length % width < width / 2 && whole > 0;
        let count = if length == 0 { 0 } else { whole + usize::from(!short && length % width > 0) };
        cells.resize_with(cells.len().max(count), Cells::default);
        if count > 0 {
            for extra in cells.split_off(count) {
                let last = &mut cells[count - 1];
                last.ops += extra.ops;
                last.bytes += extra.bytes;
                for (op, (latencies, bytes)) in extra.kinds {
                    let kind = last.kinds.entry(op).or_default();
                    kind.0.extend(latencies);
                    kind.1 += bytes;
                }
            }
        }
        let mut all = Vec::with_capacity(count);
        for (n, cell) in cells.drain(..).take(count).enumerate() {
            let from = begin + n as u64 * width;
            let to = if n + 1 == count { end_ns } else { from + width };
            let latencies = cell.kinds.iter();
            all.push(Interval {
                end_ns: to.saturating_sub(first_ns),
                width_ns: to - from,
                ops: cell.ops,
                bytes: cell.bytes,
                latencies: latencies
                    .map(|(&op, (ns, _))| (op, Histogram::from_values(ns.iter().copied())))
                    .collect(),
                moved: cell.kinds.iter().filter(|(_, k)| k.1 > 0).map(|(&op, k)| (op, k.1)).collect(),
            });
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_worker_stops_the_others_unless_told_not_to() {
        let over = |failed| {
            let together = PhaseControl::new(0, None, 2).failing(failed);
            together.has_failed();
            together.is_over()
        };
        assert_eq!([Failed::Run, Failed::Phase, Failed::Worker].map(over), [true, true, false]);
    }

    #[test]
    fn intervals_add_up_and_a_short_end_belongs_to_the_last() {
        let together = PhaseControl::new(100, None, 1);
        together.counting(50);
        for end in [60, 150, 151, 340, 355] {
            together.counted(end, OpKind::Read, 7, 10);
        }
        together.counted(355, OpKind::Sync, 9, 0);
        let all = together.intervals(0, 360);
        let ends: Vec<(u64, u64, u64)> = all.iter().map(|i| (i.end_ns, i.width_ns, i.ops)).collect();
        assert_eq!(ends, [(150, 100, 2), (250, 100, 1), (360, 110, 2)]);
        assert_eq!(all[2].latencies.len(), 2);
        assert_eq!(all[2].moved, [(OpKind::Read, 20)]);
    }
}
