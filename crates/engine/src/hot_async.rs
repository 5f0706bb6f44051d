//! The hot loop with several operations in flight. Every free place gets an operation and a stamp of the clock; one call submits
//! them and waits; the completions found then get one reading of the clock, because that is when a program could know of them.
//! Latency is from stamp to that reading: it contains submission and whatever the operation waited for in the queue.
//!
//! At the end, and at a stop, what is in flight is drained: it is done by the device, so it is recorded and counted.

use crate::backend::{AsyncBackend, Target};
use crate::hot::{Hot, Outcome};
use crate::shared::{Call, READ, STOP_FIRST_DONE, STOP_INTERRUPT, SYNC, WRITE};
use crate::worker::Fault;
use fathom_record::OpLogEntry;
use fathom_workload::WhenStopped;
use fathom_workload::ops::{Op, OpKind};
use rustix::io::Errno;
use std::sync::atomic::Ordering;

/// The operations in flight.
struct Flight {
    op: Op,
    /// Clock at its submission.
    stamp: u64,
    /// Where it was read to, for checking.
    read_at: usize,
}

/// Runs the counted part of a stream.
pub(crate) fn run<B: AsyncBackend>(
    hot: &mut Hot,
    backend: &mut B,
    when_stopped: WhenStopped,
    batch: u32,
) -> Result<Outcome, Fault> {
    drive(
        hot,
        backend,
        batch,
        |hot| {
            let stop = hot.control.stop.load(Ordering::Relaxed);
            if stop != 0 && (stop != STOP_FIRST_DONE || when_stopped != WhenStopped::Ignore) {
                return Some(if stop == STOP_INTERRUPT { Outcome::Interrupted } else { Outcome::Stopped });
            }
            (hot.last >= hot.deadline).then_some(Outcome::Stopped)
        },
        true,
    )
}

/// The uncounted rest after a stop.
pub(crate) fn finish<B: AsyncBackend>(hot: &mut Hot, backend: &mut B, batch: u32) -> Result<(), Fault> {
    let interrupted = |hot: &Hot| {
        (hot.control.stop.load(Ordering::Relaxed) == STOP_INTERRUPT).then_some(Outcome::Interrupted)
    };
    drive(hot, backend, batch, interrupted, false).map(|_| ())
}

fn drive<B: AsyncBackend>(
    hot: &mut Hot,
    backend: &mut B,
    batch: u32,
    ends: impl Fn(&Hot) -> Option<Outcome>,
    counted: bool,
) -> Result<Outcome, Fault> {
    let depth = hot.memory.len();
    let nothing = Op { kind: OpKind::Read, offset: 0, bytes: 0, think_ns: 0 };
    let mut flights: Vec<Flight> = (0..depth).map(|_| Flight { op: nothing, stamp: 0, read_at: 0 }).collect();
    // A stack: the place freed last is used first, so that few buffers are hot.
    let mut free: Vec<u32> = (0..depth as u32).rev().collect();
    let batch = if batch == 0 { depth } else { (batch as usize).min(depth) };
    let mut ended = None;
    // An fsync covers the writes that are complete when it starts: it waits for those in flight, and the next ones wait for it.
    let mut held: Option<Op> = None;
    let mut alone = false;
    loop {
        if ended.is_none() {
            ended = ends(hot);
        }
        let mut queued = 0;
        alone &= free.len() < depth;
        while ended.is_none() && !alone && queued < batch && !free.is_empty() {
            let Some(op) = held.take().or_else(|| hot.pending.take()).or_else(|| hot.ops.next(&hot.done))
            else {
                ended = Some(Outcome::Completed);
                break;
            };
            let syncs = matches!(op.kind, OpKind::Sync { .. });
            if syncs && free.len() < depth {
                held = Some(op);
                break;
            }
            alone = syncs;
            if let Some(number) = free.pop() {
                let flight = &mut flights[number as usize];
                let target = target(hot, number, &op, flight);
                flight.op = op;
                flight.stamp = hot.clock.now();
                backend.queue(number, &op, target);
                queued += 1;
            }
        }
        if free.len() == depth {
            if held.is_some() && ended.is_none() {
                continue;
            }
            // Nothing was queued and nothing is in flight. Who finishes uncounted begins with what was held back.
            hot.pending = held;
            return Ok(ended.unwrap_or(Outcome::Completed));
        }
        backend.submit(usize::from(queued == 0 || free.is_empty() || alone))?;
        let now = hot.clock.now();
        while let Some((number, result)) = backend.reap() {
            let flight = &flights[number as usize];
            free.push(number);
            if let Err(fault) = complete(hot, backend.descriptor(), number, flight, result) {
                drain(backend, depth - free.len());
                return Err(fault);
            }
            if counted {
                record(hot, flight, now);
            } else {
                hot.figures.uncounted_bytes += u64::from(flight.op.bytes);
            }
        }
        hot.last = now;
    }
}

