//! Writes and reads steady-state groups of workers, latencies by I/O priority, the slowest calls, page-cache events, waits for locks and stops, as
//! JSON documents.

use super::columns::{LoadError, json, rows};
use crate::Repetition;
use rusqlite::{Connection, Transaction, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub(super) fn append(t: &Transaction, repetition_id: i64, r: &Repetition) -> rusqlite::Result<()> {
    let steady = "INSERT INTO steady_group (repetition_id, position, doc) VALUES (?1, ?2, ?3)";
    append_all(t, steady, repetition_id, &r.steady_groups)?;
    let priorities = "INSERT INTO priority_stat (repetition_id, position, doc) VALUES (?1, ?2, ?3)";
    append_all(t, priorities, repetition_id, &r.priorities)?;
    let slow = "INSERT INTO slow_calls (repetition_id, position, doc) VALUES (?1, ?2, ?3)";
    append_all(t, slow, repetition_id, &r.slow_calls)?;
    let pages = "INSERT INTO page_cache_events (repetition_id, position, doc) VALUES (?1, ?2, ?3)";
    append_all(t, pages, repetition_id, r.page_cache.as_slice())?;
    let locks = "INSERT INTO lock_waits (repetition_id, position, doc) VALUES (?1, ?2, ?3)";
    append_all(t, locks, repetition_id, r.lock_waits.as_slice())?;
    let halts = "INSERT INTO halts (repetition_id, position, doc) VALUES (?1, ?2, ?3)";
    append_all(t, halts, repetition_id, r.halts.as_slice())
}

fn append_all<T: Serialize>(t: &Transaction, sql: &str, id: i64, all: &[T]) -> rusqlite::Result<()> {
    for (position, one) in (0i64..).zip(all) {
        let doc = serde_json::to_string(one).unwrap_or_default();
        t.prepare_cached(sql)?.execute(params![id, position, doc])?;
    }
    Ok(())
}

pub(super) fn load(db: &Connection, repetition_id: i64, r: &mut Repetition) -> Result<(), LoadError> {
    let steady = "SELECT doc FROM steady_group WHERE repetition_id = ?1 ORDER BY position";
    r.steady_groups = load_all(db, steady, repetition_id, "a steady state of some workers")?;
    let priorities = "SELECT doc FROM priority_stat WHERE repetition_id = ?1 ORDER BY position";
    r.priorities = load_all(db, priorities, repetition_id, "latencies of an I/O priority")?;
    let slow = "SELECT doc FROM slow_calls WHERE repetition_id = ?1 ORDER BY position";
    r.slow_calls = load_all(db, slow, repetition_id, "the slowest calls")?;
    let pages = "SELECT doc FROM page_cache_events WHERE repetition_id = ?1 ORDER BY position";
    r.page_cache = load_all(db, pages, repetition_id, "page-cache events")?.pop();
    let locks = "SELECT doc FROM lock_waits WHERE repetition_id = ?1 ORDER BY position";
    r.lock_waits = load_all(db, locks, repetition_id, "waits for locks")?.pop();
    let halts = "SELECT doc FROM halts WHERE repetition_id = ?1 ORDER BY position";
    r.halts = load_all(db, halts, repetition_id, "how long workers were stopped")?.pop();
    Ok(())
}

fn load_all<T: DeserializeOwned>(
    db: &Connection,
    sql: &str,
    id: i64,
    what: &str,
) -> Result<Vec<T>, LoadError> {
    let docs = rows(db, sql, id, |r| r.get::<_, String>(0))?;
    docs.iter().map(|doc| json(what, doc)).collect()
}
