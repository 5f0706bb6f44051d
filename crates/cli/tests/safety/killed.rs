//! SIGKILL leaves no time to clean up: of the program, whose workers must die and whose leftovers the next run removes,
//! and of one worker, which is an ordinary error.

use crate::measure::workloads::{
    Text, journals, last_run, lines_with, phase_names, runs, wait_for_a_stored_phase,
};
use crate::safety::processes::{assert_gone, children, only_worker, send};
use fathom_testkit::dir::names_in;
use fathom_testkit::{Fathom, LoopFs, sqlite3};
use std::fs;
use std::os::unix::fs::MetadataExt as _;

/// A run with one phase stored and the next one in full swing, killed without warning. It has to last for the best part of a minute:
/// the store's writer works beside the measurement, and on a disk that other tests keep busy the first commit comes seconds late.
fn killed(fathom: &Fathom, args: &[&str]) {
    let mut running = fathom.spawn(args);
    let pid = running.pid();
    wait_for_a_stored_phase(&mut running, fathom);
    let workers = children(pid);
    running.signal(libc::SIGKILL);
    assert_eq!(running.finish().signal, Some(libc::SIGKILL));
    assert_gone(&workers);
}

fn slow(fathom: &Fathom) -> String {
    let path = Text::new("slow").quick_write(fathom.work()).slow_write(fathom.work(), "").save(fathom);
    path.to_str().expect("UTF-8").to_owned()
}

/// Another run, elsewhere, so that nothing but the journal leads to the leftovers.
fn next_run(fathom: &Fathom) -> String {
    let next = Text::new("next").quick_write(&fathom.dir().subdir("elsewhere")).save(fathom);
    fathom.run(["run", next.to_str().expect("UTF-8"), "--no-store"]).expect_code(0).stderr
}

#[test]
fn a_killed_run_keeps_its_phases_and_the_next_one_cleans_up() {
    let fathom = Fathom::new();
    killed(&fathom, &["run", &slow(&fathom)]);
    assert_eq!(names_in(fathom.work()), ["first.dat", "second.dat"], "nobody could remove them");
    assert_eq!(runs(&fathom)[0]["killed"], true);
    let listed = fathom.run(["list"]).expect_code(0);
    assert!(listed.stdout.contains(" killed "), "{}", listed.stdout);
    assert_eq!(phase_names(&last_run(&fathom)), ["quick write"]);
    let shown = fathom.run(["show"]).expect_code(0);
    assert!(shown.stdout.contains("quick write"), "{}", shown.stdout);
    if let Some(rows) = sqlite3(&fathom.store(), "SELECT count(*) FROM result WHERE phase = 'quick write'") {
        assert!(rows.trim().parse::<u32>().is_ok_and(|n| n > 0), "{rows}");
    }
    let stderr = next_run(&fathom);
    for name in ["first.dat", "second.dat"] {
        let told = lines_with(&stderr, "note: removed").iter().any(|l| l.contains(name));
        assert!(told, "{name} is not mentioned in\n{stderr}");
    }
    assert_eq!(names_in(fathom.work()), [""; 0]);
    assert_eq!(journals(&fathom), [""; 0]);
    assert_eq!(lines_with(&next_run(&fathom), "note: removed"), [""; 0], "once is enough");
}

#[test]
fn a_killed_survey_leaves_no_directory_after_the_next_run() {
    let fathom = Fathom::new();
    killed(&fathom, &["survey"]);
    assert_eq!(names_in(fathom.work()).len(), 1, "its own directory");
    assert!(names_in(fathom.work())[0].starts_with(".fathom-survey-"));
    let stderr = next_run(&fathom);
    assert!(stderr.contains(".fathom-survey-"), "{stderr}");
    assert_eq!(names_in(fathom.work()), [""; 0]);
    assert_eq!(runs(&fathom)[0]["killed"], true);
}

#[test]
fn a_killed_iozone_leaves_no_file_after_the_next_run() {
    let fathom = Fathom::new();
    killed(&fathom, &["iozone", "-s", "128k", "-r", "64k", "-J", "2000"]);
    assert_eq!(names_in(fathom.work()), ["iozone.tmp"]);
    assert_eq!(runs(&fathom)[0]["killed"], true);
    let next = fathom.run(["iozone", "-s", "64k", "-r", "64k", "-i", "0"]).expect_code(0);
    assert!(next.stderr.contains("iozone.tmp, left behind"), "{}", next.stderr);
    assert_eq!(names_in(fathom.work()), [""; 0]);
}

#[test]
fn a_leftover_that_was_replaced_meanwhile_is_not_touched() {
    let fathom = Fathom::new();
    killed(&fathom, &["run", &slow(&fathom)]);
    let theirs = fathom.work().join("second.dat");
    // Made elsewhere and moved, so that it cannot be given the number of the file it replaces.
    let made = fathom.work().join("made");
    fs::write(&made, "somebody's thesis").expect("a file of the user");
    fs::rename(&made, &theirs).expect("in place of our file");
    let stderr = next_run(&fathom);
    assert_eq!(fs::read_to_string(&theirs).expect("still there"), "somebody's thesis");
    assert_eq!(names_in(fathom.work()), ["second.dat"], "only ours went");
    let warned = lines_with(&stderr, "warning:").iter().any(|l| l.contains("second.dat"));
    assert!(warned, "that it stays is said:\n{stderr}");
}

