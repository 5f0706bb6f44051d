//! Measuring both sides now: random quads of real runs, stored with their position in the design, so that later
//! verdicts agree.

use fathom_testkit::Fathom;
use fathom_testkit::dir::names_in;
use serde_json::Value;
use std::fs;

/// Reads 64 KiB of a separate file for 50 ms, as fast as `stream` allows.
fn workload(fathom: &Fathom, name: &str, stream: &str) -> String {
    let text = format!(
        "name = \"{name}\"\n[[fileset]]\nname = \"f\"\nfiles = {{ list = [\"compare.dat\"] }}\nsize = {{ fixed = \"64KiB\" }}\n\
         [[phase]]\nname = \"read\"\nbefore = [{{ prepare = \"f\" }}]\nstop = {{ time = \"50ms\" }}\n\
         [[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\n[phase.group.thread.program.stream]\n\
         fileset = \"f\"\ndirection = \"read\"\naccess = \"uniform\"\nrecord = {{ fixed = \"4KiB\" }}\namount = \"endless\"\n{stream}\n"
    );
    let path = fathom.dir().path().join(format!("{name}.toml"));
    fs::write(&path, text).expect("a workload");
    path.to_str().expect("UTF-8").to_string()
}

fn run<'a>(words: &[&'a str]) -> Vec<&'a str> {
    ["compare", "--run", "--warm-up", "0"].iter().chain(words).copied().collect()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn ids(comparison: &Value, side: &str) -> String {
    let runs = comparison[side]["runs"].as_array().expect("runs");
    runs.iter().filter_map(|r| r["id"].as_str()).collect::<Vec<_>>().join(",")
}

// A hundredth of the rate, so that no stall of a busy machine can hide the difference.
#[test]
fn a_lower_rate_is_found_and_said_again_from_the_store() {
    let fathom = Fathom::new();
    let file = workload(&fathom, "paced", "");
    let words =
        ["--vary", "rate=40000,400", "--max-quads", "3", "--seed", "7", "--gate", "-o", "page.html", &file];
    let outcome = fathom.run(run(&words)).expect_code(1);
    let said = outcome
        .expect_stderr("rate=400 against rate=40000, seed 7; 12 runs at most")
        .expect_stderr("quad 3 of at most 3 (")
        .expect_stdout("Single runs scatter by")
        .expect_stderr("all 3 quads are done")
        .expect_stdout("A  rate=40000: 6 runs")
        .expect_stdout("random quads, drawn from seed 7 (")
        .expect_stdout("planned: at most 3 quads; a look after each from the third on")
        .expect_stdout(" % slower than A")
        .expect_stdout("6 + 6 runs in 3 random quads; exact p = 0.0093")
        .expect_stdout("Regression: 1 of 1 figure worse by 1 % or more.");
    assert_eq!(names_in(fathom.work()), ["page.html"], "the files of the runs are gone");
    let page = fs::read_to_string(fathom.work().join("page.html")).expect("a page");
    assert!(page.contains("How large, how sure") && page.contains("Planned before the first run"));
    let again = fathom.run(["compare", "--of", "last", "--gate"]).expect_code(1);
    assert_eq!(again.stdout, said.stdout);
    // The runs carry their position, whatever the order of naming them.
    let found = json(&fathom.run(["compare", "--of", "last", "--json"]).stdout);
    let one = &found["comparisons"][0];
    assert_eq!((one["session"]["seed"].as_u64(), one["alpha"].as_f64()), (Some(7), Some(0.0095)));
    let (a, b) = (ids(one, "a"), ids(one, "b"));
    let by_id = fathom.run(["compare", "--a", &a, "--b", &b]).expect_code(0);
    let sentence = one["rows"][0]["sentence"].as_str().expect("a sentence");
    let _ = by_id.expect_stdout("random quads, drawn from seed 7 (").expect_stdout(sentence);
    let listed = fathom.run(["list", "--json"]).expect_code(0);
    assert!(listed.stdout.contains("compare 20") && listed.stdout.contains("rate=400"), "{}", listed.stdout);
}

