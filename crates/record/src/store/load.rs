//! Reads a run back, exactly as it was written.

use super::columns::{LoadError, count, json, maybe, op_kind, real, rows};
use super::error::{StoreError, explain};
use super::list::status;
use super::{
    Store, block, cache as cache_rows, course, finding, flow_op, imported, latency, op_log, simulated,
    worker_series,
};
use crate::{
    Axes, CacheIntent, Clock, DeviceDelta, Doubt, Ending, Extents, Marks, OpError, OpStat, Phase, Physical,
    Repetition, Residency, Run, ThreadCounts, Trust, Verdict, Worker,
};
use rusqlite::{Connection, OptionalExtension, Row};

impl Store {
    /// Loads the run given by its id, a prefix of its id, or "last".
    pub fn load(&self, wanted: &str) -> Result<Run, StoreError> {
        let id = self.resolve(wanted)?;
        let connection = self.connection()?;
        // One transaction gives a consistent view of a run that is still being written.
        let whole = connection.unchecked_transaction().map_err(|e| explain(&self.path, e))?;
        run(&whole, &id).map_err(|failure| match failure {
            LoadError::Database(e) => explain(&self.path, e),
            LoadError::Content(what) => StoreError::Unreadable { run: id, what },
        })
    }
}

fn run(db: &Connection, id: &str) -> Result<Run, LoadError> {
    let (mut run, argv, seed, environment) = db.query_row(
        "SELECT run.*, environment.doc, workload.model FROM run
         JOIN environment ON environment.id = environment_id JOIN workload ON workload.id = workload_id WHERE run.id = ?1",
        [id],
        head,
    )?;
    run.source = imported::load_source(db, id)?;
    run.simulation = simulated::load(db, id)?;
    run.argv = json("argv", &argv)?;
    run.environment = json("the environment", &environment)?;
    run.seed = seed.parse().map_err(|e| LoadError::Content(format!("the seed ({e})")))?;
    let mut statement = db.prepare_cached("SELECT * FROM phase WHERE run_id = ?1 ORDER BY id")?;
    let heads: Vec<_> = statement.query_map([id], phase_head)?.collect::<Result<_, _>>()?;
    for (phase_id, mut phase, tags) in heads {
        phase.axes.tags = json("the tags of a phase", &tags)?;
        phase.repetitions = repetitions(db, phase_id)?;
        run.phases.push(phase);
    }
    let mut statement = db.prepare_cached("SELECT * FROM doubt WHERE run_id = ?1 ORDER BY id")?;
    run.doubts = statement
        .query_map([id], |r| Ok((r.get("code")?, r.get::<_, String>("phase_seqs")?, r.get("sentence")?)))?
        .map(|row| {
            let (code, phases, sentence) = row?;
            Ok(Doubt { code, phases: json("the phases of a doubt", &phases)?, sentence })
        })
        .collect::<Result<_, LoadError>>()?;
    let mut statement = db.prepare_cached("SELECT * FROM trust WHERE run_id = ?1 ORDER BY seq")?;
    run.trust = statement.query_map([id], trust)?.collect::<Result<_, _>>()?;
    Ok(run)
}

fn trust(r: &Row) -> rusqlite::Result<Trust> {
    let word: String = r.get("verdict")?;
    // The table's CHECK allows no other.
    let verdict = Verdict::ALL.into_iter().find(|v| v.word() == word).unwrap_or_default();
    Ok(Trust { code: r.get("code")?, verdict, sentence: r.get("sentence")? })
}

/// The run without its phases and other parts, and its texts still to be parsed: argv, seed, environment.
fn head(r: &Row) -> rusqlite::Result<(Run, String, String, String)> {
    let clock = Clock {
        source: r.get("clock_source")?,
        hz: real(r, "clock_hz")?,
        cost_ns: real(r, "clock_cost_ns")?,
        resolution_ns: real(r, "clock_resolution_ns")?,
        drift_ppm: r.get("clock_drift_ppm")?,
    };
    let run = Run {
        id: r.get("id")?,
        label: r.get("label")?,
        dialect: r.get("dialect")?,
        started_at: r.get("started_at")?,
        ended_at: r.get::<_, Option<String>>("ended_at")?.unwrap_or_default(),
        status: status(&r.get::<_, String>("status")?),
        version: r.get("version")?,
        directory: r.get("directory")?,
        workload: r.get("model")?,
        clock,
        error: r.get("error")?,
        ..Run::default()
    };
    Ok((run, r.get("argv")?, r.get("seed")?, r.get("doc")?))
}

fn phase_head(r: &Row) -> rusqlite::Result<(i64, Phase, String)> {
    let axes = Axes {
        file_bytes: maybe(r, "file_bytes")?,
        record_bytes: maybe(r, "record_bytes")?,
        streams: maybe(r, "streams")?,
        queue_depth: maybe(r, "queue_depth")?,
        ..Axes::default()
    };
    let phase = Phase {
        seq: r.get("seq")?,
        name: r.get("name")?,
        axes,
        reads: r.get("reads")?,
        writes: r.get("writes")?,
        sync_in_clock: r.get("sync_in_clock")?,
        direct: r.get("direct")?,
        repetitions: Vec::new(),
    };
    Ok((r.get("id")?, phase, r.get("tags")?))
}

