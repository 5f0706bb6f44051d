//! Every construct of the language is used by a personality or by a script of the language's own tests, and what makes a workload
//! (flowop types, attributes, kinds of variables) by personalities as far as they have a use for it.

use crate::personalities::list::{ALL, folder};
use crate::personalities::plans::planned;
use crate::personalities::vocabulary::{COMMANDS, Words, collect};
use fathom_dialects::filebench::parse;
use fathom_dialects::filebench::plan::{CUSTOM, Options, Step};

/// What may stand left of `name=` in a script, and how a use of something it does not have begins.
const OWNERS: [(&str, &str); 12] = [
    ("file", "define file "),
    ("fileset", "define fileset "),
    ("process", "define process "),
    ("thread", "define process name=p { thread "),
    ("flowop", "define process name=p { thread name=t { flowop read "),
    ("composite", "define flowop "),
    ("randvar", "set $xx=randvar("),
    ("cvar", "set $xx=cvar("),
    ("posset", "define posset "),
    ("eventgen", "eventgen "),
    ("multi", "enable multi "),
    ("domultisync", "domultisync "),
];

/// Flowop types as the program lists them.
pub fn flowop_types() -> Vec<String> {
    let plan = planned("list.f", "list flowop\n", &Options::default());
    let lines = plan.steps.iter().filter_map(|step| match step {
        Step::Log(line) => line.strip_prefix("flowop-list ")?.strip_suffix("-0"),
        _ => None,
    });
    lines.map(String::from).collect()
}

/// The attributes of something, as the hint to an unknown one names them.
pub fn attributes_of(begin: &str) -> Vec<String> {
    let parsed = parse(&format!("{begin}qqqqqqqqqq=1\n"));
    let hint = parsed.errors.iter().find_map(|e| e.hint.as_deref()?.split_once(" has "));
    let (_, names) = hint.unwrap_or_else(|| panic!("no hint for {begin}: {:?}", parsed.errors));
    names.split(", ").map(String::from).collect()
}

/// Everything the language has.
fn table() -> Words {
    let mut words: Words = COMMANDS.iter().map(|c| format!("command {c}")).collect();
    words.extend(flowop_types().iter().map(|t| format!("type {t}")));
    for (owner, begin) in OWNERS {
        words.extend(attributes_of(begin).iter().map(|a| format!("{owner} {a}")));
    }
    words.extend(["uniform", "gamma", "tabular"].map(|t| format!("randvar type={t}")));
    words.extend(["rand48", "urandom"].map(|t| format!("randvar randsrc={t}")));
    words.extend(CUSTOM.iter().map(|(name, _)| format!("cvar type={name}")));
    words.extend(["+", "-", "*", "/"].map(|sign| format!("arithmetic {sign}")));
    let more = [
        "psrun negative",
        "psrun positive",
        "flowop variable",
        "composite variable",
        "composite variable default",
    ];
    words.extend(more.map(String::from));
    words
}

fn used_by_personalities() -> Words {
    let mut words = Words::new();
    ALL.iter().for_each(|p| collect(&parse(&p.text()).script, &mut words));
    words
}

fn used_by_tests_of_the_language(words: &mut Words) {
    let scripts = folder().join("../../crates/dialects/tests/wml");
    for file in std::fs::read_dir(scripts).expect("the scripts of the language's tests").flatten() {
        let name = file.file_name().to_string_lossy().into_owned();
        if name.ends_with(".f") && !name.starts_with("errors") {
            collect(&parse(&std::fs::read_to_string(file.path()).expect(&name)).script, words);
        }
    }
}

#[test]
fn every_construct_is_used() {
    let mut used = used_by_personalities();
    used_by_tests_of_the_language(&mut used);
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/personalities/rest.f");
    let rest = parse(&std::fs::read_to_string(own).expect(own));
    assert!(rest.errors.is_empty(), "{:?}", rest.errors);
    collect(&rest.script, &mut used);
    let unused: Vec<String> = table().difference(&used).cloned().collect();
    assert!(unused.is_empty(), "used by no script: {unused:?}");
}

#[test]
fn the_personalities_use_nearly_every_flowop() {
    let used = used_by_personalities();
    let unused: Vec<String> =
        flowop_types().into_iter().filter(|t| !used.contains(&format!("type {t}"))).collect();
    assert_eq!(unused, ["testrandvar", "print"], "these two only talk");
    for word in [
        "randvar type=tabular",
        "randvar type=gamma",
        "randvar type=uniform",
        "flowop opennext",
        "flowop indexed",
        "flowop variable",
        "psrun negative",
        "command eventgen",
        "flowop workingset",
        "fileset dirdepthrv",
        "flowop noreadahead",
        "thread ioprio",
        "process nice",
        "flowop directio",
        "flowop dsync",
    ] {
        assert!(used.contains(word), "{word}");
    }
}
