//! Makes a file a store: recognises it, refuses foreign files and unknown versions, and applies missing migrations.
//!
//! The version is SQLite's `user_version`; `application_id` marks the file as fathom's, so that a mistyped `FATHOM_STORE` never
//! puts our tables into a browser's history.

use super::error::{StoreError, explain};
use rusqlite::{Connection, TransactionBehavior};
use std::path::Path;
use std::time::Duration;

/// "FTHM": what `file` and SQLite show for a store.
pub(super) const APPLICATION_ID: i64 = 0x4654_484d;

/// An empty file becomes a store of the current version by this.
const SCHEMA: &str = include_str!("schema.sql");

/// The oldest version that is migrated.
pub(super) const OLDEST: i64 = 20;

/// The steps from [`OLDEST`] to the current version, one version each. A published step is never changed; a schema change is a new
/// step at the end, and a change of [`SCHEMA`].
const MIGRATIONS: &[&str] = &[
    // All phases that a doubt concerns, as a JSON array; before, only the phase if there was one.
    "ALTER TABLE doubt ADD COLUMN phase_seqs TEXT NOT NULL DEFAULT '[]';
     UPDATE doubt SET phase_seqs = json_array(phase_seq) WHERE phase_seq IS NOT NULL;
     ALTER TABLE doubt DROP COLUMN phase_seq;",
];

/// The schema version this program writes.
pub const SCHEMA_VERSION: i64 = OLDEST + MIGRATIONS.len() as i64;

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
pub(super) fn check(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
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
    if !fresh && found < OLDEST {
        return Err(StoreError::Older { path: path.to_path_buf(), found, oldest: OLDEST });
    }
    Ok(found)
}

/// Creates the tables or applies the missing steps, all or none. If two programs get here at the same time, the second waits for
/// the lock, checks again, and finds nothing to do.
fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |e| explain(path, e);
    // Only possible before the first table: lets removed runs free their pages.
    connection.execute_batch("PRAGMA auto_vacuum=incremental").map_err(failed)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    match check(&transaction, path)? {
        0 => transaction.execute_batch(SCHEMA).map_err(failed)?,
        found => {
            let steps = MIGRATIONS.iter().skip(usize::try_from(found - OLDEST).unwrap_or(0));
            steps.into_iter().try_for_each(|step| transaction.execute_batch(step)).map_err(failed)?;
        }
    }
    transaction
        .execute_batch(&format!(
            "PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={SCHEMA_VERSION}"
        ))
        .map_err(failed)?;
    transaction.commit().map_err(failed)
}
