//! The loop with several operations in flight. It reads the clock and fills every free slot with an operation; one call submits
//! them and waits; the completions found then share one clock reading, as that is when a program could know of them. Latency is
//! from the first reading to that one; its two parts, before and after submission to the kernel, are recorded as well. So a
//! read's latency is never too short, and too long by the time to prepare the operations submitted with it, some 10 ns each; a
//! separate reading for each would cost as much again. A write has a separate reading, after its data were generated, which also
//! serves the operations prepared after it.
//!
//! A stream may have completions taken only when no slot is free (`take_at_most`): the reading is then of that time.
//!
//! With a rate, an operation is issued when it is due and a slot is free; response time counts from its due time. At the end, and
//! at a stop, operations in flight are drained: the device executes them, so they are recorded and counted.

use super::depth;
use super::overlap::BusyRanges;
use super::pauses::pause;
use super::{Hot, Outcome, passed, trim};
use crate::backend::{AsyncBackend, Target};
use crate::contents::Contents;
use crate::fault::{FailedCall, Fault};
use fathom_record::OpKind;
use fathom_workload::drive::{DepthFound, DepthSearch, Pauses, WarmUp, carried};
use fathom_workload::ops::{Op, OpCode, Source};
use fathom_workload::{Stream, WhenStopped};
use rustix::io::Errno;
use std::sync::atomic::Ordering;

#[derive(Clone, Copy)]
struct Flight {
    op: Op,
    /// Clock reading before this operation and those submitted with it were prepared.
    stamp: u64,
    /// Clock reading at its submission to the kernel.
    given: u64,
    /// Clock reading at which it was due; 0 without a rate.
    due: u64,
    /// Offset of the data it read, for checking.
    read_at: usize,
    /// Address of its record, where a short transfer continues.
    record: *mut u8,
    /// Whether it started after the warm-up.
    counted: bool,
    priority: u16,
}

/// The slots for operations in flight.
struct Places {
    flights: Vec<Flight>,
    /// A stack: the slot freed last is reused first, so that few buffers are hot.
    free: Vec<u32>,
    /// Prepared but not yet submitted.
    queued: Vec<u32>,
    /// Completed but not yet processed: number and result.
    completed: Vec<(u32, i32)>,
    /// An operation that must wait: an fsync for those in flight, one with a rate for its due time.
    held: Option<Op>,
    /// An fsync covers the writes complete when it starts. Unless it may overlap them, it runs alone, and later operations wait
    /// for it.
    alone: bool,
    /// Ranges in flight, for streams whose operations must not overlap.
    busy: BusyRanges,
    /// For streams that pause.
    pauses: Option<Pauses>,
}

impl Places {
    fn new(depth: usize) -> Self {
        let op = Op { kind: OpCode::Read, file: 0, offset: 0, bytes: 0, think_ns: 0 };
        Self {
            flights: vec![
                Flight {
                    op,
                    stamp: 0,
                    given: 0,
                    due: 0,
                    read_at: 0,
                    record: std::ptr::null_mut(),
                    counted: false,
                    priority: 0
                };
                depth
            ],
            free: (0..depth as u32).rev().collect(),
            queued: Vec::with_capacity(depth),
            completed: Vec::with_capacity(depth),
            held: None,
            alone: false,
            busy: BusyRanges::default(),
            pauses: None,
        }
    }

    /// Whether to drain because a pause is due.
    fn is_pausing(&self) -> bool {
        self.pauses.as_ref().is_some_and(Pauses::is_due)
    }

    /// Operations prepared or in flight.
    #[inline(always)]
    fn busy(&self) -> usize {
        self.flights.len() - self.free.len()
    }

    /// Operations in flight in the kernel.
    fn in_kernel(&self) -> usize {
        debug_assert!(self.completed.len() <= self.busy(), "more operations completed than were prepared");
        self.busy() - self.completed.len()
    }
}

