//! Writes the rows of a phase: repetitions, workers, latencies, devices. This runs between two passes of a benchmark, so rows
//! are written only for existing data, and each statement is prepared once for the whole run. `course` writes what changed
//! during a repetition; `latency` lays out histograms.

use super::bits::int;
use super::error::WriteError;
use super::{block, cache, course, finding, flow_op, imported, latency, op_log, worker_series};
use crate::{Ending, OpKind, OpStat, Origin, Phase, Physical, Repetition, Residency, Worker};
use rusqlite::{OptionalExtension, Transaction, params};
use std::collections::BTreeMap;

/// Stores a phase. If it is stored already, adds the missing repetitions: a run of several rounds returns to its phases.
pub(super) fn append_phase(t: &Transaction, run_id: &str, phase: &Phase) -> Result<(), WriteError> {
    let there: Option<i64> = t
        .prepare_cached("SELECT id FROM phase WHERE run_id = ?1 AND seq = ?2")?
        .query_row(params![run_id, phase.seq], |r| r.get(0))
        .optional()?;
    let phase_id = match there {
        Some(id) => id,
        None => insert_phase(t, run_id, phase)?,
    };
    let stored: i64 = t
        .prepare_cached("SELECT count(*) FROM repetition WHERE phase_id = ?1")?
        .query_row([phase_id], |r| r.get(0))?;
    for repetition in phase.repetitions.iter().skip(usize::try_from(stored).unwrap_or(0)) {
        append_repetition(t, run_id, phase_id, phase, repetition)?;
    }
    Ok(())
}

fn insert_phase(t: &Transaction, run_id: &str, phase: &Phase) -> Result<i64, WriteError> {
    let axes = &phase.axes;
    t.prepare_cached(
        "INSERT INTO phase (run_id, seq, name, file_bytes, record_bytes, streams, queue_depth, tags, reads, writes,
             sync_in_clock, direct) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?
    .execute(params![
        run_id,
        phase.seq,
        phase.name,
        axes.file_bytes.map(int),
        axes.record_bytes.map(int),
        axes.streams.map(int),
        axes.queue_depth.map(int),
        json_tags(&axes.tags),
        phase.reads,
        phase.writes,
        phase.sync_in_clock,
        phase.direct,
    ])?;
    Ok(t.last_insert_rowid())
}

fn append_repetition(
    t: &Transaction,
    run_id: &str,
    phase_id: i64,
    phase: &Phase,
    r: &Repetition,
) -> Result<(), WriteError> {
    let origin = Origin::of(phase, r);
    let physical = &r.physical;
    t.prepare_cached(
        "INSERT INTO repetition (phase_id, n, started_ns, elapsed_ns, start_skew_ns, bytes, ops, bytes_per_s, ops_per_s,
             parent_bytes_per_s, regime, device_share, evidence, physical_method, physical_note, own_read_bytes,
             own_write_bytes, written_in_clock_bytes, dirty_after_bytes, ramp_ns, cache, extents_bytes, hole_bytes,
             unwritten_bytes, filled_bytes, jitter_watched_ns, machine_cpu_ns, compression, dirty_before_bytes,
             image_cached_bytes)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24,
             ?25, ?26, ?27, ?28, ?29, ?30)",
    )?
    .execute(params![
        phase_id,
        r.n,
        int(r.started_ns),
        int(r.elapsed_ns),
        int(r.start_skew_ns),
        int(r.bytes()),
        int(r.ops()),
        r.bytes_per_s(),
        r.ops_per_s(),
        r.parent_bytes_per_s(),
        origin.regime.words(),
        origin.device_share,
        origin.evidence,
        physical.method,
        physical.note,
        physical.own_read_bytes.map(int),
        physical.own_write_bytes.map(int),
        physical.written_in_clock_bytes.map(int),
        physical.dirty_after_bytes.map(int),
        int(r.ramp_ns),
        r.cache.word(),
        r.extents.map(|e| int(e.bytes)),
        r.extents.map(|e| int(e.hole_bytes)),
        r.extents.map(|e| int(e.unwritten_bytes)),
        r.extents.map(|e| int(e.filled_bytes)),
        r.jitter.as_ref().map(|j| int(j.watched_ns)),
        physical.machine_cpu_ns.map(int),
        physical.compression,
        physical.dirty_before_bytes.map(int),
        physical.image_cached_bytes.map(int),
    ])?;
    let repetition_id = t.last_insert_rowid();
    for worker in &r.workers {
        append_worker(t, run_id, repetition_id, phase, r, worker)?;
    }
    append_totals(t, repetition_id, r)?;
    flow_op::append_totals(t, repetition_id, r)?;
    append_devices(t, repetition_id, physical)?;
    course::append(t, repetition_id, r)?;
    cache::append(t, repetition_id, r)?;
    if let Some(layer) = &r.block {
        block::append(t, repetition_id, layer)?;
    }
    finding::append(t, repetition_id, &r.findings)?;
    imported::append_figures(t, repetition_id, &r.figures)?;
    for (moment, residency) in [("before", r.resident_before), ("after", r.resident_after)] {
        if let Some(residency) = residency {
            append_residency(t, repetition_id, moment, residency)?;
        }
    }
    Ok(())
}

