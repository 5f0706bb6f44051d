//! Lists runs by a filter, and finds one by a prefix of its id.

use super::Store;
use super::bits::uint;
use super::error::{StoreError, explain};
use super::process::{Writer, WriterState};
use crate::Status;
use rusqlite::{Connection, OptionalExtension, Row, params};

/// Number of runs fetched at once.
const PAGE: usize = if cfg!(test) { 2 } else { 1000 };

const PASSES: &str = "(?1 IS NULL OR label = ?1) AND (?2 IS NULL OR dialect = ?2) AND (?3 IS NULL OR substr(run.id, 1, length(?3)) = ?3)";

/// What to list. The default is everything.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Only runs whose label is this.
    pub label: Option<String>,
    /// Only runs of this dialect.
    pub dialect: Option<String>,
    /// Only runs whose id begins with this; ids begin with the date, so "202611" is a month.
    pub id_prefix: Option<String>,
    /// Maximum number of runs, the newest.
    pub limit: Option<usize>,
}

/// A line of the list.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct RunSummary {
    /// The run's id.
    pub id: String,
    /// Its label.
    pub label: String,
    /// Dialect of its workload.
    pub dialect: String,
    /// RFC 3339 with offset.
    pub started_at: String,
    /// RFC 3339 with offset; empty while running.
    pub ended_at: String,
    /// How it ended, as stored.
    pub status: Status,
    /// Stored as running, but its process is gone: the record holds what was measured before.
    pub killed: bool,
    /// Directory it ran in.
    pub directory: String,
    /// The host it ran on, if known.
    pub host: Option<String>,
    /// fathom's version.
    pub version: String,
    /// Number of phases.
    pub phases: u64,
    /// Number of reasons for doubt.
    pub doubts: u64,
    /// The error that ended it, if any.
    pub error: Option<String>,
    /// Whether it was simulated: nothing was measured.
    pub simulated: bool,
    /// The file system it ran on, if known.
    pub file_system: Option<String>,
    /// The device below the file system, if known.
    pub device: Option<String>,
}

impl RunSummary {
    /// What it ran on: "ext4 on vda".
    #[must_use]
    pub fn storage(&self) -> String {
        match (&self.file_system, &self.device) {
            _ if self.simulated => String::new(),
            (Some(file_system), Some(device)) => format!("{file_system} on {device}"),
            (one, other) => one.as_ref().or(other.as_ref()).cloned().unwrap_or_default(),
        }
    }

    /// The word for the status column: the stored status, or "killed"; for a simulation "simulated", with the status unless completed.
    #[must_use]
    pub fn status_word(&self) -> &'static str {
        match self.status {
            _ if self.killed => "killed",
            Status::Completed if self.simulated => "simulated",
            Status::Interrupted if self.simulated => "simulated, interrupted",
            Status::Failed if self.simulated => "simulated, failed",
            status => status.word(),
        }
    }
}

impl Store {
    /// The runs that pass the filter, oldest first.
    pub fn list(&self, filter: &Filter) -> Result<Vec<RunSummary>, StoreError> {
        let mut all = Vec::new();
        self.each_listed(filter, |run| all.push(run))?;
        all.reverse();
        Ok(all)
    }

    /// Passes the runs to `see` one by one, newest first. No statement is open during a call: printing may block, as for a
    /// pager, which would keep others from writing to the store.
    pub fn each_listed(&self, filter: &Filter, mut see: impl FnMut(RunSummary)) -> Result<(), StoreError> {
        let mut left = filter.limit.unwrap_or(usize::MAX);
        let mut before: Option<String> = None;
        while left > 0 {
            let wanted = left.min(PAGE);
            let page = self.page(filter, before.as_deref(), wanted)?;
            let is_last = page.len() < wanted;
            left -= page.len();
            before = page.last().map(|run| run.id.clone());
            page.into_iter().for_each(&mut see);
            if is_last {
                break;
            }
        }
        Ok(())
    }

