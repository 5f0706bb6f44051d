//! What a plain stream does without: computing between operations, rates, bursts, locks, purging, disturbing reads, an operation
//! log, an amount shared by all workers. The loops are compiled once with and once without it.

use super::Hot;
use super::limits::Limits;
use super::priority::Priorities;
use super::ratio::Turn;
use super::written_back::Unsynced;
use crate::backend::Handle;
use crate::buffer::Buffer;
use crate::clock::Clock;
use crate::shared::STOP_FIRST_DONE;
use crate::worker::{Fault, Plan};
use fathom_workload::ops::{Arrivals, Early, Op, OpKind};
use fathom_workload::{Pace, Rate, RateOf, WhenStopped};
use std::sync::atomic::{AtomicU64, Ordering};

/// State of the rare features.
pub(crate) struct Rare<'a> {
    pub think_ns: u64,
    pub think_counted: bool,
    /// The CPU is given away meanwhile.
    pub think_asleep: bool,
    /// How it begins all the same.
    pub think_busy_ns: u64,
    /// Only before every so many operations, and how many come until then.
    pub think_every: u64,
    pub until_think: u64,
    /// With several in flight: those that were issued are counted, not those that are done.
    pub think_by_issue: bool,
    /// Also after so long a time, ns, since the tick at which the last pause ended (0: there was none).
    pub think_spell_ns: u64,
    pub think_since: u64,
    /// In a ratio to other workers.
    pub turn: Option<Turn<'a>>,
    pub limits: Option<Limits>,
    /// What is in flight does not overlap.
    pub apart: bool,
    pub schedule: Option<Schedule<'a>>,
    /// Syncs have their times, too: those of a list.
    pub syncs_are_due: bool,
    /// What has them.
    pub rate_of: RateOf,
    /// Where that is one kind of a mix, the other is done meanwhile.
    pub gives_way: bool,
    /// An fsync (fdatasync: true) is part of every write.
    pub sync_inside: Option<bool>,
    /// What is to be written back after so many writes.
    pub unsynced: Option<Unsynced>,
    pub burst_bytes: u64,
    pub burst_left: u64,
    pub burst_pause_ns: u64,
    pub purge: Option<Buffer>,
    pub lock_records: bool,
    pub disturb_every: u64,
    /// Where disturbing reads go, and how many bytes they read: one, or a page where O_DIRECT demands it.
    pub disturb: Option<Buffer>,
    pub disturb_bytes: usize,
    pub quota: Quota,
    pub priorities: Option<Priorities>,
}

impl<'a> Rare<'a> {
    /// The rare features of a plan; `None` if it uses none.
    /// `noted`: every call is noted.
    pub fn of(plan: &Plan<'a>, noted: bool) -> Result<Option<Self>, Fault> {
        let s = plan.stream;
        let listed_think =
            matches!(&s.access, fathom_workload::Access::Listed(l) if l.iter().any(|o| o.think.0 > 0));
        let lock_records = s.lock == fathom_workload::Lock::Record;
        let sync_inside = s.sync_every.filter(|e| e.inside).map(|e| e.data_only);
        let unsynced = Unsynced::of(s);
        let none = s.pace == Pace::default()
            && s.purge.0 == 0
            && !lock_records
            && s.disturb_every == 0
            && !s.evict_passes
            && !listed_think
            && !s.access.is_timed()
            && !s.log_operations
            && !noted
            && sync_inside.is_none()
            && unsynced.is_none()
            && s.priorities.is_empty()
            && !s.apart
            && s.refill_at.is_none()
            && plan.quota == Quota::default();
        if none {
            return Ok(None);
        }
        let burst = s.pace.burst;
        Ok(Some(Self {
            think_ns: s.pace.think.map_or(0, |t| t.time.0),
            think_counted: s.pace.think.is_some_and(|t| t.counted),
            think_asleep: s.pace.think.is_some_and(|t| t.asleep),
            schedule: Schedule::of(plan),
            syncs_are_due: s.access.is_timed(),
            rate_of: s.rate_of(),
            gives_way: s.pace.rate_of != RateOf::All,
            think_busy_ns: s.pace.think.map_or(0, |t| t.busy.0),
            think_every: s.pace.think.map_or(1, |t| t.every),
            until_think: s.pace.think.map_or(1, |t| t.every),
            think_by_issue: s.pace.think.is_some_and(|t| t.by_issue),
            think_spell_ns: s.pace.think.map_or(0, |t| t.spell.0),
            think_since: 0,
            // It needs the memory that workers share.
            turn: None,
            limits: Limits::of(s),
            apart: s.apart,
            sync_inside,
            unsynced,
            burst_bytes: burst.map_or(0, |b| b.bytes.0),
            burst_left: burst.map_or(u64::MAX, |b| b.bytes.0),
            burst_pause_ns: burst.map_or(0, |b| b.pause.0),
            purge: if s.purge.0 > 0 { Some(Buffer::new(s.purge.0 as usize)?) } else { None },
            lock_records,
            disturb_every: s.disturb_every,
            disturb: if s.disturb_every > 0 { Some(Buffer::new(4096)?) } else { None },
            disturb_bytes: if s.open.direct { 4096 } else { 1 },
            quota: plan.quota,
            priorities: Priorities::of(plan),
        }))
    }
}

