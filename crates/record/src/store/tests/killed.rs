//! A killed writer loses only the phase it was writing.

use super::sample::write_phase;
use super::*;
use std::io::Write as _;

#[test]
fn data_of_a_killed_writer_is_kept_and_its_run_counts_as_killed() {
    let (_dir, path) = scratch();
    let mut store = Store::open(&path).expect("opens");
    let run = Run { status: Status::Running, ended_at: String::new(), ..sample_run() };
    store.begin(&run).expect("begins");
    store.append_phase(&run.id, &run.phases[0]).expect("appends");
    // While the process lives, the run is running and cannot be removed.
    assert_eq!(store.list(&Filter::default()).expect("lists")[0].status_word(), "running");
    assert!(matches!(store.remove(&run.id), Err(StoreError::StillRunning { .. })));
    // As after SIGKILL: no destructor runs, the log stays beside the file. A process number that is never assigned replaces ours.
    store.connection().expect("open").execute("UPDATE run SET pid = 999999999", []).expect("changes");
    std::mem::forget(store);
    assert!(path.with_extension("db-wal").exists(), "the log is still there");
    let mut again = Store::open(&path).expect("opens");
    let listed = again.list(&Filter::default()).expect("lists");
    assert_eq!((listed[0].status_word(), listed[0].phases), ("killed", 1));
    assert_eq!(again.load("last").expect("loads").phases, run.phases[..1]);
    again.remove("last").expect("a killed run can be removed");
}

/// Passes the store's path to the copy of the test program that will be killed.
const CHILD: &str = "FATHOM_TEST_STORE_OF_CHILD";

#[test]
fn sigkill_in_the_middle_of_a_write_loses_that_write_only() {
    if let Some(path) = std::env::var_os(CHILD) {
        write_until_killed(Path::new(&path));
        return;
    }
    let (_dir, path) = scratch();
    let mut child = std::process::Command::new(std::env::current_exe().expect("this program"))
        .args([
            "--exact",
            "store::tests::killed::sigkill_in_the_middle_of_a_write_loses_that_write_only",
            "--nocapture",
        ])
        .env(CHILD, &path)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("starts");
    // The pipe stays open until the child is dead, so that it dies of the kill and of nothing else.
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().expect("piped")));
    let stored: u32 = lines
        .by_ref()
        .map_while(Result::ok)
        .filter_map(|l| l.strip_prefix("stored ")?.parse().ok())
        .find(|&n| n >= 20)
        .expect("the child stores phases");
    child.kill().expect("kills");
    child.wait().expect("waits");
    drop(lines);
    let store = Store::open(&path).expect("opens after the kill");
    assert!(store.list(&Filter::default()).expect("lists")[0].killed);
    let run = store.load("last").expect("loads");
    assert!(run.phases.len() > stored as usize, "{} phases after number {stored}", run.phases.len());
    for (phase, n) in run.phases.iter().zip(0..) {
        assert_eq!(*phase, Phase { seq: n, ..write_phase() }, "every phase that is there is whole");
    }
}

fn write_until_killed(path: &Path) {
    let mut store = Store::open(path).expect("opens");
    let run = Run { status: Status::Running, ended_at: String::new(), ..sample_run() };
    store.begin(&run).expect("begins");
    // Bounded, so that a failing test leaves no process behind for long.
    for n in 0..20_000 {
        store.append_phase(&run.id, &Phase { seq: n, ..write_phase() }).expect("appends");
        // Read by the test that started this process.
        writeln!(std::io::stdout(), "stored {n}").expect("the parent reads");
    }
}