/// Runs the warm-up, if any, and the counted part of a stream. `PLAIN`: the stream has no rare features, so no loop with them is
/// compiled.
pub(crate) fn run<B: AsyncBackend, S: Source, const PLAIN: bool>(
    hot: &mut Hot,
    backend: &mut B,
    source: &mut S,
    stream: &Stream,
    batch: u32,
) -> Result<Outcome, Fault> {
    let search = depth::search(hot, stream);
    let searches = search.is_some();
    let uncounted = hot.warm_up.is_some() || search.as_ref().is_some_and(|search| !search.goes_on());
    if uncounted {
        hot.counting = false;
        hot.deadline = u64::MAX;
    }
    let mut warm = Warm { up: hot.warm_up.take(), search, searching: hot.searching };
    let how = How {
        when_stopped: stream.when_stopped,
        batch,
        wait_for: stream.wait_for.max(1) as usize,
        refill_at: stream.refill_at.map_or(usize::MAX, |n| n as usize),
        take_at_most: stream.take_at_most.map(|n| n as usize),
        recorded: true,
        syncs_alone: !stream.sync_in_queue,
    };
    if !(hot.rare.is_some() || uncounted || searches) {
        return drive::<B, S, false>(hot, backend, source, how, &mut warm);
    }
    if PLAIN {
        return drive::<B, &mut dyn Source, true>(
            hot,
            backend,
            &mut (source as &mut dyn Source),
            how,
            &mut warm,
        );
    }
    drive::<B, S, true>(hot, backend, source, how, &mut warm)
}

/// The uncounted rest after a stop.
pub(crate) fn finish<B: AsyncBackend>(
    hot: &mut Hot,
    backend: &mut B,
    mut source: &mut dyn Source,
    batch: u32,
) -> Result<(), Fault> {
    hot.deadline = u64::MAX;
    hot.finishing = true;
    // Rates no longer apply.
    hot.done.early = None;
    let mut warm = Warm { up: None, search: None, searching: 0 };
    let how = How {
        when_stopped: WhenStopped::FinishUncounted,
        batch,
        wait_for: 1,
        refill_at: usize::MAX,
        take_at_most: None,
        recorded: false,
        syncs_alone: true,
    };
    drive::<B, &mut dyn Source, false>(hot, backend, &mut source, how, &mut warm).map(|_| ())
}

/// How the loop submits and reaps.
#[derive(Clone, Copy)]
struct How {
    when_stopped: WhenStopped,
    /// Operations submitted by one call; 0: all that are free.
    batch: u32,
    /// Completions to wait for when nothing more may start.
    wait_for: usize,
    /// Queue level down to which a full queue drains before it is refilled.
    refill_at: usize,
    /// Maximum completions processed at a time, and then only when no slot is free; `None`: all available ones after every call.
    take_at_most: Option<usize>,
    recorded: bool,
    /// Whether an fsync waits for the operations in flight, and later operations wait for the fsync.
    syncs_alone: bool,
}

impl How {
    /// Completions that a program takes at a time when it needs slots.
    fn takes(self) -> usize {
        self.take_at_most.unwrap_or(self.wait_for)
    }
}

/// Counts completions that are taken `at_a_time`.
fn took(hot: &mut Hot, completions: usize, at_a_time: usize) {
    let mut left = completions;
    while left > 0 {
        let taken = left.min(at_a_time.max(1));
        hot.figures.in_flight.completed(taken);
        left -= taken;
    }
}

/// What must be over before counting begins.
struct Warm<'a> {
    up: Option<WarmUp<'a>>,
    search: Option<DepthSearch>,
    /// Number of workers of the phase that search for a queue depth.
    searching: u32,
}

