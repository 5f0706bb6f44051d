//! --validate: self-checking blocks, in our files and in SysBench's. Line 13 of the specification's acceptance list.

use crate::sysbench::support::{run, sysbench_is_here, theirs};
use fathom_testkit::Fathom;
use std::fs;

const COMMON: &str = "fileio --file-num=2 --file-total-size=4M --validate";

#[test]
fn a_changed_byte_is_found() {
    let fathom = Fathom::new();
    let _ = run(&fathom, &format!("{COMMON} prepare")).expect_code(0);
    let mix = format!("{COMMON} --file-test-mode=rndrw --threads=4 --events=2000 run");
    let out = run(&fathom, &mix).expect_code(0).stdout;
    assert!(
        out.contains("\nValidation checks: on.\n\n") && out.contains("\nUsing checksums validation.\n"),
        "{out}"
    );
    let path = fathom.work().join("test_file.1");
    let mut bytes = fs::read(&path).unwrap();
    bytes[3 * 16384 + 100] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let read = format!("{COMMON} --file-test-mode=seqrd --events=300 run");
    let outcome = run(&fathom, &read).expect_code(1);
    let place = 3 * 16384;
    assert!(
        outcome.stdout.contains(&format!(
            "\nFATAL: Checksum mismatch in block with offset: {place}\nFATAL:     Calculated value: 0x"
        )),
        "{}",
        outcome.stdout
    );
    let end = format!("FATAL: Validation failed on file 1, block offset {place}, exiting...\n");
    assert!(outcome.stdout.ends_with(&end), "{}", outcome.stdout);
    assert!(!outcome.stdout.contains("File operations:"), "no report");
}

#[test]
fn a_block_of_another_place_is_found() {
    let fathom = Fathom::new();
    let _ = run(&fathom, &format!("{COMMON} prepare")).expect_code(0);
    let path = fathom.work().join("test_file.0");
    let mut bytes = fs::read(&path).unwrap();
    bytes.copy_within(16384..32768, 0);
    fs::write(&path, &bytes).unwrap();
    let out =
        run(&fathom, &format!("{COMMON} --file-test-mode=seqrd --events=300 run")).expect_code(1).stdout;
    let end = "FATAL: Offset mismatch in block:\nFATAL:    Actual offset: 0    Stored offset: 16384\n\
               FATAL: Validation failed on file 0, block offset 0, exiting...\n";
    assert!(out.ends_with(end), "{out}");
}

#[test]
fn blocks_that_do_not_divide_a_mebibyte_check_as_well() {
    let fathom = Fathom::new();
    let common = "fileio --file-num=2 --file-total-size=4608K --file-block-size=24K --validate";
    let _ = run(&fathom, &format!("{common} prepare")).expect_code(0);
    let read = format!("{common} --file-test-mode=seqrd --events=192 run");
    let out = run(&fathom, &read).expect_code(0).stdout;
    assert!(out.contains("total number of events:              192\n"), "{out}");
}

#[test]
fn files_of_either_program_are_checked_by_the_other() {
    if !sysbench_is_here("files_of_either_program_are_checked_by_the_other") {
        return;
    }
    let ours = Fathom::new();
    let write = format!("{COMMON} --file-test-mode=rndwr --threads=2 --events=500 run");
    let read = format!("{COMMON} --file-test-mode=seqrd --events=256 run");
    let _ = run(&ours, &format!("{COMMON} prepare")).expect_code(0);
    let _ = run(&ours, &write).expect_code(0);
    let checked = theirs(ours.work(), &read);
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));

    let other = Fathom::new();
    assert!(theirs(other.work(), &format!("{COMMON} prepare")).status.success());
    assert!(theirs(other.work(), &write).status.success());
    let _ = run(&other, &read).expect_code(0);
    let mix = format!("{COMMON} --file-test-mode=rndrw --threads=4 --events=500 --file-replace=on run");
    let _ = run(&other, &mix).expect_code(0);
    assert!(theirs(other.work(), &read).status.success());
}
