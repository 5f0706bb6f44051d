//! One worker from its release to its end: warm-up, counted part, what stands inside the clock after it, and what a stopped one
//! finishes. The order of the steps is the engine's, because the model says what is inside the clock.

use super::pace::{Pace, Paused, Waited, is_stopped, take};
use super::plan::Plan;
use super::several::{self, Slots};
use super::stop::Together;
use super::worked::Worked;
use crate::calls::Short;
use crate::machine::Machine;
use fathom_record::{Ending, OpError, OpKind, OpLogEntry};
use fathom_workload::ops::{Done, Op, OpKind as Kind, Source};
use fathom_workload::{Backend, OpenSync, Raise, Stream, WhenStopped};

/// Why a loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Completed,
    Stopped,
    Failed,
}

/// A worker while it runs.
pub(super) struct Hot<'a, 'p> {
    pub machine: &'p Machine,
    pub plan: &'p Plan<'a>,
    pub together: &'p Together,
    pub worked: Worked,
    pub pace: Pace<'a>,
    pub done: Done,
    pub counting: bool,
    pub deadline_ns: u64,
    pub last_ns: u64,
    /// Time before the last operation that is not to be counted, and since.
    pub excluded_ns: u64,
    pub paused: Paused,
    /// An operation that was drawn and not issued.
    pub pending: Option<Op>,
}

/// Does one operation.
pub(super) async fn perform(machine: &Machine, plan: &Plan<'_>, op: &Op) -> Result<(), (Op, Short)> {
    let handle = plan.handle(op.file);
    let began = machine.now();
    let stream = plan.stream;
    match op.kind {
        Kind::Read => machine.read(handle, op.offset, op.bytes.into()).await.map_err(|short| (*op, short))?,
        Kind::Write => {
            machine.write(handle, op.offset, op.bytes.into()).await;
            if let Some(data_only) = synced_with(stream) {
                machine.fsync(handle, data_only).await;
            }
        }
        Kind::Sync { data_only } => machine.fsync(handle, data_only).await,
    }
    if machine.now() == began {
        // With a host on which nothing costs anything time must go on all the same, or an endless stream would never end.
        machine.sleep_until(began + 1).await;
    }
    Ok(())
}

/// Whether a write is only done when it is on the device, and then whether what the file need not have for its data may wait. Of
/// several demands the strongest holds.
fn synced_with(stream: &Stream) -> Option<bool> {
    let inside = stream.sync_every.filter(|e| e.inside).map(|e| e.data_only);
    let flags = match stream.backend {
        Backend::Pvsync2(o) if o.sync => Some(false),
        Backend::Pvsync2(o) if o.dsync => Some(true),
        _ => None,
    };
    let opened = match stream.open.sync {
        OpenSync::No => None,
        OpenSync::Dsync => Some(true),
        OpenSync::Sync | OpenSync::Rsync => Some(false),
    };
    [inside, flags, opened].into_iter().flatten().reduce(|a, b| a && b)
}

/// The word for an operation in the record.
pub(super) fn recorded(op: &Op) -> OpKind {
    match op.kind {
        Kind::Read => OpKind::Read,
        Kind::Write => OpKind::Write,
        Kind::Sync { .. } => OpKind::Sync,
    }
}

