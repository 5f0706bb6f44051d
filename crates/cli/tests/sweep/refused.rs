//! Senseless or forbidden requests are rejected in one clear sentence before anything is changed or run.

use crate::sweep::support::{Stand, journals, one_error, sweep, workload};
use fathom_testkit::dir::names_in;
use fathom_testkit::{Fathom, need_root, need_tool};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

const NOBODY: u32 = 65534;

#[test]
fn a_value_that_the_knob_cannot_have_names_those_it_can() {
    let Some(stand) = Stand::new("a_value_that_the_knob_cannot_have_names_those_it_can") else { return };
    let before = stand.all();
    let file = workload(&stand.fathom, "", "");
    for (vary, words) in [
        ("scheduler=none,cfq", &["\"cfq\" is no value for scheduler", "the kernel offers none"][..]),
        ("nomerges=0,3", &["\"3\" is no value for nomerges", "one of 0, 1, 2"]),
        ("read_ahead_kb=lots", &["\"lots\" is no value for read_ahead_kb", "a whole number from 0"]),
        ("max_sectors_kb=4,99999999", &["max_sectors_kb", "max_hw_sectors_kb"]),
        (
            "skeduler=none",
            &["skeduler is not a known setting; did you mean scheduler?", "scheduler, nr_requests"],
        ),
        ("scheduler", &["SETTING=VALUE,VALUE"]),
    ] {
        let outcome = stand.fathom.run(sweep(&["--vary", vary], &file)).expect_code(2);
        one_error(&outcome, words);
    }
    assert_eq!(stand.all(), before);
    assert!(journals(&stand.fathom).is_empty());
    assert_eq!(names_in(stand.fs.path()), ["lost+found"]);
}

#[test]
fn a_time_has_its_unit() {
    let fathom = Fathom::new();
    let file = workload(&fathom, "", "");
    for option in ["--budget", "--settle"] {
        let outcome = fathom.run(sweep(&["--vary", "record=4KiB,8KiB", option, "5"], &file)).expect_code(2);
        one_error(
            &outcome,
            &[&format!("{option} 5: \"5\" is a time without a unit: write \"5s\" for seconds")],
        );
    }
}

#[test]
fn what_the_kernel_refuses_is_named_and_nothing_stays_turned() {
    let Some(stand) = Stand::new("what_the_kernel_refuses_is_named_and_nothing_stays_turned") else { return };
    let before = stand.all();
    let file = workload(&stand.fathom, "", "");
    // Smaller than a page: only the kernel knows how large that is.
    let words = ["--vary", "nomerges=2", "--vary", "max_sectors_kb=64,1"];
    let outcome = stand.fathom.run(sweep(&words, &file)).expect_code(3);
    one_error(&outcome, &["the kernel refused \"1\" for max_sectors_kb of", "a page (4) to"]);
    assert!(outcome.stdout.contains("Nothing was measured."), "{}", outcome.stdout);
    assert_eq!(stand.all(), before);
}

#[test]
fn where_there_is_no_block_device_it_is_said() {
    let name = "where_there_is_no_block_device_it_is_said";
    let Some(memory) = fathom_testkit::TmpFs::mount(name, 8 << 20) else { return };
    let fathom = Fathom::new().working_in(memory.path());
    let file = workload(&fathom, "", "");
    let outcome = fathom.run(sweep(&["--vary", "scheduler=none"], &file)).expect_code(2);
    one_error(&outcome, &["scheduler cannot be turned here", "no block device below"]);
}

#[test]
fn an_ordinary_user_is_told_before_anything_runs() {
    let name = "an_ordinary_user_is_told_before_anything_runs";
    if !need_root(name) || !need_tool(name, "runuser") {
        return;
    }
    let fathom = Fathom::new();
    // Their own home directory: a world-writable directory is not used for journals.
    for path in [fathom.dir().path(), fathom.work()] {
        std::os::unix::fs::chown(path, Some(NOBODY), None).expect("root may");
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("our own directory");
    }
    let file = workload(&fathom, "", "");
    let as_nobody = |args: Vec<&str>| {
        let inner = fathom.command(args);
        let mut words = vec!["-u".to_string(), "nobody".into(), "--".into()];
        words.extend(
            std::iter::once(inner.get_program())
                .chain(inner.get_args())
                .map(|w| w.to_string_lossy().into_owned()),
        );
        let mut command = std::process::Command::new("runuser");
        command.args(words).current_dir(fathom.work());
        command.envs(inner.get_envs().filter_map(|(n, v)| Some((n.to_owned(), v?.to_owned()))));
        command.output().expect("runuser")
    };
    if !as_nobody(vec!["--version"]).status.success() {
        return fathom_testkit::skip(name, "the user nobody cannot run the program");
    }
    let out = as_nobody(sweep(&["--vary", "vm.swappiness=10,60"], &file));
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("vm.swappiness of memory cannot be turned by this user"), "{stderr}");
    assert!(stderr.contains("needs root") && stderr.contains("nothing was run"), "{stderr}");
    let out = as_nobody(sweep(&["--vary", "fs=ext4"], &file));
    assert!(String::from_utf8_lossy(&out.stderr).contains("needs root (/dev/loop-control"), "{out:?}");
    let out = as_nobody(sweep(&["--vary", "record=4KiB,64KiB", "--cold=machine"], &file));
    assert!(
        String::from_utf8_lossy(&out.stderr)
            .contains("--cold=machine drops the page cache, which needs root"),
        "{out:?}"
    );
    // What needs no privilege runs.
    let out = as_nobody(sweep(&["--vary", "record=4KiB,64KiB", "--rounds", "1"], &file));
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
}
