//! Validates JSON against a published schema, for all tests of JSON output. A library with its dependencies took almost
//! a minute to compile; our schemas use a dozen keywords.

use serde_json::Value;

/// The part of JSON Schema that the published schemas use. Any other keyword is reported.
pub fn check(schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
    const KNOWN: [&str; 14] = [
        "$schema",
        "title",
        "description",
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "minItems",
        "minimum",
        "anyOf",
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
    if let Some(choices) = map.get("anyOf").and_then(Value::as_array) {
        let fits = |choice: &Value| {
            let mut wrong = Vec::new();
            check(choice, value, place, &mut wrong);
            wrong.is_empty()
        };
        if !choices.iter().any(fits) {
            found.push(format!("{place} is none of the {} that it may be", choices.len()));
        }
        return;
    }
    if let Some(least) = map.get("minimum").and_then(Value::as_f64)
        && value.as_f64().is_some_and(|n| n < least)
    {
        found.push(format!("{place} is {value}, below {least}"));
    }
    if let Some(least) = map.get("minItems").and_then(Value::as_u64)
        && value.as_array().is_some_and(|all| (all.len() as u64) < least)
    {
        found.push(format!("{place} has fewer than {least}"));
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
            // A part published elsewhere: its own schema applies, and more may follow.
            (None, Some(Value::Bool(true))) => {}
            _ => found.push(format!("{place} is not in the schema")),
        }
    }
}
