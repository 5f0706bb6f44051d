//! All runs of the store by their workload, for histories: what distinguishes one workload from another, without figures,
//! workers or histograms, so that ten thousand runs are read quickly. `past_figures` reads the figures of selected runs.

use super::Store;
use super::bits::uint;
use super::columns::{LoadError, json};
use super::error::{StoreError, explain};
use super::list::{status, writer};
use super::process::WriterState;
use crate::{Source, Status};
use rusqlite::Row;
use std::collections::HashSet;
use std::sync::Arc;

/// A past run without its measurements. Most texts are the same in many runs and are shared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastRun {
    /// The run's id.
    pub id: String,
    /// Its label.
    pub label: Arc<str>,
    /// RFC 3339 with offset; for an imported run as far as its text says, else empty.
    pub started_at: String,
    /// How it ended, as stored.
    pub status: Status,
    /// Stored as running, but its process is gone.
    pub killed: bool,
    /// The command line as typed.
    pub argv: Arc<[String]>,
    /// Number of the executed workload: see [`Store::each_workload`].
    pub workload: i64,
    /// Number of its environment: see [`Store::each_environment`].
    pub environment: i64,
    /// What it shares with other runs.
    pub made: Arc<RunContext>,
    /// The text it was imported from (without the lines that were not understood); `None` if measured.
    pub source: Option<Box<Source>>,
}

/// How and where runs were made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RunContext {
    /// The language of the workload.
    pub dialect: String,
    /// fathom's version.
    pub version: String,
    /// Directory they ran in; empty for imported runs, whose texts say where they were read.
    pub directory: String,
    /// Host name from the environment.
    pub host: Option<String>,
    /// Mount point of the file system they ran on.
    pub mount_point: Option<String>,
    /// The settings of the sweep or comparison that made them, as JSON.
    pub settings: Option<String>,
    /// How the user had files made cold ("files", "machine"), besides what the workload requests.
    pub cold: Option<String>,
    /// Names of the sides of the comparison that made them, as JSON: `["in=/mnt/a","in=/mnt/b"]`.
    pub sides: Option<String>,
    /// Purpose within a comparison: "warm-up", "noise" or "quads".
    pub part: Option<String>,
}

impl PastRun {
    /// The word for the status: the stored one, or "killed".
    #[must_use]
    pub fn status_word(&self) -> &'static str {
        if self.killed { "killed" } else { self.status.word() }
    }
}

/// All runs except the simulated ones, which measured nothing.
#[derive(Clone, Debug, Default)]
pub struct Past {
    /// In order of their ids, that is, as they were made or imported.
    pub runs: Vec<PastRun>,
    /// Id of the newest simulated run; simulated runs are otherwise absent.
    pub newest_simulated: Option<String>,
}

impl Store {
    /// Reads all past runs in one pass.
    pub fn past(&self) -> Result<Past, StoreError> {
        let unreadable = |run: &str, failure| match failure {
            LoadError::Database(e) => explain(&self.path, e),
            LoadError::Content(what) => StoreError::Unreadable { run: run.to_owned(), what },
        };
        let failed = |e| explain(&self.path, e);
        let connection = self.connection()?;
        let mut past = Past::default();
        // Each document is parsed once for all of its words, and once for all runs that share it.
        let mut statement = connection
            .prepare_cached(
                "SELECT run.id, label, dialect, started_at, status, version, argv, directory, workload_id, host, boot_id,
                     pid_namespace, pid, pid_started_ticks, doc ->> '$.hostname' AS place_host,
                     doc ->> '$.filesystem.mount_point' AS mount_point, coalesce(doc -> '$.sweep.settings', doc -> '$.comparison.settings') AS settings,
                     source.file, source.program, source.first_line, source.last_line, doc ->> '$.comparison.part' AS part, doc ->> '$.cold' AS cold,
                     doc -> '$.comparison.plan.sides' AS sides, environment_id
                 FROM run JOIN environment ON environment.id = environment_id LEFT JOIN source ON source.run_id = run.id
                 WHERE NOT EXISTS (SELECT 1 FROM simulation WHERE run_id = run.id)
                 ORDER BY run.id",
            )
            .map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        let mut shared = Shared::default();
        while let Some(row) = rows.next().map_err(failed)? {
            let id: String = row.get(0).map_err(failed)?;
            past.runs.push(run(row, &mut shared).map_err(|f| unreadable(&id, f))?);
        }
        past.newest_simulated =
            connection.query_row("SELECT max(run_id) FROM simulation", [], |r| r.get(0)).map_err(failed)?;
        Ok(past)
    }

