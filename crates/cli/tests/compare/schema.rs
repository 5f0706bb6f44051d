//! JSON output matches the published schema, which knows every field.

use crate::compare::json_schema::check;
use crate::compare::{SAME, SLOWER, runs, with};
use serde_json::Value;

const SCHEMA: &str = include_str!("../../../../docs/formats/compare.schema.json");

#[test]
fn the_json_is_as_published() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    for (quads, words, outcome) in [
        (&SLOWER[..], &["--sweep", "last", "--gate"][..], "regression"),
        (&SAME[..], &["--sweep", "last", "--gate", "--metric", "throughput"], "passed"),
        (&SLOWER[..1], &["20261122T120000", "20261122T120001", "20261122T120002"], "null"),
    ] {
        let fathom = with(&runs(quads, true));
        let mut line = vec!["compare", "--json"];
        line.extend(words);
        let printed: Value = serde_json::from_str(&fathom.run(line).stdout).expect("JSON");
        let mut found = Vec::new();
        check(&schema, &printed, "document", &mut found);
        assert!(found.is_empty(), "{found:#?}");
        let gate = &printed["comparisons"][0]["gate"];
        assert_eq!(gate["outcome"].as_str().unwrap_or("null"), outcome);
        let others = printed["comparisons"].as_array().map_or(0, Vec::len);
        assert_eq!(others, if outcome == "null" { 2 } else { 1 });
    }
    // A comparison that measured its runs itself.
    let fathom = with(&crate::compare::marked(&SLOWER));
    let printed: Value =
        serde_json::from_str(&fathom.run(["compare", "--of", "last", "--json"]).stdout).expect("JSON");
    let mut found = Vec::new();
    check(&schema, &printed, "document", &mut found);
    assert!(found.is_empty(), "{found:#?}");
    assert_eq!(printed["comparisons"][0]["session"]["orders"][0], "ABBA");
    let mut found = Vec::new();
    check(&schema, &serde_json::json!({"schema": "fathom-compare 2", "x": 1}), "document", &mut found);
    assert_eq!(found.len(), 3, "a wrong version, a missing list, an unknown field: {found:?}");
}
