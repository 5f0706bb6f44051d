//! Makes a file a store: recognises it, refuses newer or foreign files, and applies missing migrations.
//!
//! The version is SQLite's `user_version`; `application_id` marks the file as fathom's, so that a mistyped `FATHOM_STORE` never
//! puts our tables into a browser's history.

use super::error::{StoreError, explain};
use rusqlite::{Connection, TransactionBehavior};
use std::path::Path;
use std::time::Duration;

/// "FTHM": what `file` and SQLite show for a store.
pub(super) const APPLICATION_ID: i64 = 0x4654_484d;

/// The steps from an empty file to the current schema: step `n` leads from version `n` to `n + 1`. A published step is never
/// changed; a schema change is a new step at the end.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("schema.sql"),
    // Kind and role of a device, not recorded before. Unknown kinds change no verdict.
    "ALTER TABLE device ADD COLUMN level INTEGER NOT NULL DEFAULT 0;
     ALTER TABLE device ADD COLUMN kind TEXT NOT NULL DEFAULT '';",
    include_str!("schema_3.sql"),
    include_str!("schema_4.sql"),
    include_str!("schema_cache.sql"),
    include_str!("schema_block.sql"),
    include_str!("schema_imported.sql"),
    include_str!("schema_simulated.sql"),
    include_str!("schema_steady.sql"),
    // Errors that a worker passed over, as JSON.
    "ALTER TABLE worker ADD COLUMN passed TEXT;",
    // What the kernel counted for a worker's thread; unknown before.
    "ALTER TABLE worker ADD COLUMN switches INTEGER;
     ALTER TABLE worker ADD COLUMN major_faults INTEGER;
     ALTER TABLE worker ADD COLUMN minor_faults INTEGER;",
    // How long it waited for a processor.
    "ALTER TABLE worker ADD COLUMN processor_wait_ns INTEGER;",
    // Dirty and write-back data of the whole machine at the start of a repetition.
    "ALTER TABLE repetition ADD COLUMN dirty_before_bytes INTEGER;",
    // Durations of requests, and how full the queues of workers were (as JSON).
    "ALTER TABLE device ADD COLUMN read_ms INTEGER NOT NULL DEFAULT 0;
     ALTER TABLE device ADD COLUMN write_ms INTEGER NOT NULL DEFAULT 0;
     ALTER TABLE device ADD COLUMN queue_ms INTEGER NOT NULL DEFAULT 0;
     ALTER TABLE worker ADD COLUMN in_flight TEXT;",
    // What O_DIRECT left in the page cache for a short time; unknown before.
    "ALTER TABLE cache_waiting ADD COLUMN meanwhile_bytes INTEGER NOT NULL DEFAULT 0;",
    // Where the slowest calls waited, as JSON: one row per kind of call.
    "CREATE TABLE slow_calls (
         repetition_id INTEGER NOT NULL REFERENCES repetition (id) ON DELETE CASCADE,
         position      INTEGER NOT NULL,
         doc           TEXT NOT NULL,
         PRIMARY KEY (repetition_id, position)
     ) STRICT, WITHOUT ROWID;",
    // What the kernel's page-cache events showed, as JSON: at most one row per repetition.
    "CREATE TABLE page_cache_events (
         repetition_id INTEGER NOT NULL REFERENCES repetition (id) ON DELETE CASCADE,
         position      INTEGER NOT NULL,
         doc           TEXT NOT NULL,
         PRIMARY KEY (repetition_id, position)
     ) STRICT, WITHOUT ROWID;",
    // How long workers waited for locks, and for whom, as JSON: at most one row per repetition.
    "CREATE TABLE lock_waits (
         repetition_id INTEGER NOT NULL REFERENCES repetition (id) ON DELETE CASCADE,
         position      INTEGER NOT NULL,
         doc           TEXT NOT NULL,
         PRIMARY KEY (repetition_id, position)
     ) STRICT, WITHOUT ROWID;",
    // How long workers were stopped or frozen, as JSON: at most one row per repetition.
    "CREATE TABLE halts (
         repetition_id INTEGER NOT NULL REFERENCES repetition (id) ON DELETE CASCADE,
         position      INTEGER NOT NULL,
         doc           TEXT NOT NULL,
         PRIMARY KEY (repetition_id, position)
     ) STRICT, WITHOUT ROWID;",
    // What the files behind loop devices gained in the page cache; unknown before.
    "ALTER TABLE repetition ADD COLUMN image_cached_bytes INTEGER;",
    // All phases that a doubt concerns, as a JSON array; before, only the phase if there was one.
    "ALTER TABLE doubt ADD COLUMN phase_seqs TEXT NOT NULL DEFAULT '[]';
     UPDATE doubt SET phase_seqs = json_array(phase_seq) WHERE phase_seq IS NOT NULL;
     ALTER TABLE doubt DROP COLUMN phase_seq;",
];

/// The schema version this program writes.
pub const SCHEMA_VERSION: i64 = MIGRATIONS.len() as i64;

/// Sets up the connection and migrates the file to the current version.
pub(super) fn prepare(connection: &mut Connection, path: &Path, busy: Duration) -> Result<(), StoreError> {
    let failed = |e| explain(path, e);
    connection.busy_timeout(busy).map_err(failed)?;
    if check(connection, path)? < SCHEMA_VERSION {
        migrate(connection, path)?;
    }
    connection.execute_batch("PRAGMA foreign_keys=on").map_err(failed)
}

/// The version of the file, after checking that it is fathom's and not newer.
fn check(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    // One transaction: otherwise another program may create the file between two of these queries.
    let moment = connection.is_autocommit().then(|| connection.unchecked_transaction()).transpose();
    let moment = moment.map_err(|e| explain(path, e))?;
    let number =
        |sql: &str| connection.query_row(sql, [], |r| r.get::<_, i64>(0)).map_err(|e| explain(path, e));
    let found = number("PRAGMA user_version")?;
    let application = number("PRAGMA application_id")?;
    let objects = number("SELECT count(*) FROM sqlite_schema")?;
    drop(moment);
    let fresh = found == 0 && application == 0 && objects == 0;
    if !fresh && application != APPLICATION_ID {
        return Err(StoreError::Foreign { path: path.to_path_buf() });
    }
    if found > SCHEMA_VERSION {
        return Err(StoreError::Newer { path: path.to_path_buf(), found, known: SCHEMA_VERSION });
    }
    Ok(found)
}

/// Applies the missing steps, all or none. If two programs get here at the same time, the second waits for the lock, checks
/// again, and finds nothing to do.
fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |e| explain(path, e);
    // Only possible before the first table: lets removed runs free their pages.
    connection.execute_batch("PRAGMA auto_vacuum=incremental").map_err(failed)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let from = usize::try_from(check(&transaction, path)?).unwrap_or(0);
    for step in &MIGRATIONS[from.min(MIGRATIONS.len())..] {
        transaction.execute_batch(step).map_err(failed)?;
    }
    transaction
        .execute_batch(&format!(
            "PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={SCHEMA_VERSION}"
        ))
        .map_err(failed)?;
    transaction.commit().map_err(failed)
}
