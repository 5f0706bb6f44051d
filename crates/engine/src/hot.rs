//! The hot loop: draw an operation, do it between two readings of the clock, record it. Compiled once for every back-end, and
//! once with and once without the rare features (pauses, rates, locks, purging), so that a plain stream pays for none of them.
//!
//! Cost beside the call on the machine this was written on: about 35 ns an operation, of which the two clock readings are 26
//! (`cargo xtask bench generator` prints it).

use crate::backend::Backend;
use crate::clock::Clock;
use crate::contents::Contents;
use crate::shared::{Control, Figures, Live, READ, RESPONSE, STOP_FIRST_DONE, STOP_INTERRUPT, SYNC, WRITE};
use crate::worker::{Fault, Plan};
use fathom_record::OpLogEntry;
use fathom_workload::WhenStopped;
use fathom_workload::ops::{Done, Op, OpKind, StreamOps};
use std::sync::atomic::Ordering;

/// Why the loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Completed,
    /// A stop rule of the phase.
    Stopped,
    Interrupted,
}

/// Everything the loop works on.
pub(crate) struct Hot<'a> {
    pub clock: Clock,
    pub control: &'a Control,
    pub live: &'a Live,
    pub figures: &'a mut Figures,
    pub ops: StreamOps,
    /// Buffers: one set for each operation in flight.
    pub memory: Vec<Contents>,
    /// Tick at which the phase's time is over; `u64::MAX` if it has none.
    pub deadline: u64,
    pub log: Option<&'a mut [OpLogEntry]>,
    /// Tick at which the last operation returned.
    pub last: u64,
    /// Time that is not to be counted, ns.
    pub excluded_ns: u64,
    pub done: Done,
    pub rare: Option<Rare>,
    /// An operation that was drawn and not issued.
    pub pending: Option<Op>,
}

/// State of the rare features.
pub(crate) struct Rare {
    pub think_ns: u64,
    pub think_counted: bool,
    /// Ticks between operations; 0 without a rate.
    pub gap: u64,
    pub due: u64,
    /// When the operation in hand was due; 0 without a rate.
    pub intended: u64,
    pub burst_bytes: u64,
    pub burst_left: u64,
    pub burst_pause_ns: u64,
    pub purge: Option<crate::buffer::Buffer>,
    pub lock_records: bool,
    pub disturb_every: u64,
    /// Where disturbing reads go, and how many bytes they read: one, or a page where O_DIRECT demands it.
    pub disturb: Option<crate::buffer::Buffer>,
    pub disturb_bytes: usize,
}

impl Rare {
    /// The rare features of a plan; `None` if it uses none.
    pub fn of(plan: &Plan, clock: Clock) -> Result<Option<Self>, Fault> {
        let s = plan.stream;
        let listed_think =
            matches!(&s.access, fathom_workload::Access::Listed(l) if l.iter().any(|o| o.think.0 > 0));
        let lock_records = s.lock == fathom_workload::Lock::Record;
        let none = s.pace == fathom_workload::Pace::default()
            && s.purge.0 == 0
            && !lock_records
            && s.disturb_every == 0
            && !listed_think;
        if none {
            return Ok(None);
        }
        let burst = s.pace.burst;
        Ok(Some(Self {
            think_ns: s.pace.think.map_or(0, |t| t.time.0),
            think_counted: s.pace.think.is_some_and(|t| t.counted),
            gap: s.pace.rate.map_or(0, |r| clock.ticks((1e9 / r.operations_per_s) as u64)),
            due: 0,
            intended: 0,
            burst_bytes: burst.map_or(0, |b| b.bytes.0),
            burst_left: burst.map_or(u64::MAX, |b| b.bytes.0),
            burst_pause_ns: burst.map_or(0, |b| b.pause.0),
            purge: if s.purge.0 > 0 { Some(crate::buffer::Buffer::new(s.purge.0 as usize)?) } else { None },
            lock_records,
            disturb_every: s.disturb_every,
            disturb: if s.disturb_every > 0 { Some(crate::buffer::Buffer::new(4096)?) } else { None },
            disturb_bytes: if s.open.direct { 4096 } else { 1 },
        }))
    }
}

/// Runs the counted part of a stream. `live.ops` and `live.bytes` are published after every operation.
pub(crate) fn run<B: Backend>(
    hot: &mut Hot,
    backend: &mut B,
    when_stopped: WhenStopped,
) -> Result<Outcome, Fault> {
    if hot.rare.is_some() || hot.log.is_some() {
        counted::<B, true>(hot, backend, when_stopped)
    } else {
        counted::<B, false>(hot, backend, when_stopped)
    }
}

