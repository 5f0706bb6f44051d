//! Reads single columns of a row, for all tables, and the errors of that.

use super::bits::uint;
use crate::OpKind;
use rusqlite::{Connection, Row};

/// Reading fails in the database, or because a row holds a value that fathom never writes.
pub(super) enum LoadError {
    Database(rusqlite::Error),
    Content(String),
}

impl From<rusqlite::Error> for LoadError {
    fn from(e: rusqlite::Error) -> Self {
        Self::Database(e)
    }
}

pub(super) fn json<T: serde::de::DeserializeOwned>(column: &str, text: &str) -> Result<T, LoadError> {
    serde_json::from_str(text).map_err(|e| LoadError::Content(format!("{column} ({e})")))
}

pub(super) fn count(row: &Row, column: &str) -> rusqlite::Result<u64> {
    row.get(column).map(uint)
}

pub(super) fn maybe(row: &Row, column: &str) -> rusqlite::Result<Option<u64>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(uint))
}

/// A figure; NULL is read as NaN.
pub(super) fn real(row: &Row, column: &str) -> rusqlite::Result<f64> {
    Ok(row.get::<_, Option<f64>>(column)?.unwrap_or(f64::NAN))
}

/// All rows of a query with one parameter, in order.
pub(super) fn rows<T>(
    db: &Connection,
    sql: &str,
    key: i64,
    read: impl FnMut(&Row) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    db.prepare_cached(sql)?.query_map([key], read)?.collect()
}

pub(super) fn op_kind(r: &Row) -> Result<OpKind, LoadError> {
    op_kind_of(&r.get::<_, String>("op")?)
}

pub(super) fn op_kind_of(word: &str) -> Result<OpKind, LoadError> {
    let op = OpKind::ALL.into_iter().find(|k| k.word() == word);
    op.ok_or_else(|| LoadError::Content(format!("the operation {word:?}")))
}
