//! Putting a run into the store, step by step while it happens.

use super::bits::{digest, int};
use super::error::{StoreError, explain};
use super::process::{Life, Writer};
use super::{Store, hdr, op_log};
use crate::{Doubt, Ending, Histogram, OpKind, OpStat, Origin, Phase, Repetition, Residency, Run, Worker};
use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};
use std::collections::BTreeMap;

/// Largest integer SQLite holds.
const I64_MAX: u64 = i64::MAX as u64;

impl Store {
    /// Writes the head of a run, with the status it carries (normally running) and the mark of this process. Phases and doubts
    /// that the run holds already are not written: use [`Store::save`] for a run that is complete.
    pub fn begin(&mut self, run: &Run) -> Result<(), StoreError> {
        self.in_transaction(|t| begin(t, run))
    }

    /// Writes a phase that was measured, in one transaction; of a phase that is there already, the repetitions that are new.
    pub fn append_phase(&mut self, run_id: &str, phase: &Phase) -> Result<(), StoreError> {
        self.require(run_id)?;
        self.in_transaction(|t| append_phase(t, run_id, phase))
    }

    /// Writes a reason for doubt.
    pub fn append_doubt(&mut self, run_id: &str, doubt: &Doubt) -> Result<(), StoreError> {
        self.require(run_id)?;
        self.in_transaction(|t| append_doubt(t, run_id, doubt))
    }

    /// Writes the head again as it is at the end: status, end, clock drift, error. Phases and doubts are left as they are.
    pub fn finish(&mut self, run: &Run) -> Result<(), StoreError> {
        self.require(&run.id)?;
        self.in_transaction(|t| finish(t, run))
    }

    /// Writes a complete run in one transaction; for imports.
    pub fn save(&mut self, run: &Run) -> Result<(), StoreError> {
        self.in_transaction(|t| {
            begin(t, run)?;
            for phase in &run.phases {
                append_phase(t, &run.id, phase)?;
            }
            for doubt in &run.doubts {
                append_doubt(t, &run.id, doubt)?;
            }
            finish(t, run)
        })
    }

    /// Removes a run named by its id, the beginning of its id, or "last", with everything that belongs to it; gives its id.
    /// A run whose process is alive is refused.
    pub fn remove(&mut self, wanted: &str) -> Result<String, StoreError> {
        let id = self.resolve(wanted)?;
        let (status, writer) = self.writer_of(&id)?;
        if status == "running" && writer.life() == Life::Alive {
            return Err(StoreError::StillRunning { id, pid: writer.pid });
        }
        self.in_transaction(|t| {
            t.execute("DELETE FROM run WHERE id = ?1", [&id])?;
            t.execute("DELETE FROM environment WHERE id NOT IN (SELECT environment_id FROM run)", [])?;
            t.execute("DELETE FROM workload WHERE id NOT IN (SELECT workload_id FROM run)", [])?;
            Ok(())
        })?;
        // Gives the pages back; each row of the answer is one page. That it fails leaves only a larger file.
        let _ = self.connection()?.execute_batch("PRAGMA incremental_vacuum");
        Ok(id)
    }

    fn in_transaction(
        &mut self,
        work: impl FnOnce(&Transaction) -> Result<(), Failure>,
    ) -> Result<(), StoreError> {
        self.prepare_writing()?;
        let path = self.path.clone();
        let failed = |e| explain(&path, e);
        let connection = self.connection.as_mut().ok_or(StoreError::Closed)?;
        // Immediate: the lock is waited for here, with the busy timeout, and not in the middle.
        let t = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        match work(&t) {
            Ok(()) => t.commit().map_err(failed),
            Err(Failure::Database(e)) => Err(failed(e)),
            Err(Failure::Store(e)) => Err(e),
        }
    }

