//! Single values of a profile, overridden: "what if the stripe unit were 128 KiB?". The text is changed before it is parsed, so every
//! value passes the same checks. An overridden value is reported as a guess, because no one has measured such a device.

use toml::{Table, Value};

/// An override: the value's key ("layout.unit_kib"; for an array of tables with the index, "zone.0.mb_s") and its new value. Words need
/// no quotes.
pub type ProfileChange = (String, String);

/// Why a value cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// The profile is not valid TOML.
    #[error("{0}")]
    Text(String),
    /// No profile has such a value.
    #[error("this profile has no value {key}; similar names: {}", near.join(", "))]
    Key {
        /// The key that was given.
        key: String,
        /// Similar keys that exist.
        near: Vec<String>,
    },
}

/// Note of an overridden value.
const NOTE: &str = "changed for this run";
/// Number of similar keys that are suggested.
const NEAR: usize = 4;

/// Applies the changes to a profile's text. `others` are values that the text lacks but may have.
pub(crate) fn apply(text: &str, changes: &[ProfileChange], others: &[String]) -> Result<String, ChangeError> {
    let mut table: Table = text.parse().map_err(|e: toml::de::Error| ChangeError::Text(e.to_string()))?;
    let mut known = keys(&table);
    known.extend(others.iter().filter(|key| !known.contains(key)).cloned().collect::<Vec<_>>());
    for (key, value) in changes {
        if !known.contains(key) {
            return Err(ChangeError::Key { key: key.clone(), near: near(key, &known) });
        }
        put(&mut table, key, read(value));
    }
    Ok(table.to_string())
}

/// The keys of all values of a profile.
pub(crate) fn keys(table: &Table) -> Vec<String> {
    let mut all = Vec::new();
    add_keys("", table, &mut all);
    all
}

fn add_keys(name: &str, table: &Table, all: &mut Vec<String>) {
    if table.contains_key("value") && table.contains_key("src") {
        all.push(name.to_owned());
        return;
    }
    let inner = |key: &str| if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
    for (key, value) in table {
        match value {
            Value::Table(table) => add_keys(&inner(key), table, all),
            Value::Array(values) => {
                for (number, table) in values.iter().enumerate().filter_map(|(n, v)| Some((n, v.as_table()?)))
                {
                    add_keys(&inner(&format!("{key}.{number}")), table, all);
                }
            }
            _ => {}
        }
    }
}

/// Parses a typed value: TOML, or else a word.
fn read(text: &str) -> Value {
    let value = format!("value = {text}").parse::<Table>().ok().and_then(|mut t| t.remove("value"));
    value.unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Sets a value at its key, creating missing tables on the path.
fn put(table: &mut Table, key: &str, value: Value) {
    let mut at = table;
    let mut parts = key.split('.').peekable();
    while let Some(part) = parts.next() {
        let next = at.entry(part).or_insert_with(|| Value::Table(Table::new()));
        let next = match (next, parts.peek().and_then(|n| n.parse::<usize>().ok())) {
            (Value::Array(all), Some(number)) => {
                parts.next();
                all.get_mut(number)
            }
            (other, _) => Some(other),
        };
        let Some(inner) = next.and_then(Value::as_table_mut) else { return };
        at = inner;
    }
    at.insert("value".into(), value);
    at.insert("src".into(), Value::String("guess".into()));
    at.insert("note".into(), Value::String(NOTE.into()));
}

/// The known keys most similar to a missing one: first those that begin or end with it, then those with a small edit distance at the end.
fn near(key: &str, known: &[String]) -> Vec<String> {
    let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    let apart = |k: &str| match k.starts_with(key) || k.ends_with(key) {
        true => 0,
        false => distance(key, k).min(distance(&last(key), &last(k))),
    };
    let mut all: Vec<(usize, &String)> = known.iter().map(|k| (apart(k), k)).collect();
    all.sort_by_key(|(distance, _)| *distance);
    all.into_iter().take(NEAR).map(|(_, k)| k.clone()).collect()
}

/// Edit distance: insertions, deletions and substitutions.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut before = i;
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let here = (before + usize::from(x != *y)).min(row[j] + 1).min(row[j + 1] + 1);
            before = std::mem::replace(&mut row[j + 1], here);
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "about = \"x\"\n[layout]\nlevel = { value = \"raid5\", src = \"measured\" }\nunit_kib = { value = 64, src = \"guess\" }\n\
                        [[zone]]\nmb_s = { value = 40, src = \"datasheet\", note = \"n\" }\n[[zone]]\nmb_s = { value = 20, src = \"datasheet\" }\n";

    fn changed(changes: &[(&str, &str)]) -> Result<Table, ChangeError> {
        let changes: Vec<ProfileChange> =
            changes.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        apply(TEXT, &changes, &["members.failed".into()]).map(|text| text.parse().unwrap())
    }

    #[test]
    fn values_are_put_where_they_belong() {
        let table = changed(&[
            ("layout.level", "raid10"),
            ("layout.unit_kib", "128"),
            ("zone.1.mb_s", "25.5"),
            ("members.failed", "2"),
        ])
        .unwrap();
        assert_eq!(table["layout"]["level"]["value"].as_str(), Some("raid10"));
        assert_eq!(table["layout"]["unit_kib"]["value"].as_integer(), Some(128));
        assert_eq!(table["layout"]["level"]["src"].as_str(), Some("guess"));
        assert_eq!(table["zone"][0]["mb_s"]["value"].as_integer(), Some(40));
        assert_eq!(table["zone"][1]["mb_s"]["value"].as_float(), Some(25.5));
        assert_eq!(table["members"]["failed"]["value"].as_integer(), Some(2));
    }

    #[test]
    fn an_unknown_key_suggests_similar_keys() {
        for (key, first) in [
            ("layout.unit_kb", "layout.unit_kib"),
            ("unit_kib", "layout.unit_kib"),
            ("zone.2.mb_s", "zone.0.mb_s"),
        ] {
            let Err(ChangeError::Key { near, .. }) = changed(&[(key, "1")]) else { panic!("{key} is taken") };
            assert_eq!(near.first().map(String::as_str), Some(first), "{key}");
        }
        assert!(changed(&[("about", "y")]).is_err(), "only values with a source can be changed");
        assert_eq!((distance("kitten", "sitting"), distance("", "ab")), (3, 2));
    }
}
