//! A history, or the list of workloads, as JSON, "fathom-history 1", described by docs/formats/history.schema.json.

use super::{History, HistoryGate, Listed, SCHEMA};
use serde::{Serialize, Serializer};
use std::cell::RefCell;
use std::io::{Result, Write};

#[derive(Serialize)]
#[serde(bound = "")]
struct HistoryDocument<'h, I: Iterator<Item = Listed>> {
    schema: &'static str,
    workloads: Each<I>,
    history: Option<&'h History>,
    gate: Option<&'h HistoryGate>,
}

/// Serialises elements as they are produced, since there may be more than fit in memory.
struct Each<I>(RefCell<I>);

impl<I: Iterator<Item = Listed>> Serialize for Each<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_seq(&mut *self.0.borrow_mut())
    }
}

/// Writes the document: the listed or selected workloads, and the history of one. Non-finite figures become `null`.
pub fn json(
    mut out: impl Write,
    workloads: impl IntoIterator<Item = Listed>,
    history: Option<&History>,
    gate: Option<&HistoryGate>,
) -> Result<()> {
    let workloads = Each(RefCell::new(workloads.into_iter()));
    serde_json::to_writer_pretty(&mut out, &HistoryDocument { schema: SCHEMA, workloads, history, gate })?;
    out.write_all(b"\n")
}