fn repetitions(db: &Connection, phase_id: i64) -> Result<Vec<Repetition>, LoadError> {
    let heads =
        rows(db, "SELECT * FROM repetition WHERE phase_id = ?1 ORDER BY id", phase_id, repetition_head)?;
    let mut all = Vec::with_capacity(heads.len());
    for (id, mut repetition) in heads {
        repetition.workers = workers(db, id)?;
        course::load(db, id, &mut repetition)?;
        cache_rows::load(db, id, &mut repetition)?;
        repetition.block = block::load(db, id)?;
        repetition.findings = finding::load(db, id)?;
        repetition.figures = imported::load_figures(db, id)?;
        repetition.physical.devices =
            rows(db, "SELECT * FROM device WHERE repetition_id = ?1 ORDER BY position", id, device)?;
        repetition.resident_before = residency(db, id, "before")?;
        repetition.resident_after = residency(db, id, "after")?;
        all.push(repetition);
    }
    Ok(all)
}

fn repetition_head(r: &Row) -> rusqlite::Result<(i64, Repetition)> {
    let physical = Physical {
        method: r.get("physical_method")?,
        note: r.get("physical_note")?,
        own_read_bytes: maybe(r, "own_read_bytes")?,
        own_write_bytes: maybe(r, "own_write_bytes")?,
        written_in_clock_bytes: maybe(r, "written_in_clock_bytes")?,
        dirty_before_bytes: maybe(r, "dirty_before_bytes")?,
        dirty_after_bytes: maybe(r, "dirty_after_bytes")?,
        machine_cpu_ns: maybe(r, "machine_cpu_ns")?,
        image_cached_bytes: maybe(r, "image_cached_bytes")?,
        devices: Vec::new(),
        waiting: None,
        compression: r.get("compression")?,
    };
    let repetition = Repetition {
        n: r.get("n")?,
        started_ns: count(r, "started_ns")?,
        elapsed_ns: count(r, "elapsed_ns")?,
        start_skew_ns: count(r, "start_skew_ns")?,
        physical,
        ramp_ns: count(r, "ramp_ns")?,
        cache: cache(&r.get::<_, String>("cache")?),
        extents: extents(r)?,
        jitter: course::jitter_head(r)?,
        ..Repetition::default()
    };
    Ok((r.get("id")?, repetition))
}

/// The intent for a stored word. The table's CHECK allows no other.
fn cache(word: &str) -> CacheIntent {
    CacheIntent::ALL.into_iter().find(|c| c.word() == word).unwrap_or_default()
}

/// NULL in the first column means that all four are missing.
fn extents(r: &Row) -> rusqlite::Result<Option<Extents>> {
    let Some(bytes) = maybe(r, "extents_bytes")? else { return Ok(None) };
    Ok(Some(Extents {
        bytes,
        hole_bytes: count(r, "hole_bytes")?,
        unwritten_bytes: count(r, "unwritten_bytes")?,
        filled_bytes: count(r, "filled_bytes")?,
    }))
}

fn device(r: &Row) -> rusqlite::Result<DeviceDelta> {
    Ok(DeviceDelta {
        name: r.get("name")?,
        level: r.get("level")?,
        kind: r.get("kind")?,
        read_ios: count(r, "read_ios")?,
        read_bytes: count(r, "read_bytes")?,
        read_merges: count(r, "read_merges")?,
        write_ios: count(r, "write_ios")?,
        write_bytes: count(r, "write_bytes")?,
        write_merges: count(r, "write_merges")?,
        flush_ios: count(r, "flush_ios")?,
        discard_ios: count(r, "discard_ios")?,
        busy_ms: count(r, "busy_ms")?,
        read_ms: count(r, "read_ms")?,
        write_ms: count(r, "write_ms")?,
        queue_ms: count(r, "queue_ms")?,
    })
}

fn residency(db: &Connection, repetition_id: i64, moment: &str) -> rusqlite::Result<Option<Residency>> {
    db.prepare_cached("SELECT * FROM residency WHERE repetition_id = ?1 AND moment = ?2")?
        .query_row(rusqlite::params![repetition_id, moment], |r| {
            Ok(Residency {
                total_pages: count(r, "total_pages")?,
                cached_pages: count(r, "cached_pages")?,
                dirty_pages: count(r, "dirty_pages")?,
                writeback_pages: count(r, "writeback_pages")?,
            })
        })
        .optional()
}

