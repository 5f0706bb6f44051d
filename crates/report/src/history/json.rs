//! A history, or the list of those there are, as JSON, "fathom-history 1": described by docs/formats/history.schema.json.

use super::{Gate, History, Listed, SCHEMA};
use serde::{Serialize, Serializer};
use std::cell::RefCell;
use std::io::{Result, Write};

#[derive(Serialize)]
#[serde(bound = "")]
struct Document<'h, I: Iterator<Item = Listed>> {
    schema: &'static str,
    workloads: Each<I>,
    history: Option<&'h History>,
    gate: Option<&'h Gate>,
}

/// Elements that are made when they are written: there may be more than memory has room for.
struct Each<I>(RefCell<I>);

impl<I: Iterator<Item = Listed>> Serialize for Each<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_seq(&mut *self.0.borrow_mut())
    }
}

/// Writes the document: the workloads that were listed or meant, and the history of one. A figure that is not a number becomes `null`.
pub fn json(
    mut out: impl Write,
    workloads: impl IntoIterator<Item = Listed>,
    history: Option<&History>,
    gate: Option<&Gate>,
) -> Result<()> {
    let workloads = Each(RefCell::new(workloads.into_iter()));
    serde_json::to_writer_pretty(&mut out, &Document { schema: SCHEMA, workloads, history, gate })?;
    out.write_all(b"\n")
}
