//! Settings of a native workload: short names, and paths into the file for everything else. The text is changed as a
//! tree and parsed again, so that the format itself rejects an invalid value.

use crate::exit::Usage;
use fathom_workload::Workload;
use toml::{Table, Value};

/// Names and their paths; `*` matches every element. The value goes into the braces.
const NAMES: [(&str, &str, bool); 9] = [
    ("record", "phase.*.group.*.thread.*.program.stream.record", true),
    ("file_size", "fileset.*.size", true),
    ("queue_depth", "phase.*.group.*.thread.*.program.stream.queue_depth", false),
    ("threads", "phase.*.group.*.thread.*.instances", false),
    ("backend", "phase.*.group.*.thread.*.program.stream.backend", false),
    ("direct", "phase.*.group.*.thread.*.program.stream.open.direct", false),
    ("cache", "phase.*.cache", false),
    ("time", "phase.*.stop.time", false),
    ("rate", "phase.*.group.*.thread.*.program.stream.pace.rate.operations_per_s", false),
];

/// Prefix of a path typed by the user.
const PREFIX: &str = "workload.";

pub fn is_setting(name: &str) -> bool {
    NAMES.iter().any(|n| n.0 == name) || name.strip_prefix(PREFIX).is_some_and(|p| !p.is_empty())
}

/// All names, for messages.
pub fn names() -> Vec<&'static str> {
    NAMES.iter().map(|n| n.0).chain(["workload.PATH"]).collect()
}

/// The workload of a text with these settings applied.
pub fn with(file: &str, text: &str, settings: &[(String, String)]) -> Result<Workload, Usage> {
    let read = |text: &str| crate::native::read(file, text);
    let workload = read(text)?;
    if settings.is_empty() {
        return Ok(workload);
    }
    let mut tree: Table = text.parse().map_err(|e| Usage(format!("{file}: {e}")))?;
    for (name, value) in settings {
        set(&mut tree, name, value).map_err(|why| Usage(format!("{file}: {name}={value}: {why}")))?;
    }
    let named: Vec<String> = settings.iter().map(|(n, v)| format!("{n}={v}")).collect();
    let changed = tree.to_string();
    Workload::from_toml(&changed)
        .map_err(|d| Usage(format!("{file} with {}: {}", named.join(", "), d.message)))
}

fn set(tree: &mut Table, name: &str, text: &str) -> Result<(), String> {
    let (path, fixed) = match NAMES.iter().find(|n| n.0 == name) {
        Some((_, path, fixed)) => (*path, *fixed),
        None => (name.strip_prefix(PREFIX).unwrap_or(name), false),
    };
    let mut value = value_of(text);
    if name == "backend" {
        value = backend(value);
    }
    if fixed {
        value = Value::Table(Table::from_iter([("fixed".to_string(), value)]));
    }
    let steps: Vec<&str> = path.split('.').collect();
    let places = assign(&mut TomlNode::Table(tree), &steps, &value)?;
    if places == 0 {
        return Err(format!("the workload has no {path} to set"));
    }
    // Coordinates of phases in tables must match the new values.
    let axis = match name {
        "record" => "record",
        "file_size" => "file",
        "threads" => "streams",
        _ => return Ok(()),
    };
    for phase in tree.get_mut("phase").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(axes) = phase.get_mut("axes").and_then(Value::as_table_mut)
            && axes.contains_key(axis)
        {
            axes.insert(axis.into(), value_of(text));
        }
    }
    Ok(())
}

/// Parses integers, booleans, inline tables and quoted strings as TOML; anything else is a string.
fn value_of(text: &str) -> Value {
    let parsed = format!("v = {text}").parse::<Table>().ok().and_then(|mut t| t.remove("v"));
    parsed.unwrap_or_else(|| Value::String(text.into()))
}

/// A back-end given by name alone has its default options.
fn backend(value: Value) -> Value {
    let options = match value.as_str() {
        Some("psync") => Value::String("pread".into()),
        Some(word) if word != "null" && word.bytes().all(|b| b.is_ascii_alphanumeric()) => {
            Value::Table(Table::new())
        }
        _ => return value,
    };
    let word = value.as_str().unwrap_or_default().to_string();
    Value::Table(Table::from_iter([(word, options)]))
}

