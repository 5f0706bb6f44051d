//! Joins two repetitions of one phase that different ranks executed at the same time.

use super::{RankIdentity, group_of};
use crate::{DeviceDelta, Interval, Jitter, OpKind, Physical, Repetition, Residency, Worker};

/// Marks a repetition as one of many: prefixes its groups with the rank's number and devices with the host's name. Data that
/// cannot be joined correctly (block-layer events, findings on one machine) is kept only if the rank is alone.
pub(super) fn mark(repetition: &mut Repetition, rank_identity: RankIdentity<'_>) {
    for worker in &mut repetition.workers {
        worker.group = group_of(rank_identity.rank, &worker.group);
    }
    repetition.block = None;
    repetition.findings.clear();
    repetition.slow_calls.clear();
    repetition.page_cache = None;
    repetition.lock_waits = None;
    repetition.halts = None;
    repetition.course = None;
    repetition.steady = None;
    repetition.truth = None;
    let physical = &mut repetition.physical;
    physical.waiting = None;
    if !rank_identity.reports_machine_counters {
        // Machine-wide counters come from the one rank that reports for this machine.
        let own = (physical.own_read_bytes, physical.own_write_bytes);
        *physical = Physical { own_read_bytes: own.0, own_write_bytes: own.1, ..Physical::default() };
        return;
    }
    let named = |d: &DeviceDelta| DeviceDelta {
        name: format!("{}:{}", rank_identity.host, d.name),
        level: d.level + 1,
        ..d.clone()
    };
    let of_host: Vec<DeviceDelta> = physical.devices.iter().map(named).collect();
    physical.devices.truncate(1);
    physical.devices.extend(of_host);
}

pub(super) fn join(ours: &mut Repetition, theirs: Repetition) {
    ours.elapsed_ns = ours.elapsed_ns.max(theirs.elapsed_ns);
    ours.ramp_ns = ours.ramp_ns.max(theirs.ramp_ns);
    ours.workers.extend(theirs.workers);
    intervals(&mut ours.intervals, theirs.intervals);
    ours.jitter = match (ours.jitter.take(), theirs.jitter) {
        (Some(a), Some(b)) => Some(jitter(a, &b)),
        (a, b) => a.or(b),
    };
    ours.extents = match (ours.extents, theirs.extents) {
        (Some(a), Some(b)) => Some(crate::Extents {
            bytes: a.bytes.saturating_add(b.bytes),
            hole_bytes: a.hole_bytes.saturating_add(b.hole_bytes),
            unwritten_bytes: a.unwritten_bytes.saturating_add(b.unwritten_bytes),
            filled_bytes: a.filled_bytes.saturating_add(b.filled_bytes),
        }),
        (a, b) => a.or(b),
    };
    ours.resident_before = residency(ours.resident_before, theirs.resident_before);
    ours.resident_after = residency(ours.resident_after, theirs.resident_after);
    physical(&mut ours.physical, theirs.physical);
    ours.cold = ours.cold.take().or(theirs.cold);
}

/// Orders workers by rank, renumbers them, and computes the start skew.
pub(super) fn number(repetition: &mut Repetition) {
    let key = |w: &Worker| (super::rank_of(&w.group).map_or(0, |r| r.0), w.index);
    repetition.workers.sort_by_key(key);
    for (worker, index) in repetition.workers.iter_mut().zip(0..) {
        worker.index = index;
    }
    let starts = || repetition.workers.iter().map(|w| w.start_ns);
    repetition.start_skew_ns = starts().max().unwrap_or(0) - starts().min().unwrap_or(0);
}

/// Joins series of the same width and start. The series of a rank that finished earlier is shorter.
fn intervals(ours: &mut Vec<Interval>, theirs: Vec<Interval>) {
    for (at, other) in theirs.into_iter().enumerate() {
        let Some(interval) = ours.get_mut(at) else {
            ours.push(other);
            continue;
        };
        interval.end_ns = interval.end_ns.max(other.end_ns);
        interval.width_ns = interval.width_ns.max(other.width_ns);
        interval.ops = interval.ops.saturating_add(other.ops);
        interval.bytes = interval.bytes.saturating_add(other.bytes);
        for (op, histogram) in other.latencies {
            match interval.latencies.iter_mut().find(|l| l.0 == op) {
                Some((_, all)) => all.merge(&histogram),
                None => interval.latencies.push((op, histogram)),
            }
        }
        for (op, bytes) in other.moved {
            moved(&mut interval.moved, op, bytes);
        }
    }
}