impl Rare<'_> {
    /// What goes with a write that was just done.
    #[inline(always)]
    pub fn wrote<B: Handle>(&mut self, backend: &mut B, op: &Op) -> Result<(), Fault> {
        if let Some(unsynced) = &mut self.unsynced {
            unsynced.wrote(op);
        }
        self.sync_inside.map_or(Ok(()), |data_only| backend.sync(data_only))
    }

    /// A sync between writes.
    #[inline(always)]
    pub fn sync<B: Handle>(&mut self, backend: &mut B, op: &Op, data_only: bool) -> Result<(), Fault> {
        match &mut self.unsynced {
            Some(unsynced) => unsynced.sync(backend, op.file),
            None => backend.sync(data_only),
        }
    }

    /// Whether the schedule, if there is one, says when an operation is due.
    pub fn paces(&self, op: &Op) -> bool {
        match op.kind {
            OpKind::Sync { .. } | OpKind::Evict => self.syncs_are_due,
            OpKind::Read => self.rate_of != RateOf::Writes,
            OpKind::Write | OpKind::Trim => self.rate_of != RateOf::Reads,
        }
    }

    /// What is not due now, where only one kind of a mix has a rate.
    pub fn early(&mut self, clock: Clock, released: u64) -> Option<Early> {
        let kind = match self.rate_of {
            _ if !self.gives_way => return None,
            RateOf::All => return None,
            RateOf::Reads => Early::Reads,
            RateOf::Writes => Early::Writes,
        };
        let due = self.schedule.as_mut()?.due(clock, released);
        (due > clock.now()).then_some(kind)
    }

    /// The pause before the next read or write.
    pub fn take_think_ns(&mut self, clock: Clock, released: u64) -> u64 {
        let by_time = self.think_spell_ns > 0 && {
            let since = if self.think_since == 0 { released } else { self.think_since };
            clock.between(since, clock.now()) >= self.think_spell_ns
        };
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
        if self.think_spell_ns > 0 {
            self.think_since = clock.now().saturating_add(clock.ticks(self.think_ns));
        }
        self.think_ns
    }
}

/// What the workers of a phase may do together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Quota {
    pub operations: Option<u64>,
    pub bytes: Option<u64>,
}

impl Quota {
    /// Whether nothing is left of what all workers share.
    pub fn is_used_up(&self, hot: &Hot) -> bool {
        let taken = &hot.control.taken;
        let gone = |limit: Option<u64>, so_far: &std::sync::atomic::AtomicU64| {
            limit.is_some_and(|limit| so_far.load(Ordering::Relaxed) >= limit)
        };
        gone(self.operations, &taken.operations) || gone(self.bytes, &taken.bytes)
    }

    /// Takes an operation from what all workers share; false if nothing is left. Exact: each is taken by one worker.
    pub fn take(&self, hot: &Hot, op: &Op) -> bool {
        if matches!(op.kind, OpKind::Sync { .. }) {
            return true;
        }
        let taken = &hot.control.taken;
        let within = |limit: Option<u64>, so_far: &std::sync::atomic::AtomicU64, amount: u64| {
            limit.is_none_or(|limit| so_far.fetch_add(amount, Ordering::Relaxed) < limit)
        };
        within(self.operations, &taken.operations, 1) && within(self.bytes, &taken.bytes, u64::from(op.bytes))
    }
}

/// When operations are due, and how late they were issued.
pub(crate) struct Schedule<'a> {
    arrivals: Arrivals,
    /// With a common rate: when the next operation of all workers is due, ns; and when the last one of `arrivals` was, of which only
    /// the gaps are used.
    common: Option<&'a AtomicU64>,
    last_ns: u64,
    /// No due time is held: the next one is taken when it is asked for, so that whoever is free first takes it.
    open: bool,
    /// Tick of the stream's start.
    epoch: u64,
    /// When the next operation is due, in ticks.
    due: u64,
    /// Lateness that counts as being behind, ns: some mean gaps, and no less than the scheduler takes now and then.
    grace_ns: u64,
    /// When the first operation of a stretch of late ones was due, in ticks; 0 while it keeps up.
    behind_since: u64,
}

