//! What `fathom compare` rejects, each in one sentence with a remedy.

use crate::compare::{SLOWER, runs, with};

#[test]
fn what_cannot_be_compared_is_said() {
    let mut all = runs(&SLOWER[..1], true);
    all[0].environment["sweep"]["settings"]["read_ahead_kb"] = "0".into();
    all[1].environment["sweep"]["settings"]["read_ahead_kb"] = "128".into();
    let fathom = with(&all);
    std::fs::write(fathom.work().join("prose.txt"), "Dear all,\nnothing to report.\n").expect("a text");
    std::fs::write(
        fathom.work().join("broken.json"),
        "{\n  \"schema\": \"fathom-record/1\",\n  \"id\": 1\n}\n",
    )
    .expect("a file");
    let refused: [(&[&str], &str); 18] = [
        (&[], "two sides are needed"),
        (&["last"], "two sides are needed"),
        (&["before", "after"], "\"before\" is neither the id nor the label of a run"),
        (&["last", "last"], "is on two sides"),
        (&["20261122T12", "last"], "20261122T120000-000000"),
        (&["prose.txt", "last"], "prose.txt holds no run"),
        (&["prose.txt:2-1", "last"], "prose.txt:2-1 holds no run"),
        (&["broken.json", "last"], "broken.json: "),
        (&["gone/file.json", "last"], "gone/file.json is no file"),
        (&["--sweep", "9"], "the store has no run of such a sweep"),
        (&["--sweep", "last"], "varied read_ahead_kb, scheduler; --by names the one to compare"),
        (&["--sweep", "last", "--by", "fs"], "--by fs: the sweep varied read_ahead_kb, scheduler"),
        (&["--threshold", "0", "last", "last"], "--threshold 0: a share above 0"),
        (
            &["--sweep", "last", "--by", "scheduler", "--metric", "page faults"],
            "--metric page faults: no cell of both sides has it; they have ",
        ),
        (
            &["-o", "page.pdf", "last", "last"],
            "a comparison is written as .html .md .xlsx .svg, or DIR/ for all pictures",
        ),
        (
            &["-o", "gone/page.html", "last", "last"],
            "gone/page.html cannot be written: there is no directory gone",
        ),
        (&["--run", "-o", "gone/page.svg", "a.toml", "b.toml"], "there is no directory gone"),
        (&["--full", "-o", "page.html", "last", "last"], "--full belongs to a file that ends in .md"),
    ];
    for (words, sentence) in refused {
        let mut line = vec!["compare"];
        line.extend(words);
        let _ = fathom.run(line).expect_code(2).expect_stderr(sentence);
    }
    let base = ["compare", "--sweep", "last", "--by", "scheduler", "--base", "x"];
    let _ = fathom.run(base).expect_code(2).expect_stderr("--base x: scheduler had none, bfq");
    for words in [["--a", "last"].as_slice(), &["--junit", "x.xml", "a", "b"], &["--by", "x", "a", "b"]] {
        let mut line = vec!["compare"];
        line.extend(words);
        let _ = fathom.run(line).expect_code(2);
    }
}

#[test]
fn options_of_measuring_are_refused_where_nothing_is_measured() {
    let fathom = with(&runs(&SLOWER, true));
    let stored: [&[&str]; 3] = [&["--a", "last", "--b", "last"], &["--of", "last"], &["--sweep", "last"]];
    let measuring: [&[&str]; 18] = [
        &["--vary", "rate=1,2"],
        &["--in", "x"],
        &["--figure", "p99"],
        &["--effect", "3%"],
        &["--stop", "precision"],
        &["--half-width", "1%"],
        &["--max-quads", "3"],
        &["--budget", "1s"],
        &["--warm-up", "0"],
        &["--calibrate"],
        &["--seed", "1"],
        &["--settle", "1s"],
        &["--on", "x"],
        &["--image-in", "x"],
        &["--image-size", "1GiB"],
        &["--cold"],
        &["--plan"],
        &["--", "sysbench", "run"],
    ];
    for sides in stored {
        for words in measuring {
            let line = [&["compare"], sides, words].concat();
            let sentence = if words[0] == "--cold" { "--cold needs --run" } else { "cannot be used with" };
            let _ = fathom.run(line).expect_code(2).expect_stderr(sentence);
        }
    }
    for words in [
        ["--of", "last"].as_slice(),
        &["last", "last"],
        &["--a", "last", "--b", "last"],
        &["--run", "w.toml"],
    ] {
        for option in ["--by", "--base"] {
            let line = [&["compare"], words, &[option, "scheduler"]].concat();
            let _ = fathom.run(line).expect_code(2).expect_stderr("cannot be used with");
        }
    }
}