fn append_devices(t: &Transaction, repetition_id: i64, physical: &Physical) -> rusqlite::Result<()> {
    if physical.devices.is_empty() {
        return Ok(());
    }
    let mut device = t.prepare_cached(
        "INSERT INTO device (repetition_id, position, name, read_ios, read_bytes, read_merges, write_ios, write_bytes,
             write_merges, flush_ios, discard_ios, busy_ms, level, kind, read_ms, write_ms, queue_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
    )?;
    for (position, d) in physical.devices.iter().enumerate() {
        device.execute(params![
            repetition_id,
            position as i64,
            d.name,
            int(d.read_ios),
            int(d.read_bytes),
            int(d.read_merges),
            int(d.write_ios),
            int(d.write_bytes),
            int(d.write_merges),
            int(d.flush_ios),
            int(d.discard_ios),
            int(d.busy_ms),
            d.level,
            d.kind,
            int(d.read_ms),
            int(d.write_ms),
            int(d.queue_ms),
        ])?;
    }
    Ok(())
}

fn append_residency(
    t: &Transaction,
    repetition_id: i64,
    moment: &str,
    residency: Residency,
) -> rusqlite::Result<()> {
    t.prepare_cached(
        "INSERT INTO residency (repetition_id, moment, total_pages, cached_pages, dirty_pages, writeback_pages)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(params![
        repetition_id,
        moment,
        int(residency.total_pages),
        int(residency.cached_pages),
        int(residency.dirty_pages),
        int(residency.writeback_pages),
    ])?;
    Ok(())
}

fn append_worker(
    t: &Transaction,
    run_id: &str,
    repetition_id: i64,
    phase: &Phase,
    r: &Repetition,
    worker: &Worker,
) -> Result<(), WriteError> {
    let (ending, error) = match &worker.ending {
        Ending::Completed => ("completed", None),
        Ending::Stopped => ("stopped", None),
        Ending::Interrupted => ("interrupted", None),
        Ending::Failed(error) => ("failed", Some(error)),
    };
    t.prepare_cached(
        "INSERT INTO worker (repetition_id, group_name, number, start_ns, elapsed_ns, bytes, ops, uncounted_bytes,
             cpu_user_ns, cpu_system_ns, last_op_ns, fsync_ns, close_ns, ending, error_call, error_path, error_offset,
             error_after_ops, error_errno, error_message, drained_ops, ramp_ops, settled_depth, behind_ns, error_expected,
             error_found, passed, switches, major_faults, minor_faults, processor_wait_ns, in_flight)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24,
             ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32)",
    )?
    .execute(params![
        repetition_id,
        worker.group,
        worker.index,
        int(worker.start_ns),
        int(worker.elapsed_ns),
        int(worker.bytes),
        int(worker.ops),
        int(worker.uncounted_bytes),
        int(worker.cpu_user_ns),
        int(worker.cpu_system_ns),
        int(worker.marks.last_op_ns),
        int(worker.marks.fsync_ns),
        int(worker.marks.close_ns),
        ending,
        error.map(|e| &e.call),
        error.map(|e| &e.path),
        error.and_then(|e| e.offset).map(int),
        error.map(|e| int(e.after_ops)),
        error.map(|e| e.errno),
        error.map(|e| &e.message),
        int(worker.drained_ops),
        int(worker.ramp_ops),
        worker.settled_depth,
        int(worker.behind_ns),
        error.and_then(|e| e.compared).map(|(expected, _)| int(expected)),
        error.and_then(|e| e.compared).map(|(_, found)| int(found)),
        worker.passed.as_ref().map(|passed| serde_json::to_string(passed).unwrap_or_default()),
        worker.thread_counts.map(|counts| int(counts.switches)),
        worker.thread_counts.map(|counts| int(counts.major_faults)),
        worker.thread_counts.map(|counts| int(counts.minor_faults)),
        worker.thread_counts.and_then(|counts| counts.processor_wait_ns).map(int),
        worker.in_flight.map(|counts| serde_json::to_string(&counts).unwrap_or_default()),
    ])?;
    let worker_id = t.last_insert_rowid();
    for stat in &worker.stats {
        append_stat(t, worker_id, stat)?;
    }
    flow_op::append(t, worker_id, &worker.rows)?;
    if !worker.intervals.is_empty() {
        let name =
            format!("intervals of phase {} repetition {} {} {}", phase.seq, r.n, worker.group, worker.index);
        let body = worker_series::encode(&worker.intervals)
            .map_err(|e| WriteError::Database(rusqlite::Error::ToSqlConversionFailure(Box::new(e))))?;
        t.execute(
            "INSERT INTO artifact (run_id, worker_id, name, media_type, body) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![run_id, worker_id, name, worker_series::MEDIA_TYPE, body],
        )?;
    }
    if !worker.op_log.is_empty() {
        let name =
            format!("op log of phase {} repetition {} {} {}", phase.seq, r.n, worker.group, worker.index);
        let body = op_log::encode(&worker.op_log)
            .map_err(|e| WriteError::Database(rusqlite::Error::ToSqlConversionFailure(Box::new(e))))?;
        t.execute(
            "INSERT INTO artifact (run_id, worker_id, name, media_type, body) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![run_id, worker_id, name, op_log::MEDIA_TYPE, body],
        )?;
    }
    Ok(())
}

