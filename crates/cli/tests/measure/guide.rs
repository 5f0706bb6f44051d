//! GUIDE.md: every command of it runs, in the order of the page and by a shell, each situation in a separate directory, with the small
//! sizes that the page itself gives for trying it out.

use crate::measure::shell::{in_shell, link_examples};
use crate::measure::workloads::Text;
use fathom_testkit::Fathom;
use fathom_testkit::dir::names_in;
use std::path::Path;

const GUIDE: &str = include_str!("../../../../GUIDE.md");

/// Stands before the block that sets the sizes.
const SMALL: &str = "<!-- guide:small -->\n```sh\n";

/// The line of the page that sets directories and sizes for trying it out.
fn small() -> &'static str {
    GUIDE
        .split(SMALL)
        .nth(1)
        .and_then(|rest| rest.lines().next())
        .expect("the guide has a line with small sizes")
}

/// Situations with the commands of their blocks.
fn situations() -> Vec<(&'static str, Vec<&'static str>)> {
    let parts = GUIDE.split("\n## ").skip(1);
    parts
        .map(|part| {
            let name = part.lines().next().unwrap_or_default();
            let block =
                part.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap_or_default();
            (name, block.lines().filter(|l| l.starts_with("fathom ")).collect())
        })
        .collect()
}

/// The exit codes that are an answer: a verdict of the machine on which the test runs is not the guide's to foresee.
fn answers(line: &str) -> &'static [i32] {
    match line {
        l if l.contains("--gate") || l.contains("compare") => &[0, 1, 3],
        l if l.starts_with("fathom doctor") => &[0, 1],
        // Only root turns a disk's settings, and not every disk has them.
        l if l.contains("read_ahead_kb") => &[0, 2],
        // A file system that knows no O_DIRECT, a user who may see no events.
        l if l.contains("--observe full") => &[0, 2, 3],
        _ => &[0],
    }
}

fn run_situation(name: &str, lines: &[&str]) {
    let fathom = Fathom::new().named("fathom");
    let text = Text::new("a workload of your own").quick_write(Path::new("")).toml();
    std::fs::write(fathom.work().join("workload.toml"), text).expect("a workload of the user");
    let mail = "Hello,\n\n1024+0 records in\n1024+0 records out\n1048576 bytes copied, 0.5 s, 2.1 MB/s\n";
    std::fs::write(fathom.work().join("mail.txt"), mail).expect("a mail of the user");
    link_examples(&fathom);
    for line in lines {
        let out = in_shell(&fathom, &format!("{}\n{line}", small()));
        let code = out.status.code().unwrap_or(-1);
        let told = String::from_utf8_lossy(&out.stderr);
        assert!(answers(line).contains(&code), "{name}: {line}: exit code {code}\n{told}");
        assert!(!told.contains("panicked"), "{name}: {line}\n{told}");
    }
    // What a script of Filebench makes stays, as with Filebench.
    let made_in = |dir: &str| names_in(&fathom.work().join(dir));
    let scripted = lines.iter().any(|l| l.starts_with("fathom filebench"));
    assert!(scripted || made_in("a").is_empty(), "{name} left {:?}", made_in("a"));
    assert_eq!(made_in("b"), [""; 0], "{name} left files behind");
}

#[test]
fn the_guide_has_the_situations_that_the_help_names() {
    let names: Vec<&str> = situations().iter().map(|s| s.0).collect();
    let expected = [
        "Choose a disk",
        "Buy a platform",
        "Bisect a kernel",
        "Check a file system",
        "Tune read-ahead",
        "Read an old log",
        "Make a CI gate",
    ];
    assert_eq!(names, expected);
    assert!(situations().iter().all(|s| s.1.len() >= 4), "each has its commands");
    let commands = situations().iter().map(|s| s.1.len()).sum::<usize>();
    assert_eq!(GUIDE.matches("\nfathom ").count(), commands, "no command stands outside the tested blocks");
}

#[test]
fn every_command_of_the_guide_runs() {
    for (name, lines) in situations() {
        run_situation(name, &lines);
    }
}
