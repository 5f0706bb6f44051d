//! Features that a plain stream lacks: computing between operations, rates, bursts, locks, cache purging, disturbing reads, an
//! operation log, an amount shared by all workers. The loops are compiled once with and once without them.

use super::Hot;
use super::limits::Limits;
use super::priority::Priorities;
use super::written_back::Unsynced;
use crate::backend::Handle;
use crate::buffer::Buffer;
use crate::fault::Fault;
use crate::shared::STOP_FIRST_DONE;
use crate::stream_plan::StreamPlan;
use fathom_workload::drive::{Pacing, Quota, RatioTurn};
use fathom_workload::ops::Op;
use fathom_workload::{Pace, WhenStopped};

/// State of the rare features.
pub(crate) struct Rare<'a> {
    pub pace: Pacing<'a>,
    /// For streams in a ratio to other workers.
    pub turn: Option<RatioTurn<'a>>,
    /// Sleep of a worker that waits for its turn; 0: chosen automatically.
    pub ratio_sleep_ns: u64,
    pub limits: Option<Limits>,
    /// Operations in flight must not overlap.
    pub no_overlap: bool,
    /// An fsync (true: fdatasync) is part of every write.
    pub sync_inside: Option<bool>,
    /// Range to be written back after a number of writes.
    pub unsynced: Option<Unsynced>,
    pub purge: Option<Buffer>,
    pub lock_records: bool,
    pub disturb_every: u64,
    /// Target buffer of disturbing reads; its size is that of a read: one byte, or a page where O_DIRECT demands it.
    pub disturb: Option<Buffer>,
    pub disturb_bytes: usize,
    pub quota: Quota,
    pub priorities: Option<Priorities>,
}

impl<'a> Rare<'a> {
    /// The rare features of a plan; `None` if it uses none.
    /// `noted`: every call is noted.
    pub fn of(plan: &StreamPlan<'a>, noted: bool) -> Result<Option<Self>, Fault> {
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
            && s.zoned_device.is_none()
            && !listed_think
            && !s.access.is_timed()
            && !s.log_operations
            && !noted
            && sync_inside.is_none()
            && unsynced.is_none()
            && s.priorities.is_empty()
            && !s.no_overlap
            && s.refill_at.is_none()
            && s.take_at_most.is_none()
            && plan.quota == Quota::default();
        if none {
            return Ok(None);
        }
        let common = plan.pool.as_ref().map(|p| &p.common.due);
        Ok(Some(Self {
            pace: Pacing::of(s, plan.seed, plan.place, common),
            // Set later: needs the memory shared by the workers.
            turn: None,
            ratio_sleep_ns: s.pace.ratio.map_or(0, |r| r.sleep.0),
            limits: Limits::of(s),
            no_overlap: s.no_overlap,
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
    /// Follow-up actions of a completed write.
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
    /// It did not end early.
    Enough,
    /// A stop that applies to this stream, or the end of the phase's time: the operation must not be issued.
    Cut,
}

/// Whether waiting at the tick `now` is pointless: a stop, the end of the time, or nothing left of the shared amount.
pub(super) fn is_over(hot: &Hot, now: u64, when_stopped: WhenStopped) -> bool {
    let stop = hot.control.stop_of(hot.live);
    stop != 0 && (stop != STOP_FIRST_DONE || when_stopped != WhenStopped::Ignore)
        || now >= hot.deadline
        || hot.counting && hot.rare.as_ref().is_some_and(|r| r.quota.is_used_up(&hot.control.taken))
}

/// Waits until a tick. `busy` spins all the time, to emulate computing between operations.
pub(super) fn wait_until(hot: &Hot, tick: u64, busy: bool, when_stopped: WhenStopped) -> Waited {
    loop {
        let now = hot.clock.now();
        if is_over(hot, now, when_stopped) {
            return Waited::Cut;
        }
        if now >= tick {
            return Waited::Enough;
        }
        if busy {
            std::hint::spin_loop();
        } else {
            hot.sleeps.approach(hot.clock, now, tick.min(hot.deadline));
        }
    }
}
