//! Setting and restoring against a fake kernel; the program's tests use the real one.

use super::fake_kernel::{FakeKernel, QUEUE};
use super::*;
use crate::device::stack_with;
use std::fs;
use std::path::{Path, PathBuf};

fn place(kernel: &FakeKernel, name: &str) -> Place {
    let stack = stack_with(kernel, Path::new("/data/here"));
    let knob = Knob::named(name).expect("a knob");
    target::places(kernel, &knob, &stack).expect("a place").remove(0)
}

fn queue(name: &str) -> String {
    format!("{QUEUE}/{name}")
}

/// All knobs of the fake, to check that nothing stays changed.
fn all(kernel: &FakeKernel) -> Vec<String> {
    let mut values: Vec<String> = [
        "scheduler",
        "nr_requests",
        "read_ahead_kb",
        "max_sectors_kb",
        "wbt_lat_usec",
        "iosched/low_latency",
    ]
    .iter()
    .map(|n| kernel.get(&queue(n)))
    .collect();
    values.extend(["dirty_bytes", "dirty_ratio"].map(|n| kernel.get(&format!("/proc/sys/vm/{n}"))));
    values
}

fn begun<'k>(kernel: &'k FakeKernel, state: &Path, names: &[&str]) -> (Setter<'k>, Vec<Place>) {
    let places: Vec<Place> = names.iter().map(|n| place(kernel, n)).collect();
    let mut setter = Setter::begin(kernel, state).expect("a journal");
    setter.lock(&places).expect("nobody else");
    setter.save(&places).expect("saved");
    (setter, places)
}

fn wanted(places: &[Place], values: &[&str]) -> Vec<(Place, String)> {
    places.iter().cloned().zip(values.iter().map(|v| (*v).to_string())).collect()
}

fn journals(state: &Path) -> Vec<PathBuf> {
    fs::read_dir(state).map(|d| d.flatten().map(|e| e.path()).collect()).unwrap_or_default()
}

/// The state after a SIGKILL of program and guardian: the journal under the name of a dead process.
fn killed(setter: Setter<'_>, state: &Path) {
    let journal = journals(state).remove(0);
    fs::copy(&journal, state.join("copy")).expect("a copy");
    // The setter's drop does not run: its locks end with the process, here with the descriptors.
    std::mem::forget(setter);
    fs::rename(state.join("copy"), state.join("knobs-1-1-1")).expect("renamed");
    fs::remove_file(journal).expect("removed");
}

#[test]
fn knobs_are_found_where_they_live() {
    let kernel = FakeKernel::new();
    assert_eq!(place(&kernel, "scheduler").path, Path::new(&queue("scheduler")));
    assert_eq!(place(&kernel, "iosched/low_latency").home(), Path::new(QUEUE));
    let vm = place(&kernel, "vm.dirty_ratio");
    assert_eq!((vm.path.as_path(), vm.device.as_str()), (Path::new("/proc/sys/vm/dirty_ratio"), "memory"));
    let stack = stack_with(&kernel, Path::new("/data/here"));
    let missing = target::places(&kernel, &Knob::named("rq_affinity").expect("a knob"), &stack);
    assert!(missing.expect_err("it is not there").to_string().contains("rq_affinity cannot be turned here"));
    let unknown = Knob::named("skeduler").expect_err("no knob").to_string();
    assert!(
        unknown.contains("skeduler is no knob") && unknown.contains("scheduler, nr_requests"),
        "{unknown}"
    );
}

