//! A simulated run is marked wherever it is shown: on the terminal, in lists, in its page and JSON, and in a
//! comparison.

use fathom_testkit::Fathom;

const WORKLOAD: &str = "name = \"small\"\n[[fileset]]\nname = \"f\"\nfiles = { list = [\"f\"] }\nsize = { fixed = \"4MiB\" }\n[[phase]]\n\
    name = \"read\"\n[[phase.group]]\nname = \"g\"\n[[phase.group.thread]]\n[phase.group.thread.program.stream]\nfileset = \"f\"\n\
    direction = \"read\"\naccess = \"permuted\"\nrecord = { fixed = \"64KiB\" }\n";

fn simulated() -> (Fathom, String) {
    let fathom = Fathom::new();
    let path = fathom.dir().path().join("w.toml");
    std::fs::write(&path, WORKLOAD).expect("writes");
    let path = path.to_str().expect("UTF-8").to_owned();
    let outcome = fathom.run(["sim", "run", &path]).expect_code(0);
    assert!(
        outcome.stdout.starts_with("This run is simulated, nothing was measured: host today"),
        "{}",
        outcome.stdout
    );
    assert!(outcome.stdout.contains("guessed"), "{}", outcome.stdout);
    (fathom, path)
}

#[test]
fn lists_pages_json_and_comparisons_call_it_simulated() {
    let (fathom, path) = simulated();
    let list = fathom.run(["list"]).expect_code(0);
    assert!(list.stdout.contains(" simulated "), "{}", list.stdout);
    for form in ["html", "md"] {
        let page = fathom.dir().path().join(format!("page.{form}"));
        let name = page.to_str().expect("UTF-8");
        let _ = fathom.run(["report", "last", "-o", name]).expect_code(0);
        let text = std::fs::read_to_string(&page).expect("a page");
        assert!(text.contains("This run is simulated, nothing was measured"), "{form}");
    }
    let _ = fathom.run(["show", "last"]).expect_code(0).expect_stdout("simulated");
    let _ = fathom.run(["show", "last", "--json"]).expect_code(0).expect_stdout("\"simulation\"");
    let _ = fathom.run(["sim", "run", &path, "--scheduler", "none"]).expect_code(0);
    let runs = fathom.run(["list", "--json"]).expect_code(0);
    let runs: Vec<serde_json::Value> = serde_json::from_str(&runs.stdout).expect("JSON");
    let id = |n: usize| runs[n]["id"].as_str().expect("an id").to_owned();
    let compared = fathom.run(["compare", &id(0), &id(1)]);
    assert!(compared.stdout.contains("A is simulated: none of it was measured"), "{}", compared.stdout);
}

#[test]
fn the_same_line_gives_the_same_figures() {
    let (fathom, path) = simulated();
    let phases = || {
        let outcome = fathom.run(["sim", "run", &path, "--json", "--no-store"]).expect_code(0);
        let again = fathom.run(["sim", "run", &path, "--json", "--no-store"]).expect_code(0);
        assert_eq!(again.stdout, outcome.stdout, "the same bytes, on whatever day");
        let run: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
        (run["phases"].clone(), run["simulation"].clone())
    };
    assert_eq!(phases(), phases());
}

#[test]
fn what_cannot_be_simulated_is_an_error_that_says_so() {
    let (fathom, path) = simulated();
    std::fs::write(fathom.work().join("photo"), [0xff, 0xd8]).expect("a file");
    for (args, words) in [
        (
            vec!["sim", "run", path.as_str(), "--device", "./photo"],
            "cannot read ./photo: it is not text (UTF-8)",
        ),
        (vec!["sim", "run", path.as_str(), "--host", "atari"], "no host profile \"atari\""),
        (vec!["sim", "run", path.as_str(), "--device", "drum"], "drum"),
        (vec!["sim", "run", path.as_str(), "--scheduler", "lottery"], "no elevator \"lottery\""),
        (vec!["sim", "run", path.as_str(), "--readahead", "psychic"], "psychic"),
        (vec!["sim", "run", path.as_str(), "--stack", "half"], "there are full and nocache"),
        (vec!["sim", "run"], "what is to be simulated?"),
        (vec!["sim", "run", "--", "sysbench", "fileio", "--file-test-mode=rndrd", "prepare"], "only run"),
    ] {
        let outcome = fathom.run(&args).expect_code(2);
        assert!(outcome.stderr.contains(words), "{args:?}: {}", outcome.stderr);
    }
}

#[test]
fn everything_that_can_be_named_is_listed() {
    let listed = Fathom::new().run(["sim", "profiles"]).expect_code(0);
    for name in ["athlon-2004-linux-2.6", "deskstar-60gxp", "mq-deadline", "ra26-shared", "guessed"] {
        assert!(listed.stdout.contains(name), "{name}: {}", listed.stdout);
    }
}
