//! What a killed command may leave on the machine, and that the next one removes all of it.

use crate::torture::bystanders::Bystanders;
use fathom_testkit::dir::names_in;
use fathom_testkit::{Fathom, sqlite3};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Only a hang takes this long.
const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until every process that works for this fathom is gone; guardians take a moment to put back what their program had turned. A process
/// that dies loses its environment first, and the lock of its journal only when its last call has returned.
#[track_caller]
pub fn assert_no_process(fathom: &Fathom) {
    let mark = format!("XDG_STATE_HOME={}", fathom.state_home().display()).into_bytes();
    let deadline = Instant::now() + PATIENCE;
    while let Some(process) = processes_with(&mark) {
        assert!(Instant::now() < deadline, "{} lives on", process.display());
        std::thread::sleep(Duration::from_millis(5));
    }
    let state = fathom.state_home().join("fathom");
    let names = fs::read_dir(state).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    for journal in names.filter_map(|path| File::open(path).ok()) {
        while rustix::fs::flock(&journal, rustix::fs::FlockOperation::NonBlockingLockExclusive).is_err() {
            assert!(Instant::now() < deadline, "{journal:?} is in use");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn processes_with(mark: &[u8]) -> Option<PathBuf> {
    let all = fs::read_dir("/proc").expect("proc").filter_map(|entry| Some(entry.ok()?.path()));
    all.filter(|dir| dir.join("environ").exists()).find(|dir| {
        let environment = fs::read(dir.join("environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|variable| variable == mark)
    })
}

/// Panics if anything is left of commands with these process numbers, but for files that fathom lists as kept, and those it has named in what it
/// `told`: they could not be removed.
#[track_caller]
pub fn assert_nothing_left(fathom: &Fathom, pids: &[u32], bystanders: &Bystanders, told: &str) {
    assert_no_process(fathom);
    bystanders.assert_unharmed();
    let state = fathom.state_home().join("fathom");
    let journals: Vec<String> = if state.exists() {
        names_in(&state).into_iter().filter(|name| !name.starts_with("kept")).collect()
    } else {
        Vec::new()
    };
    let texts = journals.iter().map(|name| fs::read_to_string(state.join(name)).unwrap_or_default());
    assert!(
        journals.is_empty(),
        "journals are left: {journals:?}: {:?}; told: {told}",
        texts.collect::<Vec<_>>()
    );
    let kept = fs::read_to_string(state.join("kept")).unwrap_or_default();
    for path in bystanders.others() {
        // An output has its name only when it is whole.
        let name = path.file_name().and_then(|name| name.to_str()).expect("UTF-8");
        let listed = kept.contains(path.to_str().expect("UTF-8")) || told.contains(name);
        let is_output = path.file_stem().is_some_and(|stem| stem == "page");
        assert!(
            listed || is_output || path.ends_with("lost+found"),
            "{} is left; kept: {kept}",
            path.display()
        );
    }
    let up = fathom.dir().mounts_and_loops();
    assert!(up.is_empty(), "mounts or loop devices are left: {up:?}");
    let temporary = temporary(fathom);
    assert!(names_in(&temporary).is_empty(), "left in TMPDIR: {:?}", names_in(&temporary));
    for pid in pids {
        let left: Vec<_> = of_kernel(*pid).collect();
        assert!(left.is_empty(), "{left:?} is left");
    }
    if fathom.store().exists() {
        // The first process that opens it recovers it.
        let _ = fathom.run(["list"]).expect_code(0);
        assert_sound_store(&fathom.store());
    }
}

/// A program whose TMPDIR is its own.
pub fn with_temporary(fathom: Fathom) -> Fathom {
    let directory = fathom.dir().subdir("tmp");
    fathom.env("TMPDIR", directory.to_str().expect("UTF-8"))
}

fn temporary(fathom: &Fathom) -> PathBuf {
    fathom.dir().subdir("tmp")
}

/// Control groups and trace instances of a process.
fn of_kernel(pid: u32) -> impl Iterator<Item = PathBuf> {
    let (whole, begins) = (format!("fathom-{pid}"), format!("fathom-{pid}-"));
    let places =
        ["/sys/kernel/tracing/instances", "/sys/fs/cgroup", "/sys/fs/cgroup/blkio", "/sys/fs/cgroup/unified"];
    places.into_iter().flat_map(|place| fs::read_dir(place).into_iter().flatten()).filter_map(move |entry| {
        let path = entry.ok()?.path();
        let name = path.file_name()?.to_str()?;
        (name == whole || name.starts_with(&begins)).then_some(path)
    })
}

/// SQLite's own check of the file, if there is one.
#[track_caller]
pub fn assert_sound_store(store: &Path) {
    if store.metadata().is_ok_and(|meta| meta.len() > 0) {
        for check in ["PRAGMA integrity_check", "PRAGMA foreign_key_check"] {
            if let Some(answer) = sqlite3(store, check) {
                assert!(["ok\n", ""].contains(&answer.as_str()), "{check}: {answer}");
            }
        }
    }
}