fn drive<B: AsyncBackend, S: Source, const RARE: bool>(
    hot: &mut Hot,
    backend: &mut B,
    source: &mut S,
    how: How,
    warm: &mut Warm,
) -> Result<Outcome, Fault> {
    let depth = hot.memory.len();
    let mut places = Places::new(depth);
    if RARE {
        places.pauses =
            hot.rare.as_ref().and_then(|rare| Pauses::new(rare.pace.think.asked(), hot.clock.now()));
    }
    let mut most = depth;
    let mut now = hot.clock.now();
    let mut ended = None;
    // The queue was full and is draining to its refill level.
    let mut emptying = false;
    // Operations in flight from the view of a program that takes completions only when it needs a slot.
    let mut taken = 0;
    // Unsuccessful checks for its turn by a worker with nothing in flight.
    let mut tries = 0;
    loop {
        if RARE && ended.is_none() && places.busy() == 0 && places.is_pausing() {
            pause(hot, how.when_stopped);
            now = hot.clock.now();
            if let Some(pauses) = &mut places.pauses {
                pauses.over(now);
            }
        }
        if ended.is_none() {
            ended = hot.stopped(how.when_stopped).or((now >= hot.deadline).then_some(Outcome::Stopped));
        }
        if RARE && !hot.counting && ended.is_none() {
            most = warming(hot, source, warm, places.held.as_ref(), now, depth);
        }
        if RARE && let Some(search) = warm.search.as_mut().filter(|search| search.goes_on()) {
            let found = depth::look(hot, search, now);
            most = search.go_on(found);
            hot.figures.settled_depth = most as u32;
        }
        if RARE
            && hot.counting
            && ended.is_none()
            && hot.rare.as_ref().is_some_and(|r| r.quota.is_used_up(&hot.control.taken))
        {
            ended = Some(Outcome::Stopped);
        }
        places.alone &= places.busy() > 0;
        let (mut due, mut waits) = (0, false);
        let mut trimmed = false;
        let mut stamp = hot.clock.now();
        let carried = carried(how.batch, places.busy(), depth);
        while ended.is_none()
            && !places.alone
            && places.queued.len() < carried
            && places.busy() < most
            && !(RARE && (emptying || places.is_pausing()))
        {
            if RARE {
                hot.look_what_is_early();
            }
            let drawn = places.held.take().or_else(|| hot.pending.take());
            let drawn = drawn.or_else(|| source.next(&hot.done)).or_else(|| {
                if !RARE || hot.counting {
                    return None;
                }
                if let Some(search) = &mut warm.search {
                    search.amount_done();
                }
                source.refill(None);
                source.next(&hot.done)
            });
            let Some(op) = drawn else {
                ended = Some(Outcome::Completed);
                break;
            };
            let syncs = !op.kind.is_data();
            let alone = syncs && (how.syncs_alone || op.kind == OpCode::Evict);
            if alone && places.busy() > 0 {
                places.held = Some(op);
                break;
            }
            if op.kind == OpCode::Evict {
                if op.bytes > 0 {
                    backend.select(op.file);
                    backend.evict(op.offset, op.bytes);
                }
                stamp = hot.clock.now();
                continue;
            }
            // An overlapping operation waits for the next completion; something is in flight.
            if RARE && places.busy.overlaps(&op) {
                places.held = Some(op);
                break;
            }
            if RARE
                && !syncs
                && hot.rare.as_ref().and_then(|r| r.turn.as_ref()).is_some_and(|turn| !turn.may_go())
            {
                places.held = Some(op);
                waits = true;
                break;
            }
            let mut op_due = 0;
            if RARE && (!syncs || hot.rare.as_ref().is_some_and(|r| r.pace.syncs_are_due)) {
                let mut paced = hot.rare.as_mut();
                if let Some(r) = &mut paced {
                    r.pace.comes(source.pauses(&op));
                }
                let paced = paced.filter(|r| r.pace.is_due_by_schedule(&op));
                if let Some(schedule) = paced.and_then(|r| r.pace.schedule.as_mut()) {
                    now = hot.clock.now();
                    stamp = now;
                    due = schedule.due(hot.clock, hot.released);
                    if due > now {
                        places.held = Some(op);
                        break;
                    }
                    if now >= hot.deadline {
                        places.held = Some(op);
                        ended = Some(Outcome::Stopped);
                        break;
                    }
                    let behind_ns = schedule.issued(hot.clock, now, op.bytes.into());
                    if hot.counting {
                        hot.figures.behind_ns = hot.figures.behind_ns.max(behind_ns);
                    }
                    op_due = due;
                }
                if hot.counting && hot.rare.as_ref().is_some_and(|r| !r.quota.take(&hot.control.taken, &op)) {
                    places.held = Some(op);
                    ended = Some(Outcome::Stopped);
                    break;
                }
            }
            if RARE
                && !syncs
                && let Some(turn) = hot.rare.as_mut().and_then(|r| r.turn.as_mut())
            {
                turn.gone();
            }
            if op.kind == OpCode::Trim {
                if let Err(fault) =
                    trim::at_once::<B, S, RARE>(hot, backend, source, &op, op_due, how.recorded)
                    && let Err(fault) = passed::over(hot, source, op, fault)
                {
                    drain(hot, backend, places.in_kernel());
                    return Err(fault);
                }
                if RARE && let Some(pauses) = &mut places.pauses {
                    pauses.issued(hot.clock, || hot.clock.now());
                    pauses.done(1, hot.clock, || hot.clock.now());
                }
                if how.recorded && (!RARE || hot.counting) {
                    hot.figures.in_flight.submitted(1, places.busy() + 1);
                    hot.figures.in_flight.completed(1);
                }
                trimmed = true;
                break;
            }
            places.alone = alone;
            let mut priority = 0;
            if RARE && let Some(priorities) = hot.rare.as_mut().and_then(|r| r.priorities.as_mut()) {
                priority = priorities.of_operation(&op);
            }
            stamp = prepare(hot, backend, &mut places, (op, priority), stamp, op_due);
            if RARE
                && hot.rare.as_ref().is_some_and(|r| r.no_overlap)
                && let Some(number) = places.queued.last()
            {
                places.busy.begins(*number, &op);
            }
            if RARE
                && !syncs
                && source.pauses(&op)
                && let Some(pauses) = &mut places.pauses
            {
                pauses.issued(hot.clock, || hot.clock.now());
            }
        }
        if trimmed && places.queued.is_empty() {
            now = hot.clock.now();
            continue;
        }
        let counts = how.recorded && (!RARE || hot.counting);
        if places.busy() == 0 {
            if counts {
                let at_a_time = if ended.is_some() { taken } else { how.takes() };
                took(hot, taken, at_a_time);
                taken = 0;
            }
            if places.held.is_some() && ended.is_none() {
                if RARE && due > now {
                    now = nap(hot, due, now);
                } else if RARE && waits {
                    now = rest(hot, &mut tries);
                }
                continue;
            }
            // Nothing is queued or in flight. If the rest is finished uncounted, it begins with the held operation.
            hot.pending = places.held;
            if RARE && ended.is_some_and(|e| e != Outcome::Completed) && hot.rare.is_some() {
                hot.stopped_at(now);
            }
            return Ok(ended.unwrap_or(Outcome::Completed));
        }
        tries = 0;
        let mut full = places.busy() >= most || places.alone || ended.is_some();
        if RARE {
            emptying |= full && how.refill_at < most;
            full |= emptying || places.is_pausing();
        }
        let nothing_new = places.queued.is_empty();
        let given = if RARE && due > 0 && !full && places.completed.is_empty() {
            backend.submit_for(hot.clock.between(now, due), hot.clock)
        } else {
            let wait_for = if full { how.wait_for.min(places.busy()) } else { usize::from(nothing_new) };
            backend.submit(wait_for.saturating_sub(places.completed.len()), hot.clock)
        };
        let given = given.inspect_err(|_| leave_to_the_kernel(&mut hot.memory))?;
        if counts {
            if places.alone && !places.queued.is_empty() {
                // The fsync waited for all operations before it.
                hot.figures.in_flight.completed(taken);
                taken = 0;
            }
            taken = places.busy().max((taken + places.queued.len()).min(most));
            hot.figures.in_flight.submitted(places.queued.len(), taken);
        }
        for number in places.queued.drain(..) {
            places.flights[number as usize].given = given;
        }
        now = hot.clock.now();
        let stopped = ended.is_some_and(|e| e != Outcome::Completed);
        // The next operation waits for its due time, or for those in flight.
        let mut waits_for_all = places.held.is_some() || places.alone || ended.is_some();
        if RARE {
            waits_for_all |= places.is_pausing() || nothing_new && !full;
        }
        let look_at = match how.take_at_most {
            Some(most) if RARE && !waits_for_all => {
                if full {
                    most
                } else {
                    0
                }
            }
            _ => usize::MAX,
        };
        let look = Look { most: look_at, recorded: how.recorded, now, stopped };
        let reaped = reap::<B, S, RARE>(hot, backend, source, &mut places, &look);
        if counts && ended.is_none() {
            let least = if taken < most { taken } else { taken.saturating_sub(how.wait_for) };
            let all = waits_for_all || RARE && (emptying || how.take_at_most.is_some());
            let left = if all { places.busy() } else { places.busy().max(least) };
            took(hot, taken - left, how.takes());
            taken = left;
        }
        reaped?;
        if RARE {
            emptying &= places.busy() > how.refill_at;
        }
        if RARE
            && hot.counting
            && let Err(fault) = super::limits::look(hot, now)
        {
            drain(hot, backend, places.in_kernel());
            return Err(fault);
        }
    }
}