#[test]
fn a_file_that_was_given_the_number_of_a_leftover_is_not_touched() {
    let name = "a_file_that_was_given_the_number_of_a_leftover_is_not_touched";
    // ext4 gives the number of a removed file to the next new one at once.
    let Some(fs) = LoopFs::ext4(name).mebibytes(16).mount() else { return };
    let fathom = Fathom::new().working_in(fs.path());
    killed(&fathom, &["run", &slow(&fathom)]);
    let theirs = fs.path().join("second.dat");
    let number = fs::metadata(&theirs).expect("a leftover").ino();
    fs::remove_file(&theirs).expect("the user clears up");
    fs::write(&theirs, "somebody's thesis").expect("and writes a file of the same name");
    if fs::metadata(&theirs).is_ok_and(|m| m.ino() != number)
        || fs::metadata(&theirs).is_ok_and(|m| m.created().is_err())
    {
        fathom_testkit::skip(name, "this ext4 gave another number, or keeps no time of birth");
        return;
    }
    let stderr = next_run(&fathom);
    assert_eq!(fs::read_to_string(&theirs).expect("still there"), "somebody's thesis");
    assert!(!fs.path().join("first.dat").exists(), "ours went: {stderr}");
}

#[test]
fn a_living_run_is_not_cleaned_away_by_another() {
    let fathom = Fathom::new();
    let mut running = fathom.spawn(["run", &slow(&fathom)]);
    running.wait_for_file(&fathom.work().join("second.dat"));
    let stderr = next_run(&fathom);
    assert_eq!(lines_with(&stderr, "note: removed"), [""; 0]);
    assert_eq!(names_in(fathom.work()), ["first.dat", "second.dat"]);
    running.signal(libc::SIGINT);
    let _ = running.finish().expect_code(130);
}

#[test]
fn a_killed_worker_is_one_clear_error() {
    let fathom = Fathom::new();
    let mut running = fathom.spawn(["run", &slow(&fathom)]);
    running.wait_for_file(&fathom.work().join("second.dat"));
    send(only_worker(&mut running), libc::SIGKILL);
    let outcome = running.finish().expect_code(3).expect_stdout("quick write");
    let errors = lines_with(&outcome.stderr, "error:");
    assert_eq!(errors.len(), 1, "{}", outcome.stderr);
    assert!(errors[0].contains("second.dat was killed (SIGKILL)"), "{}", errors[0]);
    assert_eq!(names_in(fathom.work()), [""; 0]);
    let run = last_run(&fathom);
    assert_eq!((&run["status"], phase_names(&run)[0].as_str()), (&"failed".into(), "quick write"));
    assert!(run["error"].as_str().is_some_and(|e| e.contains("SIGKILL")), "{}", run["error"]);
}

#[test]
fn a_killed_worker_of_iozone_ends_the_others() {
    let fathom = Fathom::new();
    let mut running = fathom.spawn(["iozone", "-t", "2", "-s", "512k", "-r", "4k", "-J", "20"]);
    let pid = running.pid();
    running
        .wait_until("two workers at work", || children(pid).len() == 2 && names_in(fathom.work()).len() == 2);
    let workers = children(pid);
    send(workers[1], libc::SIGKILL);
    let outcome = running.finish();
    assert!(outcome.code.is_some_and(|c| c != 0), "{outcome:?}");
    assert_eq!(lines_with(&outcome.stderr, "error:").len(), 1, "{}", outcome.stderr);
    assert_gone(&workers);
    assert_eq!(names_in(fathom.work()), [""; 0]);
}

#[test]
fn a_page_that_was_not_finished_is_removed_by_the_next_run() {
    let test = "a_page_that_was_not_finished_is_removed_by_the_next_run";
    if !fathom_testkit::need_tool(test, "strace") {
        return;
    }
    let fathom = Fathom::new();
    let _ = next_run_kept(&fathom);
    let line = fathom.command(["report", "last", "-o", "page.html"]);
    // It dies when all is written and has not got its name yet.
    let mut traced = std::process::Command::new("strace");
    traced.args([
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        "trace=fsync",
        "-e",
        "inject=fsync:signal=KILL:when=1",
        "--",
    ]);
    traced.arg(line.get_program()).args(line.get_args()).current_dir(fathom.work());
    traced.envs(line.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let status = traced.output().expect("strace runs").status;
    assert!(!status.success(), "{status}");
    let left = names_in(fathom.work());
    assert!(left.iter().any(|name| name.starts_with(".fathom-")), "{left:?}");
    let stderr = next_run(&fathom);
    assert_eq!(names_in(fathom.work()), [""; 0], "{stderr}");
    assert_eq!(journals(&fathom), [""; 0]);
}

/// As `next_run`, and it stays in the store.
fn next_run_kept(fathom: &Fathom) -> String {
    let next = Text::new("next").quick_write(&fathom.dir().subdir("elsewhere")).save(fathom);
    fathom.run(["run", next.to_str().expect("UTF-8")]).expect_code(0).stderr
}