impl<'a> Hot<'a, '_> {
    pub fn begin_counting(&mut self) {
        let now = self.machine.now();
        self.counting = true;
        self.together.counting(now);
        self.worked.start_ns = now;
        self.last_ns = now;
        self.excluded_ns = 0;
        self.paused.ns = 0;
        self.deadline_ns = self.plan.time_ns.map_or(u64::MAX, |ns| now.saturating_add(ns));
        self.worked.cpu_before_ns = self.cpu_ns();
    }

    fn cpu_ns(&self) -> u64 {
        self.machine.cpu_of(self.plan.who)
    }

    /// An operation has ended: feeds the mixes, and records it if it counts.
    pub fn ended(&mut self, source: &mut dyn Source, op: &Op, began_ns: u64, counts: bool) {
        let now = self.machine.now();
        match op.kind {
            Kind::Read => self.done.reads += 1,
            Kind::Write => self.done.writes += 1,
            Kind::Sync { .. } => {}
        }
        source.completed(op);
        if !counts {
            return;
        }
        self.last_ns = now;
        let (kind, latency_ns) = (recorded(op), now - began_ns);
        self.worked.record(kind, latency_ns, op.bytes.into());
        self.together.counted(now, kind, latency_ns, op.bytes.into());
        if self.plan.stream.log_operations && kind != OpKind::Sync {
            let start_ns = began_ns.saturating_sub(self.worked.start_ns);
            self.worked.log.push(OpLogEntry { offset: op.offset, bytes: op.bytes, latency_ns, start_ns });
        }
    }

    /// An operation moved less than it was asked for.
    pub fn fail(&mut self, op: &Op, short: Short) -> Outcome {
        self.together.failed.set(true);
        let path = format!("file {} of the set {}", op.file, self.plan.set);
        let message = format!(
            "{path} ends too early: at offset {} only {} of {} bytes could be read",
            op.offset, short.moved, op.bytes
        );
        self.worked.ending = Ending::Failed(OpError {
            call: "read".into(),
            path,
            offset: Some(op.offset),
            after_ops: self.worked.operations(),
            message,
            ..OpError::default()
        });
        Outcome::Failed
    }

    /// With a rate: response time and lateness of an operation that was issued at `issued_ns` and has ended.
    pub fn note_response(&mut self, op: &Op, issued_ns: u64, counts: bool) {
        let now = self.machine.now();
        if matches!(op.kind, Kind::Sync { .. }) {
            return;
        }
        let Some(schedule) = self.pace.schedule() else { return };
        let due_ns = schedule.due();
        let behind_ns = schedule.issued(issued_ns);
        if counts {
            self.worked.behind_ns = self.worked.behind_ns.max(behind_ns);
            self.worked.record(OpKind::Response, now.saturating_sub(due_ns), op.bytes.into());
        }
    }

    async fn warm_up(&mut self, source: &mut dyn Source) -> Option<Outcome> {
        self.deadline_ns = self.machine.now().saturating_add(self.plan.ramp_ns);
        while self.machine.now() < self.deadline_ns {
            if is_stopped(self.plan, self.together) {
                return Some(Outcome::Stopped);
            }
            let drawn = self.pending.take().or_else(|| source.next(&self.done)).or_else(|| {
                source.refill(None);
                source.next(&self.done)
            });
            let Some(op) = drawn else { return Some(Outcome::Completed) };
            if let Some(outcome) = self.one(source, op, false).await {
                if outcome == Outcome::Stopped && self.pending.is_some() {
                    continue;
                }
                return Some(outcome);
            }
            self.worked.ramp_ops += 1;
        }
        source.refill(self.pending.as_ref());
        self.begin_counting();
        None
    }

    /// Does one operation with what comes before and after it. `Stopped` with the operation pending: it must not be issued.
    async fn one(&mut self, source: &mut dyn Source, op: Op, counts: bool) -> Option<Outcome> {
        let (machine, plan, together) = (self.machine, self.plan, self.together);
        let waited = self.pace.before(machine, plan, together, &op, self.deadline_ns, &mut self.paused).await;
        if waited == Waited::Cut || counts && !take(plan, together, &op) {
            self.pending = Some(op);
            if counts {
                self.cut();
            }
            return Some(Outcome::Stopped);
        }
        if counts {
            self.excluded_ns += std::mem::take(&mut self.paused.ns);
        }
        let began = machine.now();
        if let Err((op, short)) = perform(machine, plan, &op).await {
            return Some(self.fail(&op, short));
        }
        self.ended(source, &op, began, counts);
        self.note_response(&op, began, counts);
        self.pace.after(machine, plan, &op, &mut self.paused).await;
        None
    }

    /// The time that a schedule left empty at the end was used, too.
    pub fn cut(&mut self) {
        let now = self.machine.now();
        if now >= self.deadline_ns {
            self.excluded_ns += std::mem::take(&mut self.paused.ns);
            self.last_ns = self.last_ns.max(self.deadline_ns);
        } else if self.pace.has_rate() {
            self.excluded_ns += std::mem::take(&mut self.paused.ns);
            self.last_ns = self.last_ns.max(now);
        }
    }

    async fn counted(&mut self, source: &mut dyn Source) -> Outcome {
        loop {
            if is_stopped(self.plan, self.together) {
                return Outcome::Stopped;
            }
            if self.last_ns >= self.deadline_ns {
                return Outcome::Stopped;
            }
            if self.paused.ns > 0 && self.machine.now() >= self.deadline_ns {
                self.cut();
                return Outcome::Stopped;
            }
            let Some(op) = self.pending.take().or_else(|| source.next(&self.done)) else {
                return Outcome::Completed;
            };
            if let Some(outcome) = self.one(source, op, true).await {
                return outcome;
            }
        }
    }

    /// The uncounted rest after a stop.
    async fn finish(&mut self, source: &mut dyn Source) {
        while !self.together.failed.get() {
            let Some(op) = self.pending.take().or_else(|| source.next(&self.done)) else { break };
            let began = self.machine.now();
            if perform(self.machine, self.plan, &op).await.is_err() {
                break;
            }
            self.ended(source, &op, began, false);
            self.worked.uncounted_bytes += u64::from(op.bytes);
        }
    }

    /// fsync of all its files, with the mark.
    async fn sync_and_mark(&mut self) {
        let series = self.plan.stream.sync_series;
        let kind = if series.is_some() { OpKind::FinalSync } else { OpKind::Sync };
        let data_only = series.is_some_and(|s| s.data_only);
        for file in 0..self.plan.files {
            let from = self.machine.now();
            self.machine.fsync(self.plan.handle(file), data_only).await;
            self.worked.record(kind, self.machine.now() - from, 0);
            self.worked.fsync_ns = self.machine.now() - self.worked.start_ns;
        }
    }

    async fn close_and_mark(&mut self) {
        let from = self.machine.now();
        self.machine.compute(self.machine.costs.call_ns).await;
        self.worked.record(OpKind::Close, self.machine.now() - from, 0);
        self.worked.close_ns = self.machine.now() - self.worked.start_ns;
    }
}

