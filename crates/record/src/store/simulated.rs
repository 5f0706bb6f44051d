//! Writes and reads the model behind a simulated run.

use super::columns::{LoadError, json};
use crate::{Run, Simulation};
use rusqlite::{Connection, OptionalExtension, Transaction, params};

/// Writes nothing for a measured run.
pub(super) fn append(t: &Transaction, run: &Run) -> rusqlite::Result<()> {
    let Some(simulation) = &run.simulation else { return Ok(()) };
    let doc = serde_json::to_string(simulation).unwrap_or_default();
    t.prepare_cached("INSERT INTO simulation (run_id, doc) VALUES (?1, ?2)")?
        .execute(params![run.id, doc])?;
    Ok(())
}

pub(super) fn load(db: &Connection, run_id: &str) -> Result<Option<Simulation>, LoadError> {
    let doc: Option<String> = db
        .prepare_cached("SELECT doc FROM simulation WHERE run_id = ?1")?
        .query_row([run_id], |r| r.get(0))
        .optional()?;
    doc.map(|doc| json("the model of a simulated run", &doc)).transpose()
}
