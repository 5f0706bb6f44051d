//! Writes a run into the store while it happens: its head, its end, and the statements about it as a whole. `write_phase`
//! writes the rows of a phase.

use super::bits::digest;
use super::error::{StoreError, WriteError, explain};
use super::list::writer_of;
use super::process::{Writer, WriterState};
use super::write_phase::append_phase;
use super::{Store, imported, simulated};
use crate::{Doubt, Phase, Run, Trust};
use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};

impl Store {
    /// Writes the head of a run, with its current status (normally running) and the identity of this process. Phases, doubts
    /// and checks that the run already holds are not written: use [`Store::save`] for a complete run.
    pub fn begin(&mut self, run: &Run) -> Result<(), StoreError> {
        self.in_transaction(|t| begin(t, run))
    }

    /// Writes a measured phase in one transaction; for a phase already stored, only the new repetitions.
    pub fn append_phase(&mut self, run_id: &str, phase: &Phase) -> Result<(), StoreError> {
        self.in_transaction_of(run_id, |t| append_phase(t, run_id, phase))
    }

    /// Writes one doubt.
    pub fn append_doubt(&mut self, run_id: &str, doubt: &Doubt) -> Result<(), StoreError> {
        self.in_transaction_of(run_id, |t| append_doubt(t, run_id, doubt))
    }

    /// Writes the end of a run in one transaction: its doubts, its checks, and the head with status, end, clock drift and
    /// error. Phases are left as they are.
    pub fn finish(&mut self, run: &Run) -> Result<(), StoreError> {
        self.in_transaction_of(&run.id, |t| {
            let before = documents_of(t, &run.id)?;
            finish(t, run)?;
            // A recaptured environment replaces the first one, which is removed if no other run has it.
            if documents_of(t, &run.id)? == before { Ok(()) } else { forget_unused(t) }
        })
    }

    /// Marks a run as failed, with the reason: a last resort for a store that could not take the run's end.
    pub fn give_up(&mut self, run_id: &str, why: &str) -> Result<(), StoreError> {
        self.in_transaction_of(run_id, |t| {
            t.execute("UPDATE run SET status = 'failed', error = ?2 WHERE id = ?1", [run_id, why])?;
            Ok(())
        })
    }

    /// Writes a complete run in one transaction.
    pub fn save(&mut self, run: &Run) -> Result<(), StoreError> {
        self.in_transaction(|t| save(t, run))
    }

    /// Writes complete runs, all or none, one by one as they come, so that only one is in memory. For imports. The file is
    /// locked from the first one on.
    pub fn save_all<E: From<StoreError>>(
        &mut self,
        runs: impl IntoIterator<Item = Result<Run, E>>,
    ) -> Result<(), E> {
        let mut runs = runs.into_iter().peekable();
        if runs.peek().is_none() {
            return Ok(());
        }
        let path = self.path.clone();
        let t = self.transaction()?;
        for run in runs {
            save(&t, &run?).map_err(|f| f.into_store_error(&path))?;
        }
        t.commit().map_err(|e| E::from(explain(&path, e)))
    }

    /// Removes a run given by its id, a prefix of its id, or "last", with everything that belongs to it; returns its id. A run
    /// whose process is alive is refused.
    pub fn remove(&mut self, wanted: &str) -> Result<String, StoreError> {
        let id = self.resolve(wanted)?;
        self.remove_all([id.as_str()])?;
        Ok(id)
    }

    /// Removes runs given by their ids, all or none.
    pub fn remove_all<'i>(&mut self, ids: impl IntoIterator<Item = &'i str>) -> Result<(), StoreError> {
        let path = self.path.clone();
        self.in_transaction(|t| {
            for id in ids {
                let (status, writer) = writer_of(t, id).map_err(|e| WriteError::Store(explain(&path, e)))?;
                if status == "running" && writer.life() == WriterState::Alive {
                    return Err(WriteError::Store(StoreError::StillRunning {
                        id: id.into(),
                        pid: writer.pid,
                    }));
                }
                t.prepare_cached("DELETE FROM run WHERE id = ?1")?.execute([id])?;
            }
            forget_unused(t)
        })?;
        // Frees the pages; each row of the answer is one page. A failure only leaves a larger file.
        let _ = self.connection()?.execute_batch("PRAGMA incremental_vacuum");
        Ok(())
    }

    fn transaction(&mut self) -> Result<Transaction<'_>, StoreError> {
        self.prepare_writing()?;
        let connection = self.connection.as_mut().ok_or(StoreError::Closed)?;
        // Immediate: waits for the lock here, with the busy timeout, instead of midway.
        connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|e| explain(&self.path, e))
    }

    fn in_transaction(
        &mut self,
        work: impl FnOnce(&Transaction) -> Result<(), WriteError>,
    ) -> Result<(), StoreError> {
        let path = self.path.clone();
        let t = self.transaction()?;
        work(&t).map_err(|f| f.into_store_error(&path))?;
        t.commit().map_err(|e| explain(&path, e))
    }

    /// The same for a run that must exist: for a phase without a head, the foreign key error would be unhelpful.
    fn in_transaction_of(
        &mut self,
        run_id: &str,
        work: impl FnOnce(&Transaction) -> Result<(), WriteError>,
    ) -> Result<(), StoreError> {
        let path = self.path.clone();
        self.in_transaction(|t| {
            let mut find = t.prepare_cached("SELECT 1 FROM run WHERE id = ?1")?;
            if !find.exists([run_id])? {
                return Err(WriteError::Store(StoreError::NoSuchRun { path, wanted: run_id.to_string() }));
            }
            work(t)
        })
    }
}

