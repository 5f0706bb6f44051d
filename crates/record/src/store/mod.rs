//! The store: one SQLite file that keeps every run, opens in sqlite3, pandas and DuckDB, and survives the death of the writer.
//!
//! A run is written as it happens: [`Store::begin`], then [`Store::append_phase`] after each phase (one transaction), then
//! [`Store::finish`]; SIGKILL loses at most the phase that was being measured. What is stored is lossless: [`Store::load`] gives
//! back the same [`Run`](crate::Run). The tables are described in docs/formats/store.md, their definition is `schema.sql` and the
//! steps after it in `schema.rs`.
//!
//! Not here: what the figures mean (the types of this crate) and any output format (`export`).
//!
//! A `Store` holds a database connection, which must not be used on the other side of a `fork`: leave it alone in workers. One
//! that is dropped there does nothing.

mod bits;
mod block;
mod cache;
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
pub use past::{Made, Past, PastRun};
pub use schema::SCHEMA_VERSION;

use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Between two attempts to have the file alone.
const MOMENT: Duration = Duration::from_millis(5);

/// How long a command waits for another one that is writing. Transactions are short (one phase), so ten seconds mean that
/// something is wrong.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Statements that stay prepared: all that store a phase, and then some.
const PREPARED: usize = 64;

/// Pages (of 4 KiB) at which the write-ahead log is folded in before the end. SQLite's own 1000 are some forty phases: every forty
/// phases there would be an fsync, of ten milliseconds and more, on what may be the device under test.
const LOG_PAGES: u32 = 8192;

/// An open store.
#[derive(Debug)]
pub struct Store {
    /// `None` only after `close`.
    connection: Option<Connection>,
    path: PathBuf,
    /// The process that opened it.
    pid: u32,
    /// Whether this connection has prepared the file for writing (see [`Store::prepare_writing`]).
    writing: bool,
}

impl Store {
    /// Opens the store at `path`; creates the file and the directories above it if they are not there. A file of an older
    /// version is brought up to date; a newer one, or a database that is not ours, is refused.
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

    /// A store that is not there yet, for those who look for runs: it holds none, and no file is made.
    pub fn not_yet(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref().to_path_buf();
        let mut connection = Connection::open_in_memory().map_err(|e| error::explain(&path, e))?;
        schema::prepare(&mut connection, &path, BUSY_TIMEOUT)?;
        Ok(Self { connection: Some(connection), path, pid: std::process::id(), writing: false })
    }

    /// Where the store is unless the user says otherwise: `$FATHOM_STORE`, else `$XDG_DATA_HOME/fathom/fathom.db`, else
    /// `~/.local/share/fathom/fathom.db`.
    pub fn default_path() -> Result<PathBuf, StoreError> {
        place::default_path(|name| std::env::var_os(name)).ok_or(StoreError::NoPlace)
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves one file behind that can be copied: the write-ahead log is folded in and removed. When another fathom still has
    /// the store open, that one does it.
    pub fn close(mut self) -> Result<(), StoreError> {
        self.fold_log()?;
        match self.connection.take() {
            Some(connection) => connection.close().map_err(|(_, e)| error::explain(&self.path, e)),
            None => Ok(()),
        }
    }

    /// Switches to the write-ahead log before the first write of this connection: a commit is then one append without fsync, so
    /// that storing a phase does not disturb the device under test, and it survives SIGKILL. On network file systems the log's
    /// shared memory does not work between hosts; the rollback journal is kept there.
    fn prepare_writing(&mut self) -> Result<(), StoreError> {
        if self.writing {
            return Ok(());
        }
        let networked = place::is_networked(&self.path);
        let connection = self.connection()?;
        let done: Result<(), rusqlite::Error> = patiently(error::is_busy, || {
            let mode = if networked { journal_mode(connection, "delete")? } else { begin_log(connection)? };
            // With a rollback journal only full synchronisation keeps the file whole when the power fails.
            let synchronous = if mode == "wal" { "normal" } else { "full" };
            connection.execute_batch(&format!(
                "PRAGMA synchronous={synchronous}; PRAGMA wal_autocheckpoint={LOG_PAGES}"
            ))
        });
        done.map_err(|e| error::explain(&self.path, e))?;
        self.writing = true;
        Ok(())
    }

    /// Moves the write-ahead log into the file and leaves WAL mode, if this connection wrote and nobody else is there.
    fn fold_log(&mut self) -> Result<(), StoreError> {
        if !self.writing {
            return Ok(());
        }
        self.writing = false;
        let connection = self.connection()?;
        // Leaving WAL needs the file alone: with a second fathom about, do not wait for it.
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

    /// The connection; it is there until `close`.
    fn connection(&self) -> Result<&Connection, StoreError> {
        self.connection.as_ref().ok_or(StoreError::Closed)
    }
}

/// The rollback journal while the file enters or leaves WAL mode; SQLite itself takes none to enter it from there. The switch changes
/// some bytes in the first sector of the file and nothing else, so there is nothing to roll back after a crash; a journal on disk would
/// cost four fsyncs each way.
const JOURNAL_OF_A_SWITCH: &str = "memory";

/// Sets the journal mode. SQLite answers with the mode now in force, and refuses quietly what cannot work.
fn journal_mode(connection: &Connection, wanted: &str) -> Result<String, rusqlite::Error> {
    connection.query_row(&format!("PRAGMA journal_mode={wanted}"), [], |row| row.get(0))
}

/// Enters WAL mode, unless another fathom has; gives the mode now in force.
fn begin_log(connection: &Connection) -> Result<String, rusqlite::Error> {
    let mode: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
    if mode == "wal" {
        return Ok(mode);
    }
    journal_mode(connection, JOURNAL_OF_A_SWITCH)?;
    // The file has the same contents before and after: which of the two a power cut leaves makes no difference.
    let switched =
        connection.execute_batch("PRAGMA synchronous=off").and_then(|()| journal_mode(connection, "wal"));
    // Whatever came of it, what follows is written safely.
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
    /// A store that is dropped without `close` (an error further up) is left in one file too, if that is possible; a failure
    /// here loses nothing, because the next opening reads the log.
    fn drop(&mut self) {
        if self.pid != std::process::id() {
            // A forked worker that unwinds: closing here would fold the log under the parent's feet.
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

/// Does what needs the file alone for a moment until nobody else is in the way, for as long as any lock is waited for. Where two programs
/// that read both want to be alone, SQLite refuses one of them at once instead of waiting: neither would ever get there.
fn patiently<T, E>(is_busy: impl Fn(&E) -> bool, mut attempt: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    let began = std::time::Instant::now();
    loop {
        match attempt() {
            Err(e) if is_busy(&e) && began.elapsed() < BUSY_TIMEOUT => std::thread::sleep(MOMENT),
            done => return done,
        }
    }
}
