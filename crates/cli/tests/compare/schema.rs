//! What is printed as JSON is as the published schema says, and the schema knows every field.

use crate::{SAME, SLOWER, runs, with};
use serde_json::Value;

const SCHEMA: &str = include_str!("../../../../docs/formats/compare.schema.json");

/// The part of JSON Schema that the published one uses: type, properties, required, additionalProperties, items, enum, const. Another word
/// in it is a finding.
fn check(schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
    const KNOWN: [&str; 11] = [
        "$schema",
        "title",
        "description",
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "enum",
        "const",
        "$id",
    ];
    let map = schema.as_object().expect("a schema is an object");
    found.extend(map.keys().filter(|k| !KNOWN.contains(&k.as_str())).map(|k| format!("schema word {k}")));
    if let Some(types) = map.get("type") {
        let types: Vec<&str> = match types {
            Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
            one => one.as_str().into_iter().collect(),
        };
        let is = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
            Value::Number(n) if n.is_u64() || n.is_i64() => "integer",
            Value::Number(_) => "number",
        };
        if !(types.contains(&is) || is == "integer" && types.contains(&"number")) {
            found.push(format!("{place} is {is}, not {types:?}"));
        }
    }
    let allowed = map.get("enum").and_then(Value::as_array);
    if allowed.is_some_and(|all| !all.contains(value)) || map.get("const").is_some_and(|c| c != value) {
        found.push(format!("{place} is {value}"));
    }
    for (i, item) in value.as_array().into_iter().flatten().enumerate() {
        check(&map["items"], item, &format!("{place}[{i}]"), found);
    }
    let Some(object) = value.as_object() else { return };
    for name in map.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    {
        if !object.contains_key(name) {
            found.push(format!("{place}.{name} is missing"));
        }
    }
    for (name, value) in object {
        let place = format!("{place}.{name}");
        match (map.get("properties").and_then(|p| p.get(name)), map.get("additionalProperties")) {
            (Some(schema), _) => check(schema, value, &place, found),
            (None, Some(Value::Object(_))) => check(&map["additionalProperties"], value, &place, found),
            _ => found.push(format!("{place} is not in the schema")),
        }
    }
}

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
    let mut found = Vec::new();
    check(&schema, &serde_json::json!({"schema": "fathom-compare 2", "x": 1}), "document", &mut found);
    assert_eq!(found.len(), 3, "a wrong version, a missing list, an unknown field: {found:?}");
}
