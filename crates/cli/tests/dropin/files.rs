//! Which files a run uses, makes, leaves and never touches.

use crate::dropin::layout::{iozone, rows};
use fathom_testkit::Fathom;
use fathom_testkit::dir::names_in;
use std::fs;
use std::os::unix::fs::symlink;

#[test]
fn a_kept_file_is_read_by_the_next_run() {
    let (fathom, outcome) = iozone("-s 64k -r 16k -i 0 -w");
    let _ = outcome.expect_code(0).expect_stdout("\tSetting no_unlink\n");
    let file = fathom.work().join("iozone.tmp");
    let written = fs::read(&file).unwrap();
    assert_eq!(written.len(), 64 << 10);
    let out = fathom.run_line("iozone -s 64k -r 16k -i 1 -w").expect_code(0).stdout;
    assert_eq!(rows(&out)[0].columns(), ["read", "reread"]);
    assert_eq!(fs::read(&file).unwrap(), written, "-w leaves it as it is");
}

/// As IOzone does (seen with 3.489): a read test without -w finally removes the file, which an earlier run of fathom
/// made.
#[test]
fn a_kept_file_goes_with_the_first_run_that_does_not_keep_it() {
    let (fathom, outcome) = iozone("-s 64k -i 0 -w");
    let _ = outcome.expect_code(0);
    let _ = fathom.run_line("iozone -s 64k -i 1").expect_code(0);
    assert!(names_in(fathom.work()).is_empty());
    let _ = fathom.run_line("iozone -s 64k -i 1").expect_code(58);
}

#[test]
fn a_kept_file_may_be_written_again() {
    let (fathom, outcome) = iozone("-s 64k -i 0 -w");
    let _ = outcome.expect_code(0);
    let _ = fathom.run_line("iozone -s 128k -i 0").expect_code(0);
    assert!(names_in(fathom.work()).is_empty());
}

#[test]
fn a_foreign_file_of_the_default_name_is_refused_and_untouched() {
    for line in ["iozone -s 64k -i 0", "iozone -a -g 64k", "iozone -s 64k -i 0 -+N", "iozone -s 64k -i 2"] {
        let fathom = Fathom::new();
        let file = fathom.work().join("iozone.tmp");
        fs::write(&file, "somebody's work").unwrap();
        let outcome = fathom.run_line(line);
        assert_ne!(outcome.code, Some(0), "{line}\n{}", outcome.stdout);
        assert_eq!(fs::read_to_string(&file).unwrap(), "somebody's work", "{line}");
        if line.contains("-i 2") {
            continue; // A read of it fails for its own reasons; that it is untouched is what counts.
        }
        assert_eq!(outcome.code, Some(44), "{line}");
        assert!(
            outcome.stderr.contains("iozone.tmp exists and was not made by fathom"),
            "{line}: {}",
            outcome.stderr
        );
    }
}

#[test]
fn a_foreign_file_that_is_named_is_accepted() {
    let fathom = Fathom::new();
    let file = fathom.work().join("iozone.tmp");
    fs::write(&file, "an old test file").unwrap();
    let out = fathom.run_line("iozone -s 64k -i 0 -f iozone.tmp").expect_code(0).stdout;
    assert_eq!(rows(&out)[0].columns(), ["write", "rewrite"]);
    assert!(names_in(fathom.work()).is_empty(), "replaced by ours, and ours is removed");
}

#[test]
fn a_foreign_file_that_is_only_read_stays() {
    let fathom = Fathom::new();
    let file = fathom.work().join("data");
    let contents = vec![b'x'; 64 << 10];
    fs::write(&file, &contents).unwrap();
    let out = fathom.run_line("iozone -s 64k -+E -i 1 -f data").expect_code(0).stdout;
    assert_eq!(rows(&out)[0].columns(), ["read", "reread"]);
    assert_eq!(fs::read(&file).unwrap(), contents);
    // Without -+E the data is checked, and this is not IOzone's.
    let outcome = fathom.run_line("iozone -s 64k -i 1 -f data");
    assert!(outcome.code.is_some_and(|c| c != 0), "{}", outcome.stdout);
    assert!(
        outcome.stdout.contains("Error in file: Position 0 \nRecord # 0 Record size 4 kb \n"),
        "{}",
        outcome.stdout
    );
    assert_eq!(fs::read(&file).unwrap(), contents);
}

