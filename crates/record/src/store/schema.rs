//! Makes a file a store: recognises it, refuses what is newer or somebody else's, and applies the migrations it lacks.
//!
//! The version is SQLite's `user_version`; `application_id` marks the file as fathom's, so that a mistyped `FATHOM_STORE` never
//! puts our tables into a browser's history.

use super::error::{StoreError, explain};
use rusqlite::{Connection, TransactionBehavior};
use std::path::Path;
use std::time::Duration;

/// "FTHM": what `file` and SQLite show for a store.
pub(super) const APPLICATION_ID: i64 = 0x4654_484d;

/// The steps from an empty file to the present schema: step `n` leads from version `n` to `n + 1`. A published step is never
/// changed; a change of the schema is a new step at the end.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("schema.sql"),
    // Until then it was not kept what a device is and whether it carries another. Unknown kinds change no verdict.
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
    // What the kernel counted of a worker's thread; unknown until then.
    "ALTER TABLE worker ADD COLUMN switches INTEGER;
     ALTER TABLE worker ADD COLUMN major_faults INTEGER;
     ALTER TABLE worker ADD COLUMN minor_faults INTEGER;",
    // How long it waited for a processor.
    "ALTER TABLE worker ADD COLUMN processor_wait_ns INTEGER;",
    // What of the whole machine waited to be written when a repetition began.
    "ALTER TABLE repetition ADD COLUMN dirty_before_bytes INTEGER;",
    // How long requests took, and how full the queues of workers were (as JSON).
    "ALTER TABLE device ADD COLUMN read_ms INTEGER NOT NULL DEFAULT 0;
     ALTER TABLE device ADD COLUMN write_ms INTEGER NOT NULL DEFAULT 0;
     ALTER TABLE device ADD COLUMN queue_ms INTEGER NOT NULL DEFAULT 0;
     ALTER TABLE worker ADD COLUMN in_flight TEXT;",
    // What O_DIRECT left for a moment in the page cache; unknown until then.
    "ALTER TABLE cache_waiting ADD COLUMN meanwhile_bytes INTEGER NOT NULL DEFAULT 0;",
];

/// The schema version this program writes.
pub const SCHEMA_VERSION: i64 = MIGRATIONS.len() as i64;

/// Sets the connection up and brings the file to the present version.
pub(super) fn prepare(connection: &mut Connection, path: &Path, busy: Duration) -> Result<(), StoreError> {
    let failed = |e| explain(path, e);
    connection.busy_timeout(busy).map_err(failed)?;
    if check(connection, path)? < SCHEMA_VERSION {
        migrate(connection, path)?;
    }
    connection.execute_batch("PRAGMA foreign_keys=on").map_err(failed)
}

/// The version of the file, after the check that it is ours and not from the future.
fn check(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    // Of one moment: between two of the questions another program may make the file.
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

/// Applies the missing steps, all or none. Two programs may get here at the same time: the second waits for the lock, looks
/// again, and finds nothing to do.
fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |e| explain(path, e);
    // Only possible before the first table: removed runs give their pages back.
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
