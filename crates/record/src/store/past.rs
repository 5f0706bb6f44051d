//! All runs of the store by what was asked of them, for histories: what tells one workload from another, without any figures, workers or
//! histograms, so that ten thousand runs are read in a moment. Their figures are in `past_figures`, read for the runs that are meant.

use super::Store;
use super::bits::{digest, uint};
use super::error::{StoreError, explain};
use super::list::{status, writer};
use super::load::{Failure, json};
use super::process::Life;
use crate::{Source, Status};
use rusqlite::Row;
use std::collections::HashMap;
use std::sync::Arc;

/// A run of the past, without what was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastRun {
    /// The run's id.
    pub id: String,
    /// Its label.
    pub label: String,
    /// The language of its workload.
    pub dialect: String,
    /// RFC 3339 with offset; of an imported run as far as its text tells, else empty.
    pub started_at: String,
    /// How it ended, as stored.
    pub status: Status,
    /// Stored as running, but its process is gone.
    pub killed: bool,
    /// fathom's version.
    pub version: String,
    /// The command line as typed; equal ones are there once.
    pub argv: Arc<[String]>,
    /// Directory it ran in; of an imported run nothing, its text says where it was read.
    pub directory: String,
    /// Which of [`Past::workloads`] was executed.
    pub workload: i64,
    /// The host, as its environment says.
    pub host: Option<String>,
    /// Where the file system it ran on was mounted.
    pub mount_point: Option<String>,
    /// The settings that a sweep or a comparison made it under, as JSON.
    pub settings: Option<String>,
    /// How far the files that it read were made cold on the user's wish ("files", "machine"), besides what its workload asks for.
    pub cold: Option<String>,
    /// What the sides of the comparison that made it are called, as JSON: `["in=/mnt/a","in=/mnt/b"]`.
    pub sides: Option<String>,
    /// What a comparison made it for: "warm-up", "noise" or "quads".
    pub part: Option<String>,
    /// The text it was imported from (without the lines that were not understood).
    pub source: Option<Source>,
}

impl PastRun {
    /// The word for how it ended: the stored status, or "killed".
    #[must_use]
    pub fn status_word(&self) -> &'static str {
        if self.killed { "killed" } else { self.status.word() }
    }
}

/// All runs but the simulated ones, of which nothing was measured.
#[derive(Clone, Debug, Default)]
pub struct Past {
    /// In the order of their ids, which is that in which they were made or imported.
    pub runs: Vec<PastRun>,
    /// The executed workloads, in the native format, each once.
    pub workloads: HashMap<i64, String>,
    /// Id of the newest simulated run, of which there is nothing else here.
    pub newest_simulated: Option<String>,
}

impl Store {
    /// Reads them.
    pub fn past(&self) -> Result<Past, StoreError> {
        let unreadable = |run: &str, failure| match failure {
            Failure::Database(e) => explain(&self.path, e),
            Failure::Content(what) => StoreError::Unreadable { run: run.to_owned(), what },
        };
        let failed = |e| explain(&self.path, e);
        let connection = self.connection()?;
        let mut past = Past::default();
        // A document is parsed once for all of its words; of two equal ones only the first.
        let mut statement = connection
            .prepare_cached(
                "SELECT run.id, label, dialect, started_at, status, version, argv, directory, workload_id, host, boot_id,
                     pid_namespace, pid, pid_started_ticks, doc ->> '$.hostname' AS place_host,
                     doc ->> '$.filesystem.mount_point' AS mount_point, coalesce(doc -> '$.sweep.settings', doc -> '$.comparison.settings') AS settings,
                     source.file, source.program, source.first_line, source.last_line, doc ->> '$.comparison.part' AS part, doc ->> '$.cold' AS cold,
                     doc -> '$.comparison.plan.sides' AS sides
                 FROM run JOIN environment ON environment.id = environment_id LEFT JOIN source ON source.run_id = run.id
                 WHERE NOT EXISTS (SELECT 1 FROM simulation WHERE run_id = run.id)
                 ORDER BY run.id",
            )
            .map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        let mut before = Before::default();
        while let Some(row) = rows.next().map_err(failed)? {
            let id: String = row.get(0).map_err(failed)?;
            past.runs.push(run(row, &mut before).map_err(|f| unreadable(&id, f))?);
        }
        let mut statement = connection.prepare_cached("SELECT id, model FROM workload").map_err(failed)?;
        let rows = statement.query_map([], |r| Ok((r.get(0)?, r.get(1)?))).map_err(failed)?;
        past.workloads = rows.collect::<Result<_, _>>().map_err(failed)?;
        past.newest_simulated =
            connection.query_row("SELECT max(run_id) FROM simulation", [], |r| r.get(0)).map_err(failed)?;
        Ok(past)
    }

    /// Calls `see` for each of these runs, in this order, with the number of the run and its environment; of a run that has the very
    /// document of the one before it with `None`.
    pub fn each_environment<'i>(
        &self,
        ids: impl IntoIterator<Item = &'i str>,
        mut see: impl FnMut(usize, Option<serde_json::Value>),
    ) -> Result<(), StoreError> {
        let failed = |e| explain(&self.path, e);
        let mut statement = self
            .connection()?
            .prepare_cached(
                "SELECT environment.id, doc FROM run JOIN environment ON environment.id = environment_id WHERE run.id = ?1",
            )
            .map_err(failed)?;
        let mut before = None;
        for (number, id) in ids.into_iter().enumerate() {
            let (document, text): (i64, String) =
                statement.query_row([id], |r| Ok((r.get(0)?, r.get(1)?))).map_err(failed)?;
            if before.replace(document) == Some(document) {
                see(number, None);
                continue;
            }
            let value = serde_json::from_str(&text).map_err(|e| StoreError::Unreadable {
                run: id.to_owned(),
                what: format!("the environment ({e})"),
            })?;
            see(number, Some(value));
        }
        Ok(())
    }
}

/// The command line of the run before, as stored and as read: a store holds few of them, one behind the other.
#[derive(Default)]
struct Before {
    text: String,
    argv: Arc<[String]>,
}

fn run(row: &Row, before: &mut Before) -> Result<PastRun, Failure> {
    let status = status(&row.get::<_, String>(4)?);
    let killed = status == Status::Running && writer(row, 9, 10)?.life() == Life::Gone;
    let text: String = row.get(6)?;
    if text != before.text {
        before.argv = json::<Vec<String>>("argv", &text)?.into();
        before.text = text;
    }
    let source = match row.get::<_, Option<String>>(17)? {
        None => None,
        Some(file) => Some(Source {
            file,
            program: row.get(18)?,
            first_line: uint(row.get(19)?),
            last_line: uint(row.get(20)?),
            not_understood: Vec::new(),
        }),
    };
    Ok(PastRun {
        id: row.get(0)?,
        label: row.get(1)?,
        dialect: row.get(2)?,
        started_at: row.get(3)?,
        status,
        killed,
        version: row.get(5)?,
        argv: Arc::clone(&before.argv),
        directory: if source.is_some() { String::new() } else { row.get(7)? },
        workload: row.get(8)?,
        host: row.get(14)?,
        mount_point: row.get(15)?,
        settings: row.get(16)?,
        part: row.get(21)?,
        cold: row.get(22)?,
        sides: row.get(23)?,
        source,
    })
}

/// A short name for a text: equal texts have equal names, and two of a store's workloads hardly ever share one.
#[must_use]
pub fn name_of_text(text: &str) -> String {
    digest(text)[24..].to_owned()
}
