//! ioengine=e4defrag: blocks really swap places with the donor's, the files' data stays, and what cannot be moved is an
//! error.

use crate::fio::support::{FIO, fio_is_here, json, run};
use fathom_testkit::{Fathom, LoopFs, Syscall, TmpFs, need_tool, strace_command};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Physical places of a file's blocks, in order.
fn places(path: &Path) -> Vec<u64> {
    let told = Command::new("filefrag").arg("-e").arg(path).output().unwrap();
    let text = String::from_utf8(told.stdout).unwrap();
    let numbers = |range: &str| -> Option<(u64, u64)> {
        let (from, to) = range.split_once("..")?;
        Some((from.trim().parse().ok()?, to.trim().parse().ok()?))
    };
    let extents = text.lines().filter_map(|line| numbers(line.split(':').nth(2)?));
    extents.flat_map(|(from, to)| from..=to).collect()
}

/// A file of data, on the disk.
fn filled(path: &Path, bytes: usize) -> Vec<u8> {
    let data: Vec<u8> = (0..bytes).map(|i| (i / 4096 + i % 251) as u8).collect();
    std::fs::write(path, &data).unwrap();
    std::fs::File::open(path).unwrap().sync_all().unwrap();
    data
}

fn counted(document: &Value) -> [u64; 4] {
    let job = &document["jobs"][0];
    let write = &job["write"];
    [&write["total_ios"], &write["io_bytes"], &job["read"]["total_ios"], &job["error"]]
        .map(|n| n.as_u64().unwrap())
}

#[test]
fn blocks_change_places_and_data_stay() {
    const TEST: &str = "blocks_change_places_and_data_stay";
    if !need_tool(TEST, "filefrag") {
        return;
    }
    let Some(fs) = LoopFs::ext4(TEST).mebibytes(32).mount() else { return };
    let [file, donor] = ["f", "d"].map(|name| fs.path().join(name));
    let fathom = Fathom::new().working_in(fs.path());
    let job = "--allow-write=f --name=a --ioengine=e4defrag --filename=f --donorname=d --bs=64k";
    // Operations, and bytes that the donor is left with, as fio 3.42 counts and leaves them.
    for (line, ops, left) in [
        ("--rw=write --filesize=256k", 4, 256 << 10),
        ("--rw=randwrite --size=256k --inplace=1", 4, 0),
        ("--rw=write --filesize=256k --loops=3", 12, 256 << 10),
        ("--rw=write --size=256k --inplace=1 --direct=1 --iodepth=4 --unlink=0", 4, 0),
        ("--rw=write --filesize=256k --offset=128k --size=128k --sync=1", 2, 256 << 10),
    ] {
        let data = filled(&file, 256 << 10);
        let before = places(&file);
        let document = json(&fathom, &format!("{job} {line}"));
        assert_eq!(counted(&document), [ops, ops << 16, 0, 0], "{line}");
        assert_eq!(donor.metadata().unwrap().len(), left, "{line}");
        let after = places(&file);
        assert!(before.len() >= 64 && after.len() == before.len(), "{line}: {before:?} {after:?}");
        let changed = before.iter().zip(&after).filter(|(a, b)| a != b).count() as u64;
        assert_eq!(changed, before.len() as u64 / if line.contains("offset") { 2 } else { 1 }, "{line}");
        assert!(std::fs::read(&file).unwrap() == data, "{line}");
        // Of a donor that keeps its space, an odd number of exchanges leaves what the file had.
        if left > 0 && !line.contains("offset") {
            assert_eq!(places(&donor), before, "{line}");
        }
        std::fs::remove_file(&donor).unwrap();
    }
}

