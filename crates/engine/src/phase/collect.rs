//! Turns the slots in shared memory into the record: what each worker did, how it ended, and the message of a failure.

use super::{Children, WorkerNames};
use crate::clock::Clock;
use crate::error::advice;
use crate::fault::{FailedCall, Fault};
use crate::flow::Setting;
use crate::interrupted_by;
use crate::kind_stats::KindStats;
use crate::shared::{End, Figures, Live, Shared};
use fathom_record::{
    Ending, Histogram, InFlight, Marks, OpError, OpKind, OpStat, PassedOver, Repetition, Row, ThreadCounts,
    Worker,
};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Turns the slots of workers that are done or gone into the repetition's workers.
pub(super) fn collect(
    shared: &Shared,
    flows: Option<&Setting>,
    children: &Children,
    names: &[WorkerNames<'_>],
    clock: Clock,
    first: u64,
    out: &mut Repetition,
) {
    let mut starts: Vec<u64> = Vec::with_capacity(names.len());
    for (index, WorkerNames { group, path, paths }) in names.iter().enumerate() {
        // SAFETY: every worker is done or gone: the processes were waited for, the threads have set `done`.
        let (live, slot) = (shared.live(index), unsafe { shared.figures(index) });
        let passed = passed_over(slot, path, paths);
        let path = paths.get(slot.fault_file as usize).unwrap_or(path);
        let stats = shared.stats(index);
        // A worker killed in its warm-up has counted nothing: its records served the depth search.
        let counted = live.counting_at.load(Ordering::Acquire) > 0;
        let (recorded, bytes) = shared.totals(index);
        let (ops, warm) = if counted { (recorded, 0) } else { (0, recorded) };
        let ending = match flows.and_then(|f| crate::flow::error_of(f, index, live, slot, ops)) {
            Some(error) => Ending::Failed(error),
            None => ending_of(live, slot, path, ops, children.killed.get(&index).copied()),
        };
        let rows = flows.filter(|_| counted).map_or_else(Vec::new, |f| f.tell_rows(index));
        if slot.released_ticks > 0 {
            starts.push(slot.released_ticks);
        }
        out.workers.push(Worker {
            group: group.clone(),
            index: index as u32,
            start_ns: clock.between(first, slot.start_ticks),
            elapsed_ns: slot.elapsed_ns,
            bytes: if counted { bytes } else { 0 },
            ops,
            uncounted_bytes: slot.uncounted_bytes,
            cpu_user_ns: slot.used.map_or(0, |used| used.user_ns),
            cpu_system_ns: slot.used.map_or(0, |used| used.system_ns),
            thread_counts: slot
                .used
                .map(|used| ThreadCounts { processor_wait_ns: slot.processor_wait.ns, ..used.counts }),
            marks: Marks { last_op_ns: slot.last_op_ns, fsync_ns: slot.fsync_ns, close_ns: slot.close_ns },
            drained_ops: slot.drained_ops,
            ramp_ops: slot.ramp_ops + warm,
            settled_depth: (slot.settled_depth > 0).then_some(slot.settled_depth),
            behind_ns: slot.behind_ns,
            stats: if counted { stats_of(slot, stats, &rows) } else { Vec::new() },
            ending,
            passed,
            in_flight: (counted && slot.in_flight != InFlight::default()).then_some(slot.in_flight),
            // SAFETY: as above.
            op_log: unsafe { shared.log(index) },
            rows,
            intervals: Vec::new(),
        });
    }
    if let (Some(min), Some(max)) = (starts.iter().min(), starts.iter().max()) {
        out.start_skew_ns = clock.between(*min, *max);
    }
}

/// The failures that a worker tolerated; the first one with the message that it would have ended with.
fn passed_over(slot: &Figures, path: &Path, paths: &[PathBuf]) -> Option<PassedOver> {
    let passed = &slot.passed;
    let path = paths.get(passed.first.file as usize).map_or(path, PathBuf::as_path);
    (passed.errors > 0).then(|| PassedOver {
        errors: passed.errors,
        reads: passed.reads,
        writes: passed.writes,
        trims: passed.trims,
        first: error_of(passed.after_ops, &passed.first, path),
    })
}

/// What workers still running have counted so far.
pub(super) fn so_far(shared: &Shared, count: usize, clock: Clock, first: u64) -> Repetition {
    let now = clock.now();
    let one = |index: usize| {
        let counting_at = shared.live(index).counting_at.load(Ordering::Acquire);
        let counters = shared.stats(index);
        let stats = if counting_at > 0 { counters.recorded() } else { Vec::new() };
        let elapsed_ns = if counting_at == 0 { 0 } else { clock.between(counting_at, now) };
        Worker { index: index as u32, elapsed_ns, stats, ..Worker::default() }
    };
    Repetition {
        elapsed_ns: clock.between(first, now),
        workers: (0..count).map(one).collect(),
        ..Repetition::default()
    }
}

fn stats_of(slot: &Figures, counters: &KindStats, rows: &[Row]) -> Vec<OpStat> {
    let mut stats = counters.recorded();
    for (ns, op) in [(slot.open_call_ns, OpKind::Open), (slot.close_call_ns, OpKind::Close)] {
        if ns > 0 {
            stats.push(OpStat { op, ops: 1, bytes: 0, latency: Histogram::from_values([ns]) });
        }
    }
    for op in [OpKind::Open, OpKind::Close, OpKind::Stat, OpKind::Delete] {
        let mut sum = OpStat { op, ops: 0, bytes: 0, latency: Histogram::default() };
        for row in rows.iter().filter(|r| r.kind == Some(op)) {
            sum.ops += row.ops;
            sum.latency.merge(&row.latency);
        }
        if sum.ops > 0 {
            stats.push(sum);
        }
    }
    stats
}

fn ending_of(
    live: &Live,
    slot: &Figures,
    path: &std::path::Path,
    ops: u64,
    killed_by: Option<i32>,
) -> Ending {
    match live.end.load(Ordering::Acquire) {
        e if e == End::Completed as u32 => Ending::Completed,
        e if e == End::Stopped as u32 => Ending::Stopped,
        e if e == End::Interrupted as u32 && interrupted_by().is_some() => Ending::Interrupted,
        // Ended because another worker failed.
        e if e == End::Interrupted as u32 => Ending::Stopped,
        e if e == End::Failed as u32 => Ending::Failed(error_of(ops, &fault_of(slot), path)),
        // It was writing back after its clock had stopped: its figures are complete.
        _ if killed_by == Some(super::BY_US) && slot.elapsed_ns > 0 => Ending::Interrupted,
        _ => Ending::Failed(OpError {
            call: "killed".into(),
            path: path.display().to_string(),
            after_ops: ops,
            message: killed_sentence(path, killed_by.unwrap_or(0)),
            ..OpError::default()
        }),
    }
}

fn killed_sentence(path: &std::path::Path, signal: i32) -> String {
    let path = path.display();
    match signal {
        libc::SIGBUS => format!(
            "the mapping of {path} could not be written or read (SIGBUS): the file system is full, the device failed, or the file was shortened. Free space or choose smaller files; see the kernel log for a failed device"
        ),
        super::BY_US => {
            format!("the process working on {path} did not end when asked to, and was killed")
        }
        libc::SIGKILL => format!(
            "the process working on {path} was killed (SIGKILL), perhaps because memory ran out; see the kernel log"
        ),
        0 => format!("the process working on {path} ended without a result"),
        other => format!("the process working on {path} was killed by signal {other}"),
    }
}

/// The fault that ended a worker.
fn fault_of(slot: &Figures) -> Fault {
    Fault {
        call: slot.fault_call,
        errno: slot.fault_errno,
        offset: slot.fault_offset,
        expected: slot.fault_expected,
        found: slot.fault_found,
        file: slot.fault_file,
    }
}

fn error_of(ops: u64, fault: &Fault, path: &std::path::Path) -> OpError {
    let (what, path_text) = (fault.call.word(), path.display());
    let place = match fault.call {
        FailedCall::Read
        | FailedCall::Write
        | FailedCall::FlaggedRead
        | FailedCall::FlaggedWrite
        | FailedCall::CommandRead
        | FailedCall::CommandWrite
        | FailedCall::Verify
        | FailedCall::Checksum
        | FailedCall::Misplaced
        | FailedCall::Header
        | FailedCall::Trim
        | FailedCall::Latency
        | FailedCall::SyncRange
        | FailedCall::Lock => Some(fault.offset),
        _ => None,
    };
    let at = place.map_or(String::new(), |o| format!(" at offset {o}"));
    let message = if let Some(sentence) = super::limit::sentence(fault, &path_text) {
        sentence
    } else if let FailedCall::CommandRead | FailedCall::CommandWrite | FailedCall::CommandFlush = fault.call {
        format!("cannot {what} {path_text}{at}: {}", crate::backend::status_words(fault.found))
    } else if fault.errno != 0 {
        let error = std::io::Error::from_raw_os_error(fault.errno);
        let moved = if fault.expected > 0 {
            format!(" ({} of {} bytes were moved)", fault.found, fault.expected)
        } else {
            String::new()
        };
        let advice = match (fault.call, fault.errno) {
            (FailedCall::Trim, libc::EOPNOTSUPP) => {
                ". Not every file system can punch holes into files, and not every device can discard blocks; try another, or leave the trims out"
            }
            (FailedCall::FlaggedRead | FailedCall::FlaggedWrite, _) => {
                &crate::backend::flag_advice(fault.found)
            }
            (FailedCall::Ring, libc::ENOMEM) => {
                ". Registered buffers count against the locked-memory limit (ulimit -l): raise it, or set registered_buffers = false"
            }
            (FailedCall::LockMemory, _) => {
                ". The locked-memory limit (ulimit -l) is reached: raise it, lock less (fio: lockmem), or run as root"
            }
            _ => advice(what, &error),
        };
        format!("cannot {what} {path_text}{at}: {error}{moved}{advice}")
    } else {
        match fault.call {
            FailedCall::Verify => format!(
                "{path_text} holds wrong data at offset {}: found byte {:#04x}, expected {:#04x}",
                fault.offset, fault.found, fault.expected
            ),
            FailedCall::Checksum => format!(
                "the block at offset {} of {path_text} does not match its checksum: stored {:#010x}, calculated {:#010x}",
                fault.offset, fault.found, fault.expected
            ),
            FailedCall::Header => format!(
                "the block at offset {} of {path_text} does not have the header it was written with: found {:#x}, expected {:#x}",
                fault.offset, fault.found, fault.expected
            ),
            FailedCall::Misplaced => format!(
                "the block at offset {} of {path_text} belongs elsewhere: it holds the offset {}",
                fault.offset, fault.found
            ),
            FailedCall::Read => format!(
                "{path_text} ends too early: at offset {} only {} of {} bytes could be read",
                fault.offset, fault.found, fault.expected
            ),
            FailedCall::Write => format!(
                "cannot write {path_text}{at}: the file system accepted only {} of {} bytes and reported no error; see the kernel log",
                fault.found, fault.expected
            ),
            FailedCall::Nothing => format!(
                "the region of {path_text} ({} bytes) is smaller than a record ({} bytes)",
                fault.found, fault.expected
            ),
            _ => format!("cannot {what} {path_text}{at}"),
        }
    };
    OpError {
        call: what.split(' ').next().unwrap_or(what).into(),
        path: path_text.to_string(),
        offset: place,
        after_ops: ops,
        errno: fault.errno,
        compared: matches!(
            fault.call,
            FailedCall::Verify
                | FailedCall::Checksum
                | FailedCall::Misplaced
                | FailedCall::Header
                | FailedCall::LeastBytes
                | FailedCall::LeastOperations
                | FailedCall::Latency
        )
        .then_some((fault.expected, fault.found)),
        message,
    }
}