fn save(t: &Transaction, run: &Run) -> Result<(), WriteError> {
    begin(t, run)?;
    run.phases.iter().try_for_each(|phase| append_phase(t, &run.id, phase))?;
    finish(t, run)
}

fn begin(t: &Transaction, run: &Run) -> Result<(), WriteError> {
    let there: bool =
        t.query_row("SELECT EXISTS (SELECT 1 FROM run WHERE id = ?1)", [&run.id], |r| r.get(0))?;
    if there {
        return Err(WriteError::Store(StoreError::Exists { id: run.id.clone() }));
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
    imported::append_source(t, run)?;
    simulated::append(t, run)?;
    Ok(())
}

fn clock(t: &Transaction, run: &Run) -> rusqlite::Result<()> {
    // SQLite stores NaN as NULL.
    let clock = &run.clock;
    t.execute(
        "UPDATE run SET clock_source = ?2, clock_hz = ?3, clock_cost_ns = ?4, clock_resolution_ns = ?5, clock_drift_ppm = ?6
         WHERE id = ?1",
        params![run.id, clock.source, clock.hz, clock.cost_ns, clock.resolution_ns, clock.drift_ppm],
    )?;
    Ok(())
}

fn finish(t: &Transaction, run: &Run) -> Result<(), WriteError> {
    run.doubts.iter().try_for_each(|doubt| append_doubt(t, &run.id, doubt))?;
    run.trust.iter().try_for_each(|trust| append_trust(t, &run.id, trust))?;
    let (environment, workload) = documents(t, run)?;
    t.prepare_cached(
        "UPDATE run SET label = ?2, dialect = ?3, started_at = ?4, ended_at = nullif(?5, ''), status = ?6, error = ?7,
             version = ?8, argv = ?9, directory = ?10, seed = ?11, environment_id = ?12, workload_id = ?13
         WHERE id = ?1",
    )?
    .execute(params![
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
        ])?;
    clock(t, run)?;
    Ok(())
}

/// The rows of the run's environment and workload.
fn documents_of(t: &Transaction, run_id: &str) -> rusqlite::Result<(i64, i64)> {
    t.prepare_cached("SELECT environment_id, workload_id FROM run WHERE id = ?1")?
        .query_row([run_id], |r| Ok((r.get(0)?, r.get(1)?)))
}

/// Removes environments and workloads without a run.
fn forget_unused(t: &Transaction) -> Result<(), WriteError> {
    t.execute(
        "DELETE FROM environment WHERE NOT EXISTS (SELECT 1 FROM run WHERE environment_id = environment.id)",
        [],
    )?;
    t.execute(
        "DELETE FROM workload WHERE NOT EXISTS (SELECT 1 FROM run WHERE workload_id = workload.id)",
        [],
    )?;
    Ok(())
}

/// Rows of the environment and the workload; an equal stored document is reused.
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

fn append_doubt(t: &Transaction, run_id: &str, doubt: &Doubt) -> Result<(), WriteError> {
    let phases = serde_json::to_string(&doubt.phases).unwrap_or_default();
    t.prepare_cached("INSERT INTO doubt (run_id, code, phase_seqs, sentence) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![run_id, doubt.code, phases, doubt.sentence])?;
    Ok(())
}

fn append_trust(t: &Transaction, run_id: &str, trust: &Trust) -> Result<(), WriteError> {
    t.prepare_cached(
        "INSERT INTO trust (run_id, seq, code, verdict, sentence)
         SELECT ?1, coalesce(max(seq) + 1, 0), ?2, ?3, ?4 FROM trust WHERE run_id = ?1",
    )?
    .execute(params![run_id, trust.code, trust.verdict.word(), trust.sentence])?;
    Ok(())
}

fn json_words(words: &[String]) -> String {
    serde_json::Value::from(words.to_vec()).to_string()
}
