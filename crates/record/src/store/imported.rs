//! Writes and reads imported figures and their source text.

use super::bits::{int, uint};
use super::columns::{LoadError, count, json, real, rows};
use crate::{Figure, Run, Source};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

/// Writes the source of an imported run; nothing for a measured one.
pub(super) fn append_source(t: &Transaction, run: &Run) -> rusqlite::Result<()> {
    let Some(source) = &run.source else { return Ok(()) };
    let lines: Vec<i64> = source.not_understood.iter().map(|&line| int(line)).collect();
    t.prepare_cached(
        "INSERT INTO source (run_id, file, program, first_line, last_line, not_understood) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(params![
        run.id,
        source.file,
        source.program,
        int(source.first_line),
        int(source.last_line),
        serde_json::Value::from(lines).to_string(),
    ])?;
    Ok(())
}

pub(super) fn load_source(db: &Connection, run_id: &str) -> Result<Option<Source>, LoadError> {
    let found = db
        .prepare_cached("SELECT * FROM source WHERE run_id = ?1")?
        .query_row([run_id], |r| {
            let source = Source {
                file: r.get("file")?,
                program: r.get("program")?,
                first_line: count(r, "first_line")?,
                last_line: count(r, "last_line")?,
                not_understood: Vec::new(),
            };
            Ok((source, r.get::<_, String>("not_understood")?))
        })
        .optional()?;
    let Some((source, lines)) = found else { return Ok(None) };
    let lines: Vec<i64> = json("the lines that were not understood", &lines)?;
    Ok(Some(Source { not_understood: lines.into_iter().map(uint).collect(), ..source }))
}

pub(super) fn append_figures(
    t: &Transaction,
    repetition_id: i64,
    figures: &[Figure],
) -> rusqlite::Result<()> {
    if figures.is_empty() {
        return Ok(());
    }
    let mut insert = t.prepare_cached(
        "INSERT INTO figure (repetition_id, position, name, value, unit, printed, higher_is_better, line)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    for (position, f) in (0i64..).zip(figures) {
        insert.execute(params![
            repetition_id,
            position,
            f.name,
            f.value,
            f.unit,
            f.printed,
            f.higher_is_better,
            int(f.line),
        ])?;
    }
    Ok(())
}

pub(super) fn load_figures(db: &Connection, repetition_id: i64) -> rusqlite::Result<Vec<Figure>> {
    rows(db, "SELECT * FROM figure WHERE repetition_id = ?1 ORDER BY position", repetition_id, figure)
}

fn figure(r: &Row) -> rusqlite::Result<Figure> {
    Ok(Figure {
        name: r.get("name")?,
        value: real(r, "value")?,
        unit: r.get("unit")?,
        printed: r.get("printed")?,
        higher_is_better: r.get("higher_is_better")?,
        line: count(r, "line")?,
    })
}
