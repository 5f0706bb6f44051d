//! GUIDE.md: every command of it runs, in the order of the page and by a shell, each situation in a directory of its own. The words stay,
//! the amount of work shrinks.

use crate::measure::workloads::Text;
use fathom_testkit::{Fathom, TestDir};
use std::path::Path;
use std::process::Stdio;

const GUIDE: &str = include_str!("../../../../GUIDE.md");

/// What is made smaller, and why it may be: only sizes and times.
const SMALLER: [(&str, &str); 8] = [
    ("-g 1g", "-g 128k"),
    ("--file-total-size=1G", "--file-total-size=2m"),
    ("--time=60", "--time=1"),
    ("nfiles=50000", "nfiles=20"),
    ("runtime=60", "runtime=1"),
    ("fathom survey ", "fathom survey --quick "),
    ("fathom compare --run ", "fathom compare --run --budget 2s "),
    ("fathom sweep --vary ", "fathom sweep --rounds 1 --vary "),
];

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
    let fathom = Fathom::new();
    let (a, b) = (TestDir::new(), TestDir::new());
    let text = Text::new("a workload of your own").quick_write(Path::new("")).toml();
    std::fs::write(fathom.work().join("workload.toml"), text).expect("a workload of the user");
    let mail = "Hello,\n\n1024+0 records in\n1024+0 records out\n1048576 bytes copied, 0.5 s, 2.1 MB/s\n";
    std::fs::write(fathom.work().join("mail.txt"), mail).expect("a mail of the user");
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    std::os::unix::fs::symlink(examples, fathom.work().join("examples")).expect("the examples");
    let prepared = fathom.command(["--version"]);
    // The second survey says nothing new of the command, and takes its seconds whatever its size.
    for line in lines.iter().filter(|l| !l.starts_with("fathom survey /mnt/b")) {
        let mut small = (*line).to_owned();
        for (large, less) in SMALLER {
            small = small.replace(large, less);
        }
        for (mount, dir) in [("/mnt/a", &a), ("/mnt/b", &b)] {
            small = small.replace(mount, dir.path().to_str().expect("UTF-8"));
        }
        let mut shell = std::process::Command::new("sh");
        shell.current_dir(fathom.work()).stdin(Stdio::null());
        shell.envs(prepared.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let script = format!("fathom() {{ \"$PROGRAM\" \"$@\"; }}\n{small}\n");
        let out =
            shell.arg("-c").arg(script).env("PROGRAM", prepared.get_program()).output().expect("a shell");
        let code = out.status.code().unwrap_or(-1);
        let told = String::from_utf8_lossy(&out.stderr);
        assert!(answers(line).contains(&code), "{name}: {small}: exit code {code}\n{told}");
        assert!(!told.contains("panicked"), "{name}: {small}\n{told}");
    }
    // What a script of Filebench makes stays, as with Filebench.
    let scripted = lines.iter().any(|l| l.starts_with("fathom filebench"));
    assert!(scripted || a.names().is_empty(), "{name} left {:?}", a.names());
    assert_eq!(b.names(), [""; 0], "{name} left files behind");
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
