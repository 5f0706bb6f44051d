//! Kinds of jobs that people write, each read by fio and by us: what runs here, and what is refused, and by which word. `kinds.txt` has
//! the jobs, and the table in docs/fio.md what becomes of them.

use crate::fio::support::{fio_is_here, run, theirs};
use fathom_testkit::{Fathom, TestDir};

/// What a job is for, and its file.
fn kinds() -> impl Iterator<Item = (&'static str, &'static str)> {
    let text = include_str!("kinds.txt");
    text.split("\n== ").skip(1).map(|kind| kind.split_once('\n').expect("a separate line"))
}

/// The word by which a kind is refused, if the manual does not say that it runs.
fn refused(kind: &str) -> Option<&'static str> {
    let manual = include_str!("../../../../docs/fio.md");
    let state = manual.lines().find_map(|line| line.strip_prefix(&format!("| {kind} | ")));
    match state.unwrap_or_else(|| panic!("docs/fio.md has no line for: {kind}")) {
        "runs |" => None,
        state => Some(state.strip_prefix("refused: `").and_then(|s| s.strip_suffix("` |")).expect(state)),
    }
}

#[test]
fn kinds_of_jobs_run_or_are_refused_by_name() {
    let here = fio_is_here("kinds_of_jobs_run_or_are_refused_by_name");
    assert!(kinds().count() > 20);
    for (kind, text) in kinds() {
        let dir = TestDir::new();
        std::fs::write(dir.path().join("j.fio"), text).unwrap();
        if here {
            assert!(theirs(dir.path(), "--parse-only j.fio").status.success(), "fio reads {kind}");
        }
        let fathom = Fathom::new().working_in(dir.path());
        match refused(kind) {
            None => run(&fathom, "j.fio").expect_code(0),
            Some(word) => run(&fathom, "j.fio").expect_code(1).expect_stderr(word),
        };
    }
}
