//! Command lines that end before or instead of a run: exit codes and texts, rejected options, unwritable places. Lines
//! 2, 3 and 19 of the specification's acceptance list.

use crate::dropin::layout::{golden, golden_run, iozone, line_starting};
use fathom_dialects::iozone::table::{Argument, IozoneSupport, OPTIONS};
use fathom_testkit::dir::names_in;
use fathom_testkit::{Fathom, Outcome, TmpFs, need_root, need_tool};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

#[test]
fn without_arguments_the_usage_line_and_255() {
    let (_fathom, outcome) = iozone("");
    let outcome = outcome.expect_code(255);
    assert_eq!(outcome.stdout, "\tUsage: For usage information type iozone -h \n\n");
}

#[test]
fn help_and_version_are_answers() {
    let (_fathom, outcome) = iozone("-h");
    let outcome = outcome.expect_code(0);
    assert_eq!(outcome.stdout.lines().next(), Some("iozone: help mode"));
    for option in &OPTIONS {
        assert!(outcome.stdout.contains(&format!("      {} ", option.name())), "{}", option.name());
    }
    let (_fathom, outcome) = iozone("-v");
    let out = outcome.expect_code(0).stdout;
    let line = out.lines().find(|l| l.contains("Version $Revision:")).unwrap();
    assert_eq!(line.split_whitespace().nth(2), Some("3.471"), "scripts take the third word of this line");
}

#[test]
fn forbidden_mixes_end_with_iozones_codes_and_texts() {
    let cases = [
        ("-t 2 -a", 17, "\n\tCan not mix throughput mode and auto-mode flags.\n\n"),
        ("-F a b", 12, "must specify -t N before -F\n"),
        ("-t 2 -F a", 13, "not enough filenames for 2 streams\n"),
        ("-r 32m", 23, "Error: maximum record size 32768 kB is greater than maximum buffer size 16384 kB\n"),
        ("-s 64 -r 128k", 23, "Error: record length 131072 is greater than filesize 64 kB\n"),
        ("-s 64 -r 4 -i 1", 58, "\nCan not open temporary file iozone.tmp for read\n"),
        ("--sync", 255, "Unsupported option -> - <-\n"),
        ("-+o", 255, "Unsupported Plus option -> o <-\n"),
    ];
    for (line, code, text) in cases {
        let (fathom, outcome) = iozone(line);
        let out = outcome.expect_code(code).stdout;
        assert!(out.contains(text), "iozone {line}: expected {text:?} in\n{out}");
        assert!(names_in(fathom.work()).is_empty(), "iozone {line} left {:?}", names_in(fathom.work()));
    }
}

#[test]
fn the_same_mix_is_refused_whatever_else_is_given() {
    for (line, code) in [
        ("-t 2 -y 4k", 17),
        ("-t 2 -q 4k", 17),
        ("-t 2 -n 64k", 17),
        ("-t 2 -g 64k", 17),
        ("-t 2 -f x", 17),
        ("-t 2 -N", 17),
        ("-t 1 -F a -a", 17),
        ("-f x -t 1 -F a", 10),
        ("-U /mnt -t 2", 15),
        ("-t 2 -U /mnt", 16),
        ("-t 2000", 14),
        ("-+E", 19),
    ] {
        let (fathom, outcome) = iozone(line);
        assert_ne!(outcome.stdout, "", "iozone {line}");
        let got = outcome.code;
        // 10 and 11 (15 and 16) are one mistake in two orders.
        let pair = matches!((code, got), (10, Some(11)) | (15, Some(16)) | (16, Some(15)));
        assert!(got == Some(code) || pair, "iozone {line}: {got:?} instead of {code}\n{}", outcome.stdout);
        assert!(names_in(fathom.work()).is_empty());
    }
}