    /// The run must be there: a phase without a head would be refused by the foreign key, in words nobody understands.
    fn require(&self, run_id: &str) -> Result<(), StoreError> {
        let found = self
            .connection()?
            .query_row("SELECT 1 FROM run WHERE id = ?1", [run_id], |_| Ok(()))
            .optional()
            .map_err(|e| explain(&self.path, e))?;
        found.ok_or_else(|| StoreError::NoSuchRun { path: self.path.clone(), wanted: run_id.to_string() })
    }
}

/// A step inside a transaction fails in the database or for a reason of ours.
enum Failure {
    Database(rusqlite::Error),
    Store(StoreError),
}

impl From<rusqlite::Error> for Failure {
    fn from(e: rusqlite::Error) -> Self {
        Self::Database(e)
    }
}

fn begin(t: &Transaction, run: &Run) -> Result<(), Failure> {
    let there: bool =
        t.query_row("SELECT EXISTS (SELECT 1 FROM run WHERE id = ?1)", [&run.id], |r| r.get(0))?;
    if there {
        return Err(Failure::Store(StoreError::Exists { id: run.id.clone() }));
    }
    let (environment, workload) = documents(t, run)?;
    let writer = Writer::this();
    t.prepare_cached(
        "INSERT INTO run (id, label, dialect, started_at, status, version, argv, directory, seed, environment_id, workload_id,
             clock_source, host, boot_id, pid_namespace, pid, pid_started_ticks)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
    )?
    .execute(params![
        run.id,
        run.label,
        run.dialect,
        run.started_at,
        run.status.word(),
        run.version,
        json_words(&run.argv),
        run.directory,
        run.seed.to_string(),
        environment,
        workload,
        run.clock.source,
        writer.host,
        writer.boot_id,
        writer.pid_namespace,
        writer.pid,
        writer.started_ticks,
    ])?;
    clock(t, run)?;
    Ok(())
}

fn clock(t: &Transaction, run: &Run) -> rusqlite::Result<()> {
    // Not a number becomes NULL by SQLite's own rule.
    let clock = &run.clock;
    t.execute(
        "UPDATE run SET clock_source = ?2, clock_hz = ?3, clock_cost_ns = ?4, clock_resolution_ns = ?5, clock_drift_ppm = ?6
         WHERE id = ?1",
        params![run.id, clock.source, clock.hz, clock.cost_ns, clock.resolution_ns, clock.drift_ppm],
    )?;
    Ok(())
}

fn finish(t: &Transaction, run: &Run) -> Result<(), Failure> {
    let (environment, workload) = documents(t, run)?;
    t.execute(
        "UPDATE run SET label = ?2, dialect = ?3, started_at = ?4, ended_at = nullif(?5, ''), status = ?6, error = ?7,
             version = ?8, argv = ?9, directory = ?10, seed = ?11, environment_id = ?12, workload_id = ?13
         WHERE id = ?1",
        params![
            run.id,
            run.label,
            run.dialect,
            run.started_at,
            run.ended_at,
            run.status.word(),
            run.error,
            run.version,
            json_words(&run.argv),
            run.directory,
            run.seed.to_string(),
            environment,
            workload,
        ],
    )?;
    clock(t, run)?;
    // An environment that was captured again leaves the first one behind, if no other run has it.
    t.execute("DELETE FROM environment WHERE id NOT IN (SELECT environment_id FROM run)", [])?;
    t.execute("DELETE FROM workload WHERE id NOT IN (SELECT workload_id FROM run)", [])?;
    Ok(())
}

/// Rows of the environment and the workload; an equal document that is there already is used again.
fn documents(t: &Transaction, run: &Run) -> rusqlite::Result<(i64, i64)> {
    let doc = run.environment.to_string();
    let kernel = run.environment.get("kernel").and_then(|k| k.as_str());
    let key = digest(&doc);
    let known = t
        .query_row("SELECT id FROM environment WHERE digest = ?1 AND doc = ?2", params![key, doc], |r| {
            r.get(0)
        })
        .optional()?;
    let environment = match known {
        Some(id) => id,
        None => {
            t.execute(
                "INSERT INTO environment (digest, kernel, doc) VALUES (?1, ?2, ?3)",
                params![key, kernel, doc],
            )?;
            t.last_insert_rowid()
        }
    };
    let key = digest(&run.workload);
    let known = t
        .query_row(
            "SELECT id FROM workload WHERE digest = ?1 AND model = ?2",
            params![key, run.workload],
            |r| r.get(0),
        )
        .optional()?;
    let workload = match known {
        Some(id) => id,
        None => {
            t.execute("INSERT INTO workload (digest, model) VALUES (?1, ?2)", params![key, run.workload])?;
            t.last_insert_rowid()
        }
    };
    Ok((environment, workload))
}

