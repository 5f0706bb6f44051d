//! Ctrl-C, kill, and kill -9 in the middle of a run: the results so far are printed and stored, our files are removed.

use crate::dropin::layout::rows;
use fathom_testkit::dir::names_in;
use fathom_testkit::{Fathom, Running};
use std::fs;

/// Eight records a second: a pass of two seconds that a signal cannot miss.
const SLOW: &str = "iozone -s 256k -r 16k -+O 8 -i 0 -i 1";

/// Starts the slow run and waits until the first figure is printed and the second pass has begun.
fn in_the_second_pass(fathom: &Fathom, options: &str) -> Running {
    let mut running = fathom.spawn(format!("{SLOW} {options}").split_whitespace());
    let out = |r: &Running| r.stdout();
    loop {
        let text = out(&running);
        let words = text.lines().last().unwrap_or("").split_whitespace().count();
        if words == 3 && text.contains("kB  reclen") {
            return running;
        }
        assert!(!running.has_ended(), "{text}{}", running.stderr());
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

fn status(fathom: &Fathom) -> String {
    let text = fathom.run_line("show --json").expect_code(0).stdout;
    let run: serde_json::Value = serde_json::from_str(&text).unwrap();
    run["status"].as_str().unwrap().into()
}

#[test]
fn a_signal_prints_and_keeps_what_was_measured() {
    for (signal, code) in [(libc::SIGINT, 130), (libc::SIGTERM, 143)] {
        let fathom = Fathom::new();
        let running = in_the_second_pass(&fathom, "");
        assert_eq!(names_in(fathom.work()), ["iozone.tmp"]);
        running.signal(signal);
        let outcome = running.finish().expect_code(code);
        let figures = rows(&outcome.stdout);
        assert_eq!((figures.len(), figures[0].values.len()), (1, 1), "one figure: {}", outcome.stdout);
        assert!(
            outcome.stdout.ends_with("\niozone: interrupted\n\nexiting iozone\n\n"),
            "{}",
            outcome.stdout
        );
        assert!(names_in(fathom.work()).is_empty(), "{:?}", names_in(fathom.work()));
        assert_eq!(status(&fathom), "interrupted");
        let shown = fathom.run_line("show").expect_code(0).stdout;
        assert!(shown.contains("interrupted") && shown.contains("write"), "{shown}");
        let listed = fathom.run_line("list").expect_code(0).stdout;
        assert!(listed.contains("interrupted"), "{listed}");
    }
}

#[test]
fn the_report_after_a_signal_holds_what_there_is() {
    let fathom = Fathom::new();
    let running = in_the_second_pass(&fathom, "-R");
    running.signal_group(libc::SIGINT);
    let out = running.finish().expect_code(130).stdout;
    let written = rows(&out)[0].values[0];
    let (_, report) = out.split_once("\niozone: interrupted\n").unwrap();
    assert!(
        report.contains(&format!("\"Writer report\"\n        \"16\"\n\"256\"   {written} \n")),
        "{report}"
    );
    assert!(report.contains("\"Re-writer report\"\n        \"16\"\n\"256\"   0 \n"), "{report}");
    assert!(report.ends_with("exiting iozone\n\n"));
}

#[test]
fn the_worksheet_after_a_signal_holds_what_there_is() {
    let fathom = Fathom::new();
    let running = in_the_second_pass(&fathom, "-b out.wks");
    running.signal(libc::SIGTERM);
    let _ = running.finish().expect_code(143);
    let bytes = fs::read(fathom.work().join("out.wks")).unwrap();
    assert_eq!((&bytes[..4], &bytes[bytes.len() - 4..]), (&[9, 0, 4, 0][..], &[10, 0, 0, 0][..]));
}

#[test]
fn streams_are_stopped_too_and_their_files_removed() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let fathom = Fathom::new();
        let mut running = fathom.spawn("iozone -t 2 -s 256k -r 16k -+O 8 -i 0 -i 1".split(' '));
        running.wait_for_text("initial writers");
        running.wait_for_text("Min xfer");
        running.signal(signal);
        let outcome = running.finish().expect_code(128 + signal);
        assert!(outcome.stdout.contains("\niozone: interrupted\n"), "{}", outcome.stdout);
        assert_eq!(outcome.stdout.matches("Children see").count(), 1, "{}", outcome.stdout);
        assert!(outcome.elapsed.as_secs() < 20, "{:?}", outcome.elapsed);
        assert!(names_in(fathom.work()).is_empty(), "{:?}", names_in(fathom.work()));
        assert_eq!(status(&fathom), "interrupted");
    }
}

#[test]
fn a_sleep_between_passes_ends_with_a_signal() {
    let fathom = Fathom::new();
    let mut running = fathom.spawn("iozone -s 64k -i 0 -+q 600".split(' '));
    running.wait_until("the first figure", || names_in(fathom.work()) == ["iozone.tmp"]);
    running.signal(libc::SIGINT);
    let outcome = running.finish().expect_code(130);
    assert!(outcome.elapsed.as_secs() < 60);
    assert!(names_in(fathom.work()).is_empty());
}

#[test]
fn after_a_kill_the_store_opens_and_the_next_run_cleans_up() {
    let fathom = Fathom::new();
    let running = in_the_second_pass(&fathom, "");
    running.signal_group(libc::SIGKILL);
    assert_eq!(running.finish().signal, Some(libc::SIGKILL));
    assert_eq!(names_in(fathom.work()), ["iozone.tmp"], "nobody could remove it");
    let shown = fathom.run_line("show --original").expect_code(0).stdout;
    assert_eq!(rows(&shown)[0].values.len(), 1, "the finished pass is kept: {shown}");
    let outcome = fathom.run_line("iozone -s 64k -i 0").expect_code(0);
    assert!(
        outcome.stderr.contains("iozone.tmp, left behind by a run that was killed"),
        "{}",
        outcome.stderr
    );
    assert!(names_in(fathom.work()).is_empty());
}
