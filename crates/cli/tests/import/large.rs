//! Texts that are larger than the memory which an import may take.

use crate::import::ids;
use fathom_testkit::Fathom;
use std::fmt::Write as _;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::process::Command;

const DD: &str = "$ dd if=/dev/zero of=/mnt/test bs=1M count=1024
1024+0 records in
1024+0 records out
1073741824 bytes (1.1 GB) copied, 10.5 s, 102 MB/s
";

/// Imports a file under a limit of memory in MiB, beyond the room that the program takes before it reads anything.
fn import_within(fathom: &Fathom, file: &str, mib: u64) -> (bool, String, String) {
    let program = std::fs::metadata(env!("CARGO_BIN_EXE_fathom")).expect("the program").len();
    let limit = program / 1024 + (OF_THE_LIBRARIES + mib) * 1024;
    let shell = format!("ulimit -v {limit}; exec \"$0\" \"$@\"");
    let store = fathom.work().join("store.db");
    let output = Command::new("sh")
        .args(["-c", &shell, env!("CARGO_BIN_EXE_fathom"), "--store"])
        .arg(&store)
        .args(["import", file])
        .current_dir(fathom.work())
        .output()
        .expect("a shell");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

/// The C library and the maps of the store, in MiB.
const OF_THE_LIBRARIES: u64 = 32;

#[test]
fn a_line_of_192_mib_is_passed_over_and_told_and_what_is_around_it_is_found() {
    let fathom = Fathom::new();
    let mut file = std::fs::File::create(fathom.work().join("big.log")).expect("a file");
    file.write_all(DD.as_bytes()).expect("its beginning");
    // A hole: a line of zeros that takes no room on the disk.
    let long = 192 << 20;
    let _ = file.seek(SeekFrom::Current(long)).expect("a hole");
    file.write_all(format!("\n{DD}").as_bytes()).expect("its end");
    drop(file);
    let (done, out, err) = import_within(&fathom, "big.log", 64);
    assert!(done, "{err}");
    assert!(err.contains(&format!("big.log, line 5 was skipped: its {long} bytes")), "{err}");
    assert!(out.contains("lines 1-4: dd") && out.contains("lines 6-9: dd"), "{out}");
}

#[test]
fn a_file_without_lines_is_not_read_to_its_end() {
    let fathom = Fathom::new();
    let file = std::fs::File::create(fathom.work().join("disk.img")).expect("a file");
    // All of it is a hole. To read it would take hours.
    file.set_len(4 << 40).expect("4 TiB");
    let _ = fathom
        .run(["import", "disk.img"])
        .expect_code(2)
        .expect_stderr("disk.img, line 1 is longer than 1 GiB: this is no text");
}

#[test]
fn of_many_lines_that_are_not_understood_the_first_are_named_and_the_others_counted() {
    let fathom = Fathom::new();
    let text = format!("{}{DD}", "a b 1 2 3 MB/s\n".repeat(150));
    std::fs::write(fathom.work().join("odd.log"), text).expect("a file");
    let warnings = |arguments: &[&str]| fathom.run(arguments).expect_code(0).stderr;
    let some = warnings(&["import", "odd.log"]);
    assert_eq!(some.matches("was not understood: a b 1 2 3 MB/s").count(), 100, "{some}");
    assert!(some.contains("odd.log: 50 more lines, the last of them line 150, look like figures"), "{some}");
    let all = warnings(&["import", "--verbose", "odd.log"]);
    assert_eq!(all.matches("was not understood: a b 1 2 3 MB/s").count(), 150, "{all}");
    assert!(!all.contains("more lines"), "{all}");
}

#[test]
fn twenty_thousand_runs_are_kept_without_being_held() {
    let fathom = Fathom::new();
    std::fs::write(fathom.work().join("many.log"), DD.repeat(20_000)).expect("a file");
    let (done, out, err) = import_within(&fathom, "many.log", 64);
    assert!(done, "{err}");
    assert_eq!(out.matches("-> run ").count(), 20_000);
    assert!(out.contains("lines 79997-80000: dd"), "the last one");
}

#[test]
fn a_document_that_is_too_long_is_refused_and_nothing_is_kept() {
    let fathom = Fathom::new();
    let mut text = format!("{DD}{{\n\"fio version\" : \"fio-3.36\",\n\"jobs\" : [\n");
    let filler = "x".repeat(1 << 19);
    for _ in 0..140 {
        let _ = writeln!(text, "{{ \"jobname\" : \"a\", \"note\" : \"{filler}\" }},");
    }
    std::fs::write(fathom.work().join("fio.json"), text).expect("a file");
    let _ = fathom
        .run(["import", "fio.json"])
        .expect_code(2)
        .expect_stderr("fio.json, line 5: the JSON that begins here is longer than 64 MiB");
    assert!(ids(&fathom).is_empty());
}

#[test]
fn the_latencies_of_a_long_log_are_one_run() {
    let fathom = Fathom::new();
    let lines = (1 << 20) + 5000;
    let text: String = (0..lines).map(|n| format!("{n},5,0,8\n")).collect();
    std::fs::write(fathom.work().join("a_lat.1.log"), text).expect("a file");
    let outcome = fathom.run(["import", "a_lat.1.log"]).expect_code(0);
    let _ = outcome.expect_stdout(&format!("lines 1-{lines}: fio log, {lines} lines: latencies"));
    assert_eq!(ids(&fathom).len(), 1);
}

#[test]
fn a_device_is_refused() {
    let fathom = Fathom::new();
    let _ = fathom.run(["import", "--dry-run", "/dev/zero"]).expect_code(2).expect_stderr("is a device");
}

#[test]
fn a_pipe_that_cannot_be_copied_is_told_with_the_directory() {
    let shell = "echo | TMPDIR=/nowhere \"$0\" import --dry-run -";
    let output =
        Command::new("sh").args(["-c", shell, env!("CARGO_BIN_EXE_fathom")]).output().expect("a shell");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && err.contains("- cannot be copied to /nowhere: "), "{err}");
}

#[test]
fn a_pipe_is_read_as_a_file_is() {
    let fathom = Fathom::new();
    std::fs::write(fathom.work().join("dd.log"), DD).expect("a file");
    let shell = "mkfifo pipe; cat dd.log > pipe & exec \"$0\" import --dry-run pipe";
    let output = Command::new("sh")
        .args(["-c", shell, env!("CARGO_BIN_EXE_fathom")])
        .current_dir(fathom.work())
        .output()
        .expect("a shell");
    assert!(String::from_utf8_lossy(&output.stdout).contains("lines 1-4: dd"), "{output:?}");
}
