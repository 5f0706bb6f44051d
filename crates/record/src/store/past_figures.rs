//! The figures of many runs at once, as `figures::of` gives them for one, read from the columns beside the histograms: rates, imported
//! figures, and the percentiles of each repetition. No histogram is read, so ten thousand runs take a tenth of a second.
//!
//! A percentile over several repetitions needs their histograms (`Store::load`) and is not available here.

use super::Store;
use super::bits::uint;
use super::columns::{LoadError, json};
use super::error::{StoreError, explain};
use crate::figures::{Cell, Series, Value, add_to, without_remarks};
use crate::imported::{names, units};
use crate::{Axes, Figure};
use rusqlite::{Connection, Row};
use std::collections::HashMap;

/// A repetition with the inputs of its figures.
struct Part {
    cell: Cell,
    phase: u32,
    repetition_id: i64,
    repetition: u32,
    failed: bool,
    metadata_only: bool,
    bytes_per_s: Option<f64>,
    ops_per_s: Option<f64>,
}

/// Percentiles of one kind of operation in a repetition.
struct Percentiles {
    op: String,
    ns: [Option<f64>; 3],
    timed: u64,
}

/// Parts of repetitions, by row id.
type ByRepetition<T> = HashMap<i64, Vec<T>>;

impl Store {
    /// The figures of these runs, in this order; with percentiles if `latencies` is set.
    pub fn figures_of(&self, ids: &[&str], latencies: bool) -> Result<Vec<Vec<Series>>, StoreError> {
        let unreadable = |failure| match failure {
            LoadError::Database(e) => explain(&self.path, e),
            LoadError::Content(what) => StoreError::Unreadable { run: "of this history".into(), what },
        };
        let connection = self.connection()?;
        // One transaction, for a consistent view.
        let whole = connection.unchecked_transaction().map_err(|e| explain(&self.path, e))?;
        let wanted = serde_json::Value::from(ids.to_vec()).to_string();
        let mut parts = parts(&whole, &wanted).map_err(unreadable)?;
        let mut figures = figures(&whole, &wanted).map_err(|e| unreadable(e.into()))?;
        let mut percentiles = if latencies {
            percentiles(&whole, &wanted).map_err(|e| unreadable(e.into()))?
        } else {
            ByRepetition::new()
        };
        let of_run = |id: &&str| {
            let mut all = Vec::new();
            for part in parts.remove(*id).into_iter().flatten().filter(|p| !p.failed) {
                let printed = figures.remove(&part.repetition_id).unwrap_or_default();
                let latencies = percentiles.remove(&part.repetition_id).unwrap_or_default();
                add(&mut all, &part, &printed, &latencies);
            }
            all
        };
        Ok(ids.iter().map(of_run).collect())
    }
}

/// Does what `figures::of` does with a repetition.
fn add(all: &mut Vec<Series>, part: &Part, printed: &[Figure], latencies: &[Percentiles]) {
    let mut push = |metric: &str, unit: &str, better, value, count| {
        let value = Value { phase: part.phase, repetition: part.repetition, value, count };
        add_to(all, &part.cell, metric, unit, better, value);
    };
    for f in printed {
        push(&f.name, &f.unit, f.higher_is_better, f.value, None);
    }
    if !printed.is_empty() {
        return;
    }
    if let Some(rate) = part.bytes_per_s.filter(|_| !part.metadata_only) {
        push(names::THROUGHPUT, units::BYTES_PER_S, Some(true), rate, None);
    }
    if let Some(rate) = part.ops_per_s {
        push(names::OPERATIONS, units::OPS_PER_S, Some(true), rate, None);
    }
    for p in latencies {
        for (percentile, ns) in crate::figures::PERCENTILES.iter().zip(p.ns) {
            if let Some(ns) = ns {
                push(&format!("{} p{percentile}", p.op), units::NS, Some(false), ns, Some(p.timed));
            }
        }
    }
}

