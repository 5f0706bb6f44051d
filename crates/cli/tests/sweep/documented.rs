//! The examples of docs/sweep.md and of `fathom sweep --help` run as printed, at sizes for a test.

use crate::sweep::support::{Stand, workload};
use fathom_testkit::{need_tool, skip};

const SWEEP_MD: &str = include_str!("../../../../docs/sweep.md");

/// Runs a command line with less work in it.
fn lighter(line: &str, images: &str) -> Vec<String> {
    let mut words: Vec<String> = line
        .split_whitespace()
        .skip(1)
        .map(|word| match word {
            "/data" => images.to_string(),
            "--file-total-size=3G" => "--file-total-size=2M".into(),
            "64m" => "256k".into(),
            word => word.trim_matches('\'').to_string(),
        })
        .collect();
    words.splice(1..1, ["--rounds", "1"].map(String::from));
    if line.contains("fs=") {
        words.splice(1..1, ["--image-size", "320MiB"].map(String::from));
    }
    if line.contains("sysbench fileio") || line.contains("--test=fileio") {
        let end = words.len() - 1;
        words.splice(end..end, ["--max-requests=100".to_string(), "--file-num=4".into()]);
        words.retain(|w| !(line.contains("sysbench fileio") && w == "--max-requests=100"));
        if line.contains("sysbench fileio") {
            let end = words.len() - 1;
            words.splice(end..end, ["--events=100".to_string(), "--time=0".into()]);
        }
        if !words.iter().any(|w| w.starts_with("--file-total-size")) {
            let end = words.len() - 1;
            words.splice(end..end, ["--file-total-size=2M".to_string()]);
        }
    }
    words
}

fn all_run(test: &str, lines: &[String]) {
    let Some(stand) = Stand::new(test) else { return };
    if !stand.get("scheduler").contains("mq-deadline") || !stand.get("scheduler").contains("bfq") {
        return skip(test, "needs the schedulers mq-deadline and bfq");
    }
    if !need_tool(test, "mkfs.xfs") {
        return;
    }
    let before = stand.all();
    let file = workload(&stand.fathom, "", "");
    std::fs::copy(file, stand.fs.path().join("workload.toml")).expect("the user's workload");
    let images = stand.fathom.dir().subdir("images");
    for line in lines {
        let words = lighter(line, images.to_str().expect("UTF-8"));
        let outcome = stand.fathom.run(words);
        assert_eq!(outcome.code, Some(0), "{line}\n{}\n{}", outcome.stdout, outcome.stderr);
    }
    assert_eq!(stand.all(), before);
}

#[test]
fn the_documents_examples_run() {
    let block = SWEEP_MD.split("```sh\n").nth(1).and_then(|b| b.split("\n```").next()).expect("examples");
    let lines: Vec<String> = block.lines().map(String::from).collect();
    assert!(lines.len() >= 5 && lines.iter().all(|l| l.starts_with("fathom sweep ")), "{lines:?}");
    all_run("the_documents_examples_run", &lines);
}

#[test]
fn the_helps_examples_run() {
    let help = fathom_testkit::Fathom::new().run(["sweep", "--help"]).expect_code(0).stdout;
    let (_, examples) = help.split_once("\nExamples:\n").expect("examples");
    let examples = examples.split("\n\n").next().unwrap_or(examples).replace("\\\n", "");
    let lines: Vec<String> = examples.lines().map(|l| l.trim().to_string()).collect();
    assert!(lines.len() >= 4 && lines.iter().all(|l| l.starts_with("fathom sweep ")), "{lines:?}");
    all_run("the_helps_examples_run", &lines);
}
