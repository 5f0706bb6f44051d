//! `--cold`: the files to be read are evicted from memory before every phase, with proof; where that fails, it is
//! reported.

use crate::measure::workloads::{Text, last_run};
use fathom_testkit::{Fathom, LoopFs, TestDir, TmpFs, skip};
use serde_json::Value;
use std::path::Path;

/// Reads twice, first what was just prepared: both are cached unless made cold. The last phase wants a warm cache.
fn workload(fathom: &Fathom, dir: &Path) -> String {
    let record = "record = { fixed = \"256KiB\" }";
    let text = Text::new("reads")
        .file("data", &dir.join("data"), "8MiB", "existing = \"reuse\"")
        .phase("first", "data", "read", "before = [{ prepare = \"data\" }]", record)
        .phase("second", "data", "read", "", record)
        .phase("warm", "data", "read", "cache = \"warm\"", record);
    text.save(fathom).to_str().expect("UTF-8").to_owned()
}

fn phases(fathom: &Fathom) -> Vec<Value> {
    last_run(fathom)["phases"].as_array().cloned().unwrap_or_default()
}

fn statement(phase: &Value) -> &str {
    phase["repetitions"][0]["truth"]["statement"].as_str().unwrap_or_default()
}

#[test]
fn the_option_makes_reads_cold_and_proves_it() {
    let test = "the_option_makes_reads_cold_and_proves_it";
    if TestDir::new().in_memory() {
        return skip(test, "needs a directory on a real file system");
    }
    let Some(fs) = LoopFs::ext4(test).mebibytes(64).direct_io().mount() else { return };
    let fathom = Fathom::new();
    let workload = workload(&fathom, fs.path());
    let outcome = fathom.run(["run", "--cold", &workload]).expect_code(0);
    assert!(
        outcome.stderr.contains("files were made cold 2 times, with proof each time"),
        "{}",
        outcome.stderr
    );
    let found = phases(&fathom);
    for phase in &found[..2] {
        assert!(statement(phase).starts_with("This is a device number: 100 % of the 8 MiB"), "{phase}");
        let repetition = &phase["repetitions"][0];
        assert_eq!(repetition["cache"], "cold");
        assert_eq!(repetition["resident_before"]["cached_pages"], 0);
        let steps = repetition["cold"]["steps"].as_array().expect("steps");
        assert_eq!((&steps[0]["how"], &steps[1]["how"]), (&"found".into(), &"fadvise".into()), "{steps:?}");
        assert_eq!(steps.last().expect("a step")["cached_pages"], 0, "{steps:?}");
    }
    assert!(statement(&found[2]).starts_with("This is a page-cache number"), "warm stays warm: {}", found[2]);
    assert!(found[2]["repetitions"][0]["cold"].is_null());
    // Without the option nothing is evicted.
    let outcome = fathom.run(["run", &workload]).expect_code(0);
    assert!(!outcome.stderr.contains("cold"), "{}", outcome.stderr);
    assert!(phases(&fathom).iter().all(|p| statement(p).starts_with("This is a page-cache number")));
}

#[test]
fn drop_ins_take_it_from_the_environment() {
    let test = "drop_ins_take_it_from_the_environment";
    if TestDir::new().in_memory() {
        return skip(test, "needs a directory on a real file system");
    }
    let Some(fs) = LoopFs::ext4(test).mebibytes(64).direct_io().mount() else { return };
    let fathom = Fathom::new().working_in(fs.path()).env("FATHOM_COLD", "1");
    let outcome = fathom.run_line("iozone -s 8m -r 256k -i 0 -i 1").expect_code(0);
    assert!(outcome.stderr.contains("files were made cold 2 times"), "{}", outcome.stderr);
    let read = phases(&fathom).into_iter().find(|p| p["name"] == "read").expect("a read");
    // IOzone touches the start of the file before its clock starts; that and its read-ahead are really in memory.
    let from_device = read["repetitions"][0]["truth"]["read"]["device_bytes"].as_u64();
    assert!(from_device.is_some_and(|bytes| bytes >= 7 << 20), "{read}");
    let wrong = Fathom::new().env("FATHOM_COLD", "icy").run_line("iozone -s 1m -r 256k -i 0");
    assert!(wrong.stderr.contains("FATHOM_COLD is \"icy\""), "{}", wrong.stderr);
    assert_ne!(wrong.code, Some(0));
}

#[test]
fn what_cannot_be_cold_is_said() {
    let test = "what_cannot_be_cold_is_said";
    let Some(fs) = TmpFs::mount(test, 32 << 20) else { return };
    let fathom = Fathom::new();
    let workload = workload(&fathom, fs.path());
    let outcome = fathom.run(["run", "--cold", &workload]).expect_code(0);
    assert!(outcome.stderr.contains("their file system is memory"), "{}", outcome.stderr);
    let run = last_run(&fathom);
    let codes: Vec<&str> =
        run["doubts"].as_array().expect("doubts").iter().filter_map(|d| d["code"].as_str()).collect();
    // "memory" already implies that it cannot be cold.
    assert!(codes.contains(&"memory") && !codes.contains(&"not-cold"), "{codes:?}");
}

#[test]
fn a_reach_that_is_none_is_refused() {
    let fathom = Fathom::new();
    let outcome = fathom.run(["run", "--cold=ice", "x.toml"]).expect_code(2);
    assert!(outcome.stderr.contains("files, machine"), "{}", outcome.stderr);
}
