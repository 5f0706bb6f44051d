//! A store that cannot be written does not end the measurement, which continues and prints. It is no success: exit code
//! 3, and one line. Only a store named by --store is refused before anything is measured.

use crate::measure::workloads::{Text, lines_with};
use fathom_testkit::dir::names_in;
use fathom_testkit::{Fathom, TmpFs};
use std::fs;
use std::path::Path;

#[track_caller]
fn measured_without_a_store(fathom: Fathom, workload: &Text, store: &Path, told: &[&str]) -> Fathom {
    let workload = workload.save(&fathom);
    let fathom = fathom.env("FATHOM_STORE", store.to_str().expect("UTF-8"));
    let outcome = fathom.run(["run", workload.to_str().expect("UTF-8")]);
    let outcome = outcome.expect_code(3).expect_stdout("quick write");
    let lines: Vec<&str> =
        ["warning:", "error:"].iter().flat_map(|word| lines_with(&outcome.stderr, word)).collect();
    assert_eq!(lines.len(), told.len(), "{}", outcome.stderr);
    assert!(lines.iter().zip(told).all(|(line, words)| line.contains(words)), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("kept as run"), "{}", outcome.stderr);
    assert_eq!(names_in(fathom.work()), [""; 0]);
    fathom
}

fn quick(fathom: &Fathom) -> Text {
    Text::new("quick").quick_write(fathom.work())
}

#[test]
fn a_store_that_cannot_be_made_is_no_success() {
    let fathom = Fathom::new();
    let text = quick(&fathom);
    let _ = measured_without_a_store(fathom, &text, Path::new("/proc/no/store.db"), &["will not be stored"]);
}

#[test]
fn a_store_named_by_an_option_is_tried_before_measuring() {
    let fathom = Fathom::new();
    let workload = quick(&fathom).save(&fathom);
    let above = fathom.dir().path().join("new");
    let letter = fathom.dir().path().join("letter.txt");
    fs::write(&letter, "Dear Sir, ".repeat(1000)).expect("a file of the user");
    for (store, told) in [
        (above.join("runs.db"), "there is no directory"),
        (letter, "is not a database"),
        (fathom.work().into(), "is a directory"),
    ] {
        let store = store.to_str().expect("UTF-8");
        let outcome = fathom.run(["run", workload.to_str().expect("UTF-8"), "--store", store]).expect_code(2);
        assert!(outcome.stdout.is_empty(), "{}", outcome.stdout);
        assert!(outcome.stderr.contains(told), "{}", outcome.stderr);
    }
    assert!(!above.exists());
}

#[test]
fn a_file_that_is_no_store_is_no_success_and_stays_as_it_is() {
    let fathom = Fathom::new();
    let theirs = fathom.dir().path().join("letter.txt");
    let letter = "Dear Sir, ".repeat(1000);
    fs::write(&theirs, &letter).expect("a file of the user");
    let text = quick(&fathom);
    let fathom = measured_without_a_store(fathom, &text, &theirs, &["will not be stored"]);
    assert_eq!(fs::read_to_string(&theirs).expect("still there"), letter);
    let args = ["list", "--store", theirs.to_str().expect("UTF-8")];
    let outcome = fathom.run(args).expect_code(2);
    assert!(outcome.stderr.contains("letter.txt"), "{}", outcome.stderr);
}

#[test]
fn looking_for_runs_makes_no_store() {
    let fathom = Fathom::new();
    let looking = ["list", "history", "show", "why last", "export last", "compare last last", "rm last"];
    let missing = fathom.dir().path().join("missing/runs.db");
    let named = missing.to_str().expect("UTF-8");
    for line in looking {
        let (listing, words) = (["list", "history"].contains(&line), line.split(' '));
        let outcome = fathom.run(words.clone().chain(["--store", named])).expect_code(2).expect_stdout("");
        let told = format!("error: there is no store {named}; name an existing one");
        assert!(outcome.stderr.starts_with(&told), "{line}: {}", outcome.stderr);
        // Nothing was measured yet with the usual one.
        let outcome = fathom.run(words).expect_code(if listing { 0 } else { 2 });
        let told = if listing { "no runs in" } else { "holds no run yet" };
        assert!(outcome.stderr.contains(told), "{line}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(fathom.store().to_str().expect("UTF-8")), "{}", outcome.stderr);
    }
    assert!(!missing.parent().is_some_and(Path::exists) && !fathom.store().exists());
    fathom.run(["list", "--json"]).expect_code(0).expect_stdout("[]\n");
}

#[test]
fn a_store_on_a_full_disk_is_no_success() {
    let Some(fs) = TmpFs::mount("a_store_on_a_full_disk_is_no_success", 64 << 10) else { return };
    let fathom = Fathom::new();
    let text = quick(&fathom);
    let _ = measured_without_a_store(fathom, &text, &fs.path().join("store.db"), &["will not be stored"]);
}

#[test]
fn a_store_that_fills_up_meanwhile_is_given_up_and_no_success() {
    let name = "a_store_that_fills_up_meanwhile_is_given_up_and_no_success";
    let Some(fs) = TmpFs::mount(name, 2 << 20) else { return };
    let fathom = Fathom::new();
    // Half a million operations, each in the log: more than 2 MiB even compressed.
    let text = quick(&fathom).phase(
        "many operations",
        "first",
        "read",
        "",
        "record = { fixed = \"4KiB\" }\naccess = \"uniform\"\namount = { operations = 500000 }\nlog_operations = true",
    );
    let told = ["many operations could not be stored", "this run is stored only in part"];
    let fathom = measured_without_a_store(fathom, &text, &fs.path().join("store.db"), &told);
    let args =
        ["list", "--json", "--store", fs.path().join("store.db").to_str().expect("UTF-8")].map(str::to_owned);
    let listed = fathom.run(args).expect_code(0);
    assert!(listed.stdout.contains("\"phases\": 1"), "what was stored before is there: {}", listed.stdout);
    assert!(listed.stdout.contains("\"status\": \"failed\""), "it was not killed: {}", listed.stdout);
    let shown =
        fathom.run(["show", "--store", fs.path().join("store.db").to_str().expect("UTF-8")]).expect_code(0);
    assert!(shown.stdout.contains("stored only in part"), "{}", shown.stdout);
}