impl<'a> Schedule<'a> {
    /// By a rate, or by what a list of operations says.
    fn of(plan: &Plan<'a>) -> Option<Self> {
        let stream = plan.stream;
        if let Some(rate) = &stream.pace.rate {
            let common = plan.pool.as_ref().filter(|_| rate.common).map(|p| &p.common.due);
            return Some(Self::new(
                Arrivals::new(rate, stream.seed_or(plan.seed), plan.place),
                Self::grace_ns(rate),
                common,
            ));
        }
        Arrivals::listed(&stream.access)
            .map(|arrivals| Self::new(arrivals, Self::LEAST_GRACE_NS as u64, None))
    }

    const LEAST_GRACE_NS: f64 = 1e6;

    fn grace_ns(rate: &Rate) -> u64 {
        const GRACE_GAPS: f64 = 10.0;
        (GRACE_GAPS * 1e9 / rate.operations_per_s).max(Self::LEAST_GRACE_NS) as u64
    }

    fn new(arrivals: Arrivals, grace_ns: u64, common: Option<&'a AtomicU64>) -> Self {
        Self { arrivals, common, last_ns: 0, open: true, epoch: 0, due: 0, grace_ns, behind_since: 0 }
    }

    fn next_due_ns(&mut self) -> u64 {
        let due_ns = self.arrivals.next_due_ns();
        let Some(common) = self.common else { return due_ns };
        let gap_ns = due_ns.saturating_sub(std::mem::replace(&mut self.last_ns, due_ns));
        common.fetch_add(gap_ns, Ordering::Relaxed).saturating_add(gap_ns)
    }

    /// The tick at which the operation in hand is due.
    pub fn due(&mut self, clock: Clock, start: u64) -> u64 {
        if self.open {
            self.epoch = start;
            self.open = false;
            self.due = start.saturating_add(clock.ticks(self.next_due_ns()));
        }
        self.due
    }

    /// The operation in hand, of so many bytes, is issued at `now`: the next one's turn. Gives the longest stretch behind so far that ends here, ns.
    /// Late operations are issued at once and not dropped; the schedule itself does not move.
    pub fn issued(&mut self, clock: Clock, now: u64, bytes: u64) -> u64 {
        self.arrivals.moves(bytes);
        let late_ns = clock.between(self.due, now);
        let behind_ns = if late_ns <= self.grace_ns {
            self.behind_since = 0;
            0
        } else {
            if self.behind_since == 0 {
                self.behind_since = self.due;
            }
            clock.between(self.behind_since, now)
        };
        if self.common.is_some() {
            self.open = true;
        } else {
            self.due = self.epoch.saturating_add(clock.ticks(self.next_due_ns()));
        }
        behind_ns
    }
}

/// Why a wait ended before its time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Waited {
    /// It did not.
    Enough,
    /// A stop that concerns this stream, or the end of the phase's time: the operation is not to be issued.
    Cut,
}

/// A sleep ends this long before its time and spinning does the rest: a sleep alone is late by this much now and then.
pub(super) const SPIN_NS: u64 = 60_000;
/// Longest sleep: a stop is to be seen.
pub(super) const NAP_NS: u64 = 50_000_000;

/// Whether who waits at the tick `now` waits for nothing: a stop, the end of the time, nothing left of what all share.
pub(super) fn is_over(hot: &Hot, now: u64, when_stopped: WhenStopped) -> bool {
    let stop = hot.control.stop_of(hot.live);
    stop != 0 && (stop != STOP_FIRST_DONE || when_stopped != WhenStopped::Ignore)
        || now >= hot.deadline
        || hot.counting && hot.rare.as_ref().is_some_and(|r| r.quota.is_used_up(hot))
}

/// Waits until a tick: sleeps to shortly before it, then spins. `busy` spins all the time, for computing between operations.
pub(super) fn wait_until(hot: &Hot, tick: u64, busy: bool, when_stopped: WhenStopped) -> Waited {
    loop {
        let now = hot.clock.now();
        if is_over(hot, now, when_stopped) {
            return Waited::Cut;
        }
        if now >= tick {
            return Waited::Enough;
        }
        let left_ns = hot.clock.between(now, tick.min(hot.deadline));
        if !busy && left_ns > 2 * SPIN_NS {
            std::thread::sleep(std::time::Duration::from_nanos((left_ns - SPIN_NS).min(NAP_NS)));
        } else {
            std::hint::spin_loop();
        }
    }
}

/// The kernel may delay the end of a sleep by 50 us to save wake-ups; a stream with a rate wants it on time.
pub(crate) fn punctual_sleeps() {
    // SAFETY: a plain prctl on the calling thread. If it fails, sleeps are as late as before, and the lateness is measured.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}
