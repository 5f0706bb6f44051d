//! docs/formats/workload.md and examples/ match the model: every workload in them parses and passes the check, and every word of the
//! format occurs in the page.

use crate::support;
use fathom_workload::Workload;
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page() -> String {
    std::fs::read_to_string(root().join("docs/formats/workload.md")).unwrap()
}

fn sound(name: &str, text: &str) -> Workload {
    let w = Workload::from_toml(text).unwrap_or_else(|d| panic!("{}", d.render(name, text)));
    if let Err(errors) = w.check() {
        panic!("{name}: {}", errors.iter().map(|e| format!("{e}\n")).collect::<String>());
    }
    w
}

#[test]
fn the_workloads_of_the_page_make_sense() {
    let page = page();
    let blocks: Vec<&str> =
        page.split("```toml\n").skip(1).map(|rest| rest.split("\n```").next().unwrap()).collect();
    assert!(blocks.len() >= 6, "{} examples", blocks.len());
    for (i, block) in blocks.iter().enumerate() {
        sound(&format!("example {} of the page", i + 1), block);
    }
}

#[test]
fn the_examples_make_sense_say_what_they_show_and_differ() {
    let mut names = BTreeSet::new();
    let in_directory = |name: &str| std::fs::read_dir(root().join(name)).unwrap();
    for entry in in_directory("examples").chain(in_directory("examples/mpi")) {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "toml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(text.starts_with("# ") && text.contains("\n# Shows ") || text.contains(". Shows "), "{name}");
        assert!(names.insert(sound(&name, &text).name), "{name}: another example has this name");
    }
    assert!(names.len() >= 8, "{names:?}");
}

#[test]
fn examples_for_ranks_can_be_divided() {
    use fathom_workload::ranks::Seat;
    for name in ["ior-easy", "ior-hard", "mdtest-easy", "mdtest-hard", "io500"] {
        let text =
            std::fs::read_to_string(root().join("examples/mpi").join(name).with_extension("toml")).unwrap();
        let workload = sound(name, &text);
        for rank in 0..4 {
            let seat = Seat { rank, ranks: 4, shift: 2, first_on_host: rank % 2 == 0 };
            let share = workload.for_rank(seat).unwrap();
            assert_eq!(share.check_to_run(), Ok(()), "{name}, rank {rank}");
        }
    }
}

/// Keys whose text values are words of the format (`sync` is a switch in flows).
const CHOICES: [&str; 30] = [
    "access",
    "act",
    "after",
    "amount",
    "arrivals",
    "backend",
    "before",
    "cache",
    "calls",
    "data",
    "direction",
    "existing",
    "flush",
    "generator",
    "holes",
    "isolation",
    "lock",
    "node",
    "of",
    "pages",
    "pick",
    "pinning",
    "psync",
    "raise",
    "share",
    "stat",
    "sync",
    "ties",
    "verify",
    "when_stopped",
];

/// Text of the format without the model. `toml::Value` cannot hold integers above 2^63.
enum Any {
    Table(Vec<(String, Any)>),
    Array(Vec<Any>),
    Text(String),
    Number,
}

impl<'de> serde::Deserialize<'de> for Any {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Any;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("anything")
            }
            fn visit_bool<E>(self, _: bool) -> Result<Any, E> {
                Ok(Any::Number)
            }
            fn visit_i64<E>(self, _: i64) -> Result<Any, E> {
                Ok(Any::Number)
            }
            fn visit_u64<E>(self, _: u64) -> Result<Any, E> {
                Ok(Any::Number)
            }
            fn visit_f64<E>(self, _: f64) -> Result<Any, E> {
                Ok(Any::Number)
            }
            fn visit_str<E>(self, text: &str) -> Result<Any, E> {
                Ok(Any::Text(text.into()))
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Any, A::Error> {
                let mut all = Vec::new();
                while let Some(one) = seq.next_element()? {
                    all.push(one);
                }
                Ok(Any::Array(all))
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Any, A::Error> {
                let mut all = Vec::new();
                while let Some(one) = map.next_entry()? {
                    all.push(one);
                }
                Ok(Any::Table(all))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// All keys, and all words that are a choice. Names of variables and tags are the user's own.
fn words(value: &Any, key: &str, into: &mut BTreeSet<String>) {
    match value {
        Any::Table(table) => {
            for (k, v) in table {
                let own = matches!(key, "variables" | "tags");
                if !own {
                    into.insert(k.clone());
                }
                words(v, if own { "" } else { k }, into);
            }
        }
        Any::Array(values) => values.iter().for_each(|v| words(v, key, into)),
        // The same key ("after") may also hold a time; no choice begins with a digit.
        Any::Text(word) if CHOICES.contains(&key) && !word.starts_with(|c: char| c.is_ascii_digit()) => {
            into.insert(word.clone());
        }
        Any::Text(_) | Any::Number => {}
    }
}

/// Every word of the format, from enough arbitrary workloads for each variant to occur many times.
fn all_words() -> BTreeSet<String> {
    let mut runner = TestRunner::deterministic();
    let strategy = support::workload();
    let mut found = BTreeSet::new();
    for _ in 0..1500 {
        let workload = strategy.new_tree(&mut runner).unwrap().current();
        let text = workload.to_toml().unwrap();
        words(&toml::from_str(&text).unwrap(), "", &mut found);
    }
    found
}

#[test]
fn every_word_of_the_format_occurs_in_the_page() {
    let found = all_words();
    for certain in [
        "leaf_directories",
        "finish-uncounted",
        "log-normal",
        "pvsync2",
        "no_readahead",
        "poisson",
        "cold",
        "after-last-op",
    ] {
        assert!(found.contains(certain), "the arbitrary workloads lost {certain}");
    }
    let page = page();
    let described: BTreeSet<&str> = page
        .split("```")
        .step_by(2) // the prose between the examples
        .flat_map(|prose| prose.split('`').skip(1).step_by(2))
        .flat_map(|code| code.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')))
        .collect();
    let missing: Vec<&String> = found.iter().filter(|w| !described.contains(w.as_str())).collect();
    assert!(missing.is_empty(), "not described in docs/formats/workload.md: {missing:?}");
}
