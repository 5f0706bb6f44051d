//! A stream with several operations in flight. A separate task does each, representing the kernel's part; the worker draws, submits and
//! reaps. Unless configured otherwise an fsync runs alone, as in the engine: it waits for those in flight, and the next ones wait for it.
//!
//! With direct I/O that is all. Through the page cache, the kernel does what it can during submission, one operation after the other on
//! the worker's CPU: with aio every read and write, whether it must wait or not; with io_uring reads that find their pages in memory. The
//! worker sees the completions when that call returns. A call submits as many operations as in the engine.

use super::hot::{Hot, LoopEnd, perform};
use super::pace::{PaceResult, is_stopped, wait_until};
use super::plan::WorkerPlan;
use crate::calls::ShortTransfer;
use crate::machine::Machine;
use crate::machine::task::TaskNumber;
use crate::stack::Stack;
use fathom_record::OpKind;
use fathom_workload::Backend;
use fathom_workload::drive::carried;
use fathom_workload::ops::{Op, OpCode, Source};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// State shared by a worker and the tasks that do its operations.
#[derive(Default)]
pub(crate) struct Slots {
    /// Idle tasks.
    idle: RefCell<Vec<TaskNumber>>,
    /// Submitted operations not yet taken by a task, with the time each was drawn.
    handed: RefCell<VecDeque<(Op, u64)>>,
    /// Completed operations, with the time each was drawn.
    ended: RefCell<VecDeque<(Op, u64, Option<ShortTransfer>)>>,
    /// The worker while it waits for a completion.
    waiting: Cell<Option<TaskNumber>>,
}

/// Does operations for a worker, for ever.
pub(crate) async fn serve(machine: &Machine, plan: &WorkerPlan<'_>, slots: &Slots) {
    machine.own_cpu(plan.who);
    loop {
        let next = slots.handed.borrow_mut().pop_front();
        let Some((op, began)) = next else {
            slots.idle.borrow_mut().push(machine.task());
            machine.park().await;
            continue;
        };
        let short = perform(machine, plan, &op).await.err().map(|(_, short)| short);
        slots.ended.borrow_mut().push_back((op, began, short));
        if let Some(worker) = slots.waiting.take() {
            machine.wake(worker);
        }
    }
}

impl Slots {
    fn hand(&self, machine: &Machine, op: Op, began_ns: u64) {
        self.handed.borrow_mut().push_back((op, began_ns));
        let idle = self.idle.borrow_mut().pop();
        if let Some(task) = idle {
            machine.wake(task);
        }
    }

    /// The worker waits until an operation completes or the next one is scheduled.
    async fn until_one_ends(&self, machine: &Machine, due_ns: Option<u64>) {
        self.waiting.set(Some(machine.task()));
        match due_ns {
            None => machine.park().await,
            Some(due_ns) => {
                let rang = machine.park_until(due_ns).await;
                if self.waiting.take().is_none() && rang {
                    // One completed at this very time; its wake-up is on the way.
                    machine.park().await;
                }
            }
        }
    }
}

/// Whether operations go through the page cache, so that the kernel may do them during submission.
fn through_the_cache(machine: &Machine, plan: &WorkerPlan<'_>) -> bool {
    let asynchronous = matches!(plan.stream.backend, Backend::Aio { .. } | Backend::Uring(_));
    asynchronous && !plan.stream.open.direct && machine.stack == Stack::Full
}

/// Whether the kernel completes a page-cache operation during submission.
fn is_done_at_once(machine: &Machine, plan: &WorkerPlan<'_>, op: &Op) -> bool {
    match op.kind {
        OpCode::Sync { .. } | OpCode::Trim | OpCode::Evict => false,
        _ if matches!(plan.stream.backend, Backend::Aio { .. }) => true,
        OpCode::Read => machine.finds_all(plan.handle(op.file), op.offset, op.bytes.into()),
        OpCode::Write => false,
    }
}