#[test]
fn everything_is_as_it_was() {
    let (kernel, state) = (FakeKernel::new(), tempfile::tempdir().expect("a directory"));
    let before = all(&kernel);
    let names = ["read_ahead_kb", "iosched/low_latency", "scheduler", "vm.dirty_bytes"];
    let (mut setter, places) = begun(&kernel, state.path(), &names);
    let readings = setter.apply(&wanted(&places, &["0", "0", "bfq", "1048576"])).expect("turned");
    let found: Vec<&str> = readings.iter().map(|r| r.found.as_str()).collect();
    assert_eq!(found, ["bfq", "0", "0", "1048576"], "scheduler first, then its tunables");
    assert_eq!(kernel.get(&queue("nr_requests")), "256", "as the kernel does");
    assert_eq!(kernel.get("/proc/sys/vm/dirty_ratio"), "0");
    let outcomes = setter.put_back();
    assert!(outcomes.iter().all(Outcome::is_good), "{outcomes:?}");
    assert!(outcomes.iter().any(|o| o.words("") == "restored scheduler of sda to none"), "{outcomes:?}");
    assert!(outcomes.iter().any(|o| o.words("") == "restored vm.dirty_ratio to 20"), "{outcomes:?}");
    assert_eq!(all(&kernel), before);
    assert_eq!(journals(state.path()).len(), 0);
}

#[test]
fn dropping_puts_back_too() {
    let (kernel, state) = (FakeKernel::new(), tempfile::tempdir().expect("a directory"));
    let (mut setter, places) = begun(&kernel, state.path(), &["read_ahead_kb"]);
    setter.apply(&wanted(&places, &["0"])).expect("turned");
    drop(setter);
    assert_eq!(kernel.get(&queue("read_ahead_kb")), "128");
    assert_eq!(journals(state.path()).len(), 0);
}

#[test]
fn the_journal_is_there_before_the_first_write() {
    let (kernel, state) = (FakeKernel::new(), tempfile::tempdir().expect("a directory"));
    let (setter, _) = begun(&kernel, state.path(), &["scheduler"]);
    assert_eq!(kernel.written.borrow().len(), 0);
    let text = fs::read_to_string(&journals(state.path())[0]).expect("a journal");
    assert!(text.contains("scheduler =none ") && text.contains("nr_requests =128 "), "{text}");
    drop(setter);
}

#[test]
fn clamping_is_seen() {
    let (kernel, state) = (FakeKernel::new(), tempfile::tempdir().expect("a directory"));
    let (mut setter, places) = begun(&kernel, state.path(), &["nr_requests"]);
    let readings = setter.apply(&wanted(&places, &["1"])).expect("turned");
    assert_eq!((readings[0].asked.as_str(), readings[0].found.as_str()), ("1", "4"));
    let _ = setter.put_back();
    assert_eq!(kernel.get(&queue("nr_requests")), "128", "4 was ours although 1 was asked for");
}

#[test]
fn values_are_looked_at_before_anything_is_turned() {
    let kernel = FakeKernel::new();
    let check = |name: &str, value: &str| {
        let place = place(&kernel, name);
        place.knob.check(&kernel, &place.path, value).map_err(|e| e.to_string())
    };
    for (name, value) in
        [("scheduler", "kyber"), ("nomerges", "2"), ("max_sectors_kb", "2560"), ("wbt_lat_usec", "-1")]
    {
        assert_eq!(check(name, value), Ok(()), "{name} {value}");
    }
    let refused = check("scheduler", "cfq").expect_err("2003");
    assert_eq!(refused, "\"cfq\" is no value for scheduler: the kernel offers none, mq-deadline, kyber, bfq");
    assert!(check("nomerges", "3").expect_err("3").contains("one of 0, 1, 2"));
    assert!(check("read_ahead_kb", "lots").expect_err("a word").contains("whole number from 0"));
    assert!(check("max_sectors_kb", "4096").expect_err("too many").contains("2560 (max_hw_sectors_kb)"));
}

#[test]
fn a_refused_knob_is_named_and_earlier_ones_are_restored() {
    let (kernel, state) = (FakeKernel::new(), tempfile::tempdir().expect("a directory"));
    let before = all(&kernel);
    let (mut setter, places) = begun(&kernel, state.path(), &["scheduler", "max_sectors_kb"]);
    let refused = setter.apply(&wanted(&places, &["bfq", "1"])).expect_err("EINVAL").to_string();
    assert!(
        refused.contains("refused \"1\" for max_sectors_kb of sda") && refused.contains("2560"),
        "{refused}"
    );
    assert_eq!(kernel.get(&queue("scheduler")), "none mq-deadline kyber [bfq]");
    let outcomes = setter.put_back();
    assert!(outcomes.iter().all(Outcome::is_good), "{outcomes:?}");
    assert_eq!(all(&kernel), before);
}

