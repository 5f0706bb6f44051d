//! Settings of workloads: keys of the native format, words of drop-ins. None of it needs privileges.

use crate::sweep::support::{journals, json, one_error, sweep, workload};
use fathom_testkit::Fathom;
use fathom_testkit::dir::names_in;

#[test]
fn keys_of_a_native_workload_are_varied() {
    let fathom = Fathom::new();
    let file = workload(&fathom, "", "");
    let words = ["--vary", "record=4KiB,64KiB", "--vary", "threads=1,2", "--rounds", "2", "--figure", "ops"];
    let outcome = fathom.run(sweep(&words, &file)).expect_code(0);
    for word in ["record=4KiB", "record=64KiB", "threads=1", "threads=2", "median of 2 runs", "* best median"]
    {
        assert!(outcome.stdout.contains(word), "{word} is missing in\n{}", outcome.stdout);
    }
    assert!(outcome.stdout.contains("2 rounds are too few"), "{}", outcome.stdout);
    assert_eq!(outcome.stdout.matches("* best median").count(), 1, "one table: {}", outcome.stdout);
    assert!(outcome.stdout.contains("(the first setting):\n"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("[what served it]"), "{}", outcome.stdout);
    assert_eq!(names_in(fathom.work()), [""; 0]);
    assert!(journals(&fathom).is_empty());
    let shown = fathom.run(["export", "--format", "csv"]).expect_code(0);
    assert!(shown.stdout.contains("read"), "{}", shown.stdout);
}

#[test]
fn the_order_is_random_interleaved_and_from_the_seed() {
    let fathom = Fathom::new();
    let file = workload(&fathom, "", "");
    let order = |seed: &str| {
        let words = ["--vary", "record=4k,8k,16k,32k", "--rounds", "4", "--seed", seed, "--plan"];
        fathom.run(sweep(&words, &file)).expect_code(0).stdout
    };
    assert_eq!(order("1"), order("1"));
    assert_ne!(order("1"), order("2"));
    assert!(order("1").contains("varies record: 4k, 8k, 16k, 32k (in the workload)\n"), "{}", order("1"));
    assert_eq!(order("1").matches("block ").count(), 2);
    assert_eq!(order("1").matches("record=8k\n").count(), 4);
    assert_eq!(names_in(fathom.work()), [""; 0]);
}

#[test]
fn words_of_sysbench_are_varied_and_its_files_come_and_go() {
    let fathom = Fathom::new();
    let page = fathom.dir().path().join("s.html");
    let outcome = fathom
        .run([
            "sweep",
            "--vary",
            "n=1,2",
            "--rounds",
            "2",
            "--figure",
            "time",
            "--json",
            "-o",
            page.to_str().expect("UTF-8"),
            "--",
            "sysbench",
            "fileio",
            "--file-total-size=1m",
            "--file-num=4",
            "--file-test-mode=rndrw",
            "--threads={n}",
            "--events=200",
            "--time=0",
            "run",
        ])
        .expect_code(0);
    let told = json(&outcome);
    assert_eq!(told["runs"].as_array().map(Vec::len), Some(4));
    assert!(told["runs"][0]["phases"][0]["seconds"].as_f64().is_some_and(|s| s > 0.0), "{told}");
    assert_eq!(names_in(fathom.work()), [""; 0], "the files that the sweep prepared are gone");
    let html = std::fs::read_to_string(&page).expect("a page");
    assert!(html.contains("<title>Sweep: ") && html.matches("<circle class=\"fa\"").count() == 4);
}

#[test]
fn files_that_were_prepared_before_stay() {
    let fathom = Fathom::new();
    let common =
        ["--file-total-size=1m", "--file-num=2", "--file-test-mode=rndrd", "--events=50", "--time=0"];
    let prepare: Vec<&str> =
        ["sysbench", "fileio"].iter().chain(&common).copied().chain(["prepare"]).collect();
    let _ = fathom.run(prepare).expect_code(0);
    let words = ["sweep", "--vary", "t=1,2", "--rounds", "1", "--", "sysbench", "fileio", "--threads={t}"];
    let run: Vec<&str> = words.iter().chain(&common).copied().chain(["run"]).collect();
    let _ = fathom.run(run).expect_code(0);
    assert_eq!(names_in(fathom.work()), ["test_file.0", "test_file.1"]);
}

#[test]
fn iozone_and_scripts_are_swept_too() {
    let fathom = Fathom::new();
    let words = [
        "sweep", "--vary", "r=4k,64k", "--rounds", "1", "--", "iozone", "-s", "256k", "-r", "{r}", "-i", "0",
        "-i", "1",
    ];
    let outcome = fathom.run(words).expect_code(0);
    for phase in ["write", "rewrite", "read", "reread"] {
        assert!(outcome.stdout.contains(&format!("\n{phase}")), "{phase}: {}", outcome.stdout);
    }
    let script = fathom.dir().path().join("s.f");
    let text = "set $dir=scratch\ndefine fileset name=fs,path=$dir,entries=5,dirwidth=5,size=8k,prealloc\n\
        define process name=p { thread name=t { flowop read name=r,filesetname=fs,iosize=4k,random } }\nrun 1\n";
    std::fs::create_dir(fathom.work().join("a")).expect("a directory");
    std::fs::write(&script, text).expect("a script");
    let outcome = fathom
        .run([
            "sweep",
            "--vary",
            "d=a/x,a/y",
            "--rounds",
            "1",
            "--",
            "filebench",
            "-f",
            script.to_str().expect("UTF-8"),
            "--set",
            "dir={d}",
        ])
        .expect_code(0);
    assert!(outcome.stdout.contains("d=a/x") && outcome.stdout.contains("iB/s"), "{}", outcome.stdout);
}

#[test]
fn a_budget_ends_it_in_time() {
    let fathom = Fathom::new();
    let file = workload(&fathom, "stop = { time = \"1s\" }", "amount = \"endless\"");
    let words = ["--vary", "record=4k,8k", "--rounds", "600", "--budget", "6s"];
    let outcome = fathom.run(sweep(&words, &file)).expect_code(0);
    assert!(outcome.stdout.contains("Ended early after"), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("--budget"), "{}", outcome.stderr);
}

#[test]
fn an_error_of_the_last_cell_shows_before_the_first_runs() {
    let fathom = Fathom::new();
    let file = workload(&fathom, "", "");
    for (vary, words) in [
        ("record=4k,lots", &["record=lots", "lots"][..]),
        ("workload.phase.7.cache=cold", &["no number 7 in a list of 1"]),
        ("workload.nosuch=1", &["nosuch"]),
    ] {
        one_error(&fathom.run(sweep(&["--vary", vary], &file)).expect_code(2), words);
    }
    let sysbench =
        ["sweep", "--vary", "m=rndrd,nosuch", "--", "sysbench", "fileio", "--file-test-mode={m}", "run"];
    one_error(&fathom.run(sysbench).expect_code(2), &["sysbench", "nosuch"]);
    let unfilled = ["sweep", "--vary", "cache=cold", "--", "sysbench", "fileio", "--threads={t}", "run"];
    assert_eq!(fathom.run(unfilled).code, Some(2));
    assert_eq!(names_in(fathom.work()), [""; 0]);
}