#[test]
fn the_plan_tells_all_and_does_nothing() {
    let fathom = Fathom::new();
    let (one, two) = (workload(&fathom, "one", ""), workload(&fathom, "two", "think_not = 1"));
    let refused = fathom.run(run(&["--plan", &one, &two])).expect_code(2);
    let _ = refused.expect_stderr("think_not");
    let two = workload(&fathom, "two", "pace = { rate = { operations_per_s = 100.0 } }");
    let words = ["--plan", "--calibrate", "--seed", "7", "--budget", "10min", &one, &two];
    let told = fathom.run(run(&words)).expect_code(0).stdout;
    let order = |text: &str| text.lines().find(|l| l.starts_with("orders from seed 7: ")).map(str::to_owned);
    for part in [
        "A: ",
        "one.toml",
        "  file compare.dat is made and removed",
        "B: ",
        "before every run: dirty pages are written back",
        "then A against itself, 5 quads (",
        "whether this machine can tell a change of 3 %",
        "at most 10 quads; a look after each from the third on",
        "60 runs at most, about 3.0 s by their own stop rules, plus the time between them",
        "no quad is started that would not end within 10 min",
        "every run is kept in the store; files that runs make are removed",
    ] {
        assert!(told.contains(part), "{part:?} is missing in\n{told}");
    }
    // The noise does not change the order of the comparison; the seed determines it.
    let without = fathom.run(run(&["--plan", "--seed", "7", &one, &two])).expect_code(0).stdout;
    assert_eq!(order(&told), order(&without));
    assert!(order(&told).is_some_and(|l| {
        l.split(' ').filter(|w| w.len() == 4 && w.chars().all(|c| "AB".contains(c))).count() == 10
    }));
    let other = fathom.run(run(&["--plan", "--seed", "8", &one, &two])).expect_code(0).stdout;
    assert!(!other.contains(order(&told).expect("orders").trim_start_matches("orders from seed 7: ")));
    assert_eq!(names_in(fathom.work()), [""; 0]);
    assert!(!fathom.store().exists(), "nothing was stored");
}

#[test]
fn ctrl_c_keeps_whole_quads_and_says_what_they_say() {
    let fathom = Fathom::new();
    let file = workload(&fathom, "paced", "");
    // Longer runs than elsewhere: the fifth quad ends the comparison, two seconds and more after the fourth began.
    let text = fs::read_to_string(&file).expect("the workload");
    fs::write(&file, text.replace("50ms", "300ms")).expect("the workload");
    // B is faster, so that a gate would pass if the comparison had finished.
    let words = ["--vary", "rate=400,40000", "--max-quads", "10", "--gate", "--junit", "out.xml", &file];
    let mut running = fathom.spawn(run(&words));
    running.wait_for_text("quad 4 of at most 10");
    running.signal_group(libc::SIGINT);
    let outcome = running.finish().expect_code(130).expect_stdout(" faster than A");
    let outcome = outcome
        .expect_stderr("stopped by signal 2; the verdict above is from the quads completed by then")
        .expect_stdout("Not enough data: the comparison ended before its plan did: stopped by signal 2.");
    let told = fs::read_to_string(fathom.work().join("out.xml")).expect("what CI waits for");
    assert!(told.contains("<error type=\"not-enough-data\""), "{told}");
    assert_eq!(names_in(fathom.work()), ["out.xml"]);
    let again = fathom.run(["compare", "--of", "last"]).expect_code(0);
    let sentence = |text: &str| text.lines().find(|l| l.starts_with("B is ")).map(str::to_owned);
    assert!(sentence(&again.stdout).is_some());
    assert_eq!(sentence(&again.stdout), sentence(&outcome.stdout));
    let gated = fathom.run(["compare", "--of", "last", "--gate"]).expect_code(3);
    let _ = gated.expect_stdout("ended before its plan did");
}

#[test]
fn sides_are_directories_or_command_lines_too() {
    let fathom = Fathom::new();
    let file = workload(&fathom, "here", "");
    for name in ["one", "two"] {
        fs::create_dir(fathom.work().join(name)).expect("a directory");
    }
    let outcome = fathom
        .run(run(&["--in", "one,two", "--max-quads", "1", "--no-store", "--json", &file]))
        .expect_code(0);
    let found = json(&outcome.stdout);
    let one = &found["comparisons"][0];
    assert_eq!((one["a"]["name"].as_str(), one["b"]["name"].as_str()), (Some("in=one"), Some("in=two")));
    let directory = one["workload"].as_array().and_then(|all| all.iter().find(|d| d["name"] == "directory"));
    assert!(directory.is_some_and(|d| d["a"].as_str().is_some_and(|a| a.ends_with("/one"))), "{one:#}");
    assert_eq!(names_in(&fathom.work().join("one")), [""; 0]);
    assert!(!fathom.store().exists());
    let iozone = |record: &'static str| ["iozone", "-i", "0", "-s", "64k", "-r", record];
    let words =
        [&["--max-quads", "1", "--json", "--"][..], &iozone("4k"), &["--and"], &iozone("8k")].concat();
    let found = json(&fathom.run(run(&words)).expect_code(0).stdout);
    let one = &found["comparisons"][0];
    assert_eq!(one["b"]["name"], "iozone -i 0 -s 64k -r 8k");
    assert!(
        one["rows"]
            .as_array()
            .is_some_and(|r| r.iter().any(|r| r["cell"].as_str().is_some_and(|c| c.starts_with("write"))))
    );
    assert_eq!(names_in(fathom.work()), ["one", "two"]);
}

