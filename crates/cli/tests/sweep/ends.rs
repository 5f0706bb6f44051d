//! Everything is restored after every end: an error, Ctrl-C, SIGKILL of the program, SIGKILL of the program and its
//! guardian. Settings changed meanwhile by another process are left alone.

use crate::sweep::support::{
    Stand, endless, guardian, journals, kill, one_error, sweep, wait_until_turned, workload,
};
use std::time::{Duration, Instant};

const VARY: [&str; 6] = ["--vary", "read_ahead_kb=0,64", "--vary", "nomerges=2", "--rounds", "1"];

#[test]
fn an_error_in_the_middle_puts_back() {
    let Some(stand) = Stand::new("an_error_in_the_middle_puts_back") else { return };
    let before = stand.all();
    // The second value needs more room than the file system has.
    let file = workload(&stand.fathom, "", "");
    let words = ["--vary", "nomerges=2", "--vary", "file_size=1MiB,1GiB", "--rounds", "1", "--seed", "5"];
    let outcome = stand.fathom.run(sweep(&words, &file)).expect_code(3);
    one_error(&outcome, &["sweep.dat"]);
    assert!(outcome.stdout.contains("Ended early after"), "{}", outcome.stdout);
    assert_eq!(stand.all(), before);
    assert!(journals(&stand.fathom).is_empty());
}

#[test]
fn ctrl_c_keeps_what_was_measured_and_puts_back() {
    let Some(stand) = Stand::new("ctrl_c_keeps_what_was_measured_and_puts_back") else { return };
    let before = stand.all();
    // Two short runs, then one that nobody waits for.
    let file = workload(&stand.fathom, "stop = { time = \"10min\" }", "");
    let words = [
        "--vary",
        "nomerges=2",
        "--vary",
        "workload.phase.0.group.0.thread.0.program.stream.amount=pass,endless",
    ];
    let mut running =
        stand.fathom.spawn(sweep(&[&words[..], &["--rounds", "1", "--seed", "2"]].concat(), &file));
    let first = "amount=pass";
    let second = "amount=endless";
    running.wait_for_text(second);
    let passed = running.stderr().contains(first);
    wait_until_turned(&mut running, &stand, &before);
    running.signal_group(libc::SIGINT);
    let outcome = running.finish().expect_code(130);
    assert!(outcome.stdout.contains("signal 2"), "{}", outcome.stdout);
    assert_eq!(outcome.stdout.contains("Ended early after 1 of 2 runs"), passed, "{}", outcome.stdout);
    assert_eq!(stand.all(), before);
    assert!(journals(&stand.fathom).is_empty());
}

#[test]
fn the_guardian_puts_back_when_the_sweep_is_killed() {
    let Some(stand) = Stand::new("the_guardian_puts_back_when_the_sweep_is_killed") else { return };
    let before = stand.all();
    let mut running = stand.fathom.spawn(sweep(&VARY, &endless(&stand.fathom)));
    wait_until_turned(&mut running, &stand, &before);
    running.signal(libc::SIGKILL);
    let killed = Instant::now();
    stand.expect_as_before(&before);
    let took = killed.elapsed();
    // It takes milliseconds; on a machine that is far too busy it may take longer, but it comes by itself.
    assert!(took < Duration::from_secs(20), "{took:?}");
    let outcome = running.finish();
    let told =
        format!("restored nomerges of {} to 0, left behind by a measurement that was killed", stand.device());
    assert!(outcome.stderr.contains(&told), "{}", outcome.stderr);
    while !journals(&stand.fathom).is_empty() {
        assert!(killed.elapsed() < Duration::from_secs(30), "the journal stays");
    }
    let next = stand.fathom.run(["list"]).expect_code(0);
    assert!(!next.stderr.contains("restored"), "{}", next.stderr);
}

