//! Comparisons as JSON, "fathom-compare 1", described by docs/formats/compare.schema.json.

use super::{Compared, Gate, SCHEMA};
use serde::Serialize;

#[derive(Serialize)]
struct ComparedDocument<'c> {
    schema: &'static str,
    comparisons: Vec<One<'c>>,
}

#[derive(Serialize)]
struct One<'c> {
    #[serde(flatten)]
    compared: &'c Compared,
    gate: Option<&'c Gate>,
}

/// The document; `gates` correspond to the comparisons. Non-finite figures become `null`.
#[must_use]
pub fn json(all: &[Compared], gates: Option<&[Gate]>) -> String {
    let one = |(i, compared)| One { compared, gate: gates.and_then(|g| g.get(i)) };
    let document =
        ComparedDocument { schema: SCHEMA, comparisons: all.iter().enumerate().map(one).collect() };
    // Serialising fails only for non-string map keys and for types that refuse; there are neither.
    serde_json::to_string_pretty(&document).map(|text| text + "\n").unwrap_or_default()
}