#[test]
fn who_may_not_turn_is_told_before() {
    let (kernel, state) = (FakeKernel::new(), tempfile::tempdir().expect("a directory"));
    kernel.allowed.set(false);
    let places = [place(&kernel, "scheduler")];
    let mut setter = Setter::begin(&kernel, state.path()).expect("a journal");
    let why = setter.save(&places).expect_err("no permission").to_string();
    assert!(
        why.contains("scheduler of sda cannot be turned by this user") && why.contains("needs root"),
        "{why}"
    );
    assert_eq!(kernel.written.borrow().len(), 0);
}

#[test]
fn two_sweeps_do_not_meet() {
    let (kernel, state) = (FakeKernel::new(), tempfile::tempdir().expect("a directory"));
    let (setter, places) = begun(&kernel, state.path(), &["scheduler"]);
    // Another state directory, the same device: tunables share their location with the scheduler.
    let other = tempfile::tempdir().expect("a directory");
    let mut second = Setter::begin(&kernel, other.path()).expect("a journal");
    let why = second.lock(&[place(&kernel, "iosched/low_latency")]).expect_err("busy").to_string();
    assert!(why.contains("another sweep is turning the knobs of sda"), "{why}");
    second.lock(&[place(&kernel, "vm.dirty_ratio")]).expect("nobody holds it");
    drop(setter);
    second.lock(&places).expect("free again");
}

#[test]
fn a_knob_changed_by_another_program_is_left_alone() {
    let (kernel, state) = (FakeKernel::new(), tempfile::tempdir().expect("a directory"));
    let (mut setter, places) = begun(&kernel, state.path(), &["scheduler", "read_ahead_kb"]);
    let readings = setter.apply(&wanted(&places, &["bfq", "0"])).expect("turned");
    assert!(disturbed(&kernel, &places, &readings).is_empty());
    kernel.set(&queue("scheduler"), "kyber");
    let changed = disturbed(&kernel, &places, &readings);
    assert_eq!(changed.iter().map(|d| d.found.as_str()).collect::<Vec<_>>(), ["kyber"]);
    let outcomes = setter.put_back();
    let words: Vec<String> = outcomes.iter().map(|o| o.words("")).collect();
    assert!(words[0].contains("scheduler of sda is now kyber, which no sweep set"), "{words:?}");
    assert_eq!(
        words[1..],
        ["restored read_ahead_kb of sda to 128"],
        "what goes with kyber is not ours either"
    );
    assert!(kernel.get(&queue("scheduler")).contains("[kyber]"));
    assert_eq!(kernel.get(&queue("nr_requests")), "256");
    assert_eq!(journals(state.path()).len(), 0, "nothing is owed");
}

#[test]
fn the_next_start_restores_what_a_killed_sweep_left() {
    let (kernel, state) = (FakeKernel::new(), tempfile::tempdir().expect("a directory"));
    let before = all(&kernel);
    let (mut setter, places) = begun(&kernel, state.path(), &["scheduler", "read_ahead_kb"]);
    setter.apply(&wanted(&places, &["bfq", "0"])).expect("turned");
    let mut first = 0;
    assert!(put_back_left_behind(&kernel, state.path(), || first += 1).is_empty(), "its process lives");
    killed(setter, state.path());
    let outcomes = put_back_left_behind(&kernel, state.path(), || first += 1);
    let words: Vec<String> =
        outcomes.iter().map(|o| o.words("left behind by a measurement that was killed")).collect();
    assert_eq!(words[0], "restored scheduler of sda to none, left behind by a measurement that was killed");
    assert_eq!((all(&kernel), journals(state.path()).len(), first), (before, 0, 1));
    assert!(put_back_left_behind(&kernel, state.path(), || first += 1).is_empty(), "once is enough");
}