/// After a fault: waits for what is in flight, because the kernel still works with its buffers.
#[cold]
fn drain<B: AsyncBackend>(backend: &mut B, mut in_flight: usize) {
    while in_flight > 0 && backend.submit(1).is_ok() {
        while backend.reap().is_some() {
            in_flight -= 1;
        }
    }
}

/// The buffer of an operation about to be queued.
#[inline(always)]
fn target(hot: &mut Hot, number: u32, op: &Op, flight: &mut Flight) -> Target {
    let contents = &mut hot.memory[number as usize];
    let bytes = op.bytes as usize;
    // Registered buffers come in pairs: what is written from, what is read into.
    let pair = (number as u16).wrapping_mul(2);
    match op.kind {
        OpKind::Write => {
            Target { pointer: contents.record_to_write(op.offset, bytes).as_mut_ptr(), registered: pair }
        }
        OpKind::Read => {
            flight.read_at = contents.read_position();
            Target { pointer: contents.record_to_read(bytes).as_mut_ptr(), registered: pair + 1 }
        }
        OpKind::Sync { .. } => Target { pointer: std::ptr::null_mut(), registered: 0 },
    }
}

/// Judges a completion: errors, transfers that fell short, data that should be checked.
#[inline(always)]
fn complete(
    hot: &mut Hot,
    file: Option<rustix::fd::BorrowedFd<'_>>,
    number: u32,
    flight: &Flight,
    result: i32,
) -> Result<(), Fault> {
    let op = &flight.op;
    let call = match op.kind {
        OpKind::Read => Call::Read,
        OpKind::Write => Call::Write,
        OpKind::Sync { .. } => Call::Sync,
    };
    if result < 0 {
        return Err(Fault::of(call, Errno::from_raw_os_error(-result), op.offset));
    }
    if (result as u32) < op.bytes && call != Call::Sync {
        return Err(short(hot, file, number, flight, result as usize, call));
    }
    let contents = &hot.memory[number as usize];
    if call == Call::Read && contents.checks() {
        contents.check(op.offset, flight.read_at, op.bytes as usize)?;
    }
    Ok(())
}

/// A transfer that fell short: a synchronous call for the rest tells why.
#[cold]
fn short(
    hot: &mut Hot,
    file: Option<rustix::fd::BorrowedFd<'_>>,
    number: u32,
    flight: &Flight,
    moved: usize,
    call: Call,
) -> Fault {
    let (bytes, at) = (flight.op.bytes as usize, flight.op.offset + moved as u64);
    let fell = Fault::short(call, flight.op.offset, bytes as u64, moved as u64);
    let Some(file) = file else { return fell };
    let contents = &mut hot.memory[number as usize];
    let tried = if call == Call::Write {
        let record = contents.record_to_write(flight.op.offset, bytes);
        rustix::io::pwrite(file, &record[moved..], at)
    } else {
        rustix::io::pread(file, &mut contents.record_to_read(bytes)[moved..], at)
    };
    match tried {
        Err(errno) => Fault { errno: errno.raw_os_error(), ..fell },
        Ok(_) => fell,
    }
}

#[inline(always)]
fn record(hot: &mut Hot, flight: &Flight, now: u64) {
    let op = &flight.op;
    let ns = hot.clock.between(flight.stamp, now);
    let kind = match op.kind {
        OpKind::Read => {
            hot.done.reads += 1;
            READ
        }
        OpKind::Write => {
            hot.done.writes += 1;
            WRITE
        }
        OpKind::Sync { .. } => SYNC,
    };
    hot.figures.stats[kind].record(ns, u64::from(op.bytes));
    if kind != SYNC {
        let ops = hot.live.ops.load(Ordering::Relaxed) + 1;
        hot.live.ops.store(ops, Ordering::Relaxed);
        let bytes = hot.live.bytes.load(Ordering::Relaxed) + u64::from(op.bytes);
        hot.live.bytes.store(bytes, Ordering::Relaxed);
        if let Some(log) = &mut hot.log
            && let Some(entry) = log.get_mut(hot.figures.logged as usize)
        {
            *entry = OpLogEntry { offset: op.offset, bytes: op.bytes, latency_ns: ns };
            hot.figures.logged += 1;
        }
    }
}
