//! Errors, signals, and the end by force. Line 14 of the specification's acceptance list.

use crate::sysbench::support::{run, value};
use fathom_testkit::Fathom;

const COMMON: &str = "fileio --file-num=2 --file-total-size=1M";

#[test]
fn command_lines_that_cannot_be() {
    let fathom = Fathom::new();
    let out = run(&fathom, "fileio run").expect_code(1).stdout;
    assert!(
        out.contains("\nFATAL: Missing required argument: --file-test-mode\n\nfileio options:\n"),
        "{out}"
    );
    let err = run(&fathom, "fileio frob").expect_code(1).stderr;
    assert_eq!(err, "Unknown command: frob\n");
    let err = run(&fathom, "fileio --nosuch=1 run").expect_code(1).stderr;
    assert_eq!(err, "invalid option: --nosuch=1\n");
    let err = run(&fathom, "cpu run").expect_code(1).stderr;
    assert_eq!(err.lines().count(), 1, "{err}");
}

#[test]
fn a_run_without_files_or_with_short_ones() {
    let fathom = Fathom::new();
    let mode = "--file-test-mode=rndrw run";
    let out = run(&fathom, &format!("{COMMON} {mode}")).expect_code(1).stdout;
    let end = "FATAL: Cannot open file 'test_file.0' errno = 2 (No such file or directory)\n\
               WARNING: Did you forget to run the prepare step?\n";
    assert!(out.ends_with(end), "{out}");
    let _ = run(&fathom, &format!("{COMMON} prepare")).expect_code(0);
    let out = run(&fathom, &format!("fileio --file-num=2 --file-total-size=2M {mode}")).expect_code(1).stdout;
    let end = "FATAL: Size of file 'test_file.0' is 512KiB, but at least 1MiB is expected.\n\
               WARNING: Did you run 'prepare' with different --file-total-size or --file-num values?\n";
    assert!(out.ends_with(end), "{out}");
}

#[test]
fn a_signal_prints_and_keeps_what_was_measured() {
    let fathom = Fathom::new();
    let _ = run(&fathom, &format!("{COMMON} prepare")).expect_code(0);
    let line = format!("sysbench {COMMON} --file-test-mode=rndrw --rate=50 --time=60 run");
    for (signal, code) in [(libc::SIGINT, 130), (libc::SIGTERM, 143)] {
        let mut running = fathom.spawn(line.split_whitespace());
        running.wait_for_text("Threads started!");
        running.wait_for_work(256 << 10);
        running.signal(signal);
        let outcome = running.finish().expect_code(code);
        assert!(outcome.elapsed.as_secs() < 30);
        assert!(value(&outcome.stdout, "total number of events:") > 0.0, "{}", outcome.stdout);
        assert!(outcome.stdout.contains("Threads fairness:"));
        let shown = fathom.run_line("show").expect_code(0).stdout;
        assert!(shown.contains("interrupted"), "{shown}");
    }
    assert!(fathom.work().join("test_file.1").exists(), "the files stay");
}

#[test]
fn a_run_without_an_end_is_ended_by_force() {
    let fathom = Fathom::new();
    let _ = run(&fathom, &format!("{COMMON} prepare")).expect_code(0);
    // It ends in time by itself: nothing is forced.
    let line = format!("{COMMON} --file-test-mode=rndrd --time=1 --forced-shutdown=0 --threads=2 run");
    let outcome = run(&fathom, &line);
    assert!(outcome.stdout.contains("\nForcing shutdown in 1 seconds\n\n"), "{}", outcome.stdout);
    assert!(matches!(outcome.code, Some(0 | 2)), "{:?}", outcome.code);
    let line = format!("{COMMON} --file-test-mode=rndrd --time=1 --forced-shutdown=9 run");
    let _ = run(&fathom, &line).expect_code(0);
}
