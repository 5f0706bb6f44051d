//! Kinds of jobs that people write, each read by fio and by us: what runs here, and what is refused, and by which word. `kinds.txt` has
//! the jobs, and docs/fio.md the same table.

use crate::support::{fio_is_here, run, theirs};
use fathom_testkit::{Fathom, TestDir};

/// What a job is for, the word that is refused in it if one is, and its file.
fn kinds() -> Vec<(&'static str, Option<&'static str>, &'static str)> {
    let text = include_str!("kinds.txt");
    let one = |kind: &'static str| {
        let (head, job) = kind.split_once('\n').expect("a line of its own");
        match head.split_once(" | ") {
            Some((name, word)) => (name, Some(word), job),
            None => (head, None, job),
        }
    };
    text.split("\n== ").skip(1).map(one).collect()
}

#[test]
fn kinds_of_jobs_run_or_are_refused_by_name() {
    let manual = include_str!("../../../../docs/fio.md");
    let here = fio_is_here("kinds_of_jobs_run_or_are_refused_by_name");
    assert!(kinds().len() > 20);
    for (kind, word, text) in kinds() {
        let row = match word {
            None => format!("| {kind} | runs |"),
            Some(word) => format!("| {kind} | refused: `{word}` |"),
        };
        assert!(manual.contains(&row), "docs/fio.md lacks: {row}");
        let dir = TestDir::new();
        std::fs::write(dir.path().join("j.fio"), text).unwrap();
        if here {
            assert!(theirs(dir.path(), "--parse-only j.fio").status.success(), "fio reads {kind}");
        }
        let fathom = Fathom::new().working_in(dir.path());
        match word {
            None => run(&fathom, "j.fio").expect_code(0),
            Some(word) => run(&fathom, "j.fio").expect_code(1).expect_stderr(word),
        };
    }
}
