//! The examples in the help: every command has some, each is a valid command line, and all fit a terminal.

use super::Line;
use clap::{Command, CommandFactory as _, Parser as _};

/// Commands whose command line and help belong to another program.
const DROP_INS: [&str; 4] = ["iozone", "sysbench", "filebench", "fio"];

/// The text below the options of a command.
fn after(command: &Command) -> String {
    command.get_after_help().map_or_else(String::new, ToString::to_string)
}

/// All visible commands, with the words that lead to each.
fn all() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![(String::from("fathom"), Line::command())];
    while let Some((path, command)) = open.pop() {
        for sub in command.get_subcommands().filter(|s| !s.is_hide_set()) {
            if sub.get_name() != "help" && !DROP_INS.contains(&sub.get_name()) {
                open.push((format!("{path} {}", sub.get_name()), sub.clone()));
            }
        }
        found.push((path, after(&command)));
    }
    found
}

/// The lines below "Examples:", with backslash continuations joined.
fn examples(text: &str) -> Vec<String> {
    let Some((_, below)) = text.split_once("Examples:\n") else { return Vec::new() };
    let mut lines: Vec<String> = Vec::new();
    for line in below.lines().take_while(|l| l.starts_with("  ")) {
        let goes_on = lines.last().is_some_and(|last| last.ends_with('\\'));
        match lines.last_mut().filter(|_| goes_on) {
            Some(last) => {
                last.pop();
                last.push_str(line.trim());
            }
            None => lines.push(line.trim().to_owned()),
        }
    }
    lines
}

/// The words of an example as a shell passes them: without explanation, redirections and other programs.
fn words(example: &str) -> Vec<String> {
    let line = example.split("   ").next().unwrap_or_default();
    let ours = line.split(" | ").find(|part| part.contains("fathom ")).unwrap_or_default();
    let mut words: Vec<String> = Vec::new();
    let mut quoted = false;
    for part in ours.split('\'') {
        if quoted {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
        quoted = !quoted;
    }
    let redirected = words.iter().position(|w| w == ">" || w == "<").unwrap_or(words.len());
    words.truncate(redirected);
    if words.first().is_some_and(|w| w == "sudo") {
        words.remove(0);
    }
    words
}

#[test]
fn every_command_has_examples_of_itself() {
    for (path, text) in all() {
        let examples = examples(&text);
        assert!(!examples.is_empty(), "`{path} --help` has no examples");
        let own = examples.iter().any(|e| words(e).join(" ").starts_with(&path));
        assert!(own, "`{path} --help` has examples of other commands only: {examples:?}");
    }
}

#[test]
fn every_example_is_taken() {
    let mut taken = 0;
    for (path, text) in all() {
        for example in examples(&text) {
            let words = words(&example);
            assert_eq!(words.first().map(String::as_str), Some("fathom"), "`{path} --help`: {example}");
            if let Err(e) = Line::try_parse_from(&words) {
                panic!("`{path} --help` has {words:?}, which is refused: {e}");
            }
            taken += 1;
        }
    }
    assert!(taken > 90, "{taken}");
}

#[test]
fn no_line_of_them_is_broken_by_a_terminal_of_a_hundred_columns() {
    for (path, text) in all() {
        let wide: Vec<&str> = text.lines().filter(|l| l.chars().count() > 100).collect();
        assert_eq!(wide, [""; 0], "`{path} --help`");
    }
}

#[test]
fn the_reader_of_examples_reads_them() {
    let text = "Words\n\nExamples:\n  fathom a --b \\\n      'c d' e   why\n  fio x | fathom import -\n\nExit code: 0";
    let found: Vec<Vec<String>> = examples(text).iter().map(|e| words(e)).collect();
    let joined: Vec<String> = found.iter().map(|w| w.join("|")).collect();
    assert_eq!(joined, ["fathom|a|--b|c d|e", "fathom|import|-"]);
    assert_eq!(words("sudo fathom iso ls x > y"), ["fathom", "iso", "ls", "x"]);
}
