//! What a plain stream does without: computing between operations, rates, bursts, locks, purging, disturbing reads, an operation
//! log, an amount shared by all workers. The loops are compiled once with and once without it.

use super::Hot;
use super::limits::Limits;
use super::priority::Priorities;
use super::written_back::Unsynced;
use crate::backend::Handle;
use crate::buffer::Buffer;
use crate::shared::STOP_FIRST_DONE;
use crate::worker::{Fault, Plan};
use fathom_workload::drive::{Pacing, Quota, Turn};
use fathom_workload::ops::Op;
use fathom_workload::{Pace, WhenStopped};

/// State of the rare features.
pub(crate) struct Rare<'a> {
    pub pace: Pacing<'a>,
    /// In a ratio to other workers.
    pub turn: Option<Turn<'a>>,
    /// How long a worker sleeps that waits for its turn; 0: as it sees fit.
    pub ratio_sleep_ns: u64,
    pub limits: Option<Limits>,
    /// What is in flight does not overlap.
    pub apart: bool,
    /// An fsync (fdatasync: true) is part of every write.
    pub sync_inside: Option<bool>,
    /// What is to be written back after so many writes.
    pub unsynced: Option<Unsynced>,
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
            && s.take_at_most.is_none()
            && plan.quota == Quota::default();
        if none {
            return Ok(None);
        }
        let common = plan.pool.as_ref().map(|p| &p.common.due);
        Ok(Some(Self {
            pace: Pacing::of(s, plan.seed, plan.place, common),
            // It needs the memory that workers share.
            turn: None,
            ratio_sleep_ns: s.pace.ratio.map_or(0, |r| r.sleep.0),
            limits: Limits::of(s),
            apart: s.apart,
            sync_inside,
            unsynced,
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
        || hot.counting && hot.rare.as_ref().is_some_and(|r| r.quota.is_used_up(&hot.control.taken))
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
