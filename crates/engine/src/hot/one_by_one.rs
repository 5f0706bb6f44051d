//! The loop that does one operation after the other. Latency is from just before the call to just after it: service time. With a
//! rate, response time is recorded as well, from the scheduled start.

use super::rare::{Waited, wait_until};
use super::{Hot, Outcome, passed, trim};
use crate::backend::Backend;
use crate::fault::Fault;
use crate::shared::STOP_INTERRUPT;
use fathom_record::OpKind;
use fathom_workload::WhenStopped;
use fathom_workload::drive::WarmUp;
use fathom_workload::ops::{Op, OpCode, Source};
use std::sync::atomic::Ordering;

/// Runs the warm-up, if any, and the counted part of a stream. `PLAIN`: the stream has no rare features, so no loop with them is
/// compiled. A separate function, called once per stream, so that its instructions can be counted
/// (crates/cli/tests/instructions.rs).
#[inline(never)]
pub(crate) fn run<B: Backend, S: Source, const PLAIN: bool>(
    hot: &mut Hot,
    backend: &mut B,
    source: &mut S,
    when_stopped: WhenStopped,
) -> Result<Outcome, Fault> {
    if let Some(warm) = hot.warm_up.take() {
        if let Some(outcome) = warm_up(hot, backend, source, when_stopped, &warm)? {
            return Ok(outcome);
        }
        source.refill(hot.pending.as_ref());
        hot.begin_counting(hot.clock.now());
    }
    if !PLAIN && hot.rare.is_some() {
        return counted::<B, S, true>(hot, backend, source, when_stopped);
    }
    counted::<B, S, false>(hot, backend, source, when_stopped)
}

/// Issues operations without counting them until the warm-up is over. An outcome means that nothing will be counted.
#[inline(never)]
fn warm_up<B: Backend>(
    hot: &mut Hot,
    backend: &mut B,
    source: &mut dyn Source,
    when_stopped: WhenStopped,
    warm: &WarmUp,
) -> Result<Option<Outcome>, Fault> {
    hot.deadline = warm.deadline();
    let mut moved = 0;
    while !warm.is_over(hot.clock.now()) {
        hot.look_what_is_early();
        if let Some(outcome) = hot.stopped(when_stopped) {
            return Ok(Some(outcome));
        }
        let drawn = hot.pending.take().or_else(|| source.next(&hot.done)).or_else(|| {
            source.refill(None);
            source.next(&hot.done)
        });
        let Some(op) = drawn else { return Ok(Some(Outcome::Completed)) };
        if op.kind == OpCode::Evict {
            evict(backend, &op);
            continue;
        }
        if before(hot, backend, (&op, source.pauses(&op)), when_stopped)? == Waited::Cut {
            hot.pending = Some(op);
            continue;
        }
        match untimed(hot, backend, source, &op) {
            Ok(()) => source.completed(&op),
            Err(fault) => passed::over(hot, source, op, fault)?,
        }
        after(hot, backend, &op, None, when_stopped)?;
        hot.figures.ramp_ops += 1;
        moved += u64::from(op.bytes);
        warm.moved(moved);
    }
    Ok(None)
}

fn counted<B: Backend, S: Source, const RARE: bool>(
    hot: &mut Hot,
    backend: &mut B,
    source: &mut S,
    when_stopped: WhenStopped,
) -> Result<Outcome, Fault> {
    loop {
        if let Some(outcome) = hot.stopped(when_stopped) {
            return Ok(outcome);
        }
        if hot.last >= hot.deadline {
            return Ok(Outcome::Stopped);
        }
        if RARE && hot.paused_ns > 0 {
            let now = hot.clock.now();
            if now >= hot.deadline {
                hot.stopped_at(now);
                return Ok(Outcome::Stopped);
            }
        }
        if RARE {
            hot.look_what_is_early();
        }
        let drawn = if RARE { hot.pending.take() } else { None };
        let Some(op) = drawn.or_else(|| source.next(&hot.done)) else { return Ok(Outcome::Completed) };
        if RARE {
            if op.kind == OpCode::Evict {
                evict(backend, &op);
                continue;
            }
            if before(hot, backend, (&op, source.pauses(&op)), when_stopped)? == Waited::Cut {
                return Ok(cut(hot, op, when_stopped));
            }
            hot.excluded_ns += std::mem::take(&mut hot.paused_ns);
        }
        let issued = match timed::<B, S, RARE>(hot, backend, source, &op) {
            Ok(start) => {
                source.completed(&op);
                Some(start)
            }
            Err(fault) => {
                passed::over(hot, source, op, fault)?;
                None
            }
        };
        if RARE {
            after(hot, backend, &op, issued, when_stopped)?;
        }
    }
}

/// Puts back an operation that was drawn but must not be issued. If the rest is finished uncounted, it begins with this one.
#[cold]
fn cut(hot: &mut Hot, op: Op, when_stopped: WhenStopped) -> Outcome {
    hot.pending = Some(op);
    hot.stopped_at(hot.clock.now());
    hot.stopped(when_stopped).unwrap_or(Outcome::Stopped)
}