fn append_stat(t: &Transaction, worker_id: i64, stat: &OpStat) -> rusqlite::Result<()> {
    let mut insert = t.prepare_cached(
        "INSERT INTO op_stat (worker_id, op, ops, bytes, timed, sum_ns, min_ns, mean_ns, p50_ns, p90_ns, p99_ns, p999_ns,
             max_ns, hdr, exact) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
    )?;
    latency::insert(
        &mut insert,
        &[&worker_id, &stat.op.word(), &int(stat.ops), &int(stat.bytes)],
        &stat.latency,
    )
}

/// All workers together, for the view `result`.
fn append_totals(t: &Transaction, repetition_id: i64, r: &Repetition) -> rusqlite::Result<()> {
    let mut insert = t.prepare_cached(
        "INSERT INTO op_total (repetition_id, op, ops, bytes, bytes_per_s, ops_per_s, mean_ns, min_ns, p50_ns, p90_ns, p99_ns,
             p999_ns, max_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )?;
    for op in OpKind::ALL {
        let mine =
            || r.workers.iter().flat_map(|w| w.stats.iter().map(move |s| (w, s))).filter(|(_, s)| s.op == op);
        if mine().next().is_none() {
            continue;
        }
        let rate = |figure: fn(&OpStat) -> u64| {
            let rates = mine()
                .filter(|(w, _)| w.elapsed_ns > 0)
                .map(|(w, s)| figure(s) as f64 * 1e9 / w.elapsed_ns as f64);
            rates.reduce(|a, b| a + b)
        };
        let total =
            |figure: fn(&OpStat) -> u64| mine().fold(0u64, |sum, (_, s)| sum.saturating_add(figure(s)));
        let latency = r.latency(op);
        let full = latency.count() > 0;
        let p = latency::percentiles(&latency);
        insert.execute(params![
            repetition_id,
            op.word(),
            int(total(|s| s.ops)),
            int(total(|s| s.bytes)),
            rate(|s| s.bytes),
            rate(|s| s.ops),
            latency.mean_ns(),
            full.then(|| latency::capped(latency.min_ns())),
            p[0],
            p[1],
            p[2],
            p[3],
            full.then(|| latency::capped(latency.max_ns())),
        ])?;
    }
    Ok(())
}

fn json_tags(tags: &BTreeMap<String, String>) -> String {
    let map: serde_json::Map<String, serde_json::Value> =
        tags.iter().map(|(k, v)| (k.clone(), v.clone().into())).collect();
    serde_json::Value::Object(map).to_string()
}
