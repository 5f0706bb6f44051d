//! A history, or the list of those there are, as JSON, "fathom-history 1": described by docs/formats/history.schema.json.

use super::{Gate, History, Listed, SCHEMA};
use serde::Serialize;

#[derive(Serialize)]
struct Document<'h> {
    schema: &'static str,
    workloads: &'h [Listed],
    history: Option<&'h History>,
    gate: Option<&'h Gate>,
}

/// The document: the workloads that were listed or meant, and the history of one. A figure that is not a number becomes `null`.
#[must_use]
pub fn json(workloads: &[Listed], history: Option<&History>, gate: Option<&Gate>) -> String {
    let document = Document { schema: SCHEMA, workloads, history, gate };
    // Serialising fails only for map keys that are no strings and for types that refuse; there are neither.
    serde_json::to_string_pretty(&document).map(|text| text + "\n").unwrap_or_default()
}
