//! Storage that disappears during a measurement: an unmounted file system, a device that no longer answers.

use crate::measure::workloads::{Text, last_run, lines_with, phase_names, wait_for_a_stored_phase};
use fathom_testkit::dir::names_in;
use fathom_testkit::{Fathom, LoopFs};

#[test]
fn a_file_system_that_is_shut_down_is_one_clear_error() {
    let name = "a_file_system_that_is_shut_down_is_one_clear_error";
    let Some(fs) = LoopFs::ext4(name).mebibytes(16).mount() else { return };
    let fathom = Fathom::new();
    let sync = "sync_every = { writes = 1 }";
    let workload = Text::new("lost disk").quick_write(fs.path()).slow_write(fs.path(), sync).save(&fathom);
    let mut running = fathom.spawn(["run", workload.to_str().expect("UTF-8")]);
    running.wait_for_file(&fs.path().join("second.dat"));
    fs.shut_down();
    let outcome = running.finish().expect_code(3).expect_stdout("quick write");
    let errors = lines_with(&outcome.stderr, "error:");
    assert_eq!(errors.len(), 1, "{}", outcome.stderr);
    // Which of the two it is hangs on how far the kernel has come with shutting it down.
    let refused = errors[0].contains("Read-only file system");
    let broken = errors[0].contains("Input/output error") && errors[0].contains("see the kernel log");
    assert!(errors[0].contains("second.dat") && (broken || refused), "{}", errors[0]);
    let run = last_run(&fathom);
    assert_eq!(run["status"], "failed");
    assert_eq!(phase_names(&run)[0], "quick write");
}

#[test]
fn a_vanished_mount_is_one_clear_error_and_nothing_is_measured_below_it() {
    let name = "a_vanished_mount_is_one_clear_error_and_nothing_is_measured_below_it";
    let Some(fs) = LoopFs::ext4(name).mebibytes(16).mount() else { return };
    let fathom = Fathom::new();
    // The second phase ends by itself; the third one would find the directory below the mount point.
    let third = fs.path().join("third.dat");
    let workload = Text::new("gone")
        .quick_write(fs.path())
        .file("second", &fs.path().join("second.dat"), "1MiB", "")
        .phase(
            "slow write",
            "second",
            "write",
            "stop = { time = \"1s\" }",
            "record = { fixed = \"4KiB\" }\namount = \"endless\"\nopen = { create = true }\n\
             pace = { rate = { operations_per_s = 200.0 } }",
        )
        .file("third", &third, "1MiB", "keep = true")
        .phase(
            "third write",
            "third",
            "write",
            "",
            "record = { fixed = \"64KiB\" }\nopen = { create = true }",
        )
        .save(&fathom);
    let mut running = fathom.spawn(["run", workload.to_str().expect("UTF-8")]);
    running.wait_for_file(&fs.path().join("second.dat"));
    fs.vanish();
    let outcome = running.finish().expect_code(3).expect_stdout("quick write");
    let errors = lines_with(&outcome.stderr, "error:");
    assert_eq!(errors.len(), 1, "{}", outcome.stderr);
    let directory = fs.path().to_str().expect("UTF-8");
    assert!(errors[0].contains(directory) && errors[0].contains("mount"), "{}", errors[0]);
    assert!(!third.exists(), "written to what lies below the mount point");
    let run = last_run(&fathom);
    assert_eq!(run["status"], "failed");
    assert!(!phase_names(&run).contains(&"third write".to_owned()), "{:?}", phase_names(&run));
}

#[test]
fn a_survey_of_a_vanished_mount_is_one_clear_error() {
    let name = "a_survey_of_a_vanished_mount_is_one_clear_error";
    let Some(fs) = LoopFs::ext4(name).mebibytes(64).mount() else { return };
    let fathom = Fathom::new();
    let mut running = fathom.spawn(["survey", "--quick", fs.path().to_str().expect("UTF-8")]);
    wait_for_a_stored_phase(&mut running, &fathom);
    fs.vanish();
    let outcome = running.finish().expect_code(3);
    let errors = lines_with(&outcome.stderr, "error:");
    assert_eq!(errors.len(), 1, "{}", outcome.stderr);
    assert!(!phase_names(&last_run(&fathom)).is_empty());
    assert_eq!(names_in(fs.path()), [""; 0], "nothing was made below the mount point");
}