fn append_doubt(t: &Transaction, run_id: &str, doubt: &Doubt) -> Result<(), Failure> {
    t.execute(
        "INSERT INTO doubt (run_id, code, phase_seq, sentence) VALUES (?1, ?2, ?3, ?4)",
        params![run_id, doubt.code, doubt.phase, doubt.sentence],
    )?;
    Ok(())
}

/// A phase that is there already gets the repetitions it does not have yet: a run of several rounds comes back to its phases.
fn append_phase(t: &Transaction, run_id: &str, phase: &Phase) -> Result<(), Failure> {
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

fn insert_phase(t: &Transaction, run_id: &str, phase: &Phase) -> Result<i64, Failure> {
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
) -> Result<(), Failure> {
    let origin = Origin::of(phase, r);
    let physical = &r.physical;
    t.prepare_cached(
        "INSERT INTO repetition (phase_id, n, started_ns, elapsed_ns, start_skew_ns, bytes, ops, bytes_per_s, ops_per_s,
             parent_bytes_per_s, regime, device_share, evidence, physical_method, physical_note, own_read_bytes,
             own_write_bytes, written_in_clock_bytes, dirty_after_bytes)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
    )?
    .execute(params![
        phase_id,
        r.n,
        int(r.started_ns),
        int(r.elapsed_ns),
        int(r.start_skew_ns),
        int(r.workers.iter().fold(0, |sum, w| sum.saturating_add(w.bytes))),
        int(r.workers.iter().fold(0, |sum, w| sum.saturating_add(w.ops))),
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
    ])?;
    let repetition_id = t.last_insert_rowid();
    for worker in &r.workers {
        append_worker(t, run_id, repetition_id, phase, r, worker)?;
    }
    append_totals(t, repetition_id, r)?;
    append_series(t, repetition_id, r)?;
    for (moment, residency) in [("before", r.resident_before), ("after", r.resident_after)] {
        if let Some(residency) = residency {
            append_residency(t, repetition_id, moment, residency)?;
        }
    }
    Ok(())
}

fn append_series(t: &Transaction, repetition_id: i64, r: &Repetition) -> rusqlite::Result<()> {
    let mut interval =
        t.prepare_cached("INSERT INTO interval (repetition_id, position, end_ns, width_ns, ops, bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
    for (position, i) in r.intervals.iter().enumerate() {
        interval.execute(params![
            repetition_id,
            position as i64,
            int(i.end_ns),
            int(i.width_ns),
            int(i.ops),
            int(i.bytes)
        ])?;
    }
    let mut device = t.prepare_cached(
        "INSERT INTO device (repetition_id, position, name, read_ios, read_bytes, read_merges, write_ios, write_bytes,
             write_merges, flush_ios, discard_ios, busy_ms, level, kind)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )?;
    for (position, d) in r.physical.devices.iter().enumerate() {
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
    t.execute(
        "INSERT INTO residency (repetition_id, moment, total_pages, cached_pages, dirty_pages, writeback_pages)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            repetition_id,
            moment,
            int(residency.total_pages),
            int(residency.cached_pages),
            int(residency.dirty_pages),
            int(residency.writeback_pages),
        ],
    )?;
    Ok(())
}