/// One pass over the completions.
struct Look {
    /// Maximum number of completions to take.
    most: usize,
    recorded: bool,
    now: u64,
    stopped: bool,
}

/// Processes the available completions.
#[inline(always)]
fn reap<B: AsyncBackend, S: Source, const RARE: bool>(
    hot: &mut Hot,
    backend: &mut B,
    source: &mut S,
    places: &mut Places,
    look: &Look,
) -> Result<(), Fault> {
    let &Look { most, recorded, now, stopped } = look;
    if RARE && most == 0 {
        return Ok(());
    }
    let mut alike = Alike::default();
    let mut completed = std::mem::take(&mut places.completed);
    backend.reap(&mut completed);
    let taken = if RARE { completed.len().min(most) } else { completed.len() };
    let mut fault = None;
    // Completions that count towards a pause.
    let mut pausing = 0;
    for &(number, result) in &completed[..taken] {
        let flight = &places.flights[number as usize];
        debug_assert!(!places.free.contains(&number), "operation {number} completed twice");
        places.free.push(number);
        if RARE {
            places.busy.ends(number);
            pausing += u64::from(flight.op.kind.is_data() && source.pauses(&flight.op));
        }
        if fault.is_some() {
            continue;
        }
        if let Err(found) = complete(hot, backend, source, number, flight, result) {
            fault = passed::over(hot, source, flight.op, found).err();
            continue;
        }
        source.completed(&flight.op);
        hot.last = now;
        if RARE && hot.counting && !flight.counted {
            // It started in the warm-up.
            hot.figures.ramp_ops += u64::from(!matches!(flight.op.kind, OpCode::Sync { .. }));
            done_uncounted(hot, flight);
            continue;
        }
        if !recorded {
            hot.figures.uncounted_bytes += u64::from(flight.op.bytes);
            done_uncounted(hot, flight);
            continue;
        }
        if !alike.takes(flight) {
            alike.record(hot, now);
            alike = Alike::of(flight);
        }
        if RARE {
            rarely(hot, flight, now);
        }
        if stopped && hot.counting && !matches!(flight.op.kind, OpCode::Sync { .. }) {
            hot.figures.drained_ops += 1;
        }
    }
    alike.record(hot, now);
    if RARE && let Some(pauses) = &mut places.pauses {
        pauses.done(pausing, hot.clock, || hot.clock.now());
    }
    completed.drain(..taken);
    places.completed = completed;
    match fault {
        None => Ok(()),
        Some(fault) => {
            drain(hot, backend, places.in_kernel());
            Err(fault)
        }
    }
}

