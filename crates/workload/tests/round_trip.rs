//! The native format is lossless and robust: every workload of the model survives writing and reading, every text yields a workload or a
//! diagnostic, and unknown keys are reported with line and column.

use crate::support::workload;
use fathom_workload::{Diagnostic, FileSet, Files, Workload};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn what_is_written_is_read_back(w in workload()) {
        let text = w.to_toml().unwrap();
        let back = Workload::from_toml(&text);
        prop_assert_eq!(back.as_ref(), Ok(&w), "{}", text);
    }

    #[test]
    fn check_answers_every_workload(w in workload()) {
        if let Err(errors) = w.check() {
            prop_assert!(!errors.is_empty());
            for e in errors {
                prop_assert!(!e.place.is_empty() && !e.message.is_empty(), "{e:?}");
            }
        }
    }

    #[test]
    fn no_text_panics(text in prop_oneof![any::<String>(), "[\\[\\]a-z=\"'{}.,0-9 \n]{0,80}"]) {
        answered(&text)?;
    }

    #[test]
    fn no_spoilt_text_panics(w in workload(), cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<char>(), 0u8..3), 1..4)) {
        let mut chars: Vec<char> = w.to_toml().unwrap().chars().collect();
        for (at, c, how) in cuts {
            let at = at.index(chars.len());
            match how {
                0 => chars[at] = c,
                1 => chars.insert(at, c),
                _ => chars.truncate(at.max(1)),
            }
        }
        answered(&String::from_iter(chars))?;
    }
}

/// The text either parses and survives a round trip, or is refused with a message.
fn answered(text: &str) -> Result<(), TestCaseError> {
    match Workload::from_toml(text) {
        Ok(w) => {
            let _ = w.check();
            let written = w.to_toml().unwrap();
            // NaN is not equal to itself; the texts are compared instead.
            prop_assert_eq!(Workload::from_toml(&written).unwrap().to_toml().unwrap(), written);
        }
        Err(d) => {
            prop_assert!(!d.message.is_empty());
            prop_assert!(d.render("w.toml", text).starts_with("w.toml"));
        }
    }
    Ok(())
}

