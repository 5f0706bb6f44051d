//! `fathom why`: the answer for a stored run, by id and by path.

use fathom_testkit::{Fathom, LoopFs, TestDir};
use serde_json::Value;

/// A run of fio's dialect in a directory.
fn measured(fathom: &Fathom, words: &str) {
    fathom.run(format!("fio --name=a --size=4m --bs=4k {words}").split(' ')).expect_code(0);
}

/// The answer as JSON.
fn told(fathom: &Fathom, words: &[&str]) -> Value {
    let outcome = fathom.run([&["why", "--json"], words].concat()).expect_code(0);
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|e| panic!("{e}: {}", outcome.stdout))
}

#[test]
fn the_parts_of_an_operation_add_up() {
    let test = "the_parts_of_an_operation_add_up";
    let Some(fs) = LoopFs::ext4(test).mebibytes(64).direct_io().mount() else { return };
    let fathom = Fathom::new();
    for words in
        ["--rw=read", "--rw=randread --direct=1 --ioengine=libaio --iodepth=32", "--rw=write --fsync=1"]
    {
        measured(&fathom, &format!("--directory={} {words}", fs.path().display()));
        let why = told(&fathom, &[]);
        let budget = &why["budget"];
        let parts = budget["parts"].as_array().expect("parts");
        let sum: f64 = parts.iter().filter_map(|p| p["ns"].as_f64()).sum();
        let total = budget["total_ns"].as_f64().expect("a total");
        assert!((sum - total).abs() < 0.01 * total, "{words}: {why}");
        let text = fathom.run(["why"]).expect_code(0);
        let lines = text.stdout.lines().count();
        assert!((4..=10).contains(&lines), "{}", text.stdout);
        let operation = budget["operation"].as_str().expect("a word");
        assert!(text.stdout.contains(&format!(" for one {operation}:")), "{}", text.stdout);
    }
}

#[test]
fn a_path_means_the_newest_run_there() {
    let fathom = Fathom::new();
    let (one, other) = (TestDir::new(), TestDir::new());
    measured(&fathom, &format!("--directory={} --rw=write", one.path().display()));
    measured(&fathom, &format!("--directory={} --rw=read", other.path().display()));
    let of = |words: &[&str]| told(&fathom, words);
    let path = one.path().to_str().expect("UTF-8");
    assert_ne!(of(&["last"])["run"], of(&[path])["run"]);
    let parent = one.path().parent().and_then(|p| p.to_str()).expect("a parent");
    assert_eq!(of(&["last"])["run"], of(&[parent])["run"]);
    let empty = TestDir::new();
    let path = empty.path().to_str().expect("UTF-8");
    fathom.run(["why", path]).expect_code(2).expect_stderr("nothing was measured in");
    fathom.run(["why", "/nowhere/at/all"]).expect_code(3).expect_stderr("/nowhere/at/all");
}

#[test]
fn a_phase_is_named_by_its_name() {
    let fathom = Fathom::new();
    let dir = TestDir::new();
    measured(&fathom, &format!("--directory={} --rw=write --verify=crc32c", dir.path().display()));
    let told = fathom.run(["why"]).expect_code(0);
    assert!(told.stdout.contains("1 more phase: fathom why last --phase NAME"), "{}", told.stdout);
    fathom.run(["why", "--phase", "a"]).expect_code(0);
    fathom
        .run(["why", "--phase", "zebra"])
        .expect_code(2)
        .expect_stderr("has no phase \"zebra\"; it has: a; a, reading back");
}

/// A survey has no single question: `why` answers for each of its main figures.
#[test]
fn a_survey_is_explained_figure_by_figure() {
    let test = "a_survey_is_explained_figure_by_figure";
    let Some(fs) = LoopFs::ext4(test).mebibytes(256).direct_io().mount() else { return };
    let fathom = Fathom::new();
    let directory = fs.path().display().to_string();
    fathom.run(["survey", "--quick", "-o", "none.html", &directory]).expect_code(0);
    let text = fathom.run(["why"]).expect_code(0).stdout;
    assert!(text.starts_with(&directory), "{text}");
    let told = told(&fathom, &[]);
    // A busy machine has no time for some of them.
    let figures = told["figures"].as_array().filter(|all| !all.is_empty()).expect("figures");
    for figure in figures {
        let what = figure["what"].as_str().expect("a name");
        assert!(text.contains(what), "{what}: {text}");
    }
    // Each phase is found by the name that is given.
    for figure in figures {
        let phase = figure["phase"].as_str().expect("a phase");
        let one = fathom.run(["why", "--json", "last", "--phase", phase]).expect_code(0);
        let one: Value = serde_json::from_str(&one.stdout).expect("JSON");
        assert_eq!(one, figure["why"], "{phase}");
    }
}