fn counted<B: Backend, const RARE: bool>(
    hot: &mut Hot,
    backend: &mut B,
    when_stopped: WhenStopped,
) -> Result<Outcome, Fault> {
    loop {
        let stop = hot.control.stop.load(Ordering::Relaxed);
        if stop != 0 && (stop != STOP_FIRST_DONE || when_stopped != WhenStopped::Ignore) {
            return Ok(if stop == STOP_INTERRUPT { Outcome::Interrupted } else { Outcome::Stopped });
        }
        if hot.last >= hot.deadline {
            return Ok(Outcome::Stopped);
        }
        let Some(op) = hot.ops.next(&hot.done) else { return Ok(Outcome::Completed) };
        if RARE && before(hot, backend, &op, when_stopped)? == Waited::Cut {
            // Not issued; who finishes the amount uncounted begins with it.
            hot.pending = Some(op);
            let now = hot.clock.now();
            if now >= hot.deadline {
                // The time was used to its end, with pauses.
                hot.last = hot.deadline;
            }
            let stop = hot.control.stop.load(Ordering::Relaxed);
            return Ok(if stop == STOP_INTERRUPT { Outcome::Interrupted } else { Outcome::Stopped });
        }
        let ns = timed(hot, backend, &op)?;
        if RARE {
            after(hot, backend, &op, ns, when_stopped)?;
        }
    }
}

/// One operation between two readings of the clock, recorded. Returns its latency in ns.
#[inline(always)]
fn timed<B: Backend>(hot: &mut Hot, backend: &mut B, op: &Op) -> Result<u64, Fault> {
    let bytes = op.bytes as usize;
    let (start, kind);
    match op.kind {
        OpKind::Read => {
            let contents = &mut hot.memory[0];
            let at = contents.read_position();
            let buffer = contents.record_to_read(bytes);
            start = hot.clock.now();
            backend.read(op.offset, buffer)?;
            hot.last = hot.clock.now();
            kind = READ;
            hot.done.reads += 1;
            if contents.checks() {
                contents.check(op.offset, at, bytes)?;
            }
        }
        OpKind::Write => {
            let record = hot.memory[0].record_to_write(op.offset, bytes);
            start = hot.clock.now();
            backend.write(op.offset, record)?;
            hot.last = hot.clock.now();
            kind = WRITE;
            hot.done.writes += 1;
        }
        OpKind::Sync { data_only } => {
            start = hot.clock.now();
            backend.sync(data_only)?;
            hot.last = hot.clock.now();
            kind = SYNC;
        }
    }
    let ns = hot.clock.between(start, hot.last);
    hot.figures.stats[kind].record(ns, u64::from(op.bytes));
    if kind != SYNC {
        // One writer: plain additions, published for the parent's interval series.
        let ops = hot.live.ops.load(Ordering::Relaxed) + 1;
        hot.live.ops.store(ops, Ordering::Relaxed);
        let total = hot.live.bytes.load(Ordering::Relaxed) + u64::from(op.bytes);
        hot.live.bytes.store(total, Ordering::Relaxed);
    }
    Ok(ns)
}

/// The uncounted rest after a stop: nothing is recorded but the bytes.
pub(crate) fn finish<B: Backend>(hot: &mut Hot, backend: &mut B) -> Result<(), Fault> {
    while hot.control.stop.load(Ordering::Relaxed) != STOP_INTERRUPT {
        let Some(op) = hot.pending.take().or_else(|| hot.ops.next(&hot.done)) else { break };
        let bytes = op.bytes as usize;
        match op.kind {
            OpKind::Read => {
                backend.read(op.offset, hot.memory[0].record_to_read(bytes))?;
                hot.done.reads += 1;
            }
            OpKind::Write => {
                backend.write(op.offset, hot.memory[0].record_to_write(op.offset, bytes))?;
                hot.done.writes += 1;
            }
            OpKind::Sync { data_only } => backend.sync(data_only)?,
        }
        hot.figures.uncounted_bytes += u64::from(op.bytes);
    }
    Ok(())
}

/// Why a wait ended before its time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waited {
    /// It did not.
    Enough,
    /// A stop that concerns this stream, or the end of the phase's time: the operation is not to be issued.
    Cut,
}