#[test]
fn the_calls_are_those_of_fio() {
    const TEST: &str = "the_calls_are_those_of_fio";
    if !fio_is_here(TEST) {
        return;
    }
    let Some(fs) = LoopFs::ext4(TEST).mebibytes(32).mount() else { return };
    let fathom = Fathom::new().working_in(fs.path());
    for line in ["--filesize=64k", "--size=64k --inplace=1", "--inplace=1 --size=20k --bs=6k"] {
        let words = format!("--name=a --ioengine=e4defrag --rw=write --bs=16k --donorname=d {line}");
        let mut traces = Vec::new();
        let mut theirs = Command::new(FIO);
        theirs.current_dir(fs.path());
        for mut command in [theirs, fathom.command(["fio"])] {
            let trace = strace_command(TEST, command.args(words.split(' ')));
            let Some(trace) = trace else { return };
            assert_eq!(trace.code, Some(0), "{line}");
            // What is done to the donor, where and for how many bytes.
            let of = |call: &Syscall| {
                let (file, range) = call.args.split_once(">, ").unwrap_or_default();
                let is_it = matches!(call.name.as_str(), "fallocate" | "ftruncate") && file.ends_with("/d");
                is_it.then(|| format!("{} {range}", call.name))
            };
            traces.push(trace.calls.iter().filter_map(of).collect::<Vec<_>>());
            for name in ["a.0.0", "d"] {
                std::fs::remove_file(fs.path().join(name)).unwrap();
            }
        }
        assert!(!traces[0].is_empty(), "{line}: {traces:?}");
        assert_eq!(traces[0], traces[1], "{line}");
    }
}

#[test]
fn what_cannot_be_moved_is_an_error() {
    const TEST: &str = "what_cannot_be_moved_is_an_error";
    let error = |root: &Path, line: &str| {
        let fathom = Fathom::new().working_in(root);
        let outcome =
            run(&fathom, &format!("--output-format=json --name=a --ioengine=e4defrag --bs=64k {line}"));
        assert_eq!(outcome.code, Some(1), "{line}: {}", outcome.stderr);
        let document: Value = serde_json::from_str(&outcome.stdout).unwrap();
        (document["jobs"][0]["error"].as_u64(), outcome.stderr)
    };
    if let Some(fs) = TmpFs::mount(TEST, 16 << 20) {
        let (number, said) = error(fs.path(), "--rw=write --size=256k --donorname=d --inplace=1");
        assert_eq!(number, Some(25), "{said}");
        assert!(said.contains("EXT4_IOC_MOVE_EXT"), "{said}");
    }
    let Some(fs) = LoopFs::ext4(TEST).mebibytes(32).mount() else { return };
    // A hole has no blocks.
    let (number, said) =
        error(fs.path(), "--rw=write --filesize=256k --donorname=d --fallocate=truncate --filename=hole");
    assert_eq!(number, Some(61), "{said}");
    // A second name of the file itself, which is not cut.
    let data = filled(&fs.path().join("f"), 256 << 10);
    std::fs::hard_link(fs.path().join("f"), fs.path().join("same")).unwrap();
    let given =
        "--allow-write=f --allow-write=same --rw=write --size=256k --filename=f --donorname=same --inplace=1";
    assert_eq!(error(fs.path(), given).0, Some(22));
    assert!(std::fs::read(fs.path().join("f")).unwrap() == data);
    // A user's donor file is not touched unless named.
    let mine = filled(&fs.path().join("mine"), 64 << 10);
    let fathom = Fathom::new().working_in(fs.path());
    let line = "--name=a --ioengine=e4defrag --rw=write --size=256k --bs=64k --donorname=mine --inplace=1";
    let refused = run(&fathom, line);
    assert_ne!(refused.code, Some(0));
    assert!(
        refused.stderr.contains("mine") && refused.stderr.contains("--allow-write"),
        "{}",
        refused.stderr
    );
    assert!(std::fs::read(fs.path().join("mine")).unwrap() == mine);
    json(&fathom, &format!("--allow-write=mine {line}"));
    assert_eq!(fs.path().join("mine").metadata().unwrap().len(), 0);
}
