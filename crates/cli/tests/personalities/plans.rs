//! Reading and planning, without running: every personality is without an error or a warning, says in its first lines what it models,
//! can be scaled, and comes to the rows that are expected of it.

use crate::personalities::list::{ALL, Personality};
use fathom_dialects::filebench::plan::{Found, Options, Plan, World, plan, rows};
use fathom_dialects::filebench::{parse, print};
use fathom_workload::Group;

/// Plans a script as if nothing were in its way. Panics with what the user would see.
pub fn planned(name: &str, text: &str, options: &Options) -> Plan {
    let world = World {
        look: &|_| Found::Missing,
        read: &|_| None,
        environment: &|_| None,
        date: String::new(),
        hostname: String::new(),
    };
    plan(name, text, options, &world)
        .unwrap_or_else(|e| panic!("{}", e.iter().map(|f| f.rendered.clone()).collect::<String>()))
}

/// The names of a run's rows as they are printed: newest first.
fn printed_rows(groups: &[Group]) -> Vec<String> {
    let mut names = Vec::new();
    for group in groups {
        for thread in &group.threads {
            let alone = [Group { threads: vec![thread.clone()], ..group.clone() }];
            names.extend(rows(&alone).into_iter().rev().map(|(name, _)| name));
        }
    }
    names
}

fn each(work: impl Fn(&Personality, &str)) {
    for personality in &ALL {
        work(personality, &personality.text());
    }
}

#[test]
fn each_is_read_without_a_word_and_printed_the_same() {
    each(|p, text| {
        let parsed = parse(text);
        assert!(parsed.errors.is_empty() && parsed.warnings.is_empty(), "{}: {parsed:?}", p.name);
        assert_eq!(parse(&print(&parsed.script)).script, parsed.script, "{}", p.name);
    });
}

#[test]
fn each_says_what_it_models_and_where_its_figures_come_from() {
    each(|p, text| {
        let opening: Vec<&str> = text.lines().take_while(|l| l.starts_with("# ")).collect();
        let opening = opening.join(" ");
        assert!(opening.starts_with("# Models "), "{}", p.name);
        assert!(
            opening.contains("our own") || opening.contains("ours"),
            "{}: whose are its figures?",
            p.name
        );
        let source = ["public", "common", "no secret"];
        assert!(source.iter().any(|word| opening.contains(word)), "{}: where from?", p.name);
    });
}

#[test]
fn each_can_be_scaled_and_comes_to_its_rows() {
    each(|p, text| {
        for variable in ["dir", if p.name == "database-oltp" { "ntables" } else { "nfiles" }, "filesize"] {
            assert!(text.contains(&format!("\nset ${variable}=")), "{}: no ${variable}", p.name);
        }
        let options = Options { set: p.settings("/tmp/x"), ..Options::default() };
        let plan = planned(p.name, text, &options);
        let runs: Vec<_> = plan.runs().collect();
        assert_eq!(runs.len(), 1, "{}", p.name);
        assert_eq!(printed_rows(&runs[0].workload.phases[0].groups), p.rows, "{}", p.name);
        let as_written = planned(p.name, text, &Options::default());
        assert_eq!(as_written.notes.len(), p.notes.len(), "{}: {:?}", p.name, as_written.notes);
        for words in p.notes {
            assert!(as_written.notes.iter().any(|n| n.contains(words)), "{}: {:?}", p.name, as_written.notes);
        }
    });
}

#[test]
fn each_row_has_a_name_of_its_own() {
    for p in &ALL {
        let mut names = p.rows.to_vec();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{}", p.name);
    }
}