/// One operation between two clock readings, recorded. Returns the first reading.
#[inline(always)]
fn timed<B: Backend, S: Source, const RARE: bool>(
    hot: &mut Hot,
    backend: &mut B,
    source: &S,
    op: &Op,
) -> Result<u64, Fault> {
    let bytes = op.bytes as usize;
    let (start, kind);
    backend.select(op.file);
    let position = hot.position(op);
    match op.kind {
        OpCode::Read => {
            let contents = &mut hot.memory[0];
            let at = contents.read_position();
            let buffer = contents.record_to_read(bytes);
            start = hot.clock.now();
            backend.read(op.offset, buffer)?;
            hot.last = hot.clock.now();
            kind = OpKind::Read;
            // No stream does 2^64 operations; an overflow check would be part of the loop in every test build.
            hot.done.reads = hot.done.reads.wrapping_add(1);
            if contents.checks()
                && let Err(fault) = contents.check(source.expected(op), position, at, bytes)
            {
                passed::wrong(hot, *op, fault)?;
            }
        }
        OpCode::Write => {
            let record = hot.memory[0].record_to_write(position, bytes);
            start = hot.clock.now();
            backend.write(op.offset, record)?;
            if RARE && let Some(rare) = hot.rare.as_mut() {
                rare.wrote(backend, op)?;
            }
            hot.last = hot.clock.now();
            kind = OpKind::Write;
            hot.done.writes = hot.done.writes.wrapping_add(1);
        }
        OpCode::Sync { data_only } => {
            start = hot.clock.now();
            match &mut hot.rare {
                Some(rare) if RARE => rare.sync(backend, op, data_only)?,
                _ => backend.sync(data_only)?,
            }
            hot.last = hot.clock.now();
            kind = OpKind::Sync;
        }
        OpCode::Trim => return trim::timed(hot, backend, op, true),
        // Only in rare streams: see `counted`.
        OpCode::Evict => return Ok(hot.last),
    }
    hot.stats[kind].record(hot.clock.between(start, hot.last), u64::from(op.bytes));
    Ok(start)
}

/// One operation without timing.
fn untimed<B: Backend>(hot: &mut Hot, backend: &mut B, source: &dyn Source, op: &Op) -> Result<(), Fault> {
    let bytes = op.bytes as usize;
    backend.select(op.file);
    let position = hot.position(op);
    match op.kind {
        OpCode::Read => {
            let contents = &mut hot.memory[0];
            let at = contents.read_position();
            backend.read(op.offset, contents.record_to_read(bytes))?;
            hot.done.reads += 1;
            if contents.checks()
                && let Err(fault) = contents.check(source.expected(op), position, at, bytes)
            {
                passed::wrong(hot, *op, fault)?;
            }
        }
        OpCode::Write => {
            backend.write(op.offset, hot.memory[0].record_to_write(position, bytes))?;
            if let Some(rare) = hot.rare.as_mut() {
                rare.wrote(backend, op)?;
            }
            hot.done.writes += 1;
        }
        OpCode::Sync { data_only } => match &mut hot.rare {
            Some(rare) => rare.sync(backend, op, data_only)?,
            None => backend.sync(data_only)?,
        },
        OpCode::Trim => trim::untimed(hot, backend, op)?,
        OpCode::Evict => evict(backend, op),
    }
    Ok(())
}

/// The uncounted rest after a stop: only the bytes are recorded.
pub(crate) fn finish<B: Backend>(
    hot: &mut Hot,
    backend: &mut B,
    source: &mut dyn Source,
) -> Result<(), Fault> {
    // Rates no longer apply.
    hot.done.early = None;
    while hot.control.stop.load(Ordering::Relaxed) != STOP_INTERRUPT {
        let Some(op) = hot.pending.take().or_else(|| source.next(&hot.done)) else { break };
        match untimed(hot, backend, source, &op) {
            Ok(()) => {
                source.completed(&op);
                hot.figures.uncounted_bytes += if op.kind.is_data() { u64::from(op.bytes) } else { 0 };
            }
            Err(fault) => passed::over(hot, source, op, fault)?,
        }
    }
    Ok(())
}

fn evict<B: Backend>(backend: &mut B, op: &Op) {
    if op.bytes > 0 {
        backend.select(op.file);
        backend.evict(op.offset, op.bytes);
    }
}