/// Submits page-cache operations; those done during submission have completed on return.
async fn hand_in(hot: &Hot<'_, '_>, slots: &Slots, call: &mut Vec<(Op, u64)>) {
    let (machine, plan) = (hot.machine, hot.plan);
    for (op, began_ns) in call.drain(..) {
        if is_done_at_once(machine, plan, &op) {
            let short = perform(machine, plan, &op).await.err().map(|(_, short)| short);
            slots.ended.borrow_mut().push_back((op, began_ns, short));
        } else {
            slots.hand(machine, op, began_ns);
        }
    }
}

/// The operations in flight.
#[derive(Default)]
struct InFlightOps {
    count: u32,
    /// An fsync is among them.
    alone: bool,
    /// The queue was full and is draining to its low mark.
    emptying: bool,
    /// Scheduled times of operations submitted with a rate, oldest first.
    due: VecDeque<(u64, u64)>,
    held: Option<Op>,
}

/// Runs the warm-up, if any, and the counted part.
pub(super) async fn run(hot: &mut Hot<'_, '_>, source: &mut dyn Source, slots: &Slots) -> LoopEnd {
    let (machine, plan, together) = (hot.machine, hot.plan, hot.together);
    let depth = plan.depth();
    let mut warm = together.warming.begin(plan, machine.now());
    if let Some(warm) = &warm {
        // A worker that waits for a scheduled time must not sleep past the end of the warm-up.
        hot.deadline_ns = warm.deadline();
    }
    let mut flights = InFlightOps::default();
    let through_the_cache = through_the_cache(machine, plan);
    // Operations of the next submission call.
    let mut call = Vec::new();
    let mut outcome = None;
    loop {
        if let Some(up) = &warm {
            up.moved(hot.warmed);
        }
        if warm.take_if(|up| up.is_over(machine.now())).is_some() {
            source.refill(flights.held.as_ref());
            hot.begin_counting();
        }
        if outcome.is_none()
            && (is_stopped(machine, plan, together) || hot.counting && machine.now() >= hot.deadline_ns)
        {
            outcome = Some(LoopEnd::Stopped);
        }
        let mut due_ns = None;
        let had = flights.count;
        let carried = carried(plan.stream.backend.batch(), flights.count as usize, depth as usize);
        while outcome.is_none()
            && flights.count < depth
            && !flights.alone
            && !flights.emptying
            && call.len() < carried
        {
            let Some(op) = draw(hot, source, &mut flights) else {
                outcome = Some(LoopEnd::Completed);
                break;
            };
            let alone = !op.kind.is_data() && (!plan.stream.sync_in_queue || op.kind == OpCode::Evict);
            if alone && flights.count > 0 {
                flights.held = Some(op);
                break;
            }
            if hot.evicts(&op) {
                continue;
            }
            match before(hot, (&op, source.pauses(&op)), &mut flights).await {
                SubmitResult::Go => {}
                SubmitResult::Later(at_ns) => {
                    due_ns = Some(at_ns);
                    flights.held = Some(op);
                    break;
                }
                // The warm-up is over.
                SubmitResult::Cut if !hot.counting && !is_stopped(machine, plan, together) => {
                    due_ns = Some(machine.now());
                    flights.held = Some(op);
                    break;
                }
                SubmitResult::Cut => {
                    hot.pending = Some(op);
                    outcome = Some(LoopEnd::Stopped);
                    break;
                }
            }
            flights.alone = alone;
            flights.count += 1;
            if through_the_cache {
                call.push((op, machine.now()));
            } else {
                slots.hand(machine, op, machine.now());
            }
        }
        hand_in(hot, slots, &mut call).await;
        if flights.count == 0 && outcome.is_some() {
            break;
        }
        let is_full = flights.count >= depth || flights.alone || outcome.is_some();
        // The next operation waits for its time or for those in flight.
        let waits_for_all = flights.held.is_some() || flights.alone || outcome.is_some();
        flights.emptying |= is_full && plan.stream.refill_at.is_some();
        let nothing_may_begin = is_full || flights.emptying;
        let wait_for =
            if nothing_may_begin { plan.stream.wait_for.clamp(1, flights.count.max(1)) } else { 1 };
        // A worker that has submitted and has free slots goes on.
        let mut waits = flights.count > 0 && (nothing_may_begin || due_ns.is_some() || flights.count == had);
        while waits && slots.ended.borrow().len() < wait_for as usize {
            slots.until_one_ends(machine, due_ns).await;
            waits = nothing_may_begin;
        }
        let most = match plan.stream.take_at_most {
            Some(most) if !waits_for_all => {
                if nothing_may_begin {
                    most
                } else {
                    0
                }
            }
            _ => u32::MAX,
        };
        reap(hot, source, slots, &mut flights, &mut outcome, most);
        flights.emptying &= plan.stream.refill_at.is_some_and(|at| flights.count > at);
    }
    if let Some(op) = flights.held {
        hot.pending = Some(op);
    }
    if outcome == Some(LoopEnd::Stopped) {
        hot.cut();
    }
    outcome.unwrap_or(LoopEnd::Completed)
}