fn moved(all: &mut Vec<(OpKind, u64)>, op: OpKind, bytes: u64) {
    match all.iter_mut().find(|m| m.0 == op) {
        Some((_, sum)) => *sum = sum.saturating_add(bytes),
        None => all.push((op, bytes)),
    }
}

fn jitter(mut a: Jitter, b: &Jitter) -> Jitter {
    a.gaps.merge(&b.gaps);
    a.wakes.merge(&b.wakes);
    a.watched_ns = a.watched_ns.saturating_add(b.watched_ns);
    a
}

fn residency(a: Option<Residency>, b: Option<Residency>) -> Option<Residency> {
    let (Some(a), Some(b)) = (a, b) else { return a.or(b) };
    Some(Residency {
        total_pages: a.total_pages.saturating_add(b.total_pages),
        cached_pages: a.cached_pages.saturating_add(b.cached_pages),
        dirty_pages: a.dirty_pages.saturating_add(b.dirty_pages),
        writeback_pages: a.writeback_pages.saturating_add(b.writeback_pages),
    })
}

/// Sums the file system's own device over all hosts; the hosts' own devices follow one by one.
fn physical(ours: &mut Physical, mut theirs: Physical) {
    let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (a, b) => a.or(b),
    };
    ours.own_read_bytes = sum(ours.own_read_bytes, theirs.own_read_bytes);
    ours.own_write_bytes = sum(ours.own_write_bytes, theirs.own_write_bytes);
    ours.written_in_clock_bytes = sum(ours.written_in_clock_bytes, theirs.written_in_clock_bytes);
    ours.dirty_before_bytes = sum(ours.dirty_before_bytes, theirs.dirty_before_bytes);
    ours.dirty_after_bytes = sum(ours.dirty_after_bytes, theirs.dirty_after_bytes);
    let images = ours.image_cached_bytes.zip(theirs.image_cached_bytes);
    ours.image_cached_bytes = images.map(|(a, b)| a.saturating_add(b));
    ours.machine_cpu_ns = sum(ours.machine_cpu_ns, theirs.machine_cpu_ns);
    if ours.method.is_empty() {
        ours.method = std::mem::take(&mut theirs.method);
    }
    ours.note = ours.note.take().or(theirs.note);
    ours.compression = ours.compression.take().or(theirs.compression);
    if theirs.devices.is_empty() {
        return;
    }
    if ours.devices.is_empty() {
        ours.devices = theirs.devices;
        return;
    }
    let of_hosts = theirs.devices.split_off(1);
    if let (Some(all), Some(other)) = (ours.devices.first_mut(), theirs.devices.first()) {
        add(all, other);
    }
    ours.devices.extend(of_hosts);
}

fn add(all: &mut DeviceDelta, other: &DeviceDelta) {
    if all.name != other.name {
        all.name = "all hosts".into();
    }
    if all.kind != other.kind {
        all.kind.clear();
    }
    let sums: [(&mut u64, u64); 11] = [
        (&mut all.read_ios, other.read_ios),
        (&mut all.read_bytes, other.read_bytes),
        (&mut all.read_merges, other.read_merges),
        (&mut all.write_ios, other.write_ios),
        (&mut all.write_bytes, other.write_bytes),
        (&mut all.write_merges, other.write_merges),
        (&mut all.flush_ios, other.flush_ios),
        (&mut all.discard_ios, other.discard_ios),
        (&mut all.read_ms, other.read_ms),
        (&mut all.write_ms, other.write_ms),
        (&mut all.queue_ms, other.queue_ms),
    ];
    for (sum, more) in sums {
        *sum = sum.saturating_add(more);
    }
    all.busy_ms = all.busy_ms.max(other.busy_ms);
}