fn append_worker(
    t: &Transaction,
    run_id: &str,
    repetition_id: i64,
    phase: &Phase,
    r: &Repetition,
    worker: &Worker,
) -> Result<(), Failure> {
    let (ending, error) = match &worker.ending {
        Ending::Completed => ("completed", None),
        Ending::Stopped => ("stopped", None),
        Ending::Interrupted => ("interrupted", None),
        Ending::Failed(error) => ("failed", Some(error)),
    };
    t.prepare_cached(
        "INSERT INTO worker (repetition_id, group_name, number, start_ns, elapsed_ns, bytes, ops, uncounted_bytes,
             cpu_user_ns, cpu_system_ns, last_op_ns, fsync_ns, close_ns, ending, error_call, error_path, error_offset,
             error_after_ops, error_errno, error_message)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
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
    ])?;
    let worker_id = t.last_insert_rowid();
    for stat in &worker.stats {
        append_stat(t, worker_id, stat)?;
    }
    if !worker.op_log.is_empty() {
        let name =
            format!("op log of phase {} repetition {} {} {}", phase.seq, r.n, worker.group, worker.index);
        let body = op_log::encode(&worker.op_log)
            .map_err(|e| Failure::Database(rusqlite::Error::ToSqlConversionFailure(Box::new(e))))?;
        t.execute(
            "INSERT INTO artifact (run_id, worker_id, name, media_type, body) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![run_id, worker_id, name, op_log::MEDIA_TYPE, body],
        )?;
    }
    Ok(())
}

fn append_stat(t: &Transaction, worker_id: i64, stat: &OpStat) -> rusqlite::Result<()> {
    let latency = &stat.latency;
    let sum = u64::try_from(latency.sum_ns()).ok().filter(|&s| s <= I64_MAX);
    let plain = sum.is_some() && latency.max_ns() <= I64_MAX && latency.min_ns() <= I64_MAX;
    let hdr = hdr::encode(latency);
    // What HdrHistogram or an integer column cannot hold is kept beside them, whole.
    let exact = if plain && hdr.is_some() {
        None
    } else {
        Some(
            serde_json::to_string(latency)
                .map_err(|e| rusqlite::Error::ToSqlConversionFailure(Box::new(e)))?,
        )
    };
    let p = percentiles(latency);
    t.prepare_cached(
        "INSERT INTO op_stat (worker_id, op, ops, bytes, timed, sum_ns, min_ns, mean_ns, p50_ns, p90_ns, p99_ns, p999_ns,
             max_ns, hdr, exact) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
    )?
    .execute(params![
        worker_id,
        stat.op.word(),
        int(stat.ops),
        int(stat.bytes),
        capped(latency.count()),
        sum.map_or(i64::MAX, int),
        capped(latency.min_ns()),
        latency.mean_ns(),
        p[0],
        p[1],
        p[2],
        p[3],
        capped(latency.max_ns()),
        hdr,
        exact,
    ])?;
    Ok(())
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
        let p = percentiles(&latency);
        insert.execute(params![
            repetition_id,
            op.word(),
            int(total(|s| s.ops)),
            int(total(|s| s.bytes)),
            rate(|s| s.bytes),
            rate(|s| s.ops),
            latency.mean_ns(),
            full.then(|| capped(latency.min_ns())),
            p[0],
            p[1],
            p[2],
            p[3],
            full.then(|| capped(latency.max_ns())),
        ])?;
    }
    Ok(())
}

/// p50, p90, p99, p99.9.
fn percentiles(latency: &Histogram) -> [Option<i64>; 4] {
    [50.0, 90.0, 99.0, 99.9].map(|p| latency.percentile_ns(p).map(capped))
}

/// For columns people compute with: 2^63 - 1 at most.
fn capped(value: u64) -> i64 {
    int(value.min(I64_MAX))
}

fn json_words(words: &[String]) -> String {
    serde_json::Value::from(words.to_vec()).to_string()
}

fn json_tags(tags: &BTreeMap<String, String>) -> String {
    let map: serde_json::Map<String, serde_json::Value> =
        tags.iter().map(|(k, v)| (k.clone(), v.clone().into())).collect();
    serde_json::Value::Object(map).to_string()
}