fn workers(db: &Connection, repetition_id: i64) -> Result<Vec<Worker>, LoadError> {
    let heads =
        rows(db, "SELECT * FROM worker WHERE repetition_id = ?1 ORDER BY id", repetition_id, worker_head)?;
    let mut all = Vec::with_capacity(heads.len());
    for (id, [passed, in_flight], mut worker) in heads {
        worker.passed = passed.map(|doc| json("errors that were passed over", &doc)).transpose()?;
        worker.in_flight = in_flight.map(|doc| json("operations in flight", &doc)).transpose()?;
        worker.stats = stats(db, id)?;
        worker.rows = flow_op::load(db, id)?;
        worker.op_log = log(db, id)?;
        worker.intervals = series(db, id)?;
        all.push(worker);
    }
    Ok(all)
}

/// A worker without its parts in other tables, its row id, and its JSON columns: errors passed over and in-flight counts.
fn worker_head(r: &Row) -> rusqlite::Result<(i64, [Option<String>; 2], Worker)> {
    let ending = match r.get::<_, String>("ending")?.as_str() {
        "stopped" => Ending::Stopped,
        "interrupted" => Ending::Interrupted,
        "failed" => Ending::Failed(op_error(r)?),
        _ => Ending::Completed,
    };
    let worker = Worker {
        group: r.get("group_name")?,
        index: r.get("number")?,
        start_ns: count(r, "start_ns")?,
        elapsed_ns: count(r, "elapsed_ns")?,
        bytes: count(r, "bytes")?,
        ops: count(r, "ops")?,
        uncounted_bytes: count(r, "uncounted_bytes")?,
        cpu_user_ns: count(r, "cpu_user_ns")?,
        cpu_system_ns: count(r, "cpu_system_ns")?,
        thread_counts: thread_counts(r)?,
        marks: Marks {
            last_op_ns: count(r, "last_op_ns")?,
            fsync_ns: count(r, "fsync_ns")?,
            close_ns: count(r, "close_ns")?,
        },
        ending,
        drained_ops: count(r, "drained_ops")?,
        ramp_ops: count(r, "ramp_ops")?,
        settled_depth: r.get("settled_depth")?,
        behind_ns: count(r, "behind_ns")?,
        ..Worker::default()
    };
    Ok((r.get("id")?, [r.get("passed")?, r.get("in_flight")?], worker))
}

fn thread_counts(r: &Row) -> rusqlite::Result<Option<ThreadCounts>> {
    let Some(switches) = maybe(r, "switches")? else { return Ok(None) };
    let (major_faults, minor_faults) = (count(r, "major_faults")?, count(r, "minor_faults")?);
    let processor_wait_ns = maybe(r, "processor_wait_ns")?;
    Ok(Some(ThreadCounts { switches, major_faults, minor_faults, processor_wait_ns }))
}

fn op_error(r: &Row) -> rusqlite::Result<OpError> {
    Ok(OpError {
        call: r.get("error_call")?,
        path: r.get("error_path")?,
        offset: maybe(r, "error_offset")?,
        after_ops: count(r, "error_after_ops")?,
        errno: r.get("error_errno")?,
        // Both or neither.
        compared: maybe(r, "error_expected")?.zip(maybe(r, "error_found")?),
        message: r.get("error_message")?,
    })
}

fn stats(db: &Connection, worker_id: i64) -> Result<Vec<OpStat>, LoadError> {
    let mut statement = db.prepare_cached("SELECT * FROM op_stat WHERE worker_id = ?1 ORDER BY id")?;
    let mut found = statement.query([worker_id])?;
    let mut all = Vec::new();
    while let Some(r) = found.next()? {
        all.push(stat(r)?);
    }
    Ok(all)
}

fn stat(r: &Row) -> Result<OpStat, LoadError> {
    Ok(OpStat {
        op: op_kind(r)?,
        ops: count(r, "ops")?,
        bytes: count(r, "bytes")?,
        latency: latency::read(r)?,
    })
}

fn series(db: &Connection, worker_id: i64) -> Result<Vec<crate::WorkerInterval>, LoadError> {
    let series: Option<Vec<u8>> = db
        .prepare_cached("SELECT body FROM artifact WHERE worker_id = ?1 AND media_type = ?2")?
        .query_row(rusqlite::params![worker_id, worker_series::MEDIA_TYPE], |r| r.get(0))
        .optional()?;
    series.map_or_else(|| Ok(Vec::new()), |body| worker_series::decode(&body).map_err(LoadError::Content))
}

fn log(db: &Connection, worker_id: i64) -> Result<Vec<crate::OpLogEntry>, LoadError> {
    let log: Option<(String, Vec<u8>)> = db
        .prepare_cached("SELECT media_type, body FROM artifact WHERE worker_id = ?1 AND media_type LIKE ?2")?
        .query_row(rusqlite::params![worker_id, op_log::MEDIA_TYPES], |r| Ok((r.get(0)?, r.get(1)?)))
        .optional()?;
    log.map_or_else(
        || Ok(Vec::new()),
        |(kind, body)| op_log::decode(&kind, &body).map_err(LoadError::Content),
    )
}