#[test]
fn the_noise_alone_says_what_this_machine_can_see() {
    let fathom = Fathom::new();
    let file = workload(&fathom, "paced", "pace = { rate = { operations_per_s = 2000.0 } }");
    // Any machine detects so large a change, however noisy; a busy one may show two levels.
    let outcome = fathom.run(run(&["--calibrate", "--effect", "40%", &file])).expect_code(0);
    let _ = outcome
        .expect_stderr("noise: quad 5 of 5 (")
        .expect_stderr("This machine can detect changes of")
        .expect_stdout("A  ")
        .expect_stdout("paced.toml, again: 10 runs");
    let _ = fathom.run(["compare", "--of", "last"]).expect_code(0).expect_stdout(", again: 10 runs");
    // A against itself is no regression, nor proof of its absence, now as when it was measured.
    let gated = fathom.run(["compare", "--of", "last", "--gate", "--junit", "out.xml"]).expect_code(3);
    assert!(!gated.stdout.contains("egression"), "{}", gated.stdout);
    let _ = gated.expect_stderr("there is no B for the gate to judge");
    let told = fs::read_to_string(fathom.work().join("out.xml")).expect("what CI waits for");
    assert!(told.contains("<error type=\"not-enough-data\""), "{told}");
}

/// N reads, executed several times in one run.
#[test]
fn a_percentile_may_stand_on_the_operations_of_all_repetitions() {
    let fathom = Fathom::new();
    let file = workload(&fathom, "paced", "");
    let text = fs::read_to_string(&file).expect("the workload");
    let text = text.replace("name = \"paced\"\n", "name = \"paced\"\nrepetitions = 5\n");
    let text = text.replace("stop = { time = \"50ms\" }", "stop = { operations = 300 }");
    fs::write(&file, text).expect("the workload");
    let words =
        ["compare", "--run", "--vary", "rate=40000,39000", "--figure", "p99", "--max-quads", "1", &file];
    let outcome = fathom.run(words).expect_code(0);
    let _ = outcome.expect_stderr("all 1 quads are done").expect_stdout("read p99");
}

#[test]
fn the_baseline_of_a_sweep_is_the_value_it_names_first() {
    let fathom = Fathom::new();
    let file = workload(&fathom, "paced", "");
    let sweep = ["sweep", "--vary", "rate=40000,400", "--rounds", "6", "--", &file];
    let _ = fathom.run(sweep).expect_code(0);
    // A user's label that begins like a sweep's does not matter.
    let _ = fathom.run(["run", "--label", "sweep of the disk", &file]);
    let outcome = fathom.run(["compare", "--sweep", "last", "--gate"]).expect_code(1);
    let _ =
        outcome.expect_stdout("A  rate=40000").expect_stdout("B  rate=400").expect_stdout(" slower than A");
    let other = fathom.run(["compare", "--sweep", "last", "--base", "400", "--gate"]).expect_code(0);
    let _ = other.expect_stdout("A  rate=400").expect_stdout(" faster than A");
}

#[test]
fn a_script_is_named_from_where_the_program_was_started() {
    let fathom = Fathom::new();
    for name in ["one", "two"] {
        fs::create_dir(fathom.work().join(name)).expect("a directory");
    }
    let script = "define fileset name=f,path=\".\",size=64k,entries=1,prealloc\n\
                  define process name=p,instances=1 { thread name=t,memsize=1m,instances=1 {\n\
                  flowop openfile name=o,filesetname=f,fd=1\nflowop read name=r,fd=1,iosize=4k\nflowop closefile name=c,fd=1 } }\nrun 1\n";
    fs::write(fathom.work().join("w.f"), script).expect("a script");
    let words = ["--plan", "--in", "one,two", "--", "filebench", "-f", "w.f"];
    let _ = fathom.run(run(&words)).expect_code(0).expect_stdout("in one");
}

#[test]
fn a_figure_on_too_few_operations_ends_it_after_the_warm_up() {
    let fathom = Fathom::new();
    let file = workload(&fathom, "paced", "pace = { rate = { operations_per_s = 200.0 } }");
    for words in [&["--vary", "rate=200,100"][..], &["--calibrate"]] {
        let words = [
            &["compare", "--run", "--figure", "p99.9"],
            words,
            &["--gate", "--junit", "out.xml", "--force", &file],
        ]
        .concat();
        let outcome = fathom.run(words).expect_code(3);
        let _ = outcome.expect_stderr("Too few operations").expect_stderr("--figure p99.9");
        let told = fs::read_to_string(fathom.work().join("out.xml")).expect("what CI waits for");
        assert!(told.contains("<error type=\"not-enough-data\""), "{told}");
    }
}

