//! prepare, cleanup, and files of other users. Lines 1 to 3 of the specification's acceptance list.

use crate::sysbench::support::run;
use fathom_testkit::Fathom;
use fathom_testkit::dir::names_in;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

const FOUR: &str = "fileio --file-num=4 --file-total-size=64M";

#[test]
fn prepare_makes_reuses_and_extends_and_cleanup_removes() {
    let fathom = Fathom::new();
    let out = run(&fathom, &format!("{FOUR} prepare")).expect_code(0).stdout;
    assert!(out.contains("\n4 files, 16384Kb each, 64Mb total\nCreating files for the test...\n"), "{out}");
    assert_eq!(out.matches("Creating file test_file.").count(), 4, "{out}");
    assert!(out.contains("\n67108864 bytes written in "), "{out}");
    for name in names_in(fathom.work()) {
        let path = fathom.work().join(name);
        let found = path.metadata().unwrap();
        assert_eq!((found.len(), found.permissions().mode() & 0o777), (16_777_216, 0o600));
        assert!(fs::read(&path).unwrap().iter().all(|&b| b == 0));
    }
    let again = run(&fathom, &format!("{FOUR} prepare")).expect_code(0).stdout;
    assert_eq!(again.matches("Reusing existing file test_file.").count(), 4, "{again}");
    assert!(again.ends_with("No bytes written.\n"), "{again}");
    let more = run(&fathom, "fileio --file-num=4 --file-total-size=65M prepare").expect_code(0).stdout;
    assert_eq!(more.matches("Extending existing file test_file.").count(), 4, "{more}");
    assert!(more.contains("\n1048576 bytes written in "), "{more}");
    let out = run(&fathom, "fileio --file-num=3 cleanup").expect_code(0).stdout;
    assert!(out.ends_with("\n\nRemoving test files...\n"), "{out}");
    assert_eq!(names_in(fathom.work()), ["test_file.3"], "files beyond --file-num stay");
    let _ = run(&fathom, "fileio --file-num=9 cleanup").expect_code(0);
    assert!(names_in(fathom.work()).is_empty());
}

#[test]
fn whole_blocks_are_written() {
    let fathom = Fathom::new();
    let out = run(&fathom, "fileio --file-num=3 --file-total-size=10M prepare").expect_code(0).stdout;
    assert!(out.contains("3 files, 3413Kb each, 9Mb total"), "{out}");
    assert_eq!(fathom.work().join("test_file.1").metadata().unwrap().len(), 3_506_176);
    let out = run(&fathom, "fileio --file-num=3 --file-total-size=10M --file-test-mode=rndrd --events=9 run");
    assert!(out.expect_code(0).stdout.contains("3 files, 3.3333MiB each\n10MiB total file size\n"));
}

#[test]
fn another_directory_is_named_with_an_option() {
    let fathom = Fathom::new();
    let dir = fathom.dir().subdir("elsewhere");
    let common = format!("fileio --file-path={} --file-num=2 --file-total-size=1M", dir.display());
    let _ = run(&fathom, &format!("{common} prepare")).expect_code(0);
    assert_eq!(names_in(&dir), ["test_file.0", "test_file.1"]);
    let _ = run(&fathom, &format!("{common} --file-test-mode=rndrw --events=50 --file-cold=on run"))
        .expect_code(0);
    let twice = run(&fathom, &format!("{common} --file-test-mode=seqrd --events=9999 --file-cold=on run"));
    assert!(!twice.stderr.contains("direct, --file-cold=on, or"), "it was given: {}", twice.stderr);
    let memory = run(&fathom, &format!("{common} --file-test-mode=seqrd --events=9999 run"));
    assert!(!memory.stderr.contains("--file-cold=on is for the first"), "{}", memory.stderr);
    let _ = run(&fathom, &format!("{common} cleanup")).expect_code(0);
    assert!(names_in(&dir).is_empty() && names_in(fathom.work()).is_empty());
}

#[test]
fn files_of_somebody_else_are_read_but_neither_written_nor_removed_unasked() {
    let fathom = Fathom::new();
    let foreign = fathom.work().join("test_file.0");
    fs::write(&foreign, vec![7u8; 1 << 20]).unwrap();
    let one = "fileio --file-num=1 --file-total-size=1M";
    let _ = run(&fathom, &format!("{one} --file-test-mode=rndrd --events=20 run")).expect_code(0);
    for refused in [
        format!("{one} --file-test-mode=rndwr --events=20 run"),
        format!("{one} --file-test-mode=seqwr --events=20 run"),
        "fileio --file-num=1 --file-total-size=2M prepare".into(),
        format!("{one} cleanup"),
    ] {
        let outcome = run(&fathom, &refused).expect_code(1);
        assert!(outcome.stderr.contains("--file-replace=on"), "{refused}: {}", outcome.stderr);
        assert_eq!(fs::read(&foreign).unwrap(), vec![7u8; 1 << 20], "{refused}");
    }
    let _ = run(&fathom, &format!("{one} --file-replace=on --file-test-mode=rndwr --events=20 run"))
        .expect_code(0);
    assert!(fs::read(&foreign).unwrap().contains(&0), "zeros were written");
    let _ = run(&fathom, &format!("{one} --file-replace=on cleanup")).expect_code(0);
    assert!(!foreign.exists());
}