/// Waits until a tick: sleeps to 50 us before, in slices of at most 50 ms so that a stop is seen, then spins (a sleep alone is late
/// by 50 us and more). `busy` spins all the time, for computing between operations.
fn wait_until(hot: &Hot, tick: u64, busy: bool, when_stopped: WhenStopped) -> Waited {
    const SPIN_NS: u64 = 50_000;
    loop {
        let now = hot.clock.now();
        let stop = hot.control.stop.load(Ordering::Relaxed);
        if stop != 0 && (stop != STOP_FIRST_DONE || when_stopped != WhenStopped::Ignore)
            || now >= hot.deadline
        {
            return Waited::Cut;
        }
        if now >= tick {
            return Waited::Enough;
        }
        let left_ns = hot.clock.between(now, tick.min(hot.deadline));
        if !busy && left_ns > 2 * SPIN_NS {
            std::thread::sleep(std::time::Duration::from_nanos((left_ns - SPIN_NS).min(50_000_000)));
        } else {
            std::hint::spin_loop();
        }
    }
}

/// What comes before an operation. `Cut`: it must not be issued.
#[inline(never)]
fn before<B: Backend>(
    hot: &mut Hot,
    backend: &mut B,
    op: &Op,
    when_stopped: WhenStopped,
) -> Result<Waited, Fault> {
    let Some(rare) = &hot.rare else { return Ok(Waited::Enough) };
    let (think_ns, counted, gap, due) = (rare.think_ns + op.think_ns, rare.think_counted, rare.gap, rare.due);
    if think_ns > 0 {
        let from = hot.clock.now();
        let waited = wait_until(hot, from + hot.clock.ticks(think_ns), true, when_stopped);
        if !counted {
            hot.excluded_ns += hot.clock.between(from, hot.clock.now());
        }
        if waited == Waited::Cut {
            return Ok(Waited::Cut);
        }
    }
    if gap > 0 {
        let due = if due == 0 { hot.clock.now() } else { due };
        if wait_until(hot, due, false, when_stopped) == Waited::Cut {
            return Ok(Waited::Cut);
        }
        // Late operations are issued at once and not dropped; the schedule itself does not move.
        if let Some(rare) = &mut hot.rare {
            rare.due = due + gap;
            rare.intended = due;
        }
    }
    let Some(rare) = &mut hot.rare else { return Ok(Waited::Enough) };
    if let Some(area) = &mut rare.purge {
        // Touching each cache line once replaces the I/O buffer in the caches.
        area.all_mut().iter_mut().step_by(64).for_each(|b| *b = b.wrapping_add(1));
        std::hint::black_box(area.all());
    }
    if let Some(scratch) = &mut rare.disturb
        && op.kind == OpKind::Read
        && hot.done.reads.is_multiple_of(rare.disturb_every)
    {
        let bytes = rare.disturb_bytes;
        backend.read(0, &mut scratch.all_mut()[..bytes])?;
        backend.read(4096.min(op.offset / 4096 * 4096), &mut scratch.all_mut()[..bytes])?;
    }
    if rare.lock_records
        && let Some(file) = backend.descriptor()
    {
        crate::worker::lock(file, op.offset, u64::from(op.bytes), op.kind == OpKind::Write)?;
    }
    Ok(Waited::Enough)
}

#[inline(never)]
fn after<B: Backend>(
    hot: &mut Hot,
    backend: &mut B,
    op: &Op,
    ns: u64,
    when_stopped: WhenStopped,
) -> Result<(), Fault> {
    if let Some(log) = &mut hot.log
        && !matches!(op.kind, OpKind::Sync { .. })
    {
        let at = hot.figures.logged as usize;
        if let Some(entry) = log.get_mut(at) {
            *entry = OpLogEntry { offset: op.offset, bytes: op.bytes, latency_ns: ns };
            hot.figures.logged += 1;
        }
    }
    let Some(rare) = &mut hot.rare else { return Ok(()) };
    if rare.intended > 0 && !matches!(op.kind, OpKind::Sync { .. }) {
        let response_ns = hot.clock.between(rare.intended, hot.last);
        hot.figures.stats[RESPONSE].record(response_ns, u64::from(op.bytes));
    }
    if rare.lock_records
        && let Some(file) = backend.descriptor()
    {
        crate::worker::unlock(file, op.offset, u64::from(op.bytes))?;
    }
    if rare.burst_bytes > 0 {
        rare.burst_left = rare.burst_left.saturating_sub(u64::from(op.bytes));
        if rare.burst_left == 0 {
            rare.burst_left = rare.burst_bytes;
            let pause = hot.clock.ticks(rare.burst_pause_ns);
            backend.sync(false)?;
            let from = hot.clock.now();
            wait_until(hot, from + pause, false, when_stopped);
            hot.excluded_ns += hot.clock.between(from, hot.clock.now());
        }
    }
    Ok(())
}
