//! Writes and reads the operations of flows: a row per worker and operation, and the sums over the workers, since SQL cannot
//! merge percentiles. Streams have none, and nothing is written for them.

use super::bits::int;
use super::columns::{LoadError, count, op_kind_of};
use super::latency;
use crate::{Repetition, Row, RowClass};
use rusqlite::{Connection, Transaction, params};

pub(super) fn append(t: &Transaction, worker_id: i64, rows: &[Row]) -> rusqlite::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut insert = t.prepare_cached(
        "INSERT INTO flow_op (worker_id, name, class, op, ops, bytes, cpu_ns, timed, sum_ns, min_ns, mean_ns, p50_ns, p90_ns,
             p99_ns, p999_ns, max_ns, hdr, exact)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
    )?;
    for row in rows {
        latency::insert(
            &mut insert,
            &[
                &worker_id,
                &row.name,
                &row.class.word(),
                &row.kind.map(|k| k.word()),
                &int(row.ops),
                &int(row.bytes),
                &int(row.cpu_ns),
            ],
            &row.latency,
        )?;
    }
    Ok(())
}

/// Writes the sums over all workers of a repetition, for the view `flow_result`.
pub(super) fn append_totals(t: &Transaction, repetition_id: i64, r: &Repetition) -> rusqlite::Result<()> {
    let rows = r.rows();
    if rows.is_empty() {
        return Ok(());
    }
    let clock_ns = r.clock_ns();
    let mut insert = t.prepare_cached(
        "INSERT INTO flow_op_total (repetition_id, position, name, class, op, ops, bytes, bytes_per_s, ops_per_s, cpu_ns, mean_ns,
             min_ns, p50_ns, p90_ns, p95_ns, p99_ns, p999_ns, max_ns)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
    )?;
    for (position, row) in (0i64..).zip(&rows) {
        let latency = &row.latency;
        let full = latency.count() > 0;
        let at = |p| latency.percentile_ns(p).map(latency::capped);
        insert.execute(params![
            repetition_id,
            position,
            row.name,
            row.class.word(),
            row.kind.map(|k| k.word()),
            int(row.ops),
            int(row.bytes),
            row.bytes_per_s(clock_ns),
            row.ops_per_s(clock_ns),
            int(row.cpu_ns),
            latency.mean_ns(),
            full.then(|| latency::capped(latency.min_ns())),
            at(50.0),
            at(90.0),
            at(95.0),
            at(99.0),
            at(99.9),
            full.then(|| latency::capped(latency.max_ns())),
        ])?;
    }
    Ok(())
}

pub(super) fn load(db: &Connection, worker_id: i64) -> Result<Vec<Row>, LoadError> {
    let mut statement = db.prepare_cached("SELECT * FROM flow_op WHERE worker_id = ?1 ORDER BY id")?;
    let mut found = statement.query([worker_id])?;
    let mut all = Vec::new();
    while let Some(r) = found.next()? {
        let class: String = r.get("class")?;
        let op: Option<String> = r.get("op")?;
        all.push(Row {
            name: r.get("name")?,
            // The table's CHECK allows no other.
            class: RowClass::ALL.into_iter().find(|c| c.word() == class).unwrap_or_default(),
            kind: op.as_deref().map(op_kind_of).transpose()?,
            ops: count(r, "ops")?,
            bytes: count(r, "bytes")?,
            latency: latency::read(r)?,
            cpu_ns: count(r, "cpu_ns")?,
        });
    }
    Ok(all)
}