    /// A page of runs, newest first, older than the given one.
    fn page(
        &self,
        filter: &Filter,
        before: Option<&str>,
        most: usize,
    ) -> Result<Vec<RunSummary>, StoreError> {
        let failed = |e| explain(&self.path, e);
        let mut statement = self
            .connection()?
            .prepare_cached(&format!(
                "SELECT run.id, label, dialect, started_at, coalesce(ended_at, ''), status, directory, host, version,
                     (SELECT count(*) FROM phase WHERE run_id = run.id), (SELECT count(*) FROM doubt WHERE run_id = run.id),
                     error, boot_id, pid_namespace, pid, pid_started_ticks,
                     EXISTS (SELECT 1 FROM simulation WHERE run_id = run.id),
                     json_extract(doc, '$.filesystem.type'), json_extract(doc, '$.devices[0].name')
                 FROM run LEFT JOIN environment ON environment.id = environment_id
                 WHERE {PASSES} AND (?4 IS NULL OR run.id < ?4) ORDER BY run.id DESC LIMIT ?5"
            ))
            .map_err(failed)?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let wanted = params![filter.label, filter.dialect, filter.id_prefix, before, most];
        statement.query_map(wanted, summary).map_err(failed)?.collect::<Result<_, _>>().map_err(failed)
    }

    /// The full id for an id, a prefix of one, or "last".
    pub fn resolve(&self, wanted: &str) -> Result<String, StoreError> {
        let failed = |e| explain(&self.path, e);
        let connection = self.connection()?;
        if wanted == "last" {
            return connection
                .query_row("SELECT id FROM run ORDER BY id DESC LIMIT 1", [], |r| r.get(0))
                .optional()
                .map_err(failed)?
                .ok_or_else(|| StoreError::Empty { path: self.path.clone() });
        }
        // A complete id matches even if it is also a prefix of another. The comparison before `substr` uses the index of ids,
        // since a text never sorts below its prefix. `substr` instead of LIKE, in which "_" is a wildcard.
        let mut statement = connection
            .prepare_cached(
                "SELECT id FROM run WHERE id = ?1
                 UNION ALL
                 SELECT id FROM run WHERE ?1 <> '' AND id > ?1 AND id < ?1 || char(1114111) AND substr(id, 1, length(?1)) = ?1
                     AND NOT EXISTS (SELECT 1 FROM run WHERE id = ?1)
                 LIMIT 5",
            )
            .map_err(failed)?;
        let ids = statement.query_map([wanted], |r| r.get::<_, String>(0)).map_err(failed)?;
        let mut ids = ids.collect::<Result<Vec<_>, _>>().map_err(failed)?;
        match ids.len() {
            0 => Err(StoreError::NoSuchRun { path: self.path.clone(), wanted: wanted.to_string() }),
            1 => Ok(ids.remove(0)),
            _ => {
                ids.sort();
                Err(StoreError::Ambiguous { wanted: wanted.to_string(), candidates: ids })
            }
        }
    }
}

/// The stored status of a run and the process that wrote it.
pub(super) fn writer_of(db: &Connection, id: &str) -> rusqlite::Result<(String, Writer)> {
    db.prepare_cached(
        "SELECT status, host, boot_id, pid_namespace, pid, pid_started_ticks FROM run WHERE id = ?1",
    )?
    .query_row([id], |r| Ok((r.get(0)?, writer(r, 1, 2)?)))
}

/// The writer's columns: the host at index `host`, the other four from index `rest` on.
pub(super) fn writer(row: &Row, host: usize, rest: usize) -> rusqlite::Result<Writer> {
    Ok(Writer {
        host: row.get(host)?,
        boot_id: row.get(rest)?,
        pid_namespace: row.get(rest + 1)?,
        pid: row.get::<_, Option<u32>>(rest + 2)?.unwrap_or(0),
        started_ticks: row.get(rest + 3)?,
    })
}

/// The status for a stored word. The table's CHECK allows no other.
pub(super) fn status(word: &str) -> Status {
    match word {
        "completed" => Status::Completed,
        "interrupted" => Status::Interrupted,
        "failed" => Status::Failed,
        _ => Status::Running,
    }
}

fn summary(row: &Row) -> rusqlite::Result<RunSummary> {
    let status = status(&row.get::<_, String>(5)?);
    let killed = status == Status::Running && writer(row, 7, 12)?.life() == WriterState::Gone;
    Ok(RunSummary {
        id: row.get(0)?,
        label: row.get(1)?,
        dialect: row.get(2)?,
        started_at: row.get(3)?,
        ended_at: row.get(4)?,
        status,
        killed,
        directory: row.get(6)?,
        host: row.get(7)?,
        version: row.get(8)?,
        phases: uint(row.get(9)?),
        doubts: uint(row.get(10)?),
        error: row.get(11)?,
        simulated: row.get(16)?,
        file_system: row.get(17)?,
        device: row.get(18)?,
    })
}
