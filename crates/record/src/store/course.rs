//! Writes and reads what changed during a repetition: the intervals with their latencies and moved data, the rounds of a steady
//! state, and the machine's jitter. Nothing is written for what was not watched.

use super::bits::int;
use super::columns::{LoadError, count, maybe, op_kind, real, rows};
use super::latency;
use super::steady_groups;
use crate::{Histogram, Interval, Jitter, Repetition, SteadyState};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

pub(super) fn append(t: &Transaction, repetition_id: i64, r: &Repetition) -> rusqlite::Result<()> {
    append_intervals(t, repetition_id, &r.intervals)?;
    if let Some(steady) = &r.steady {
        append_steady(t, repetition_id, steady)?;
    }
    steady_groups::append(t, repetition_id, r)?;
    if let Some(jitter) = &r.jitter {
        append_jitter(t, repetition_id, jitter)?;
    }
    Ok(())
}

/// Fills in the fields of a repetition. `jitter` must already be set if there was one (see `jitter_head`).
pub(super) fn load(db: &Connection, id: i64, r: &mut Repetition) -> Result<(), LoadError> {
    r.intervals =
        rows(db, "SELECT * FROM interval WHERE repetition_id = ?1 ORDER BY position", id, interval)?;
    if !r.intervals.is_empty() {
        load_latencies(db, id, &mut r.intervals)?;
        load_moved(db, id, &mut r.intervals)?;
    }
    r.steady = load_steady(db, id)?;
    steady_groups::load(db, id, r)?;
    if let Some(jitter) = &mut r.jitter {
        load_jitter(db, id, jitter)?;
    }
    Ok(())
}

fn append_intervals(t: &Transaction, repetition_id: i64, intervals: &[Interval]) -> rusqlite::Result<()> {
    if intervals.is_empty() {
        return Ok(());
    }
    let mut insert = t.prepare_cached(
        "INSERT INTO interval (repetition_id, position, end_ns, width_ns, ops, bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for (position, i) in (0i64..).zip(intervals) {
        insert.execute(params![
            repetition_id,
            position,
            int(i.end_ns),
            int(i.width_ns),
            int(i.ops),
            int(i.bytes)
        ])?;
    }
    append_latencies(t, repetition_id, intervals)?;
    append_moved(t, repetition_id, intervals)
}

fn append_latencies(t: &Transaction, repetition_id: i64, intervals: &[Interval]) -> rusqlite::Result<()> {
    if intervals.iter().all(|i| i.latencies.is_empty()) {
        return Ok(());
    }
    let mut insert = t.prepare_cached(
        "INSERT INTO interval_latency (repetition_id, position, op, timed, sum_ns, min_ns, mean_ns, p50_ns, p90_ns, p99_ns,
             p999_ns, max_ns, hdr, exact) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )?;
    for (position, i) in (0i64..).zip(intervals) {
        for (op, histogram) in &i.latencies {
            latency::insert(&mut insert, &[&repetition_id, &position, &op.word()], histogram)?;
        }
    }
    Ok(())
}

fn append_moved(t: &Transaction, repetition_id: i64, intervals: &[Interval]) -> rusqlite::Result<()> {
    if intervals.iter().all(|i| i.moved.is_empty()) {
        return Ok(());
    }
    let mut insert = t.prepare_cached(
        "INSERT INTO interval_moved (repetition_id, position, n, op, bytes) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for (position, i) in (0i64..).zip(intervals) {
        for (n, (op, bytes)) in (0i64..).zip(&i.moved) {
            insert.execute(params![repetition_id, position, n, op.word(), int(*bytes)])?;
        }
    }
    Ok(())
}

fn interval(r: &Row) -> rusqlite::Result<Interval> {
    Ok(Interval {
        moved: Vec::new(),
        end_ns: count(r, "end_ns")?,
        width_ns: count(r, "width_ns")?,
        ops: count(r, "ops")?,
        bytes: count(r, "bytes")?,
        latencies: Vec::new(),
    })
}

fn load_latencies(db: &Connection, repetition_id: i64, intervals: &mut [Interval]) -> Result<(), LoadError> {
    let mut statement =
        db.prepare_cached("SELECT * FROM interval_latency WHERE repetition_id = ?1 ORDER BY position, id")?;
    let mut found = statement.query([repetition_id])?;
    while let Some(r) = found.next()? {
        let interval = interval_of(r, intervals, "a latency")?;
        interval.latencies.push((op_kind(r)?, latency::read(r)?));
    }
    Ok(())
}

