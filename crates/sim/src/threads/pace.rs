//! What comes before and after an operation: computing, waiting for its time, bursts, and the amount that all workers of a phase share.

use super::plan::Plan;
use super::ratio;
use super::stop::Together;
use crate::machine::Machine;
use fathom_workload::ops::{Arrivals, Early, Op, OpKind};
use fathom_workload::{RateOf, WhenStopped};
use std::sync::atomic::{AtomicU64, Ordering};

/// Longest wait before a stop is looked for.
const NAP_NS: u64 = 50_000_000;

/// Whether an operation may be issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waited {
    /// It may.
    Enough,
    /// A stop came, the time is over, or nothing is left of what all share.
    Cut,
}

/// Pause and rate of one worker.
pub(super) struct Pace<'a> {
    think_ns: u64,
    think_counted: bool,
    think_asleep: bool,
    think_busy_ns: u64,
    think_every: u64,
    until_think: u64,
    /// Also after so long a time since the last pause ended, which was then.
    think_spell_ns: u64,
    think_since_ns: u64,
    schedule: Option<Schedule<'a>>,
    /// Syncs have their times, too: those of a list.
    syncs_are_due: bool,
    /// What has times.
    rate_of: RateOf,
    /// Where that is one kind of a mix, the other is done meanwhile.
    gives_way: bool,
    burst_bytes: u64,
    burst_left: u64,
    burst_pause_ns: u64,
}

/// When operations are due.
pub(super) struct Schedule<'a> {
    arrivals: Arrivals,
    common: Option<&'a AtomicU64>,
    last_ns: u64,
    /// No due time is held.
    open: bool,
    epoch_ns: u64,
    due_ns: u64,
    grace_ns: u64,
    behind_since_ns: u64,
}

impl<'a> Schedule<'a> {
    const LEAST_GRACE_NS: f64 = 1e6;

    /// By a rate, or by what a list of operations says.
    fn of(plan: &Plan<'a>, epoch_ns: u64) -> Option<Self> {
        const GRACE_GAPS: f64 = 10.0;
        if let Some(rate) = &plan.stream.pace.rate {
            let common = plan.pool.as_ref().filter(|_| rate.common).map(|p| &p.common.due);
            let grace_ns = (GRACE_GAPS * 1e9 / rate.operations_per_s).max(Self::LEAST_GRACE_NS) as u64;
            return Some(Self::new(
                Arrivals::new(rate, plan.stream.seed_or(plan.seed), plan.place),
                common,
                epoch_ns,
                grace_ns,
            ));
        }
        let listed = Arrivals::listed(&plan.stream.access)?;
        Some(Self::new(listed, None, epoch_ns, Self::LEAST_GRACE_NS as u64))
    }

    fn new(arrivals: Arrivals, common: Option<&'a AtomicU64>, epoch_ns: u64, grace_ns: u64) -> Self {
        Self { arrivals, common, last_ns: 0, open: true, epoch_ns, due_ns: 0, grace_ns, behind_since_ns: 0 }
    }

    fn next_due_ns(&mut self) -> u64 {
        let due_ns = self.arrivals.next_due_ns();
        let Some(common) = self.common else { return due_ns };
        let gap_ns = due_ns.saturating_sub(std::mem::replace(&mut self.last_ns, due_ns));
        common.fetch_add(gap_ns, Ordering::Relaxed).saturating_add(gap_ns)
    }

    /// When the operation in hand is due.
    pub fn due(&mut self) -> u64 {
        if std::mem::replace(&mut self.open, false) {
            self.due_ns = self.epoch_ns.saturating_add(self.next_due_ns());
        }
        self.due_ns
    }

