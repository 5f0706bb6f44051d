//! Kernel stacks of the slowest calls: noted at `--observe full`, shown, and written for other programs.

use fathom_testkit::{Fathom, LoopFs, TestDir, skip};
use serde_json::Value;
use std::path::Path;

/// Fsyncs after each of 512 writes, and the entry of the slowest of them.
fn slow_fsyncs(fathom: &Fathom, dir: &Path, words: &str) -> Value {
    let job = "--name=sync --rw=write --bs=4k --size=2m --fsync=1";
    let line = format!("fio {job} --directory={} {words}", dir.display());
    fathom.run(line.split_whitespace()).expect_code(0);
    let shown = fathom.run(["show", "--json"]).expect_code(0);
    let run: Value = serde_json::from_str(&shown.stdout).expect("JSON");
    let all = run["phases"][0]["repetitions"][0]["slow_calls"].as_array().cloned().unwrap_or_default();
    let syncs = all.into_iter().find(|slow| slow["op"] == "sync");
    syncs.unwrap_or_else(|| panic!("no fsyncs: {}", shown.stdout))
}

#[test]
fn the_slowest_fsyncs_have_stacks_of_the_file_system() {
    let test = "the_slowest_fsyncs_have_stacks_of_the_file_system";
    if !Path::new("/sys/kernel/btf/vmlinux").exists() {
        return skip(test, "this kernel does not describe its types (BTF)");
    }
    let Some(fs) = LoopFs::ext4(test).mebibytes(64).mount() else { return };
    let fathom = Fathom::new().env("FATHOM_OBSERVE", "full");
    // Workers are processes, or threads of this one.
    for words in ["", "--thread"] {
        let slow = slow_fsyncs(&fathom, fs.path(), words);
        // The last write is not followed by one.
        assert!(
            slow["calls"].as_u64() >= Some(511) && slow["slowest"].as_u64() >= Some(5),
            "{words}: {slow}"
        );
        let stacks = slow["stacks"].as_array().expect("stacks");
        let in_the_file_system = |stack: &Value| {
            let frames = stack["frames"].as_array().expect("frames");
            frames
                .iter()
                .filter_map(Value::as_str)
                .any(|f| f.starts_with("jbd2_") || f.starts_with("ext4_sync"))
        };
        assert!(stacks.iter().any(in_the_file_system), "{words}: {slow}");
        let file = stacks[0]["file"].as_str().expect("a file");
        assert!(Path::new(file).starts_with(fs.path()), "{file}");
        let waited: u64 = stacks.iter().filter_map(|s| s["total_ns"].as_u64()).sum();
        assert!(slow["total_ns"].as_u64() >= Some(waited), "no more than their time: {slow}");
    }
    fathom.run(["show"]).expect_code(0).expect_stdout("Of the time of the slowest ");
    fathom.run(["show", "--stacks"]).expect_code(0).expect_stdout(" < __x64_sys_fsync");
    let folded = fathom.work().join("x.folded");
    fathom.run(["report", "last", "-o", "x.folded"]).expect_code(0);
    let folded = std::fs::read_to_string(folded).expect("text");
    for line in folded.lines() {
        let (stack, ns) = line.rsplit_once(' ').expect("a stack and its time");
        assert!(stack.split(';').count() > 3 && ns.parse::<u64>().is_ok(), "{line}");
    }
    assert!(folded.contains(";fsync "), "{folded}");
    fathom.run(["report", "last", "-o", "x.perfetto.json"]).expect_code(0);
    let trace = std::fs::read_to_string(fathom.work().join("x.perfetto.json")).expect("text");
    let trace: Value = serde_json::from_str(&trace).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    assert!(events.iter().any(|e| trace["stackFrames"][e["sf"].to_string()].is_object()), "{trace}");
}

#[test]
fn without_stacks_it_says_how_to_get_them() {
    let fathom = Fathom::new();
    let dir = TestDir::new();
    let line = format!("fio --name=a --rw=write --bs=4k --size=64k --directory={}", dir.path().display());
    fathom.run(line.split(' ')).expect_code(0);
    fathom.run(["show", "--stacks"]).expect_code(0).expect_stdout("--observe full");
    for file in ["x.folded", "x.perfetto.json"] {
        fathom.run(["report", "last", "-o", file]).expect_code(2).expect_stderr("--observe full");
        assert!(!fathom.work().join(file).exists(), "{file}");
    }
}
