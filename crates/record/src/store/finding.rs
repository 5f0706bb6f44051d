//! Writes and reads the findings of a repetition with their evidence.

use super::columns::{real, rows};
use crate::{Evidence, Finding};
use rusqlite::{Connection, Row, Transaction, params};

pub(super) fn append(t: &Transaction, repetition_id: i64, findings: &[Finding]) -> rusqlite::Result<()> {
    for finding in findings {
        t.prepare_cached(
            "INSERT INTO finding (repetition_id, rule, sentence, advice) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![repetition_id, finding.rule, finding.sentence, finding.advice])?;
        let finding_id = t.last_insert_rowid();
        let mut insert = t.prepare_cached(
            "INSERT INTO finding_evidence (finding_id, position, name, value, unit, source) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        for (position, e) in (0i64..).zip(&finding.evidence) {
            // SQLite stores NaN as NULL.
            insert.execute(params![finding_id, position, e.name, e.value, e.unit, e.source])?;
        }
    }
    Ok(())
}

pub(super) fn load(db: &Connection, repetition_id: i64) -> rusqlite::Result<Vec<Finding>> {
    let sql = "SELECT * FROM finding WHERE repetition_id = ?1 ORDER BY id";
    let heads: Vec<(i64, Finding)> = rows(db, sql, repetition_id, head)?;
    let sql = "SELECT * FROM finding_evidence WHERE finding_id = ?1 ORDER BY position";
    let whole = |(id, finding)| Ok(Finding { evidence: rows(db, sql, id, evidence)?, ..finding });
    heads.into_iter().map(whole).collect()
}

fn head(r: &Row) -> rusqlite::Result<(i64, Finding)> {
    let finding = Finding {
        rule: r.get("rule")?,
        sentence: r.get("sentence")?,
        advice: r.get("advice")?,
        evidence: Vec::new(),
    };
    Ok((r.get("id")?, finding))
}

fn evidence(r: &Row) -> rusqlite::Result<Evidence> {
    Ok(Evidence {
        name: r.get("name")?,
        value: real(r, "value")?,
        unit: r.get("unit")?,
        source: r.get("source")?,
    })
}
