//! Store errors as sentences that say what to do. SQLite's own codes are classified only here.

use rusqlite::ErrorCode;
use std::path::{Path, PathBuf};

/// An error of the store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// No environment variable gives a location.
    #[error(
        "there is no place for the store: neither FATHOM_STORE, XDG_DATA_HOME nor HOME is set; set FATHOM_STORE to a file name"
    )]
    NoPlace,
    /// The directory could not be created.
    #[error("the store's directory {} could not be created: {source}; set FATHOM_STORE to a file in a directory you may write", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file could not be opened or created.
    #[error("the store {} could not be opened: {reason}; check that the directory exists and that you may write in it, or set FATHOM_STORE", path.display())]
    CannotOpen {
        /// The file.
        path: PathBuf,
        /// SQLite's message.
        reason: String,
    },
    /// The file or its directory is read-only.
    #[error("the store {} cannot be written: the file, its directory or its file system is read-only; set FATHOM_STORE to a file you may write", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// Not an SQLite file.
    #[error("{} is not a database; fathom leaves it alone: name another file with --store or FATHOM_STORE", path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// An SQLite file of another program.
    #[error("{} is a database of another program; fathom leaves it alone: name another file with --store or FATHOM_STORE", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Written by a newer fathom.
    #[error("the store {} has schema version {found}, this fathom knows versions up to {known}: use a newer fathom, or name another file with --store or FATHOM_STORE", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version in the file.
        found: i64,
        /// The newest one known here.
        known: i64,
    },
    /// Written before the first release.
    #[error("the store {} has schema version {found}, from before fathom 0.1.0; this fathom knows versions from {oldest}: move it away, or name another file with --store or FATHOM_STORE", path.display())]
    Older {
        /// The file.
        path: PathBuf,
        /// The version in the file.
        found: i64,
        /// The oldest one known here.
        oldest: i64,
    },
    /// Another process holds the lock.
    #[error("the store {} is locked by another program for more than ten seconds: wait for it to finish (is a sqlite3 shell open in a transaction?) and try again", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// No space.
    #[error("the disk that holds the store {} is full: free some space, or name a file elsewhere with FATHOM_STORE", path.display())]
    DiskFull {
        /// The file.
        path: PathBuf,
    },
    /// The file is damaged.
    #[error("the store {} is damaged ({reason}): copy it aside and try `sqlite3 FILE .recover`", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// SQLite's message.
        reason: String,
    },
    /// A row holds a value that fathom never writes.
    #[error(
        "run {run} cannot be read from the store: {what} is not what fathom writes there; the row was changed or the file is damaged"
    )]
    Unreadable {
        /// The run.
        run: String,
        /// Which value, and why it is wrong.
        what: String,
    },
    /// No such run.
    #[error("no run in the store {} has an id that starts with {wanted:?}: `fathom list` shows those there are", path.display())]
    NoSuchRun {
        /// The file.
        path: PathBuf,
        /// The id or prefix given.
        wanted: String,
    },
    /// The store is empty.
    #[error("the store {} holds no run yet", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The prefix matches more than one run.
    #[error("{wanted:?} fits several runs ({}): give more of the id", candidates.join(", "))]
    Ambiguous {
        /// The prefix given.
        wanted: String,
        /// Some of the matching ids.
        candidates: Vec<String>,
    },
    /// The id is taken.
    #[error("run {id} is in the store already; a run is begun once")]
    Exists {
        /// The id.
        id: String,
    },
    /// The process that writes the run is alive.
    #[error("run {id} is still being measured by process {pid}; end that first, then remove it")]
    StillRunning {
        /// The id.
        id: String,
        /// Its process id.
        pid: u32,
    },
    /// Used after `close`.
    #[error("the store is closed already; this is a fault in fathom, please report it")]
    Closed,
    /// Any other SQLite error.
    #[error("the store {} failed: {reason}", path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// SQLite's message.
        reason: String,
    },
}

/// Whether another process holds the lock.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

pub(super) fn explain(path: &Path, error: rusqlite::Error) -> StoreError {
    let path = path.to_path_buf();
    let reason = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => StoreError::CannotOpen { path, reason },
        Some(ErrorCode::ReadOnly) => StoreError::ReadOnly { path },
        Some(ErrorCode::NotADatabase) => StoreError::NotADatabase { path },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Locked { path },
        Some(ErrorCode::DiskFull) => StoreError::DiskFull { path },
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged { path, reason },
        _ => StoreError::Other { path, reason },
    }
}

/// A step inside a transaction fails in the database or because of our own check.
pub(super) enum WriteError {
    Database(rusqlite::Error),
    Store(StoreError),
}

impl WriteError {
    pub fn into_store_error(self, path: &Path) -> StoreError {
        match self {
            Self::Database(e) => explain(path, e),
            Self::Store(e) => e,
        }
    }
}

impl From<rusqlite::Error> for WriteError {
    fn from(e: rusqlite::Error) -> Self {
        Self::Database(e)
    }
}
