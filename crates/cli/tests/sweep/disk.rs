//! File systems that a sweep makes on its own loop device, with nothing left afterwards.

use crate::sweep::support::{guardian, journals, json, kill, one_error, sweep, workload};
use fathom_testkit::dir::names_in;
use fathom_testkit::{Fathom, Running, TestDir, need_root, need_tool};
use std::path::Path;
use std::time::{Duration, Instant};

/// Whether the test can make loop devices.
pub fn can(test: &str) -> bool {
    need_root(test) && need_tool(test, "mkfs.ext4") && {
        let there = Path::new("/dev/loop-control").exists();
        if !there {
            fathom_testkit::skip(test, "there are no loop devices");
        }
        there
    }
}

#[track_caller]
fn expect_no_traces(dir: &TestDir) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !dir.mounts_and_loops().is_empty() || !dir.names().is_empty() {
        assert!(Instant::now() < deadline, "{:?} {:?}", dir.mounts_and_loops(), dir.names());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// `fathom sweep` of these settings, once each, on loop devices of that size whose images lie in `images`.
pub fn on_images(fathom: &Fathom, images: &Path, size: &str, vary: &[&str]) -> Vec<String> {
    let path = images.to_str().expect("UTF-8");
    let mut words: Vec<&str> = vary.iter().flat_map(|setting| ["--vary", setting]).collect();
    words.extend(["--rounds", "1", "--image-in", path, "--image-size", size, "--json"]);
    sweep(&words, &workload(fathom, "", "")).into_iter().map(String::from).collect()
}

#[test]
fn file_systems_and_their_options_are_varied() {
    let name = "file_systems_and_their_options_are_varied";
    if !can(name) {
        return;
    }
    let (fathom, images) = (Fathom::new(), TestDir::new());
    let vary =
        ["fs=ext4", "mkfs=-b 1024;-b 4096", "mount=defaults;noatime,data=writeback", "read_ahead_kb=0,64"];
    let words = on_images(&fathom, images.path(), "32MiB", &vary);
    let told = json(&fathom.run(words).expect_code(0));
    assert_eq!(told["runs"].as_array().map(Vec::len), Some(8));
    let run = told["runs"][0]["runs"][0].as_str().expect("an id").to_string();
    let shown = fathom.run(["show", &run, "--json"]).expect_code(0);
    assert!(shown.stdout.contains("\"ext4\"") && shown.stdout.contains(".fathom-sweep-"), "{}", shown.stdout);
    expect_no_traces(&images);
    assert_eq!(names_in(fathom.work()), [""; 0]);
    assert!(journals(&fathom).is_empty());
}

#[test]
fn another_kind_of_file_system_has_its_own_read_ahead() {
    let name = "another_kind_of_file_system_has_its_own_read_ahead";
    if !can(name) || !need_tool(name, "mkfs.btrfs") {
        return;
    }
    let (fathom, images) = (Fathom::new(), TestDir::new());
    let words = on_images(&fathom, images.path(), "256MiB", &["fs=ext4,btrfs", "read_ahead_kb=64"]);
    let told = json(&fathom.run(words).expect_code(0));
    let whose =
        |cell: usize| told["cells"][cell]["found"][0]["device"].as_str().unwrap_or_default().to_string();
    assert!(whose(0).starts_with("loop") && whose(1).starts_with("btrfs"), "{}", told["cells"]);
    expect_no_traces(&images);
}

/// A sweep whose only run has begun and does not end.
pub fn started_in(fathom: &Fathom, images: &Path) -> Running {
    let file = workload(fathom, "stop = { time = \"10min\" }", "amount = \"endless\"");
    let path = images.to_str().expect("UTF-8");
    let words = ["--vary", "fs=ext4", "--rounds", "1", "--image-in", path, "--image-size", "32MiB"];
    let mut running = fathom.spawn(sweep(&words, &file));
    let there = || names_in(images).first().is_some_and(|d| images.join(d).join("mnt/sweep.dat").exists());
    running.wait_until("the test file on the loop device", there);
    running
}

#[test]
fn ctrl_c_takes_it_down() {
    if !can("ctrl_c_takes_it_down") {
        return;
    }
    let (fathom, images) = (Fathom::new(), TestDir::new());
    let running = started_in(&fathom, images.path());
    running.signal_group(libc::SIGINT);
    let _ = running.finish().expect_code(130);
    expect_no_traces(&images);
}

#[test]
fn the_guardian_takes_it_down() {
    if !can("the_guardian_takes_it_down") {
        return;
    }
    let (fathom, images) = (Fathom::new(), TestDir::new());
    let running = started_in(&fathom, images.path());
    running.signal(libc::SIGKILL);
    expect_no_traces(&images);
    let _ = running.finish();
    let next = fathom.run(["list"]).expect_code(0);
    assert!(!next.stderr.contains("left behind"), "{}", next.stderr);
}

#[test]
fn the_next_command_takes_it_down() {
    if !can("the_next_command_takes_it_down") {
        return;
    }
    let (fathom, images) = (Fathom::new(), TestDir::new());
    let mut running = started_in(&fathom, images.path());
    kill(guardian(&mut running));
    running.signal_group(libc::SIGKILL);
    let _ = running.finish();
    assert!(!images.mounts_and_loops().is_empty(), "nobody is left to do it");
    let next = fathom.run(["list"]).expect_code(0);
    assert!(
        next.stderr.contains("note: removed") && next.stderr.contains(".fathom-sweep-"),
        "{}",
        next.stderr
    );
    expect_no_traces(&images);
    assert!(journals(&fathom).is_empty());
}

#[test]
fn what_is_not_on_the_made_file_system_is_refused() {
    let name = "what_is_not_on_the_made_file_system_is_refused";
    if !can(name) {
        return;
    }
    let (fathom, images) = (Fathom::new(), TestDir::new());
    let path = images.path().to_str().expect("UTF-8");
    let file = format!("{path}/f");
    let words = [
        "sweep",
        "--vary",
        "fs=ext4",
        "--image-in",
        path,
        "--",
        "iozone",
        "-s",
        "64k",
        "-r",
        "4k",
        "-i",
        "0",
        "-f",
        &file,
    ];
    one_error(
        &fathom.run(words).expect_code(2),
        &["would not be on the file system", "must use relative paths"],
    );
    let missing = workload(&fathom, "", "");
    one_error(
        &fathom.run(sweep(&["--vary", "fs=nosuchfs", "--image-in", path], &missing)).expect_code(2),
        &["fs=nosuchfs", "no mkfs.nosuchfs"],
    );
    let bad = on_images(&fathom, images.path(), "32MiB", &["fs=ext4", "mount=nosuchoption"]);
    one_error(&fathom.run(bad).expect_code(3), &["could not be mounted", "nosuchoption"]);
    expect_no_traces(&images);
}