#[test]
fn the_guardian_does_not_hear_signals() {
    let Some(stand) = Stand::new("the_guardian_does_not_hear_signals") else { return };
    let before = stand.all();
    let mut running = stand.fathom.spawn(sweep(&VARY, &endless(&stand.fathom)));
    wait_until_turned(&mut running, &stand, &before);
    let guardian = guardian(&mut running);
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: kill takes two integers; the target is the guardian of a sweep that this test holds.
        assert_eq!(unsafe { libc::kill(guardian.cast_signed(), signal) }, 0);
    }
    running.signal(libc::SIGKILL);
    stand.expect_as_before(&before);
    let _ = running.finish();
}

#[test]
fn the_next_command_puts_back_when_both_are_killed() {
    let Some(stand) = Stand::new("the_next_command_puts_back_when_both_are_killed") else { return };
    let before = stand.all();
    let mut running = stand.fathom.spawn(sweep(&VARY, &endless(&stand.fathom)));
    wait_until_turned(&mut running, &stand, &before);
    kill(guardian(&mut running));
    running.signal_group(libc::SIGKILL);
    let _ = running.finish();
    assert_ne!(stand.all(), before, "nobody is left to do it");
    let next = stand.fathom.run(["list"]).expect_code(0);
    let told = format!(
        "note: restored nomerges of {} to 0, left behind by a measurement that was killed",
        stand.device()
    );
    assert!(next.stderr.contains(&told), "{}", next.stderr);
    assert_eq!(stand.all(), before);
    assert!(journals(&stand.fathom).is_empty());
    let again = stand.fathom.run(["list"]).expect_code(0);
    assert!(!again.stderr.contains("restored"), "{}", again.stderr);
}

#[test]
fn what_somebody_else_sets_meanwhile_is_left_alone() {
    let Some(stand) = Stand::new("what_somebody_else_sets_meanwhile_is_left_alone") else { return };
    let before = stand.all();
    let file = workload(&stand.fathom, "stop = { time = \"2s\" }", "amount = \"endless\"");
    let words = ["--vary", "read_ahead_kb=0", "--vary", "nomerges=2", "--rounds", "2"];
    let mut running = stand.fathom.spawn(sweep(&words, &file));
    wait_until_turned(&mut running, &stand, &before);
    running.wait_for_text("run 1 of 2");
    stand.set("read_ahead_kb", "32");
    let outcome = running.finish().expect_code(3);
    let changed = format!("another process changed read_ahead_kb of {} from 0 to 32", stand.device());
    one_error(&outcome, &[&changed]);
    // The stored run says so, too.
    let runs = stand.fathom.run(["show", "last"]).expect_code(0);
    assert!(runs.stdout.contains(&changed), "{}", runs.stdout);
    let listed = stand.fathom.run(["list"]).expect_code(0);
    assert!(listed.stdout.contains("failed"), "{}", listed.stdout);
    let left = format!("warning: read_ahead_kb of {} is now 32, which no sweep set", stand.device());
    assert!(outcome.stderr.contains(&left), "{}", outcome.stderr);
    assert_eq!(stand.get("read_ahead_kb"), "32");
    assert_eq!(stand.get("nomerges"), "0", "the rest is put back");
    assert!(journals(&stand.fathom).is_empty());
}

#[test]
fn two_sweeps_of_a_device_do_not_meet() {
    let Some(stand) = Stand::new("two_sweeps_of_a_device_do_not_meet") else { return };
    let before = stand.all();
    let mut running = stand.fathom.spawn(sweep(&VARY, &endless(&stand.fathom)));
    wait_until_turned(&mut running, &stand, &before);
    // Another user, another state directory: they meet at the device.
    let other = fathom_testkit::Fathom::new().working_in(stand.fs.path());
    let turned = stand.all();
    let file = workload(&other, "", "").replace("sweep.dat", "other.dat");
    let outcome = other.run(sweep(&["--vary", "nr_requests=64", "--rounds", "1"], &file)).expect_code(3);
    one_error(&outcome, &["another sweep is turning the knobs of", &stand.device()]);
    assert_eq!(stand.all(), turned);
    running.signal_group(libc::SIGINT);
    let _ = running.finish().expect_code(130);
    assert_eq!(stand.all(), before);
}