    /// Calls `see` for each executed workload, in order of their numbers, with its text in the native format.
    pub fn each_workload(&self, mut see: impl FnMut(i64, &str)) -> Result<(), StoreError> {
        let failed = |e| explain(&self.path, e);
        let connection = self.connection()?;
        let mut statement =
            connection.prepare_cached("SELECT id, model FROM workload ORDER BY id").map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let model: String = row.get(1).map_err(failed)?;
            see(row.get(0).map_err(failed)?, &model);
        }
        Ok(())
    }

    /// Calls `see` for each of these runs, given by id and environment, in this order, with the run's index and the
    /// environment, or `None` if it has the same document as the previous run.
    pub fn each_environment<'i>(
        &self,
        runs: impl IntoIterator<Item = (&'i str, i64)>,
        mut see: impl FnMut(usize, Option<serde_json::Value>),
    ) -> Result<(), StoreError> {
        let failed = |e| explain(&self.path, e);
        let mut statement =
            self.connection()?.prepare_cached("SELECT doc FROM environment WHERE id = ?1").map_err(failed)?;
        let mut before = None;
        for (number, (run, environment)) in runs.into_iter().enumerate() {
            if before.replace(environment) == Some(environment) {
                see(number, None);
                continue;
            }
            let text: String = statement.query_row([environment], |row| row.get(0)).map_err(failed)?;
            let value = serde_json::from_str(&text).map_err(|e| StoreError::Unreadable {
                run: run.to_owned(),
                what: format!("the environment ({e})"),
            })?;
            see(number, Some(value));
        }
        Ok(())
    }
}

/// Interns what many runs share. A store holds few command lines, mostly in succession, so only the last one is cached.
#[derive(Default)]
struct Shared {
    text: String,
    argv: Arc<[String]>,
    labels: HashSet<Arc<str>>,
    made: HashSet<Arc<RunContext>>,
}

impl Shared {
    fn label(&mut self, label: String) -> Arc<str> {
        if let Some(there) = self.labels.get(label.as_str()) {
            return Arc::clone(there);
        }
        let new: Arc<str> = label.into();
        self.labels.insert(Arc::clone(&new));
        new
    }

    fn made(&mut self, made: RunContext) -> Arc<RunContext> {
        if let Some(there) = self.made.get(&made) {
            return Arc::clone(there);
        }
        let new = Arc::new(made);
        self.made.insert(Arc::clone(&new));
        new
    }
}

fn run(row: &Row, shared: &mut Shared) -> Result<PastRun, LoadError> {
    let status = status(&row.get::<_, String>(4)?);
    let killed = status == Status::Running && writer(row, 9, 10)?.life() == WriterState::Gone;
    let text: String = row.get(6)?;
    if text != shared.text {
        shared.argv = json::<Vec<String>>("argv", &text)?.into();
        shared.text = text;
    }
    let source = match row.get::<_, Option<String>>(17)? {
        None => None,
        Some(file) => Some(Box::new(Source {
            file,
            program: row.get(18)?,
            first_line: uint(row.get(19)?),
            last_line: uint(row.get(20)?),
            not_understood: Vec::new(),
        })),
    };
    let made = RunContext {
        dialect: row.get(2)?,
        version: row.get(5)?,
        directory: if source.is_some() { String::new() } else { row.get(7)? },
        host: row.get(14)?,
        mount_point: row.get(15)?,
        settings: row.get(16)?,
        cold: row.get(22)?,
        sides: row.get(23)?,
        part: row.get(21)?,
    };
    Ok(PastRun {
        id: row.get(0)?,
        label: shared.label(row.get(1)?),
        started_at: row.get(3)?,
        status,
        killed,
        argv: Arc::clone(&shared.argv),
        workload: row.get(8)?,
        environment: row.get(24)?,
        made: shared.made(made),
        source,
    })
}