/// An uncounted operation is done; a mix may depend on it.
#[inline(always)]
fn done_uncounted(hot: &mut Hot, flight: &Flight) {
    match flight.op.kind {
        OpCode::Read => hot.done.reads += 1,
        OpCode::Write => hot.done.writes += 1,
        OpCode::Sync { .. } | OpCode::Trim | OpCode::Evict => {}
    }
}

/// Operations of one kind that were prepared, submitted and completed together: they share one latency and are recorded at once.
/// On a device that completes them one by one it holds one operation.
#[derive(Default)]
struct Alike {
    kind: Option<OpCode>,
    stamp: u64,
    given: u64,
    bytes: u64,
    n: u64,
}

impl Alike {
    #[inline(always)]
    fn of(flight: &Flight) -> Self {
        let bytes = u64::from(flight.op.bytes);
        Self { kind: Some(flight.op.kind), stamp: flight.stamp, given: flight.given, bytes, n: 1 }
    }

    /// Adds the operation if it matches; returns whether it does.
    #[inline(always)]
    fn takes(&mut self, flight: &Flight) -> bool {
        let like =
            self.kind == Some(flight.op.kind) && self.stamp == flight.stamp && self.given == flight.given;
        if like {
            self.bytes += u64::from(flight.op.bytes);
            self.n += 1;
        }
        like
    }

