//! The environment document as a table: one row per leaf, named by its path. Values the kernel does not report are marked as such.

use super::{
    HtmlPage, RunView,
    links::Link,
    table::{HtmlTable, folded, heads},
};
use crate::{printable::clean, svg::escape};
use serde_json::Value;

pub(super) fn write(page: &mut HtmlPage, views: &[RunView<'_>]) {
    if views.iter().all(|v| leaves(&v.run.environment).is_empty()) {
        return;
    }
    let id = page.heading(2, "Environment");
    for view in views.iter().filter(|v| !leaves(&v.run.environment).is_empty()) {
        page.links.whole(Link::Environment, &view.run.id, &id);
    }
    for view in views {
        let rows = leaves(&view.run.environment);
        if rows.is_empty() {
            continue;
        }
        let caption = format!("Environment of {}", clean(&view.story.title));
        let mut table = HtmlTable::new(&caption, &heads(&["Name", "Value"]));
        let count = rows.len();
        for (name, value) in rows {
            table.row(&name, &[format!("<span class=\"text\">{}</span>", escape(&value))]);
        }
        let summary = if views.len() > 1 {
            format!("{caption} ({count} values)")
        } else {
            format!("All {count} values")
        };
        page.body.push_str(&folded(&summary, &table.finish()));
    }
}

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