#[test]
fn directories_links_and_devices_are_refused_even_if_named() {
    let fathom = Fathom::new();
    let directory = fathom.dir().subdir("work/directory");
    let target = fathom.work().join("target");
    fs::write(&target, "somebody's work").unwrap();
    symlink(&target, fathom.work().join("link")).unwrap();
    for (name, what) in
        [("directory", "is a directory"), ("link", "is a symbolic link"), ("/dev/null", "is a device")]
    {
        let outcome = fathom.run_line(&format!("iozone -s 64k -i 0 -f {name}")).expect_code(44);
        assert!(outcome.stderr.contains(what), "{name}: {}", outcome.stderr);
        let outcome = fathom.run_line(&format!("iozone -t 1 -s 64k -i 0 -F {name}"));
        assert!(outcome.code.is_some_and(|c| c != 0), "-F {name}");
        // The stream engine may write to a device that stores nothing, but cannot sync it.
        let what = if name == "/dev/null" { "cannot fsync /dev/null" } else { what };
        assert!(outcome.stderr.contains(what), "-F {name}: {}", outcome.stderr);
    }
    assert!(directory.is_dir());
    assert_eq!(fs::read_to_string(&target).unwrap(), "somebody's work");
    assert_eq!(names_in(fathom.work()), ["directory", "link", "target"]);
}

#[test]
fn streams_keep_their_files_with_w_and_remove_them_without() {
    let (fathom, outcome) = iozone("-t 2 -s 64k -r 16k -i 0 -w");
    let _ = outcome.expect_code(0);
    assert_eq!(names_in(fathom.work()), ["iozone.DUMMY.0", "iozone.DUMMY.1"]);
    let _ = fathom.run_line("iozone -t 2 -s 64k -r 16k -i 1 -w").expect_code(0);
    assert_eq!(names_in(fathom.work()), ["iozone.DUMMY.0", "iozone.DUMMY.1"]);
    let _ = fathom.run_line("iozone -t 2 -s 64k -r 16k -i 0").expect_code(0);
    assert!(names_in(fathom.work()).is_empty());
}

#[test]
fn a_foreign_stream_file_is_refused_and_untouched() {
    let fathom = Fathom::new();
    let file = fathom.work().join("iozone.DUMMY.1");
    fs::write(&file, "somebody's work").unwrap();
    let outcome = fathom.run_line("iozone -t 2 -s 64k -i 0");
    assert!(outcome.code.is_some_and(|c| c != 0), "{}", outcome.stdout);
    assert!(
        outcome.stderr.contains("iozone.DUMMY.1 exists and was not made by fathom"),
        "{}",
        outcome.stderr
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "somebody's work");
    assert_eq!(names_in(fathom.work()), ["iozone.DUMMY.1"]);
}

#[test]
fn written_data_are_iozones_pattern_and_zeros() {
    let (fathom, outcome) = iozone("-s 64k -r 16k -i 0 -w");
    let _ = outcome.expect_code(0);
    let data = fs::read(fathom.work().join("iozone.tmp")).unwrap();
    for page in data.chunks(4096) {
        assert_eq!(page[..8], [0x20; 8]);
        assert!(page[8..].iter().all(|b| *b == 0));
    }
}

#[test]
fn a_trailing_part_smaller_than_a_record_is_not_written() {
    let (fathom, outcome) = iozone("-s 100k -r 64k -i 0 -w");
    let _ = outcome.expect_code(0);
    assert_eq!(fs::metadata(fathom.work().join("iozone.tmp")).unwrap().len(), 64 << 10);
}

#[test]
fn called_through_a_link_named_iozone_it_is_iozone() {
    let line = "-s 64k -r 16k -i 0 -i 1 -R";
    let (_fathom, direct) = iozone(line);
    let link = Fathom::new().named("iozone");
    let linked = link.run_line(line).expect_code(0);
    assert_eq!(crate::dropin::layout::layout(&linked.stdout), crate::dropin::layout::layout(&direct.stdout));
    assert_eq!(
        link.run_line("").expect_code(255).stdout,
        "\tUsage: For usage information type iozone -h \n\n"
    );
}