#[test]
fn every_refused_option_says_so_by_name_and_runs_nothing() {
    let refused = OPTIONS.iter().filter_map(|o| match o.state {
        IozoneSupport::Refused(why) => Some((o, why)),
        IozoneSupport::Done | IozoneSupport::Harmless(_) => None,
    });
    let mut seen = 0;
    for (option, why) in refused {
        let argument = match option.argument {
            Argument::None => "",
            Argument::Number(_) | Argument::Size(_) => " 4",
            Argument::Word(_) | Argument::Path(_) | Argument::Paths(_) => " name",
        };
        let name = option.name();
        let (fathom, outcome) = iozone(&format!("-s 64k -i 0 {name}{argument}"));
        assert!(outcome.code.is_some_and(|c| c != 0), "{name} was accepted:\n{}", outcome.stdout);
        assert!(outcome.stderr.contains(&format!("{name} ")), "{name}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(why), "{name}: {}", outcome.stderr);
        assert!(!outcome.stdout.contains("kB  reclen"), "{name} ran:\n{}", outcome.stdout);
        assert!(names_in(fathom.work()).is_empty(), "{name}");
        seen += 1;
    }
    assert!(seen > 5, "the table marks its refusals");
}

#[test]
fn every_option_that_only_changes_the_banner_says_what_it_does_not_do() {
    let (_fathom, outcome) = iozone("-s 64k -i 0 -L 64");
    let outcome = outcome.expect_code(0).expect_stdout("\tProcessor cache line size set to 64 bytes.\n");
    assert!(outcome.stderr.contains("-L"), "{}", outcome.stderr);
}

#[test]
fn the_splash_lines_come_in_the_order_of_the_options() {
    let _ = golden_run("splash", "-e -c -o -S 2048 -L 64 -j 5 -+n -w -R -s 64k -i 0 -r 16k -V 7 -+u -p");
}

#[test]
fn the_host_line_names_this_machine() {
    let (_fathom, outcome) = iozone("-M -s 64k -i 0");
    let out = outcome.expect_code(0).stdout;
    let line = line_starting(&out, "\tMachine = Linux ");
    assert!(line.len() <= "\tMachine = ".len() + 99, "{line}");
}

/// One clear sentence on stderr, IOzone's text on stdout, no files left.
#[track_caller]
fn assert_refused(outcome: &Outcome, sentence: &str) {
    let errors: Vec<&str> = outcome.stderr.lines().filter(|l| !l.starts_with("note:")).collect();
    assert_eq!(errors.len(), 1, "one error\n{}", outcome.stderr);
    assert!(errors[0].contains(sentence), "expected {sentence:?}, got {errors:?}");
    assert!(!outcome.stdout.contains("iozone test complete."), "{}", outcome.stdout);
}

#[test]
fn a_directory_that_is_missing_is_one_clear_error() {
    let (fathom, outcome) = iozone("-s 64k -i 0 -f missing/file");
    assert_refused(&outcome.clone().expect_code(44), "missing/file: No such file or directory");
    golden("missing_directory", &outcome.stdout.replace(&format!("{}/", fathom.work().display()), ""));
    assert!(names_in(fathom.work()).is_empty());
}

#[test]
fn a_directory_without_write_permission_is_one_clear_error() {
    let fathom = Fathom::new();
    let closed = fathom.dir().subdir("work/closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
    // Root may write there anyway; in sysfs no user can create files.
    let root = fs::write(closed.join("probe"), "").is_ok();
    let place = if root { "/sys".into() } else { closed.display().to_string() };
    let outcome = fathom.run_line(&format!("iozone -s 64k -i 0 -f {place}/iozone.tmp")).expect_code(44);
    assert_refused(&outcome, "/iozone.tmp: ");
    let outcome = fathom.run_line(&format!("iozone -t 2 -s 64k -i 0 -F {place}/a {place}/b"));
    assert_ne!(outcome.code, Some(0));
    assert_refused(&outcome, "/a: ");
}

#[test]
fn a_read_only_file_system_is_one_clear_error() {
    let test = "a_read_only_file_system_is_one_clear_error";
    if !need_root(test) || !need_tool(test, "mount") {
        return;
    }
    let Some(fs) = TmpFs::mount(test, 1 << 20) else { return };
    let remounted = std::process::Command::new("mount").args(["-o", "remount,ro"]).arg(fs.path()).status();
    assert!(remounted.is_ok_and(|s| s.success()));
    let fathom = Fathom::new().working_in(fs.path());
    let outcome = fathom.run_line("iozone -s 64k -i 0").expect_code(44);
    assert_refused(&outcome, "iozone.tmp: Read-only file system");
}

#[test]
fn a_full_file_system_is_one_clear_error_and_keeps_what_was_measured() {
    let test = "a_full_file_system_is_one_clear_error_and_keeps_what_was_measured";
    let Some(fs) = TmpFs::mount(test, 1 << 20) else { return };
    let fathom = Fathom::new().working_in(fs.path());
    let outcome = fathom.run_line("iozone -a -n 512k -g 2m -r 64k -i 0 -+n").expect_code(74);
    assert_refused(&outcome, "No space left on device");
    let rows = crate::dropin::layout::sizes(&outcome.stdout);
    assert_eq!(rows[..2], [(512, 64), (1024, 64)], "{}", outcome.stdout);
    assert!(outcome.stdout.contains("\nError writing block 16 of "), "{}", outcome.stdout);
    assert!(names_in(fs.path()).is_empty(), "{:?}", names_in(fs.path()));
    let shown = fathom.run_line("show --json").expect_code(0).stdout;
    let run: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(run["status"], "failed");
    assert!(run["phases"].as_array().unwrap().len() >= 2);
}

#[test]
fn a_place_that_is_no_mount_point_cannot_be_remounted() {
    let (fathom, outcome) = iozone("-s 64k -i 0 -U no-mount-point");
    assert_ne!(outcome.code, Some(0));
    assert_refused(&outcome, "no-mount-point is no mount point of /etc/fstab");
    assert!(outcome.elapsed.as_secs() < 10, "an error that waiting cannot mend took {:?}", outcome.elapsed);
    assert!(!outcome.stdout.contains("Error in  of"), "{}", outcome.stdout);
    assert!(names_in(fathom.work()).is_empty());
}

#[test]
fn words_that_are_no_options_are_ignored() {
    let (_fathom, outcome) = iozone("foo -s 64k -i 0");
    let _ = outcome.expect_code(0).expect_stdout("\tCommand line used: iozone foo -s 64k -i 0\n");
}