#[test]
fn a_write_that_was_cut_short_is_put_back() {
    let (kernel, state) = (FakeKernel::new(), tempfile::tempdir().expect("a directory"));
    let (setter, places) = begun(&kernel, state.path(), &["nr_requests"]);
    killed(setter, state.path());
    let journal = state.path().join("knobs-1-1-1");
    let text = fs::read_to_string(&journal).expect("a journal");
    let turn = fathom_state::lines::sealed(&format!("turn {} 1", places[0].path.display()));
    fs::write(&journal, format!("{text}{turn}now half-a-li")).expect("written");
    kernel.set(&queue("nr_requests"), "1");
    let outcomes = put_back_left_behind(&kernel, state.path(), || {});
    assert_eq!(kernel.get(&queue("nr_requests")), "128", "{outcomes:?}");
}

#[test]
fn a_reboot_has_put_back_everything() {
    let (kernel, state) = (FakeKernel::new(), tempfile::tempdir().expect("a directory"));
    let (mut setter, places) = begun(&kernel, state.path(), &["read_ahead_kb"]);
    setter.apply(&wanted(&places, &["0"])).expect("turned");
    killed(setter, state.path());
    kernel.set("/proc/sys/kernel/random/boot_id", "boot-2");
    let image = state.path().join("test_file.0");
    fs::write(&image, "x").expect("a file");
    let written = kernel.written.borrow().len();
    assert!(put_back_left_behind(&kernel, state.path(), || {}).is_empty());
    assert_eq!(kernel.written.borrow().len(), written, "0 may be what the machine starts with now");
    assert!(!state.path().join("knobs-1-1-1").exists());
}

#[test]
fn another_machines_journal_is_left_alone() {
    let (kernel, state) = (FakeKernel::new(), tempfile::tempdir().expect("a directory"));
    let (mut setter, places) = begun(&kernel, state.path(), &["read_ahead_kb"]);
    setter.apply(&wanted(&places, &["0"])).expect("turned");
    killed(setter, state.path());
    kernel.set("/proc/sys/kernel/hostname", "another");
    assert!(put_back_left_behind(&kernel, state.path(), || {}).is_empty());
    assert!(state.path().join("knobs-1-1-1").exists());
}

#[test]
fn a_failed_restore_stays_in_the_journal() {
    let (kernel, state) = (FakeKernel::new(), tempfile::tempdir().expect("a directory"));
    let (mut setter, places) = begun(&kernel, state.path(), &["read_ahead_kb"]);
    setter.apply(&wanted(&places, &["0"])).expect("turned");
    killed(setter, state.path());
    kernel.allowed.set(false);
    let message = put_back_left_behind(&kernel, state.path(), || {})[0]
        .words("left behind by a measurement that was killed");
    assert!(message.starts_with("read_ahead_kb of sda could not be restored"), "{message}");
    kernel.allowed.set(true);
    assert!(put_back_left_behind(&kernel, state.path(), || {})[0].is_good());
}

#[test]
fn files_go_if_nobody_replaced_them() {
    let (kernel, state) = (FakeKernel::new(), tempfile::tempdir().expect("a directory"));
    let dir = tempfile::tempdir().expect("a directory");
    let (ours, replaced) = (dir.path().join("ours"), dir.path().join("replaced"));
    fs::write(&ours, "").expect("a file");
    fs::write(&replaced, "").expect("a file");
    let mut setter = Setter::begin(&kernel, state.path()).expect("a journal");
    setter.owes_files([ours.as_path(), replaced.as_path()]).expect("noted");
    let theirs = dir.path().join("theirs");
    fs::write(&theirs, "a thesis").expect("a file");
    fs::rename(&theirs, &replaced).expect("replaced");
    let outcomes = setter.put_back();
    assert_eq!(outcomes, [Outcome::Removed(ours.clone())]);
    assert!(!ours.exists() && replaced.exists());
}