/// A text of the format that uses every table with fixed keys; `unknown = 1` may be added to any of them.
const WHOLE: &str = r#"
name = "whole"
#here
[variables.v]
shape = { uniform = { low = 1.0, high = 2.0, #inline } }
#here
[variables.t]
shape = { table = [{ percent = 1.0, low = 0.0, high = 1.0, #inline }] }
[[fileset]]
name = "f"
files = { numbered = { prefix = "x", count = 1, #inline } }
size = { fixed = "1MiB" }
data = { marked = { byte = 1, stride = "4KiB", length = 8, #inline } }
#here
[[fileset]]
name = "g"
files = { tree = { root = "d", entries = 1, width = { fixed = 1 }, #inline } }
data = { reducible = { compressible_percent = 1, #inline } }
[[phase]]
name = "p"
axes = { record = "4KiB", #inline }
stop = { time = "1s", first_done = { raise = "after-finish", #inline }, #inline }
#here
[[phase.group]]
name = "g"
#here
[[phase.group.thread]]
name = "t"
#here
[phase.group.thread.program.stream]
fileset = "f"
direction = "read"
access = { strided = { step = 3, #inline } }
record = { between = { min = 1, max = 2, #inline } }
data = { positioned = { tag = 1, #inline } }
backend = { stdio = { buffer = 1, #inline } }
open = { create = true, #inline }
timed = { fsync = true, #inline }
sync_every = { writes = 1, #inline }
pace = { think = { time = "1us", #inline }, rate = { operations_per_s = 1.0, #inline }, burst = { bytes = 1, pause = 1, #inline }, #inline }
#here
[[phase.group.thread]]
[phase.group.thread.program.stream]
fileset = "f"
direction = "read"
access = { zipf = { theta = 1.0, #inline } }
record = { fixed = 1 }
backend = { mmap = { flush = "sync", #inline } }
[[phase.group.thread]]
[phase.group.thread.program.stream]
fileset = "f"
direction = "read"
access = { shuffled = { key = [1], #inline } }
record = { fixed = 1 }
[[phase.group.thread]]
[phase.group.thread.program.stream]
fileset = "f"
direction = "read"
access = { listed = [{ offset = 0, bytes = 1, #inline }] }
record = { fixed = 1 }
[[phase.group.thread]]
[phase.group.thread.program.flow]
loops = 1
#here
[[phase.group.thread.program.flow.op]]
name = "o"
act = "read"
size = { variable = "v", #inline }
#here
"#;

/// `WHOLE` with `unknown = 1` at marker number `at`, or without any.
fn with_unknown_key(at: usize) -> String {
    let mut number = 0;
    let mut out = String::new();
    let mut rest = WHOLE;
    while let Some(i) = rest.find("#here").into_iter().chain(rest.find(", #inline")).min() {
        out += &rest[..i];
        let inline = rest[i..].starts_with(',');
        if number == at {
            out += if inline { ", unknown = 1" } else { "unknown = 1" };
        }
        number += 1;
        rest = &rest[i + if inline { ", #inline".len() } else { "#here".len() }..];
    }
    out + rest
}

fn markers() -> usize {
    WHOLE.matches("#here").count() + WHOLE.matches("#inline").count()
}

#[test]
fn an_unknown_key_is_an_error_with_its_place_in_every_table() {
    let plain = with_unknown_key(usize::MAX);
    Workload::from_toml(&plain).unwrap_or_else(|d| panic!("{}", d.render("whole", &plain)));
    for at in 0..markers() {
        let text = with_unknown_key(at);
        let line = text.lines().position(|l| l.contains("unknown")).unwrap() + 1;
        let error: Diagnostic =
            Workload::from_toml(&text).expect_err(text.lines().nth(line - 1).unwrap_or_default());
        let place = error.line_column(&text).unwrap_or_else(|| panic!("no place: {error:?}"));
        assert_eq!(place.0, line, "{}", error.render("whole", &text));
        assert!(place.1 > 0);
    }
}

#[test]
fn an_error_names_the_key_the_line_and_the_column() {
    let text = "name = \"x\"\nsede = 3\n";
    let error = Workload::from_toml(text).unwrap_err();
    assert_eq!(error.line_column(text), Some((2, 1)));
    assert!(error.message.contains("sede") && error.message.contains("seed"), "{}", error.message);
}

#[test]
fn a_wrong_unit_is_reported_where_it_stands() {
    let text = "name = \"x\"\n[[fileset]]\nname = \"f\"\nfiles = { list = [\"a\"] }\nsize = { fixed = \"4 elephants\" }\n";
    let error = Workload::from_toml(text).unwrap_err();
    assert_eq!(error.line_column(text).map(|p| p.0), Some(5), "{}", error.render("f", text));
    assert!(error.message.contains("elephants") && error.message.contains("kib"), "{}", error.message);
}

#[test]
fn a_path_that_is_not_utf8_is_refused_in_words() {
    use std::os::unix::ffi::OsStringExt as _;
    let path = std::ffi::OsString::from_vec(vec![b'a', 0xff]);
    let text = "name = \"x\"\n[[fileset]]\nname = \"f\"\nfiles = { list = [] }\n";
    let mut w = Workload::from_toml(text).unwrap();
    w.filesets[0] = FileSet { files: Files::List(vec![path.into()]), ..w.filesets[0].clone() };
    assert!(w.to_toml().unwrap_err().message.contains("UTF-8"));
}

/// TOML guarantees 63 bits; the model's integers have 64, and seeds and tags use them all.
#[test]
fn the_largest_number_survives_in_every_plain_field() {
    let text = r#"
name = "largest"
seed = "0xffffffffffffffff"
[variables.v]
shape = { exponential = { mean = 1.7976931348623157e308 } }
round = 18446744073709551615
[[fileset]]
name = "f"
files = { tree = { root = "d", entries = 18446744073709551615, leaf_directories = 18446744073709551615, width = { variable = "v" } } }
size = { fixed = "18446744073709551615B" }
data = { positioned = { tag = 18446744073709551615 } }
[[phase]]
name = "p"
[[phase.group]]
name = "g"
[[phase.group.thread]]
[phase.group.thread.program.stream]
fileset = "f"
direction = "write"
access = { same = 18446744073709551615 }
record = { fixed = 1 }
amount = { passes = 18446744073709551615 }
sync_every = { writes = 18446744073709551615 }
disturb_every = 18446744073709551615
[[phase.group.thread]]
[phase.group.thread.program.stream]
fileset = "f"
direction = "read"
access = { shuffled = { key = [18446744073709551615] } }
record = { fixed = 1 }
amount = { operations = 18446744073709551615 }
[[phase.group.thread]]
[phase.group.thread.program.stream]
fileset = "f"
direction = "read"
access = { strided = { step = 18446744073709551615 } }
record = { fixed = 1 }
[[phase.group.thread]]
[phase.group.thread.program.stream]
fileset = "f"
direction = "read"
access = { listed = [{ offset = 18446744073709551615, bytes = 4294967295, think = "18446744073709551615ns" }] }
record = { fixed = 1 }
[[phase.group.thread]]
[phase.group.thread.program.flow]
loops = 18446744073709551615
op = []
"#;
    let w = Workload::from_toml(text).unwrap_or_else(|d| panic!("{}", d.render("largest", text)));
    let written = w.to_toml().unwrap();
    assert_eq!(Workload::from_toml(&written).unwrap(), w);
    for line in text.lines().filter(|l| l.contains("18446744073709551615") && !l.contains(['{', '"'])) {
        assert!(written.contains(line), "{line} is missing in\n{written}");
    }
}