    #[inline(always)]
    fn record(&self, hot: &mut Hot, now: u64) {
        let Some(kind) = self.kind else { return };
        let ns = hot.clock.between(self.stamp, now);
        let (kind, submission, completion) = match kind {
            OpCode::Read => {
                hot.done.reads += self.n;
                (OpKind::Read, OpKind::ReadSubmission, OpKind::ReadCompletion)
            }
            OpCode::Write => {
                hot.done.writes += self.n;
                (OpKind::Write, OpKind::WriteSubmission, OpKind::WriteCompletion)
            }
            OpCode::Sync { .. } => {
                hot.stats[OpKind::Sync].record_alike(ns, 0, self.n);
                return;
            }
            // Never in flight.
            OpCode::Trim | OpCode::Evict => return,
        };
        hot.stats[kind].record_alike(ns, self.bytes, self.n);
        let given_ns = hot.clock.between(self.stamp, self.given);
        hot.stats[submission].record_alike(given_ns, self.bytes, self.n);
        // The remainder, so that the two parts add up to the whole to the nanosecond, here and in the notes of each operation.
        hot.stats[completion].record_alike(ns.saturating_sub(given_ns), self.bytes, self.n);
    }
}

/// Records what is kept per operation: its response time and its log entry.
#[inline(never)]
fn rarely(hot: &mut Hot, flight: &Flight, now: u64) {
    hot.priority = flight.priority;
    if matches!(flight.op.kind, OpCode::Sync { .. }) {
        if hot.counting {
            hot.log_operation(&flight.op, flight.stamp, flight.given, now);
        }
        return;
    }
    if flight.due > 0 {
        hot.stats[OpKind::Response].record(hot.clock.between(flight.due, now), u64::from(flight.op.bytes));
    }
    if hot.counting {
        hot.log_operation(&flight.op, flight.stamp, flight.given, now);
        let ns = hot.clock.between(flight.stamp, now);
        super::limits::note(hot, &flight.op, ns);
    }
}

/// The warm-up: what it waits for, and the queue depth until then. Workers that search for a depth begin to count together.
#[cold]
fn warming(
    hot: &mut Hot,
    source: &mut dyn Source,
    warm: &mut Warm,
    held: Option<&Op>,
    now: u64,
    depth: usize,
) -> usize {
    if let Some(search) = warm.search.as_mut().filter(|search| !search.goes_on()) {
        match depth::look(hot, search, now) {
            DepthFound::Trying(depth) => return depth,
            DepthFound::Settled(depth) => {
                hot.figures.settled_depth = depth as u32;
                hot.control.settled.fetch_add(1, Ordering::AcqRel);
                warm.search = None;
            }
        }
    }
    let goes_on = warm.search.is_some();
    let adaptive = hot.figures.settled_depth > 0 && !goes_on;
    let most = if adaptive { hot.figures.settled_depth as usize } else { depth };
    let together = !adaptive || hot.control.settled.load(Ordering::Acquire) >= warm.searching;
    let over = warm.up.as_ref().is_none_or(|up| {
        up.moved(hot.stats.data_bytes());
        up.is_over(now)
    });
    if over && together {
        hot.figures.ramp_ops = hot.forget_warm_up();
        source.refill(held);
        hot.begin_counting(now);
    }
    most
}

/// Nothing is in flight and it is other workers' turn. Returns the time afterwards.
#[cold]
fn rest(hot: &Hot, tries: &mut u32) -> u64 {
    super::ratio::rest(hot, *tries);
    *tries = tries.saturating_add(1);
    hot.clock.now()
}

/// Nothing is in flight and the next operation is not due. Returns the time afterwards.
#[cold]
fn nap(hot: &Hot, due: u64, now: u64) -> u64 {
    hot.sleeps.approach(hot.clock, now, due.min(hot.deadline));
    hot.clock.now()
}

/// After a fault: waits for the operations in flight, as the kernel still uses their buffers.
#[cold]
fn drain<B: AsyncBackend>(hot: &mut Hot, backend: &mut B, in_flight: usize) {
    let mut completed = Vec::new();
    while in_flight > completed.len() {
        if backend.submit(1, hot.clock).is_err() {
            return leave_to_the_kernel(&mut hot.memory);
        }
        backend.reap(&mut completed);
    }
}

/// Operations in flight can no longer be waited for. The kernel may still write to the buffers, so they are never freed.
#[cold]
fn leave_to_the_kernel(memory: &mut Vec<Contents>) {
    std::mem::forget(std::mem::take(memory));
}

