//! The measuring commands of docs/compare.md, literally: each has a plan.

use fathom_testkit::Fathom;
use std::fs;

const PAGE: &str = include_str!("../../../../docs/compare.md");
const WORKLOAD: &str = "name = \"w\"\n[[fileset]]\nname = \"f\"\nfiles = { list = [\"a\"] }\nsize = { fixed = \"64KiB\" }\n\
                        [[phase]]\nname = \"read\"\n[[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\n\
                        [phase.group.thread.program.stream]\nfileset = \"f\"\ndirection = \"read\"\nrecord = { fixed = \"4KiB\" }\n";

#[test]
fn every_line_that_measures_has_a_plan() {
    let fathom = Fathom::new();
    for name in ["old.toml", "new.toml", "workload.toml"] {
        fs::write(fathom.work().join(name), WORKLOAD).expect("a workload");
    }
    for name in ["a", "b"] {
        fs::create_dir(fathom.work().join(name)).expect("a directory");
    }
    let mut lines = 0;
    for line in PAGE.lines().filter(|l| l.starts_with("fathom compare --run ")) {
        let words = line.split('#').next().unwrap_or(line).replace("/mnt/", "");
        let mut words: Vec<&str> = words.split_whitespace().skip(1).collect();
        words.insert(2, "--plan");
        lines += 1;
        let outcome = fathom.run(&words);
        // A scheduler can only be turned by root, at a device that has several.
        if line.contains("scheduler=") && outcome.code != Some(0) {
            let _ = outcome.expect_code(2).expect_stderr("scheduler");
            continue;
        }
        let _ = outcome.expect_code(0).expect_stdout("every run is kept in the store");
    }
    assert!(lines >= 7, "{lines} lines");
}
