//! Parses and prints scripts of the Workload Model Language: those in `wml/`, one per part of the language, and Filebench's own
//! workloads, if available. Parsed scripts are compared by printout, errors as displayed.

use fathom_dialects::filebench::{Parsed, parse, print};
use std::path::{Path, PathBuf};

/// Names the folder with Filebench's workloads, which may be run but not shipped with fathom.
const SHIPPED_ENV: &str = "FATHOM_FILEBENCH_WORKLOADS";

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wml").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn rendered(name: &str, text: &str, parsed: &Parsed) -> String {
    parsed.errors.iter().chain(&parsed.warnings).map(|diagnostic| diagnostic.render(name, text)).collect()
}

/// Parses, prints and parses again. Returns the printout.
fn round_trip(name: &str, text: &str) -> String {
    let parsed = parse(text);
    assert!(parsed.errors.is_empty(), "{}", rendered(name, text, &parsed));
    let printed = print(&parsed.script);
    let again = parse(&printed);
    assert!(again.errors.is_empty(), "{printed}\n{}", rendered(name, &printed, &again));
    assert!(again.warnings.is_empty(), "{printed}\n{}", rendered(name, &printed, &again));
    assert_eq!(again.script, parsed.script, "{printed}");
    assert_eq!(print(&again.script), printed);
    printed
}

macro_rules! fixtures {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            let file = concat!(stringify!($name), ".f");
            insta::assert_snapshot!(round_trip(file, &fixture(file)));
        }
    )*};
}

fixtures! { values commands definitions composite older_values older_commands strings layout words }

/// Every error in a script full of them, as displayed.
fn errors(name: &str) -> String {
    let text = fixture(name);
    let parsed = parse(&text);
    assert!(parsed.errors.len() <= 20);
    rendered(name, &text, &parsed)
}

#[test]
fn errors_in_values_and_attributes() {
    insta::assert_snapshot!(errors("errors.f"));
}

#[test]
fn errors_in_commands_and_bodies() {
    insta::assert_snapshot!(errors("errors_more.f"));
}

#[test]
fn fixtures_of_1_5_use_no_older_word_and_the_others_do() {
    for name in ["values.f", "commands.f", "definitions.f", "composite.f", "words.f"] {
        assert_eq!(parse(&fixture(name)).script.since_older(), None, "{name}");
    }
    for name in ["older_values.f", "older_commands.f"] {
        for command in parse(&fixture(name)).script.commands {
            let plain = matches!(
                print_one(&command.node).as_str(),
                "sleep 60\n" | "set mode nousestats\n" | "quit\n"
            );
            assert_eq!(command.node.since_older().is_none(), plain, "{name}: {}", print_one(&command.node));
        }
    }
}

fn print_one(command: &fathom_dialects::filebench::Command) -> String {
    print(&fathom_dialects::filebench::Script { commands: vec![command.clone().into()] })
}

#[test]
fn the_shipped_workloads_are_read_without_an_error() {
    let Some(folder) = std::env::var_os(SHIPPED_ENV).map(PathBuf::from).filter(|folder| folder.is_dir())
    else {
        let reason = format!("{SHIPPED_ENV} names no folder with Filebench's workloads");
        fathom_testkit::skip("the_shipped_workloads_are_read_without_an_error", &reason);
        return;
    };
    let entries = std::fs::read_dir(&folder).expect("the folder can be read");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "f"));
    files.sort();
    assert!(!files.is_empty(), "{} holds no .f files", folder.display());
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a script is text");
        round_trip(&file.display().to_string(), &text);
    }
}
