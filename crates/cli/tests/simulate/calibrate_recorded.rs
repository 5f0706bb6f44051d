//! `fathom sim calibrate --record`: the loads run for real, on a loop device of our own.

use fathom_testkit::{Fathom, LoopFs, TestDir, TmpFs, skip};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// Only what hangs takes so long.
const PATIENCE: Duration = Duration::from_secs(300);

fn device(test: &str) -> Option<LoopFs> {
    if TestDir::new().in_memory() {
        return None;
    }
    let fs = LoopFs::ext4(test).mebibytes(64).mount()?;
    if !Path::new("/sys/kernel/tracing/instances").is_dir() {
        skip(test, "needs tracefs at /sys/kernel/tracing");
        return None;
    }
    Some(fs)
}

/// What lies in a directory, but for what mkfs made.
fn files_in(dir: &Path) -> Vec<String> {
    let names = std::fs::read_dir(dir).expect("the directory").filter_map(Result::ok);
    names.map(|e| e.file_name().to_string_lossy().into_owned()).filter(|n| n != "lost+found").collect()
}

#[test]
fn a_device_records_its_own_set_of_loads() {
    let Some(fs) = device("a_device_records_its_own_set_of_loads") else { return };
    let fathom = Fathom::new().timeout(PATIENCE);
    let line = ["sim", "calibrate", "-o", "x.toml", "--json", "--record"].map(std::ffi::OsString::from);
    let outcome = fathom.run(line.into_iter().chain([fs.path().into()])).expect_code(0);
    assert!(outcome.stderr.contains("recording 7 loads of 2 s each on loop"), "{}", outcome.stderr);
    let told: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let traces = told["traces"].as_array().expect("traces");
    assert_eq!(traces.len(), 7, "{told}");
    let own = fs.device().file_name().expect("loopN").to_string_lossy().into_owned();
    for trace in traces {
        let device = trace["device"].as_str().expect("a name");
        assert!(device.starts_with(&format!("{own} (")), "not the disk below it: {trace}");
        assert!(trace["requests"].as_u64().is_some_and(|n| n > 0), "{trace}");
        // The file was laid out before, by the device's own.
        assert!(trace["left_out"].as_u64().is_some_and(|n| n > 0), "{trace}");
    }
    assert_eq!(traces[2]["file"], "random reads of 4 KiB, depth 32");
    assert!(files_in(fs.path()).is_empty(), "{:?}", files_in(fs.path()));
    let profile = std::fs::read_to_string(fathom.work().join("x.toml")).expect("a profile");
    assert!(profile.contains("[[held_out]]"), "{profile}");
    let run = "sim run --device x.toml --no-store -- fio --name=a --rw=randread --size=8m --direct=1";
    let _ = fathom.run_line(run).expect_code(0);
}

#[test]
fn ctrl_c_leaves_neither_the_file_nor_a_profile() {
    let Some(fs) = device("ctrl_c_leaves_neither_the_file_nor_a_profile") else { return };
    let fathom = Fathom::new().timeout(PATIENCE);
    let line = ["sim", "calibrate", "-o", "x.toml", "--record"].map(std::ffi::OsString::from);
    let mut running = fathom.spawn(line.into_iter().chain([fs.path().into()]));
    running.wait_for_file(&fs.path().join("fathom-calibration.0"));
    running.signal(libc::SIGINT);
    let _ = running.finish().expect_code(130);
    assert!(files_in(fs.path()).is_empty(), "{:?}", files_in(fs.path()));
    assert!(!fathom.work().join("x.toml").exists());
}

#[test]
fn where_there_is_no_device_nothing_is_written() {
    let Some(fs) = TmpFs::mount("where_there_is_no_device_nothing_is_written", 64 << 20) else { return };
    if !Path::new("/sys/kernel/tracing/instances").is_dir() {
        return skip("where_there_is_no_device_nothing_is_written", "needs tracefs at /sys/kernel/tracing");
    }
    let fathom = Fathom::new();
    let line = ["sim", "calibrate", "-o", "x.toml", "--record"].map(std::ffi::OsString::from);
    let outcome = fathom.run(line.into_iter().chain([fs.path().into()])).expect_code(2);
    assert!(
        outcome.stderr.contains("has no block device whose requests could be recorded"),
        "{}",
        outcome.stderr
    );
    assert!(files_in(fs.path()).is_empty());
    let _ = fathom
        .run_line("sim calibrate -o x.toml --record no-such-dir")
        .expect_code(2)
        .expect_stderr("there is no such directory");
    let _ = fathom
        .run_line("sim calibrate -o x.toml --kind disk --like deskstar-60gxp --record .")
        .expect_code(2)
        .expect_stderr("is fitted to one trace");
}