/// The root of the tree is a table, not a value.
enum TomlNode<'t> {
    Table(&'t mut Table),
    Value(&'t mut Value),
}

/// Sets the value at the path; returns the number of places.
fn assign(at: &mut TomlNode<'_>, steps: &[&str], value: &Value) -> Result<usize, String> {
    let Some((step, rest)) = steps.split_first() else { return Ok(0) };
    let table = match at {
        TomlNode::Table(table) => table,
        TomlNode::Value(Value::Table(table)) => table,
        TomlNode::Value(Value::Array(list)) => {
            let chosen: Vec<&mut Value> = if *step == "*" {
                list.iter_mut().collect()
            } else {
                let number: usize =
                    step.parse().map_err(|_| format!("{step} is no number in a list (or *)"))?;
                let length = list.len();
                vec![
                    list.get_mut(number)
                        .ok_or_else(|| format!("there is no number {number} in a list of {length}"))?,
                ]
            };
            let mut places = 0;
            for item in chosen {
                places += assign(&mut TomlNode::Value(item), rest, value)?;
            }
            return Ok(places);
        }
        TomlNode::Value(_) => return Err(format!("{step} is not inside a table or a list")),
    };
    if rest.is_empty() {
        table.insert((*step).into(), value.clone());
        return Ok(1);
    }
    // A thread has either a stream or a flow; naming the other one does not create it.
    if !table.contains_key(*step)
        && matches!(*step, "stream" | "flow" | "phase" | "fileset" | "group" | "thread")
    {
        return Ok(0);
    }
    let inner = table.entry(*step).or_insert_with(|| Value::Table(Table::new()));
    assign(&mut TomlNode::Value(inner), rest, value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_workload::{Bytes, Program, Record, Sizing};

    const TEXT: &str = r#"
name = "w"
[[fileset]]
name = "f"
files = { list = ["a"] }
size = { fixed = "1MiB" }
[[phase]]
name = "read"
axes = { record = "4KiB", streams = 1 }
[[phase.group]]
name = "g"
[[phase.group.thread]]
[phase.group.thread.program.stream]
fileset = "f"
direction = "read"
record = { fixed = "4KiB" }
"#;

    fn changed(settings: &[(&str, &str)]) -> Result<Workload, String> {
        let settings: Vec<_> = settings.iter().map(|(n, v)| ((*n).to_string(), (*v).to_string())).collect();
        with("w.toml", TEXT, &settings).map_err(|e| e.0)
    }

    #[test]
    fn names_and_paths_set_values() {
        let w = changed(&[
            ("record", "16KiB"),
            ("threads", "4"),
            ("file_size", "8MiB"),
            ("workload.repetitions", "3"),
        ])
        .expect("a workload");
        let thread = &w.phases[0].groups[0].threads[0];
        let Program::Stream(stream) = &thread.program else { panic!("a stream") };
        assert_eq!((thread.instances, w.repetitions), (4, 3));
        assert_eq!(
            (&stream.record, &w.filesets[0].size),
            (&Record::Fixed(Bytes(16384)), &Sizing::Fixed(Bytes(8 << 20)))
        );
        assert_eq!((w.phases[0].axes.record, w.phases[0].axes.streams), (Some(Bytes(16384)), Some(4)));
    }

    #[test]
    fn every_name_sets_something() {
        for (name, value) in [
            ("record", "8KiB"),
            ("file_size", "4MiB"),
            ("queue_depth", "8"),
            ("threads", "2"),
            ("backend", "uring"),
            ("backend", "null"),
            ("backend", "stdio"),
            ("backend", "{ psync = \"read\" }"),
            ("direct", "true"),
            ("cache", "cold"),
            ("time", "1s"),
            ("rate", "1000"),
            ("rate", "0.5"),
        ] {
            let w = changed(&[(name, value)]).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_ne!(w, Workload::from_toml(TEXT).expect("a workload"), "{name}");
        }
    }

    #[test]
    fn what_does_not_fit_is_told_in_the_formats_words() {
        let error = changed(&[("record", "lots")]).expect_err("no size");
        assert!(error.contains("w.toml with record=lots") && error.contains("lots"), "{error}");
        let error = changed(&[("workload.phase.3.cache", "cold")]).expect_err("one phase");
        assert!(error.contains("no number 3 in a list of 1"), "{error}");
        let error = changed(&[("workload.nosuch", "1")]).expect_err("no key");
        assert!(error.contains("nosuch"), "{error}");
        let flow = TEXT.replace("program.stream", "program.flow");
        assert!(with("w", &flow, &[]).is_err(), "the test's own text");
    }
}