    /// It was issued, and moves so many bytes: the next one's turn. Gives how long operation after operation has been late by now.
    pub fn issued(&mut self, now: u64, bytes: u64) -> u64 {
        self.arrivals.moves(bytes);
        let behind_ns = if now.saturating_sub(self.due_ns) <= self.grace_ns {
            self.behind_since_ns = 0;
            0
        } else {
            if self.behind_since_ns == 0 {
                self.behind_since_ns = self.due_ns;
            }
            now - self.behind_since_ns
        };
        if self.common.is_some() {
            self.open = true;
        } else {
            self.due_ns = self.epoch_ns.saturating_add(self.next_due_ns());
        }
        behind_ns
    }
}

/// What an operation had to do with its worker's pace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Paused {
    /// Time that is not to be counted.
    pub ns: u64,
}

impl<'a> Pace<'a> {
    /// For a worker that was released at `released_ns`.
    pub fn of(plan: &Plan<'a>, released_ns: u64) -> Self {
        let pace = &plan.stream.pace;
        let burst = pace.burst;
        Self {
            think_ns: pace.think.map_or(0, |t| t.time.0),
            think_counted: pace.think.is_some_and(|t| t.counted),
            think_asleep: pace.think.is_some_and(|t| t.asleep),
            think_busy_ns: pace.think.map_or(0, |t| t.busy.0),
            think_every: pace.think.map_or(1, |t| t.every),
            until_think: pace.think.map_or(1, |t| t.every),
            think_spell_ns: pace.think.map_or(0, |t| t.spell.0),
            think_since_ns: released_ns,
            schedule: Schedule::of(plan, released_ns),
            syncs_are_due: plan.stream.access.is_timed(),
            rate_of: plan.stream.rate_of(),
            gives_way: pace.rate_of != RateOf::All,
            burst_bytes: burst.map_or(0, |b| b.bytes.0),
            burst_left: burst.map_or(u64::MAX, |b| b.bytes.0),
            burst_pause_ns: burst.map_or(0, |b| b.pause.0),
        }
    }

    /// The schedule, if there is a rate.
    pub fn schedule(&mut self) -> Option<&mut Schedule<'a>> {
        self.schedule.as_mut()
    }

    /// Whether anything is to be done before or after operations, beside drawing on a common amount.
    pub fn has_rate(&self) -> bool {
        self.schedule.is_some()
    }

    /// The pause before the next read or write.
    fn take_think_ns(&mut self, now: u64) -> u64 {
        let by_time =
            self.think_spell_ns > 0 && now.saturating_sub(self.think_since_ns) >= self.think_spell_ns;
        let by_number = match self.until_think {
            0 => false,
            1 => true,
            _ => {
                self.until_think -= 1;
                false
            }
        };
        if !by_time && !by_number {
            return 0;
        }
        self.until_think = self.think_every;
        self.think_since_ns = now.saturating_add(self.think_ns);
        self.think_ns
    }

    /// What is not due now, where only one kind of a mix has a rate.
    pub fn early(&mut self, now: u64) -> Option<Early> {
        let kind = match self.rate_of {
            _ if !self.gives_way => return None,
            RateOf::All => return None,
            RateOf::Reads => Early::Reads,
            RateOf::Writes => Early::Writes,
        };
        (self.schedule.as_mut()?.due() > now).then_some(kind)
    }

    /// Whether the operation has a place in the schedule. A sync has only one in a list, and what is read back has none.
    pub fn is_paced(&self, op: &Op) -> bool {
        match op.kind {
            OpKind::Sync { .. } | OpKind::Evict => self.syncs_are_due,
            OpKind::Read => self.rate_of != RateOf::Writes,
            OpKind::Write | OpKind::Trim => self.rate_of != RateOf::Reads,
        }
    }

    /// Computes and waits until an operation may be issued.
    pub async fn before(
        &mut self,
        machine: &Machine,
        plan: &Plan<'_>,
        together: &Together,
        op: &Op,
        deadline_ns: u64,
        paused: &mut Paused,
    ) -> Waited {
        let due_ns = self.schedule.as_mut().map(Schedule::due);
        let think_ns =
            if matches!(op.kind, OpKind::Sync { .. }) { 0 } else { self.take_think_ns(machine.now()) };
        let think_ns = think_ns.saturating_add(op.think_ns);
        if think_ns > 0 {
            let from = machine.now();
            let left_ns = deadline_ns.saturating_sub(from);
            if self.think_asleep {
                if self.think_busy_ns > 0 {
                    compute(machine, plan, together, self.think_busy_ns.min(left_ns)).await;
                }
                wait_until(machine, plan, together, from.saturating_add(think_ns), deadline_ns).await;
            } else {
                compute(machine, plan, together, think_ns.min(left_ns)).await;
            }
            if !self.think_counted {
                paused.ns += machine.now() - from;
            }
            if think_ns > left_ns || is_stopped(machine, plan, together) {
                return Waited::Cut;
            }
        }
        if let Some(due) = due_ns.filter(|_| self.is_paced(op))
            && wait_until(machine, plan, together, due, deadline_ns).await == Waited::Cut
        {
            return Waited::Cut;
        }
        if matches!(op.kind, OpKind::Sync { .. }) {
            return Waited::Enough;
        }
        ratio::wait(machine, plan, together, deadline_ns).await
    }

    /// What comes after an operation that was issued at `issued_ns`: when it was due, how far behind the worker is, and a pause.
    pub async fn after(
        &mut self,
        machine: &Machine,
        plan: &Plan<'_>,
        together: &Together,
        op: &Op,
        deadline_ns: u64,
        paused: &mut Paused,
    ) {
        self.burst_left = self.burst_left.saturating_sub(u64::from(op.bytes));
        if self.burst_bytes == 0 || self.burst_left > 0 {
            return;
        }
        self.burst_left = self.burst_bytes;
        plan.fsync(machine, op.file, false).await;
        let from = machine.now();
        let until_ns = from.saturating_add(self.burst_pause_ns);
        wait_until(machine, plan, together, until_ns, deadline_ns).await;
        paused.ns += machine.now() - from;
    }
}

