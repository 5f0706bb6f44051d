//! The environment document as leaves: one value per path. Values the kernel does not report are marked as such.

use serde_json::Value;

/// (path, value) of every leaf, in order.
pub(crate) fn leaves(value: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect("", value, &mut found);
    found
}

fn collect(path: &str, value: &Value, found: &mut Vec<(String, String)>) {
    let below = |name: &str| if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
    match value {
        Value::Object(map) => map.iter().for_each(|(k, v)| collect(&below(k), v, found)),
        Value::Array(list) if list.iter().all(|v| !v.is_object() && !v.is_array()) => {
            found.push((path.to_string(), list.iter().map(leaf).collect::<Vec<_>>().join(", ")));
        }
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(i, v)| collect(&below(&i.to_string()), v, found))
        }
        Value::Null if path.is_empty() => {}
        other => found.push((path.to_string(), leaf(other))),
    }
}

fn leaf(value: &Value) -> String {
    match value {
        Value::Null => "not reported".into(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_leaf_has_its_path() {
        let doc = json!({"a": {"b": [1, 2], "c": null}, "d": [{"e": true}]});
        let expected = [("a.b", "1, 2"), ("a.c", "not reported"), ("d.0.e", "true")];
        assert_eq!(leaves(&doc), expected.map(|(k, v)| (k.to_string(), v.to_string())));
        assert!(leaves(&Value::Null).is_empty());
    }
}
