//! JSON, version "fathom-record/1": the fields of [`Run`] under the names its types have, with units in the names, and `schema`
//! before them. Adding a field keeps the version; removing one, renaming one or changing a unit makes a new one.

use super::layout::Layout;
use crate::Run;
use serde::{Deserialize, Serialize};

/// The value of the field `schema`.
pub const JSON_SCHEMA: &str = "fathom-record/1";

/// Why a text is no run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// Not JSON, or a field is missing or of the wrong kind.
    #[error("this is not a run in fathom's JSON: {0}; `fathom export --json RUN` writes one")]
    Malformed(#[from] serde_json::Error),
    /// Another version or another program's.
    #[error(
        "the JSON's schema is {found:?}, this fathom reads {JSON_SCHEMA:?}: use the fathom that wrote it, or a newer one"
    )]
    OtherSchema {
        /// What stands there.
        found: String,
    },
}

#[derive(Serialize)]
struct Written<'a> {
    schema: &'a str,
    #[serde(flatten)]
    run: &'a Run,
}

#[derive(Deserialize)]
struct Head {
    schema: String,
}

/// A run as indented JSON, ending in a line feed. A figure that is not a number becomes `null`.
#[must_use]
pub fn json(run: &Run) -> String {
    let written = Written { schema: JSON_SCHEMA, run };
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, Layout::default());
    // Serialising fails only for map keys that are no strings and for types that refuse; `Run` has neither.
    written.serialize(&mut serializer).expect("a run has only string keys");
    bytes.push(b'\n');
    String::from_utf8(bytes).expect("serde_json writes UTF-8")
}

/// The run a text written by [`json`] holds.
pub fn from_json(text: &str) -> Result<Run, JsonError> {
    let head: Head = serde_json::from_str(text)?;
    if head.schema != JSON_SCHEMA {
        return Err(JsonError::OtherSchema { found: head.schema });
    }
    // Read from the text a second time and not through a tree: a tree cannot hold the 128-bit sums.
    Ok(serde_json::from_str(text)?)
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_golden;
    use super::*;
    use crate::store::tests::{any_run, sample_run};
    use proptest::prelude::*;

    #[test]
    fn the_format_is_as_published() {
        assert_golden("sample.json", &json(&sample_run()));
    }

    #[test]
    fn other_schemas_and_rubbish_are_refused_in_words() {
        let newer = json(&sample_run()).replace(JSON_SCHEMA, "fathom-record/9");
        assert!(from_json(&newer).unwrap_err().to_string().contains("fathom-record/9"));
        assert!(matches!(from_json("{}"), Err(JsonError::Malformed(_))));
        assert!(matches!(from_json("no JSON"), Err(JsonError::Malformed(_))));
    }

    #[test]
    fn unknown_fields_are_skipped() {
        let text = json(&sample_run()).replacen('{', "{\n  \"added_later\": 1,", 1);
        assert_eq!(from_json(&text).expect("reads"), sample_run());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn any_run_comes_back(run in any_run()) {
            prop_assert_eq!(from_json(&json(&run)).expect("reads"), run);
        }
    }
}