fn load_moved(db: &Connection, repetition_id: i64, intervals: &mut [Interval]) -> Result<(), LoadError> {
    let mut statement =
        db.prepare_cached("SELECT * FROM interval_moved WHERE repetition_id = ?1 ORDER BY position, n")?;
    let mut found = statement.query([repetition_id])?;
    while let Some(r) = found.next()? {
        let interval = interval_of(r, intervals, "data moved")?;
        interval.moved.push((op_kind(r)?, count(r, "bytes")?));
    }
    Ok(())
}

/// The interval that a row belongs to.
fn interval_of<'i>(
    r: &Row,
    intervals: &'i mut [Interval],
    what: &str,
) -> Result<&'i mut Interval, LoadError> {
    let position: i64 = r.get("position")?;
    let interval = usize::try_from(position).ok().and_then(|n| intervals.get_mut(n));
    interval.ok_or_else(|| {
        LoadError::Content(format!("{what} of interval {position} (there is no such interval)"))
    })
}

fn append_steady(t: &Transaction, repetition_id: i64, steady: &SteadyState) -> rusqlite::Result<()> {
    // SQLite stores NaN as NULL.
    t.prepare_cached(
        "INSERT INTO steady (repetition_id, reached, asked, figure, round_ns, window_rounds, mean, range_percent, slope_percent)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?
    .execute(params![
        repetition_id,
        steady.reached,
        steady.asked,
        steady.figure,
        int(steady.round_ns),
        steady.window,
        steady.mean,
        steady.range_percent,
        steady.slope_percent,
    ])?;
    let mut insert =
        t.prepare_cached("INSERT INTO steady_round (repetition_id, position, value) VALUES (?1, ?2, ?3)")?;
    for (position, value) in (0i64..).zip(&steady.rounds) {
        insert.execute(params![repetition_id, position, value])?;
    }
    Ok(())
}

fn load_steady(db: &Connection, repetition_id: i64) -> rusqlite::Result<Option<SteadyState>> {
    let head = db
        .prepare_cached("SELECT * FROM steady WHERE repetition_id = ?1")?
        .query_row([repetition_id], |r| {
            Ok(SteadyState {
                reached: r.get("reached")?,
                asked: r.get("asked")?,
                figure: r.get("figure")?,
                round_ns: count(r, "round_ns")?,
                rounds: Vec::new(),
                window: r.get("window_rounds")?,
                mean: real(r, "mean")?,
                range_percent: real(r, "range_percent")?,
                slope_percent: real(r, "slope_percent")?,
            })
        })
        .optional()?;
    let Some(mut steady) = head else { return Ok(None) };
    let sql = "SELECT value FROM steady_round WHERE repetition_id = ?1 ORDER BY position";
    steady.rounds = rows(db, sql, repetition_id, |r| real(r, "value"))?;
    Ok(Some(steady))
}

/// The watched time is a column of the repetition; an empty histogram gets no row.
fn append_jitter(t: &Transaction, repetition_id: i64, jitter: &Jitter) -> rusqlite::Result<()> {
    for (what, histogram) in [("gap", &jitter.gaps), ("wake", &jitter.wakes)] {
        if *histogram == Histogram::default() {
            continue;
        }
        let mut insert = t.prepare_cached(
            "INSERT INTO jitter (repetition_id, what, timed, sum_ns, min_ns, mean_ns, p50_ns, p90_ns, p99_ns, p999_ns, max_ns,
                 hdr, exact) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?;
        latency::insert(&mut insert, &[&repetition_id, &what], histogram)?;
    }
    Ok(())
}

/// The jitter as far as the repetition's own row holds it: whether and how long it was watched.
pub(super) fn jitter_head(r: &Row) -> rusqlite::Result<Option<Jitter>> {
    Ok(maybe(r, "jitter_watched_ns")?.map(|watched_ns| Jitter { watched_ns, ..Jitter::default() }))
}

fn load_jitter(db: &Connection, repetition_id: i64, jitter: &mut Jitter) -> Result<(), LoadError> {
    let mut statement = db.prepare_cached("SELECT * FROM jitter WHERE repetition_id = ?1")?;
    let mut found = statement.query([repetition_id])?;
    while let Some(r) = found.next()? {
        match r.get::<_, String>("what")?.as_str() {
            "gap" => jitter.gaps = latency::read(r)?,
            _ => jitter.wakes = latency::read(r)?,
        }
    }
    Ok(())
}
