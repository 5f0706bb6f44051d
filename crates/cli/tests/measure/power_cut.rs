//! `fathom power-cut`: what was acknowledged is found, and what is missing afterwards is named. The power is cut in the lab
//! (xtask/src/lab/guest/lost.sh); here files are changed by hand.

use fathom_testkit::dir::names_in;
use fathom_testkit::{Fathom, Outcome};
use serde_json::Value;
use std::fs::File;
use std::os::unix::fs::FileExt as _;

/// Writes for a moment, and keeps what was printed as `journal`.
fn written(fathom: &Fathom, options: &str) -> String {
    let line = format!("power-cut write . --time 200ms --size 256KiB --seed 3 {options}");
    let outcome = fathom.run(line.split_whitespace()).expect_code(0);
    assert!(outcome.stderr.contains("the files stay in"), "{}", outcome.stderr);
    std::fs::write(fathom.work().join("journal"), &outcome.stdout).unwrap();
    outcome.stdout
}

fn checked(fathom: &Fathom, options: &str, code: i32) -> Outcome {
    fathom.run(format!("power-cut check journal {options}").split_whitespace()).expect_code(code)
}

#[test]
fn what_was_acknowledged_is_there_with_every_pattern_and_sync() {
    for options in [
        "",
        "--pattern append --sync fsync --every 3 --files 3",
        "--pattern replace",
        "--sync dsync --block 512",
        "--sync none --pattern replace",
        "--direct --block 16KiB",
    ] {
        let fathom = Fathom::new();
        let journal = written(&fathom, options);
        assert!(journal.lines().count() > 3, "{options}: {journal}");
        let outcome = checked(&fathom, "--remove", 0);
        assert!(
            outcome.stdout.starts_with("OK: every acknowledged write is there"),
            "{options}: {}",
            outcome.stdout
        );
        assert!(outcome.stdout.contains("was not restarted"), "{}", outcome.stdout);
        assert_eq!(names_in(fathom.work()), ["journal"], "{options}");
    }
}

#[test]
fn what_is_missing_is_named_with_the_sync_that_had_returned() {
    let fathom = Fathom::new();
    written(&fathom, "");
    let path = fathom.work().join("fathom-power-cut/data.0");
    let file = File::options().read(true).write(true).open(&path).unwrap();
    let before = std::fs::read(&path).unwrap();
    file.write_all_at(&[0; 512], 8192 + 1024).unwrap();
    file.write_all_at(&before[4096..8192], 32768).unwrap();
    file.write_all_at(&[before[100] ^ 1], 100).unwrap();
    File::options().write(true).open(path.with_file_name("data.1")).unwrap().set_len(262_144 - 512).unwrap();
    let outcome = checked(&fathom, "--remove", 1);
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert!(lines[0].starts_with("LOST: 4 blocks without acknowledged data"), "{}", outcome.stdout);
    for (line, words) in lines[1..5].iter().zip([
        "data.0 at offset 0: a sector whose checksum is wrong, in place of ",
        "data.0 at offset 8192: zeros, or data that was not written by this run",
        "data.0 at offset 32768: data that belongs to another place",
        "data.1 at offset 258048: nothing: the file is missing or ends before",
    ]) {
        assert!(line.contains(words) && line.contains(" had returned "), "{line}");
    }
    let json: Value = serde_json::from_str(&checked(&fathom, "--json", 1).stdout).unwrap();
    assert_eq!(json["lost"].as_array().map(Vec::len), Some(4));
    assert_eq!((&json["lost"][1]["offset"], &json["lost"][1]["instead"]), (&8192.into(), &"foreign".into()));
    // Nothing was removed, and the files can be anywhere.
    std::fs::rename(path.parent().unwrap(), fathom.work().join("moved")).unwrap();
    let outcome = checked(&fathom, "", 2);
    assert!(outcome.stderr.contains("fathom-power-cut is not there"), "{}", outcome.stderr);
    let _ = checked(&fathom, "--dir moved", 1);
}

#[test]
fn mistakes_are_named_and_nothing_is_overwritten() {
    let fathom = Fathom::new();
    for (line, words) in [
        ("power-cut write nowhere", "nowhere is not a directory"),
        ("power-cut write . --block 1000", "--block 1000 is not a multiple of 512"),
        ("power-cut write . --size 1KiB", "is less than a block"),
        ("power-cut write . --every 0", "0 is not in 1..=1000000"),
        ("power-cut check none", "cannot read none"),
    ] {
        let outcome = fathom.run(line.split(' ')).expect_code(2);
        assert!(outcome.stderr.contains(words), "{line}: {}", outcome.stderr);
    }
    assert_eq!(names_in(fathom.work()), [""; 0]);
    std::fs::create_dir(fathom.work().join("fathom-power-cut")).unwrap();
    let outcome = fathom.run(["power-cut", "write", "."]).expect_code(2);
    assert!(outcome.stderr.contains("is there already"), "{}", outcome.stderr);
    std::fs::write(fathom.work().join("journal"), "Hello").unwrap();
    assert!(checked(&fathom, "", 2).stderr.contains("no line is the first one of a journal"));
}
