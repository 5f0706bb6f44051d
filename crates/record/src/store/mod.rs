//! The store: one SQLite file that keeps every run, opens in sqlite3, pandas and DuckDB, and survives the death of the writer.
//!
//! A run is written as it happens: [`Store::begin`], then [`Store::append_phase`] after each phase (one transaction), then
//! [`Store::finish`]; SIGKILL loses at most the phase being measured. Storage is lossless: [`Store::load`] returns the same
//! [`Run`](crate::Run). The tables are described in docs/formats/store.md; `schema.sql` and the later steps in `schema.rs` define them.
//!
//! Not here: what the figures mean (the types of this crate) and any output format (`export`).
//!
//! A `Store` holds a database connection, which must not be used across a `fork`: leave it alone in workers. Dropping it there
//! does nothing.

mod bits;
mod block;
mod cache;
mod columns;
mod course;
mod error;
mod finding;
mod flow_op;
mod hdr;
mod id;
mod imported;
mod latency;
mod list;
mod load;
mod op_log;
mod past;
mod past_figures;
mod place;
mod process;
mod schema;
mod simulated;
mod steady_groups;
mod worker_series;
mod write;
mod write_phase;

pub use bits::{hash_of_text, name_of_hash};
pub use error::StoreError;
pub use id::{is_run_id, new_run_id};
pub use list::{Filter, RunSummary};
pub use past::{Past, PastRun, RunContext};
pub use schema::SCHEMA_VERSION;

use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Pause between two attempts to get exclusive access to the file.
const MOMENT: Duration = Duration::from_millis(5);

/// How long a command waits for another one that is writing. Transactions are short (one phase), so ten seconds mean that
/// something is wrong.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Size of the statement cache: enough for all statements that store a phase.
const PREPARED: usize = 64;

/// Pages (of 4 KiB) at which the write-ahead log is checkpointed before the end. SQLite's default of 1000 is reached after
/// about forty phases, and each checkpoint fsyncs, for ten milliseconds or more, on what may be the device under test.
const LOG_PAGES: u32 = 8192;

/// An open store.
#[derive(Debug)]
pub struct Store {
    /// `None` only after `close`.
    connection: Option<Connection>,
    path: PathBuf,
    /// Process id of the opener.
    pid: u32,
    /// Whether this connection has prepared the file for writing (see [`Store::prepare_writing`]).
    writing: bool,
}

impl Store {
    /// Checks that an existing file is a store that can be opened. Changes nothing.
    pub fn check(path: &Path) -> Result<(), StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_EXRESCODE;
        let connection = Connection::open_with_flags(path, flags).map_err(|e| error::explain(path, e))?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(|e| error::explain(path, e))?;
        schema::check(&connection, path).map(drop)
    }

    /// Opens the store at `path`; creates the file and its parent directories if missing. A file of an older version is
    /// migrated; a newer one, one from before the first release, or a foreign database, is refused.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref().to_path_buf();
        if let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
            std::fs::create_dir_all(parent)
                .map_err(|source| StoreError::Directory { path: parent.to_path_buf(), source })?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_EXRESCODE;
        let mut connection =
            Connection::open_with_flags(&path, flags).map_err(|e| error::explain(&path, e))?;
        connection.set_prepared_statement_cache_capacity(PREPARED);
        patiently(
            |e| matches!(e, StoreError::Locked { .. }),
            || schema::prepare(&mut connection, &path, BUSY_TIMEOUT),
        )?;
        Ok(Self { connection: Some(connection), path, pid: std::process::id(), writing: false })
    }

    /// An empty store for readers when there is no file yet; creates none.
    pub fn not_yet(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref().to_path_buf();
        let mut connection = Connection::open_in_memory().map_err(|e| error::explain(&path, e))?;
        schema::prepare(&mut connection, &path, BUSY_TIMEOUT)?;
        Ok(Self { connection: Some(connection), path, pid: std::process::id(), writing: false })
    }

    /// The default location: `$FATHOM_STORE`, else `$XDG_DATA_HOME/fathom/fathom.db`, else `~/.local/share/fathom/fathom.db`.
    pub fn default_path() -> Result<PathBuf, StoreError> {
        place::default_path(|name| std::env::var_os(name)).ok_or(StoreError::NoPlace)
    }

    /// Path of the database file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves a single file that can be copied: checkpoints and removes the write-ahead log. If another fathom still has the
    /// store open, that one does it.
    pub fn close(mut self) -> Result<(), StoreError> {
        self.fold_log()?;
        match self.connection.take() {
            Some(connection) => connection.close().map_err(|(_, e)| error::explain(&self.path, e)),
            None => Ok(()),
        }
    }

    /// Switches to the write-ahead log before the first write of this connection: a commit is then one append without fsync,
    /// which does not disturb the device under test, and it survives SIGKILL. On network file systems the log's shared memory
    /// does not work between hosts, so the rollback journal is kept there.
    fn prepare_writing(&mut self) -> Result<(), StoreError> {
        if self.writing {
            return Ok(());
        }
        let networked = place::is_networked(&self.path);
        let connection = self.connection()?;
        let done: Result<(), rusqlite::Error> = patiently(error::is_busy, || {
            let mode = if networked { journal_mode(connection, "delete")? } else { begin_log(connection)? };
            // With a rollback journal, only full synchronisation keeps the file intact when the power fails.
            let synchronous = if mode == "wal" { "normal" } else { "full" };
            connection.execute_batch(&format!(
                "PRAGMA synchronous={synchronous}; PRAGMA wal_autocheckpoint={LOG_PAGES}"
            ))
        });
        done.map_err(|e| error::explain(&self.path, e))?;
        self.writing = true;
        Ok(())
    }

    /// Checkpoints the write-ahead log and leaves WAL mode, if this connection wrote and no other is open.
    fn fold_log(&mut self) -> Result<(), StoreError> {
        if !self.writing {
            return Ok(());
        }
        self.writing = false;
        let connection = self.connection()?;
        // Leaving WAL needs exclusive access; with a second fathom present, do not wait for it.
        let folded = connection
            .busy_timeout(Duration::from_millis(200))
            .and_then(|()| connection.query_row("PRAGMA wal_checkpoint(truncate)", [], |_| Ok(())))
            .and_then(|()| journal_mode(connection, JOURNAL_OF_A_SWITCH))
            .and_then(|_| journal_mode(connection, "delete"))
            .map(|_| ());
        match folded {
            Err(e) if error::is_busy(&e) => Ok(()),
            other => other.map_err(|e| error::explain(&self.path, e)),
        }
    }

    /// The connection, present until `close`.
    fn connection(&self) -> Result<&Connection, StoreError> {
        self.connection.as_ref().ok_or(StoreError::Closed)
    }
}