/// Assigns a slot, a buffer and a time stamp to an operation; returns the stamp.
#[inline(always)]
fn prepare<B: AsyncBackend>(
    hot: &mut Hot,
    backend: &mut B,
    places: &mut Places,
    (op, priority): (Op, u16),
    stamp: u64,
    due: u64,
) -> u64 {
    let Some(number) = places.free.pop() else { return stamp };
    debug_assert!(
        !places.queued.contains(&number),
        "operation {number} is prepared once before it is submitted"
    );
    let flight = &mut places.flights[number as usize];
    let mut target = target(hot, number, &op, flight);
    target.priority = priority;
    flight.op = op;
    flight.record = target.pointer;
    flight.priority = priority;
    flight.due = due;
    flight.counted = hot.counting;
    flight.stamp = if op.kind == OpCode::Write { hot.clock.now() } else { stamp };
    let stamp = flight.stamp;
    backend.queue(number, &op, target);
    places.queued.push(number);
    stamp
}

/// The buffer of an operation to be queued.
#[inline(always)]
fn target(hot: &mut Hot, number: u32, op: &Op, flight: &mut Flight) -> Target {
    let (position, contents) = (hot.position(op), &mut hot.memory[number as usize]);
    let bytes = op.bytes as usize;
    // Registered buffers come in pairs: one to write from, one to read into.
    let pair = (number as u16).wrapping_mul(2);
    match op.kind {
        OpCode::Write => Target {
            pointer: contents.record_to_write(position, bytes).as_mut_ptr(),
            registered: pair,
            priority: 0,
        },
        OpCode::Read => {
            flight.read_at = contents.read_position();
            Target { pointer: contents.record_to_read(bytes).as_mut_ptr(), registered: pair + 1, priority: 0 }
        }
        OpCode::Sync { .. } | OpCode::Trim | OpCode::Evict => {
            Target { pointer: std::ptr::null_mut(), registered: 0, priority: 0 }
        }
    }
}

/// Checks a completion for errors, short transfers and wrong data.
#[inline(always)]
fn complete<B: AsyncBackend, S: Source>(
    hot: &mut Hot,
    backend: &mut B,
    source: &S,
    number: u32,
    flight: &Flight,
    result: i32,
) -> Result<(), Fault> {
    let op = &flight.op;
    let call = match op.kind {
        OpCode::Read => FailedCall::Read,
        OpCode::Write => FailedCall::Write,
        // Evictions are never in flight.
        OpCode::Sync { .. } | OpCode::Evict => FailedCall::Sync,
        OpCode::Trim => FailedCall::Trim,
    };
    if result < 0 {
        return Err(backend.failed(Fault::of(call, Errno::from_raw_os_error(-result), op.offset)));
    }
    if (result as u32) < op.bytes && call != FailedCall::Sync {
        backend.select(op.file);
        move_the_rest(backend.descriptor(), flight, result as usize, call)?;
    }
    let (position, contents) = (hot.position(op), &hot.memory[number as usize]);
    if call == FailedCall::Read
        && contents.checks()
        && let Err(fault) = contents.check(source.expected(op), position, flight.read_at, op.bytes as usize)
    {
        passed::wrong(hot, *op, fault)?;
    }
    Ok(())
}

/// Completes a short transfer by synchronous calls, as the other back-ends do; if that fails, one of them returns the error.
#[cold]
fn move_the_rest(
    file: Option<rustix::fd::BorrowedFd<'_>>,
    flight: &Flight,
    mut moved: usize,
    call: FailedCall,
) -> Result<(), Fault> {
    let bytes = flight.op.bytes as usize;
    if flight.record.is_null() {
        return Err(Fault::short(call, flight.op.offset, bytes as u64, moved as u64));
    }
    // SAFETY: this much of the worker's memory was given to this operation, which the kernel is done with; no other operation
    // uses it until this one ends.
    let record = unsafe { std::slice::from_raw_parts_mut(flight.record, bytes) };
    while moved < bytes {
        let fell = Fault::short(call, flight.op.offset, bytes as u64, moved as u64);
        let (Some(file), at) = (file, flight.op.offset + moved as u64) else { return Err(fell) };
        let tried = match call {
            FailedCall::Write => rustix::io::pwrite(file, &record[moved..], at),
            FailedCall::Read => rustix::io::pread(file, &mut record[moved..], at),
            _ => return Err(fell),
        };
        match tried {
            Ok(0) => return Err(fell),
            Ok(more) => moved += more,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(Fault { errno: errno.raw_os_error(), ..fell }),
        }
    }
    Ok(())
}