/// Whether a stop concerns this worker.
pub(super) fn is_stopped(machine: &Machine, plan: &Plan<'_>, together: &Together) -> bool {
    together.look(machine.now());
    together.failed.get()
        || together.rule.get()
        || plan.stream.when_stopped != WhenStopped::Ignore
            && (together.first_done.get()
                || plan.company.is_some_and(|company| together.companies.borrow().contains(&company)))
}

/// Computes for so long, unless a stop comes before.
async fn compute(machine: &Machine, plan: &Plan<'_>, together: &Together, mut ns: u64) {
    while ns > 0 && !is_stopped(machine, plan, together) {
        let part = ns.min(NAP_NS);
        machine.compute(part).await;
        ns -= part;
    }
}

/// Waits until a moment, unless a stop or the end of the time comes before.
pub(super) async fn wait_until(
    machine: &Machine,
    plan: &Plan<'_>,
    together: &Together,
    at_ns: u64,
    deadline_ns: u64,
) -> Waited {
    loop {
        let now = machine.now();
        if is_stopped(machine, plan, together) || now >= deadline_ns {
            return Waited::Cut;
        }
        if now >= at_ns {
            return Waited::Enough;
        }
        machine.sleep_until(at_ns.min(deadline_ns).min(now + NAP_NS)).await;
    }
}

/// Takes an operation from what all workers share; false if nothing is left.
pub(super) fn take(plan: &Plan<'_>, together: &Together, op: &Op) -> bool {
    if matches!(op.kind, OpKind::Sync { .. }) {
        return true;
    }
    let within = |limit: Option<u64>, taken: &std::cell::Cell<u64>, amount: u64| {
        let before = taken.get();
        taken.set(before.saturating_add(amount));
        limit.is_none_or(|limit| before < limit)
    };
    within(plan.operations, &together.operations, 1)
        && within(plan.bytes, &together.bytes, u64::from(op.bytes))
}