/// The rollback journal mode while the file enters or leaves WAL mode. The switch changes some bytes in the first sector of the
/// file and nothing else, so there is nothing to roll back after a crash; a journal on disk would cost four fsyncs each way.
const JOURNAL_OF_A_SWITCH: &str = "memory";

/// Sets the journal mode. SQLite returns the mode now in force, and silently refuses what cannot work.
fn journal_mode(connection: &Connection, wanted: &str) -> Result<String, rusqlite::Error> {
    connection.query_row(&format!("PRAGMA journal_mode={wanted}"), [], |row| row.get(0))
}

/// Enters WAL mode, unless another fathom has; returns the mode now in force.
fn begin_log(connection: &Connection) -> Result<String, rusqlite::Error> {
    let mode: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
    if mode == "wal" {
        return Ok(mode);
    }
    journal_mode(connection, JOURNAL_OF_A_SWITCH)?;
    // The file's contents are the same before and after, so it does not matter which state a power cut leaves.
    let switched =
        connection.execute_batch("PRAGMA synchronous=off").and_then(|()| journal_mode(connection, "wal"));
    // Restore safe writing whatever the outcome.
    let synchronous = connection.execute_batch("PRAGMA synchronous=full");
    let mode = match &switched {
        Ok(mode) if mode == "wal" => Ok(mode.clone()),
        _ => journal_mode(connection, "delete"),
    };
    switched?;
    synchronous?;
    mode
}

impl Drop for Store {
    /// Tries to leave a single file even if the store is dropped without `close` (after an error). A failure here loses
    /// nothing, because the next opening reads the log.
    fn drop(&mut self) {
        if self.pid != std::process::id() {
            // A forked worker that unwinds: closing here would checkpoint the log under the parent's feet.
            std::mem::forget(self.connection.take());
        } else if self.connection.is_some() {
            let _ = self.fold_log();
        }
    }
}

#[cfg(test)]
pub(crate) mod block_tests;
#[cfg(test)]
pub(crate) mod tests;

/// Retries an operation that needs exclusive access, for as long as any lock is waited for. When two readers both want
/// exclusive access, SQLite refuses one of them at once, since waiting would deadlock.
fn patiently<T, E>(is_busy: impl Fn(&E) -> bool, mut attempt: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    let began = std::time::Instant::now();
    loop {
        match attempt() {
            Err(e) if is_busy(&e) && began.elapsed() < BUSY_TIMEOUT => std::thread::sleep(MOMENT),
            done => return done,
        }
    }
}