/// The life of a worker that is released at `first_ns` plus its stagger.
pub(crate) async fn live<'a>(
    machine: &Machine,
    plan: &Plan<'a>,
    together: &Together,
    slots: Option<&Slots>,
    first_ns: u64,
) -> Worked {
    machine.own_cpu(plan.who);
    machine.sleep_until(first_ns.saturating_add(plan.stagger_ns)).await;
    let released_ns = machine.now();
    let worked =
        Worked { group: plan.group.clone(), index: plan.index as u32, released_ns, ..Worked::default() };
    let mut hot = Hot {
        machine,
        plan,
        together,
        worked,
        pace: Pace::of(plan, released_ns),
        done: Done::default(),
        counting: false,
        deadline_ns: u64::MAX,
        last_ns: released_ns,
        excluded_ns: 0,
        paused: Paused::default(),
        pending: None,
    };
    hot.worked.start_ns = released_ns;
    let Some(mut source) = plan.source() else {
        hot.worked.ending = too_small(plan);
        together.failed.set(true);
        return hot.worked;
    };
    let source = &mut *source;
    if plan.ramp_ns == 0 {
        hot.begin_counting();
    }
    if plan.stream.timed.open {
        let from = machine.now();
        machine.compute(machine.costs.call_ns).await;
        hot.worked.record(OpKind::Open, machine.now() - from, 0);
        open(machine, plan).await;
    }
    let outcome = match slots {
        Some(slots) => several::run(&mut hot, source, slots).await,
        None => {
            let early = if plan.ramp_ns > 0 { hot.warm_up(source).await } else { None };
            match early {
                Some(outcome) => outcome,
                None => hot.counted(source).await,
            }
        }
    };
    if !hot.counting {
        hot.begin_counting();
    }
    conclude(hot, source, outcome).await
}

async fn conclude(mut hot: Hot<'_, '_>, source: &mut dyn Source, outcome: Outcome) -> Worked {
    let (machine, plan, stream) = (hot.machine, hot.plan, hot.plan.stream);
    let start_ns = hot.worked.start_ns;
    hot.worked.last_ns = hot.last_ns;
    hot.worked.elapsed_ns = (hot.last_ns - start_ns).saturating_sub(hot.excluded_ns);
    if outcome == Outcome::Failed {
        hot.worked.cpu_ns = hot.cpu_ns();
        return hot.worked;
    }
    let raise_first = |when: Raise| {
        if outcome == Outcome::Completed && plan.raise == Some(when) {
            hot.together.first_done.set(true);
        }
    };
    raise_first(Raise::AfterLastOp);
    let mut closed = false;
    if stream.timed.fsync {
        hot.sync_and_mark().await;
    }
    if stream.timed.close {
        hot.close_and_mark().await;
        closed = true;
    }
    if stream.timed.fsync || stream.timed.close {
        let not_counted_ns = hot.excluded_ns + hot.paused.ns;
        hot.worked.elapsed_ns = (machine.now() - start_ns).saturating_sub(not_counted_ns);
    }
    if outcome == Outcome::Completed && plan.raise == Some(Raise::AfterFinish) {
        hot.together.first_done.set(true);
    }
    hot.worked.cpu_ns = hot.cpu_ns();
    hot.together.written_bytes.set(machine.block.written_bytes());
    if outcome == Outcome::Stopped && stream.when_stopped == WhenStopped::FinishUncounted {
        hot.finish(source).await;
    }
    if stream.sync_after && !closed {
        hot.sync_and_mark().await;
    }
    if !closed {
        hot.close_and_mark().await;
    }
    if hot.worked.ending == Ending::Completed && outcome == Outcome::Stopped {
        hot.worked.ending = Ending::Stopped;
    }
    machine.block.has_exited(machine, plan.who);
    hot.worked
}

/// Opens the files of a plan: those that are cut are empty then.
pub(crate) async fn open(machine: &Machine, plan: &Plan<'_>) {
    if plan.stream.open.truncate {
        for file in plan.first_file..plan.first_file + plan.files {
            machine.make_empty(file).await;
        }
    }
}

/// What comes before the start and is in no clock.
pub(crate) async fn prologue(machine: &Machine, plan: &Plan<'_>) {
    if !plan.stream.timed.open {
        open(machine, plan).await;
    }
    if plan.stream.sync_before {
        for file in 0..plan.files {
            machine.fsync(plan.handle(file), false).await;
        }
    }
    if plan.stream.warm_first_record {
        // What cannot be read here will be missed by the first operation, which says so.
        let _ = machine.read(plan.handle(0), plan.region.start, plan.stream.record.largest().0).await;
    }
}

fn too_small(plan: &Plan<'_>) -> Ending {
    let path = format!("a file of the set {}", plan.set);
    let message = format!(
        "the region of {path} ({} bytes) is smaller than a record ({} bytes)",
        plan.region.length,
        plan.stream.record.largest().0
    );
    Ending::Failed(OpError { call: "start".into(), path, message, ..OpError::default() })
}
