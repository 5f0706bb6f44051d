//! How runs end: in time, early, by a failure, by a signal; the output and the exit code.

use crate::dropin_filebench::script::{READER, ops_of, rows, run, summary, write};
use fathom_testkit::Fathom;

fn opener(mode: &str) -> String {
    format!(
        "{mode}\ndefine fileset name=fs,path=$DIR,entries=10,dirwidth=5,size=4k,prealloc=50\n\
         define process name=proc {{ thread name=thr {{ flowop createfile name=make,filesetname=fs,fd=1 flowop closefile name=shut,fd=1 }} }}\nrun 30\n"
    )
}

#[test]
fn a_run_out_of_files_fails_with_partial_results_in_mode_timeout_only() {
    let fathom = Fathom::new();
    let outcome = run(&fathom, &opener("")).expect_code(1);
    assert!(outcome.stderr.contains("WARNING! Run stopped early:"), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains(
            "                flowop make-1 could not obtain a file. Please\n                reduce runtime"
        ),
        "{}",
        outcome.stderr
    );
    assert!(outcome.stdout.contains("PARTIAL RESULTS"), "{}", outcome.stdout);
    let told = &outcome.stderr;
    assert!(!told.contains("NO VALID") && !told.contains("stop.exhausted"), "{told}");
    assert!(told.contains("set mode quit firstdone"), "{told}");
    assert!(ops_of(&rows(&outcome.stdout), "make") > 0, "{}", outcome.stdout);
    for mode in ["firstdone", "alldone"] {
        let outcome = run(&fathom, &opener(&format!("set mode quit {mode}"))).expect_code(0);
        assert!(!outcome.stdout.contains("PARTIAL"), "{}", outcome.stdout);
        assert!(summary(&outcome.stdout).is_some_and(|s| s[0] > 0.0), "{}", outcome.stdout);
    }
}

#[test]
fn a_count_that_is_reached_ends_the_run_well() {
    let text = READER.replace("flowop delay name=pause,value=0", "flowop finishoncount name=fin,value=1000");
    let outcome = run(&Fathom::new(), &format!("{text}run 60\n")).expect_code(0);
    let found = rows(&outcome.stdout);
    let all: u64 = found.iter().map(|r| r.ops).sum();
    assert!((1000..1010).contains(&all), "{found:?}");
}

#[test]
fn a_flowop_that_fails_is_named() {
    let text = READER.replace(
        "flowop delay name=pause,value=0",
        "flowop openfile name=op,filesetname=fs,fd=3 flowop openfile name=again,filesetname=fs,fd=3",
    );
    let outcome = run(&Fathom::new(), &format!("{text}run 5\n")).expect_code(1);
    assert!(outcome.stderr.contains("thr-1: flowop again-1 failed"), "{}", outcome.stderr);
    let verdict = "NO VALID RESULTS! Filebench run terminated prematurely";
    assert_eq!(outcome.stderr.matches(verdict).count(), 1, "{}", outcome.stderr);
}

#[test]
fn a_process_that_is_killed_is_no_flowop_that_failed() {
    let fathom = Fathom::new();
    write(&fathom, "script.f", &format!("{READER}run 60\n"));
    let mut running = fathom.spawn(["filebench", "-f", "script.f"]);
    running.wait_for_text("Running...");
    let children = format!("/proc/{0}/task/{0}/children", running.pid());
    let worker =
        std::fs::read_to_string(children).unwrap().split_whitespace().last().unwrap().parse().unwrap();
    // SAFETY: a signal to a process that was just seen to be a child of the one that this test started.
    assert_eq!(unsafe { libc::kill(worker, libc::SIGKILL) }, 0);
    let outcome = running.finish().expect_code(1);
    assert!(outcome.stderr.contains("was killed (SIGKILL)"), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains(": flowop "), "{}", outcome.stderr);
}

#[test]
fn ctrl_c_prints_what_was_measured_and_marks_it() {
    let fathom = Fathom::new();
    write(&fathom, "script.f", &format!("{READER}run 60\n"));
    let mut running = fathom.spawn(["filebench", "-f", "script.f"]);
    running.wait_for_text("Running...");
    running.wait_for_work(1 << 20);
    running.signal(libc::SIGINT);
    let outcome = running.finish().expect_code(130);
    assert!(
        outcome.stdout.contains("Aborting...") && outcome.stdout.contains("PARTIAL RESULTS"),
        "{}",
        outcome.stdout
    );
    assert!(ops_of(&rows(&outcome.stdout), "rd") > 0, "{}", outcome.stdout);
    assert!(!outcome.stderr.contains("NO VALID"), "{}", outcome.stderr);
}

#[test]
fn the_tree_of_a_run_that_goes_on_is_left_to_it() {
    let fathom = Fathom::new();
    write(&fathom, "script.f", &format!("{READER}run 60\n"));
    let mut running = fathom.spawn(["filebench", "-f", "script.f"]);
    running.wait_for_text("Running...");
    let root = fathom.work().join("fs");
    for more in [&[][..], &["--replace", root.to_str().unwrap()]] {
        let refused = fathom.run([&["filebench", "-f", "script.f"][..], more].concat()).expect_code(1);
        let words =
            format!("belongs to another run of fathom that has not ended (process {})", running.pid());
        assert!(refused.stderr.contains(&words), "{}", refused.stderr);
    }
    running.signal(libc::SIGINT);
    let outcome = running.finish().expect_code(130);
    assert!(ops_of(&rows(&outcome.stdout), "rd") > 0, "{}", outcome.stdout);
}

#[test]
fn messages_of_flows_are_printed() {
    let text = READER.replace(
        "flowop delay name=pause,value=0",
        "flowop print name=say,value=\"hello\" flowop delay name=pause,value=1",
    );
    let outcome = run(&Fathom::new(), &format!("{text}run 1\n")).expect_code(0);
    assert!(
        outcome.stdout.contains("Message from process (proc,1), thread (thr,1): hello"),
        "{}",
        outcome.stdout
    );
}