#[test]
fn the_noise_keeps_to_the_budget() {
    let fathom = Fathom::new();
    let file = workload(&fathom, "paced", "");
    let words = ["compare", "--run", "--calibrate", "--budget", "1ms", "--gate", &file];
    let outcome = fathom.run(words).expect_code(3);
    let _ = outcome.expect_stderr("0 of 5 of A against itself are done, and nothing was compared");
}

#[test]
fn a_budget_that_is_spent_ends_it() {
    let fathom = Fathom::new();
    let file = workload(&fathom, "paced", "");
    let words = ["--vary", "rate=40000,400", "--budget", "1ms", "--no-store", "--gate", &file];
    let words: Vec<&str> = ["compare", "--run"].iter().chain(&words).copied().collect();
    let outcome = fathom.run(words).expect_code(3);
    let _ = outcome
        .expect_stderr("warm-up: 1 run of each side")
        .expect_stderr("--budget has no time left for another quad; 0 of at most 10 are done");
}

#[test]
fn a_budget_bounds_what_runs_before_anybody_knows_how_long_a_run_takes() {
    let fathom = Fathom::new();
    let file = workload(&fathom, "paced", "");
    let with = |more: &[&'static str], code: u8, told: &str| {
        let words =
            [&["compare", "--run", "--vary", "rate=40000,400", "--no-store", "--gate"], more, &[&file]];
        let outcome = fathom.run(words.concat()).expect_code(code.into());
        outcome.expect_stderr(told)
    };
    // Neither a warm-up nor a quad begins without time.
    let spent = "--budget has no time left for another quad; 0 of at most 10 are done";
    let _ = with(&["--budget", "0s", "--warm-up", "0"], 3, spent);
    let warmed = with(&["--budget", "0s", "--warm-up", "3"], 3, spent);
    assert!(!warmed.stdout.contains("A  "), "{}", warmed.stdout);
    // A run takes at least 50 ms: the first shows that four do not fit.
    let first = "--budget is too short for the first";
    let _ = with(&["--budget", "150ms", "--warm-up", "0", "--calibrate"], 3, first);
}

#[test]
fn what_cannot_be_measured_is_said_before_anything_runs() {
    let fathom = Fathom::new();
    let (one, two) = (workload(&fathom, "one", ""), workload(&fathom, "two", ""));
    let refused: [(&[&str], &str); 16] = [
        (&[], "0 were named"),
        (&[&one], "nothing differs between the sides"),
        (&[&one, &two, &one], "3 were named"),
        (&["--vary", "rate=1,2", &one, &two], "the sides would differ in workload and rate"),
        (&["--vary", "rate=1,2,3", &one], "rate has 3 values: A and B are two"),
        (&["--in", "nowhere,there", &one], "--in "),
        (&["--image-size", "1GiB", &one, &two], "--image-size needs a loop device"),
        (&["--threshold", "7%", "--effect", "7%", &one, &two], "--effect 7 % is not above --threshold 7 %"),
        (&["--effect", "0.5%", &one, &two], "--effect 0.5 % is not above --threshold 1 %"),
        (&["--half-width", "1%", &one, &two], "--half-width belongs to --stop precision"),
        (&["--max-quads", "0", &one, &two], "--max-quads 0"),
        (&["--image-in", ".", &one, &two], "--image-in needs a loop device"),
        (&["--vary", "skeduler=none,bfq", &one], "skeduler is not a known setting"),
        (&["--", "iozone", "-i", "0", "--and", "sysbench"], "error"),
        (&["no-such.toml", &one], "no-such.toml"),
        (&["--", "iozone", "-i", "0", "--and"], "--and separates two command lines"),
    ];
    for (words, sentence) in refused {
        let _ = fathom.run(run(words)).expect_code(2).expect_stderr(sentence);
    }
    let _ = fathom.run(["compare", "--budget", "1s", "a", "b"]).expect_code(2).expect_stderr("--run");
    let _ = fathom.run(["compare", "--cold", "a", "b"]).expect_code(2).expect_stderr("--cold needs --run");
    let _ =
        fathom.run(["compare", "--of", "last"]).expect_code(2).expect_stderr("no run of such a comparison");
    let _ = fathom.run(["compare", "--no-store", "a", "b"]).expect_code(2).expect_stderr("compare --run");
    let words = ["--figure", "fsync p99", "--max-quads", "1", "--warm-up", "1", &one, &two];
    let words: Vec<&str> = ["compare", "--run"].iter().chain(&words).copied().collect();
    let outcome = fathom.run(words).expect_code(3);
    let _ = outcome.expect_stderr("--figure fsync p99: both sides have ").expect_stderr("throughput");
    assert_eq!(names_in(fathom.work()), [""; 0]);
}
