//! A worker while it runs: its counters, and how completed operations update them.

use super::pace::{Pace, Paused};
use super::plan::WorkerPlan;
use super::stop::PhaseControl;
use super::worker_result::WorkerResult;
use crate::calls::ShortTransfer;
use crate::machine::Machine;
use fathom_record::{Ending, OpError, OpKind, OpLogEntry};
use fathom_workload::ops::{Done, Op, OpCode, Source};
use fathom_workload::{Backend, OpenSync, Stream};

/// Minimum duration of an operation: about that of an empty system call on current machines.
pub(crate) const LEAST_NS: u64 = 100;

/// Why a loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoopEnd {
    Completed,
    Stopped,
    Failed,
}

pub(super) struct Hot<'a, 'p> {
    pub machine: &'p Machine,
    pub plan: &'p WorkerPlan<'a>,
    pub together: &'p PhaseControl,
    pub worked: WorkerResult,
    pub pace: Pace<'p>,
    pub done: Done,
    pub counting: bool,
    /// Bytes moved during its warm-up.
    pub warmed: u64,
    pub deadline_ns: u64,
    pub last_ns: u64,
    /// Uncounted time before the last operation, and since.
    pub excluded_ns: u64,
    pub paused: Paused,
    /// An operation that was drawn but not issued.
    pub pending: Option<Op>,
}

/// Does one operation.
pub(super) async fn perform(
    machine: &Machine,
    plan: &WorkerPlan<'_>,
    op: &Op,
) -> Result<(), (Op, ShortTransfer)> {
    let began = machine.now();
    let stream = plan.stream;
    match op.kind {
        OpCode::Read => {
            let done = plan.read(machine, op.file, op.offset, op.bytes.into()).await;
            done.map_err(|short| (*op, short))?;
        }
        OpCode::Write => {
            let handed = plan.write(machine, op.file, op.offset, op.bytes.into()).await;
            let inside = stream.sync_every.is_some_and(|every| every.inside);
            match synced_with(stream) {
                Some(data_only) if inside => plan.fsync(machine, op.file, data_only).await,
                // Open flags concern only data that reached the kernel.
                Some(data_only) if handed => machine.fsync(plan.handle(op.file), data_only).await,
                _ => {}
            }
        }
        OpCode::Sync { data_only } => plan.fsync(machine, op.file, data_only).await,
        // Trims are refused earlier (see `refused`); drops are done by `evict`.
        OpCode::Trim | OpCode::Evict => {}
    }
    if machine.now() == began {
        // Time must advance even on a host where nothing costs anything, or an endless stream would never end.
        machine.sleep_until(began + LEAST_NS).await;
    }
    Ok(())
}

/// Whether a write is done only once it is on the device; if so, whether metadata not needed for the data may wait. The strongest of
/// several demands wins.
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

/// The record's name for an operation.
pub(super) fn recorded(op: &Op) -> OpKind {
    match op.kind {
        OpCode::Read => OpKind::Read,
        OpCode::Write => OpKind::Write,
        OpCode::Sync { .. } => OpKind::Sync,
        // Drops are never recorded.
        OpCode::Trim | OpCode::Evict => OpKind::Trim,
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

    /// CPU time used so far, ns.
    pub fn cpu_ns(&self) -> u64 {
        self.machine.cpu_of(self.plan.who)
    }

    /// Drops the cached pages of a range if the operation asks for it.
    pub fn evicts(&self, op: &Op) -> bool {
        let evicts = op.kind == OpCode::Evict;
        if evicts && op.bytes > 0 {
            self.machine.evict_range(self.plan.handle(op.file).file, op.offset, op.bytes.into());
        }
        evicts
    }

    /// An operation has ended: updates the mixes, and records it if it counts.
    pub fn ended(&mut self, source: &mut dyn Source, op: &Op, began_ns: u64, counts: bool) {
        let now = self.machine.now();
        match op.kind {
            OpCode::Read => self.done.reads += 1,
            OpCode::Write => self.done.writes += 1,
            OpCode::Sync { .. } | OpCode::Trim | OpCode::Evict => {}
        }
        source.completed(op);
        if !counts {
            self.warmed += u64::from(op.bytes);
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

    /// An operation moved fewer bytes than requested.
    pub fn fail(&mut self, op: &Op, short: ShortTransfer) -> LoopEnd {
        self.together.has_failed();
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
        LoopEnd::Failed
    }

    /// With a rate: records response time and lateness of a completed operation issued at `issued_ns`.
    pub fn note_response(&mut self, op: &Op, issued_ns: u64, counts: bool) {
        let now = self.machine.now();
        let Some((due_ns, behind_ns)) = self.pace.issued(op, issued_ns) else { return };
        if counts {
            self.worked.behind_ns = self.worked.behind_ns.max(behind_ns);
            if !matches!(op.kind, OpCode::Sync { .. }) {
                self.worked.record(OpKind::Response, now.saturating_sub(due_ns), op.bytes.into());
            }
        }
    }

    /// Charges the time that a schedule left empty at the end.
    pub fn cut(&mut self) {
        let now = self.machine.now();
        if now >= self.deadline_ns {
            self.excluded_ns += std::mem::take(&mut self.paused.ns);
            self.last_ns = self.last_ns.max(self.deadline_ns);
        } else if self.pace.rules.schedule.is_some() {
            self.excluded_ns += std::mem::take(&mut self.paused.ns);
            self.last_ns = self.last_ns.max(now);
        }
    }
}
