//! JSON, version "fathom-record/1": the fields of [`Run`] under their Rust names, with units in the names, preceded by
//! `schema`. Adding a field keeps the version; removing or renaming one or changing a unit makes a new version.

use super::layout::Layout;
use crate::Run;
use serde::{Deserialize, Serialize};

/// The value of the field `schema`.
pub const JSON_SCHEMA: &str = "fathom-record/1";

/// Why a text is not a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// Not JSON, or a field is missing or of the wrong type.
    #[error("this is not a run in fathom's JSON: {0}; `fathom export --json RUN` writes one")]
    Malformed(#[from] serde_json::Error),
    /// Another version's or another program's text.
    #[error(
        "the JSON has schema {found:?}, but this fathom reads {JSON_SCHEMA:?}: use the fathom that wrote it, or a newer one"
    )]
    OtherSchema {
        /// The schema found.
        found: String,
    },
}

#[derive(Serialize)]
struct RunFile<'a> {
    schema: &'a str,
    #[serde(flatten)]
    run: &'a Run,
}

#[derive(Deserialize)]
struct RunHeader {
    schema: String,
}

/// A run as indented JSON, ending in a line feed. Non-finite figures become `null`.
#[must_use]
pub fn json(run: &Run) -> String {
    let written = RunFile { schema: JSON_SCHEMA, run };
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, Layout::default());
    // Serialising fails only for non-string map keys and for types that refuse; `Run` has neither.
    written.serialize(&mut serializer).expect("a run has only string keys");
    bytes.push(b'\n');
    String::from_utf8(bytes).expect("serde_json writes UTF-8")
}

/// Reads a run from a text written by [`json`].
pub fn from_json(text: &str) -> Result<Run, JsonError> {
    let head: RunHeader = serde_json::from_str(text)?;
    if head.schema != JSON_SCHEMA {
        return Err(JsonError::OtherSchema { found: head.schema });
    }
    // Parsed from the text again instead of from a tree, which cannot hold the 128-bit sums.
    Ok(serde_json::from_str(text)?)
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_golden;
    use super::*;
    use crate::Store;
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

    /// Removes fields from every object of a tree.
    fn without(value: &mut serde_json::Value, fields: &[&str]) {
        match value {
            serde_json::Value::Object(map) => {
                map.retain(|name, _| !fields.contains(&name.as_str()));
                map.values_mut().for_each(|v| without(v, fields));
            }
            serde_json::Value::Array(all) => all.iter_mut().for_each(|v| without(v, fields)),
            _ => {}
        }
    }

    #[test]
    fn what_a_file_does_not_have_is_empty() {
        let later = [
            "trust",
            "ramp_ns",
            "steady",
            "jitter",
            "cache",
            "extents",
            "latencies",
            "drained_ops",
            "ramp_ops",
            "settled_depth",
            "behind_ns",
            "rows",
            "moved",
            "compared",
            "machine_cpu_ns",
            "block",
            "findings",
        ];
        let mut old: serde_json::Value = serde_json::from_str(&json(&sample_run())).expect("reads");
        without(&mut old, &later);
        let run = from_json(&old.to_string()).expect("reads");
        assert_eq!(run, crate::store::tests::plain_sample_run());
    }

    /// The byte ranges of all numbers in the text.
    fn numbers(text: &str) -> Vec<(usize, usize)> {
        let digit = |i: usize| text.as_bytes().get(i).is_some_and(u8::is_ascii_digit);
        let begins = (0..text.len()).filter(|&i| digit(i) && (i == 0 || !digit(i - 1)));
        begins.map(|i| (i, (i..).find(|&j| !digit(j)).unwrap_or(text.len()))).collect()
    }

    /// Exercises everything that is done with a run that was read.
    fn use_all(run: &Run, store: &mut Store) {
        let _ = super::super::csv(std::slice::from_ref(run));
        let _ = super::super::interval_csv(std::slice::from_ref(run));
        let _ = super::super::operation_csv(std::slice::from_ref(run));
        let _ = super::super::request_csv(std::slice::from_ref(run));
        let _ = super::super::size_csv(std::slice::from_ref(run));
        let _ = super::super::iostat_csv(std::slice::from_ref(run));
        let _ = super::super::finding_csv(std::slice::from_ref(run));
        let _ = super::super::figure_csv(std::slice::from_ref(run));
        let written = json(run);
        assert_eq!(json(&from_json(&written).expect("what was written is a run")), written);
        for phase in &run.phases {
            let _ = (phase.bytes_per_s(), phase.ops_per_s(), phase.headline(), phase.origin());
            let _ = (phase.rows(), phase.clock_ns());
            let latency = phase.latency();
            let _ = (latency.mean_ns(), latency.percentile_ns(99.0), latency.buckets().count());
            for repetition in &phase.repetitions {
                let _ = (repetition.bytes(), repetition.ops(), repetition.parent_bytes_per_s());
            }
        }
        // A run that repeats a phase number or exceeds the store's limits may be refused, but no more than that.
        if store.save(run).is_ok() {
            let _ = store.remove(&run.id);
        }
    }

    #[test]
    fn inputs_found_by_the_fuzzer_are_refused() {
        let latency = |counts: &str| {
            let text = json(&sample_run());
            let at = text.find("\"counts\": [").expect("a histogram") + "\"counts\": [".len();
            format!("{}{counts}, {}", &text[..at], &text[at..])
        };
        for counts in ["[99999, 1]", "[4294967295, 18446744073709551615]"] {
            let error = from_json(&latency(counts)).expect_err("no bucket");
            assert!(error.to_string().contains("a bucket"), "{error}");
        }
    }

    const ODD: [&str; 8] = [
        "0",
        "63",
        "3775",
        "3776",
        "4294967295",
        "9223372036854775808",
        "18446744073709551615",
        "340282366920938463463374607431768211455",
    ];

    #[test]
    fn every_number_of_a_run_may_be_odd() {
        let text = json(&sample_run());
        let mut read = 0;
        let mut store = Store::open(":memory:").expect("opens");
        for (start, end) in numbers(&text) {
            for odd in ODD {
                let changed = format!("{}{odd}{}", &text[..start], &text[end..]);
                if let Ok(run) = from_json(&changed) {
                    read += 1;
                    use_all(&run, &mut store);
                }
            }
        }
        assert!(read > 500, "most of them are runs: {read}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]
        #[test]
        fn no_changed_text_makes_a_reader_panic(
            numbered in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(ODD.to_vec())), 0..12),
            bytes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), "[ -~]{0,3}"), 0..2),
            both in any::<bool>(),
        ) {
            let mut text = json(&sample_run());
            if both {
                // Phases of both directions take another path in the verdicts.
                text = text.replace("\"reads\": false", "\"reads\": true").replace("\"writes\": false", "\"writes\": true");
            }
            for (which, odd) in numbered {
                let all = numbers(&text);
                let (start, end) = all[which.index(all.len())];
                text.replace_range(start..end, odd);
            }
            for (a, b, new) in bytes {
                let (a, b) = (a.index(text.len()), b.index(text.len()));
                text.replace_range(a..b.clamp(a, (a + 4).min(text.len())), &new);
            }
            if let Ok(run) = from_json(&text) {
                use_all(&run, &mut Store::open(":memory:").expect("opens"));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn any_run_comes_back(run in any_run()) {
            prop_assert_eq!(from_json(&json(&run)).expect("reads"), run);
        }
    }
}