fn draw(hot: &mut Hot<'_, '_>, source: &mut dyn Source, flights: &mut InFlightOps) -> Option<Op> {
    hot.done.early = hot.pace.early(hot.machine.now());
    let held = flights.held.take().or_else(|| hot.pending.take());
    held.or_else(|| source.next(&hot.done)).or_else(|| {
        if hot.counting {
            return None;
        }
        // During the warm-up the amount starts over.
        source.refill(None);
        source.next(&hot.done)
    })
}

enum SubmitResult {
    Go,
    /// Scheduled for this time, with operations in flight that may complete before.
    Later(u64),
    Cut,
}

async fn before(hot: &mut Hot<'_, '_>, (op, pauses): (&Op, bool), flights: &mut InFlightOps) -> SubmitResult {
    let (machine, plan, together) = (hot.machine, hot.plan, hot.together);
    hot.pace.rules.comes(pauses);
    let paced = hot.pace.rules.is_due_by_schedule(op);
    if let Some(due_ns) = hot.pace.due_ns().filter(|_| paced) {
        if due_ns > machine.now() && flights.count > 0 {
            return SubmitResult::Later(due_ns.min(hot.deadline_ns));
        }
        if wait_until(machine, plan, together, due_ns, hot.deadline_ns).await == PaceResult::Cut {
            return SubmitResult::Cut;
        }
    } else if hot.pace.before(machine, plan, together, (op, pauses), hot.deadline_ns, &mut hot.paused).await
        == PaceResult::Cut
    {
        return SubmitResult::Cut;
    }
    if hot.counting && !plan.quota.take(&together.taken, op) {
        return SubmitResult::Cut;
    }
    if let Some((due_ns, behind_ns)) = hot.pace.issued(op, machine.now()) {
        if !matches!(op.kind, OpCode::Sync { .. }) {
            flights.due.push_back((machine.now(), due_ns));
        }
        hot.worked.behind_ns = hot.worked.behind_ns.max(behind_ns);
    }
    SubmitResult::Go
}

/// Reaps at most `most` completions.
fn reap(
    hot: &mut Hot<'_, '_>,
    source: &mut dyn Source,
    slots: &Slots,
    flights: &mut InFlightOps,
    outcome: &mut Option<LoopEnd>,
    most: u32,
) {
    for _ in 0..most {
        let ended = slots.ended.borrow_mut().pop_front();
        let Some((op, began_ns, short)) = ended else { return };
        flights.count -= 1;
        flights.alone &= flights.count > 0;
        if let Some(short) = short {
            *outcome = Some(hot.fail(&op, short));
            continue;
        }
        let counts = hot.counting && began_ns >= hot.worked.start_ns;
        if !counts {
            hot.worked.ramp_ops += 1;
        }
        hot.excluded_ns += if counts { std::mem::take(&mut hot.paused.ns) } else { 0 };
        hot.ended(source, &op, began_ns, counts);
        if counts && *outcome == Some(LoopEnd::Stopped) {
            hot.worked.drained_ops += 1;
        }
        if !matches!(op.kind, OpCode::Sync { .. })
            && let Some(at) = flights.due.iter().position(|&(issued, _)| issued == began_ns)
            && let Some((_, due_ns)) = flights.due.remove(at)
            && counts
        {
            let response_ns = hot.machine.now().saturating_sub(due_ns);
            hot.worked.record(OpKind::Response, response_ns, op.bytes.into());
        }
    }
}