/// Everything before an operation; `pauses` says whether it may pause. `Cut`: it must not be issued.
#[inline(never)]
fn before<B: Backend>(
    hot: &mut Hot,
    backend: &mut B,
    (op, pauses): (&Op, bool),
    when_stopped: WhenStopped,
) -> Result<Waited, Fault> {
    let Some(rare) = &mut hot.rare else { return Ok(Waited::Enough) };
    // A sync belongs to the write before it.
    let pace = &mut rare.pace;
    pace.comes(pauses);
    let think_ns = match op.kind {
        OpCode::Sync { .. } => 0,
        _ if !pauses => 0,
        _ => pace.think.next_ns(hot.clock, hot.released, || hot.clock.now()),
    };
    let think_ns = think_ns.saturating_add(op.think_ns);
    let think = pace.think.asked();
    let mut due = pace.schedule.as_mut().map(|s| s.due(hot.clock, hot.released));
    let scheduled = pace.is_due_by_schedule(op);
    if think_ns > 0 {
        let from = hot.clock.now();
        let until = |ns: u64| from.saturating_add(hot.clock.ticks(ns));
        let (end, computed) = (until(think_ns), until(think.busy.0));
        let mut waited = Waited::Enough;
        if think.busy.0 > 0 {
            waited = wait_until(hot, computed, true, when_stopped);
        }
        if waited == Waited::Enough {
            waited = wait_until(hot, end, !think.asleep, when_stopped);
        }
        if !think.counted {
            hot.paused_ns += hot.clock.between(from, hot.clock.now());
        }
        if think.shifts_schedule {
            hot.postpone(from);
            let schedule = hot.rare.as_mut().and_then(|rare| rare.pace.schedule.as_mut());
            due = schedule.map(|s| s.due(hot.clock, hot.released));
        }
        if waited == Waited::Cut {
            return Ok(Waited::Cut);
        }
    }
    // Scheduled before the last operation returned: it is already late, so the clock need not be read.
    if let Some(due) = due
        && due > hot.last
        && scheduled
        && wait_until(hot, due, false, when_stopped) == Waited::Cut
    {
        return Ok(Waited::Cut);
    }
    let takes_turns = !matches!(op.kind, OpCode::Sync { .. });
    if takes_turns && super::ratio::wait(hot, when_stopped) == Waited::Cut {
        return Ok(Waited::Cut);
    }
    // Take from the shared amount only when the operation is due, since a waiting worker must not hold what others could do, and
    // before a lock is taken, since nothing would release it.
    if hot.counting && hot.rare.as_ref().is_some_and(|r| !r.quota.take(&hot.control.taken, op)) {
        return Ok(Waited::Cut);
    }
    let Some(rare) = &mut hot.rare else { return Ok(Waited::Enough) };
    if takes_turns && let Some(turn) = &mut rare.turn {
        turn.gone();
    }
    if let Some(area) = &mut rare.purge {
        // Touching one byte of each cache line evicts the I/O buffer from the caches.
        area.all_mut().iter_mut().step_by(64).for_each(|b| *b = b.wrapping_add(1));
        std::hint::black_box(area.all());
    }
    if let Some(scratch) = &mut rare.disturb
        && op.kind == OpCode::Read
        && hot.done.reads.is_multiple_of(rare.disturb_every)
    {
        let bytes = rare.disturb_bytes;
        backend.read(0, &mut scratch.all_mut()[..bytes])?;
        backend.read(4096.min(op.offset / 4096 * 4096), &mut scratch.all_mut()[..bytes])?;
    }
    if rare.lock_records
        && let Some(file) = backend.descriptor()
    {
        crate::locks::lock(file, op.offset, u64::from(op.bytes), op.kind != OpCode::Read)?;
    }
    Ok(Waited::Enough)
}

/// Everything after an operation that was issued at the tick `issued` (`None` for failed operations: not timed).
#[inline(never)]
fn after<B: Backend>(
    hot: &mut Hot,
    backend: &mut B,
    op: &Op,
    issued: Option<u64>,
    when_stopped: WhenStopped,
) -> Result<(), Fault> {
    let syncs = matches!(op.kind, OpCode::Sync { .. });
    if let Some(start) = issued {
        hot.log_operation(op, start, start, hot.last);
    }
    let Some(rare) = &mut hot.rare else { return Ok(()) };
    let paced = rare.pace.is_due_by_schedule(op);
    if let Some(schedule) = rare.pace.schedule.as_mut().filter(|_| paced) {
        let due = schedule.due(hot.clock, hot.released);
        let behind_ns = schedule.issued(hot.clock, issued.unwrap_or(due), op.bytes.into());
        if issued.is_some() {
            hot.figures.behind_ns = hot.figures.behind_ns.max(behind_ns);
            if !syncs {
                let response_ns = hot.clock.between(due, hot.last);
                hot.stats[OpKind::Response].record(response_ns, u64::from(op.bytes));
            }
        }
    }
    if rare.lock_records
        && let Some(file) = backend.descriptor()
    {
        crate::locks::unlock(file, op.offset, u64::from(op.bytes))?;
    }
    if let Some(pause_ns) = rare.pace.bursts.moved(op.bytes) {
        backend.sync(false)?;
        let from = hot.clock.now();
        wait_until(hot, from.saturating_add(hot.clock.ticks(pause_ns)), false, when_stopped);
        hot.paused_ns += hot.clock.between(from, hot.clock.now());
    }
    if let Some(start) = issued {
        let (last, ns) = (hot.last, hot.clock.between(start, hot.last));
        super::limits::note(hot, op, ns);
        super::limits::look(hot, last)?;
    }
    Ok(())
}