fn parts(db: &Connection, wanted: &str) -> Result<HashMap<String, Vec<Part>>, LoadError> {
    let mut statement = db.prepare_cached(
        "SELECT phase.run_id, phase.id, seq, name, file_bytes, record_bytes, streams, queue_depth, tags, reads, writes, direct,
             repetition.id, n, bytes, ops, bytes_per_s, ops_per_s,
             EXISTS (SELECT 1 FROM worker WHERE repetition_id = repetition.id AND ending = 'failed')
         FROM phase JOIN repetition ON phase_id = phase.id
         WHERE phase.run_id IN (SELECT value FROM json_each(?1)) ORDER BY phase.id, repetition.id",
    )?;
    let mut found = statement.query([wanted])?;
    let mut all: HashMap<String, Vec<Part>> = HashMap::new();
    let mut phases: HashMap<i64, PhaseMoved> = HashMap::new();
    // Cells repeat from run to run, so equal tag texts are parsed once.
    let mut tags: HashMap<String, std::collections::BTreeMap<String, String>> = HashMap::new();
    let mut of_phase: Vec<(String, i64, Part)> = Vec::new();
    while let Some(row) = found.next()? {
        let text: String = row.get(8)?;
        if !tags.contains_key(&text) {
            tags.insert(text.clone(), json("the tags of a phase", &text)?);
        }
        let phase_id: i64 = row.get(1)?;
        let part = part(row, tags.get(&text).cloned().unwrap_or_default())?;
        let moved = phases.entry(phase_id).or_default();
        moved.meant |= row.get::<_, bool>(9)? || row.get::<_, bool>(10)?;
        moved.bytes |= row.get::<_, i64>(14)? != 0;
        moved.ops |= row.get::<_, i64>(15)? != 0;
        of_phase.push((row.get(0)?, phase_id, part));
    }
    for (run, phase_id, mut part) in of_phase {
        let moved = phases.get(&phase_id).copied().unwrap_or_default();
        part.metadata_only = !moved.meant && !moved.bytes && moved.ops;
        all.entry(run).or_default().push(part);
    }
    Ok(all)
}

/// What the workers of a phase moved or were meant to move: see `Phase::is_metadata_only`.
#[derive(Clone, Copy, Default)]
struct PhaseMoved {
    meant: bool,
    bytes: bool,
    ops: bool,
}

fn part(row: &Row, tags: std::collections::BTreeMap<String, String>) -> rusqlite::Result<Part> {
    let size = |column: usize| row.get::<_, Option<i64>>(column).map(|v| v.map(uint));
    let axes =
        Axes { file_bytes: size(4)?, record_bytes: size(5)?, streams: size(6)?, queue_depth: size(7)?, tags };
    Ok(Part {
        cell: Cell { operation: row.get(3)?, axes: without_remarks(axes), direct: row.get(11)? },
        phase: row.get(2)?,
        repetition_id: row.get(12)?,
        repetition: row.get(13)?,
        failed: row.get(18)?,
        metadata_only: false,
        bytes_per_s: row.get(16)?,
        ops_per_s: row.get(17)?,
    })
}

/// Reads the imported figures.
fn figures(db: &Connection, wanted: &str) -> rusqlite::Result<ByRepetition<Figure>> {
    let mut statement = db.prepare_cached(
        "SELECT figure.repetition_id, figure.name, value, unit, higher_is_better
         FROM phase JOIN repetition ON phase_id = phase.id JOIN figure ON figure.repetition_id = repetition.id
         WHERE run_id IN (SELECT value FROM json_each(?1)) ORDER BY figure.repetition_id, position",
    )?;
    let mut all = ByRepetition::new();
    let mut found = statement.query([wanted])?;
    while let Some(row) = found.next()? {
        let figure = Figure {
            name: row.get(1)?,
            value: row.get::<_, Option<f64>>(2)?.unwrap_or(f64::NAN),
            unit: row.get(3)?,
            higher_is_better: row.get(4)?,
            ..Figure::default()
        };
        all.entry(row.get(0)?).or_insert_with(Vec::new).push(figure);
    }
    Ok(all)
}

/// In the order of the kinds of operation, as in `figures::of`.
fn percentiles(db: &Connection, wanted: &str) -> rusqlite::Result<ByRepetition<Percentiles>> {
    let mut statement = db.prepare_cached(
        "SELECT total.repetition_id, op, p50_ns, p99_ns, p999_ns,
             (SELECT sum(timed) FROM worker JOIN op_stat ON worker_id = worker.id
              WHERE worker.repetition_id = total.repetition_id AND op_stat.op = total.op)
         FROM phase JOIN repetition ON phase_id = phase.id JOIN op_total AS total ON total.repetition_id = repetition.id
         WHERE run_id IN (SELECT value FROM json_each(?1))",
    )?;
    let mut all: ByRepetition<Percentiles> = ByRepetition::new();
    let mut found = statement.query([wanted])?;
    while let Some(row) = found.next()? {
        let ns = |column: usize| row.get::<_, Option<i64>>(column).map(|v| v.map(|v| uint(v) as f64));
        let percentiles = Percentiles {
            op: row.get(1)?,
            ns: [ns(2)?, ns(3)?, ns(4)?],
            timed: uint(row.get::<_, Option<i64>>(5)?.unwrap_or(0)),
        };
        all.entry(row.get(0)?).or_default().push(percentiles);
    }
    let place = |op: &str| crate::OpKind::ALL.iter().position(|k| k.word() == op);
    all.values_mut().for_each(|ops| ops.sort_by_key(|p| place(&p.op)));
    Ok(all)
}
