//! Sources of the sides of a comparison: runs, labels, exported records and output of old tools.

use crate::compare::{GOLDEN, SAME, SLOWER, file, runs, with};
use fathom_testkit::{Fathom, seed};

#[test]
fn as_markdown_it_fits_a_ticket_and_in_full_it_is_whole() {
    let fathom = with(&runs(&SLOWER, false));
    let written = |file: &str, full: &[&str]| {
        let line = [&["compare", "--gate", "before", "after", "-o", file], full].concat();
        let _ = fathom.run(line).expect_code(1);
        std::fs::read_to_string(fathom.work().join(file)).expect("written")
    };
    let short = written("short.md", &[]);
    assert!(short.lines().count() <= 25, "{short}");
    assert!(short.starts_with("## after compared with before\n"), "{short}");
    assert!(short.contains("**Regression: ") && short.contains("B is 2.7 % slower than A"), "{short}");
    let whole = written("whole.md", &["--full"]);
    assert!(whole.contains("B is 2.7 % slower than A") && !whole.contains("--full"), "{whole}");
}

#[test]
fn a_sweep_of_known_figures_gets_the_golden_sentence_and_a_page() {
    let fathom = with(&runs(&SLOWER, true));
    let outcome = fathom.run(["compare", "--sweep", "last", "-o", "page.html"]).expect_code(0);
    let outcome = outcome.expect_stdout(GOLDEN).expect_stdout("A  scheduler=none: 10 runs");
    let _ = outcome
        .expect_stdout("random quads, as the sweep drew them (ABBA BAAB ABAB BBAA BABA)")
        .expect_stdout("20261122T120009-000000 has 449 MiB/s, where 474 MiB/s is usual. It is kept.")
        .expect_stdout("  scheduler: none | bfq")
        .expect_stderr("wrote page.html");
    let page = std::fs::read_to_string(fathom.work().join("page.html")).expect("a page");
    assert!(
        page.contains("scheduler=bfq against scheduler=none") && page.contains("B is 2.7 % slower than A")
    );
    let _ = fathom
        .run(["compare", "--sweep", "20261122", "--by", "scheduler", "--base", "bfq"])
        .expect_code(0)
        .expect_stdout("B is 2.8 % faster than A (ratio 1.0281");
}

#[test]
fn labels_are_sides_and_the_ids_tell_the_order() {
    let fathom = with(&runs(&SAME, false));
    let _ = fathom
        .run(["compare", "before", "after"])
        .expect_code(0)
        .expect_stdout(
            "measured as quads, by the order in which the runs were started (ABBA BAAB ABAB BBAA BABA)",
        )
        .expect_stdout(
            "No change seen; any difference is below 2 % (ratio 0.9982, 94.6 % interval 0.9936 to 1.0018).",
        );
}

#[test]
fn single_runs_by_id_have_a_ratio_and_nothing_else() {
    let fathom = with(&runs(&SLOWER, false));
    let outcome = fathom.run(["compare", "20261122T120000", "20261122T120009"]).expect_code(0);
    let _ = outcome
        .expect_stdout("B is 1.09× slower than A (one run each; not a verdict).")
        .expect_stdout("For a verdict: ");
    let three = fathom
        .run(["compare", "--a", "20261122T120000,20261122T120003", "--b", "20261122T120001,20261122T120002"])
        .expect_code(0);
    let _ = three.expect_stdout("Inconclusive: ratio 0.9");
}

#[test]
fn files_need_no_store() {
    let fathom = Fathom::new();
    let all = runs(&SLOWER, false);
    file(&fathom, "old.json", &all, "before");
    file(&fathom, "new.json", &all, "after");
    let outcome = fathom.run(["compare", "old.json", "new.json"]).expect_code(0);
    let _ = outcome.expect_stdout("A  old.json: 10 runs").expect_stdout("B is 2.7 % slower than A");
    assert!(!fathom.store().exists(), "nothing was asked of the store");
}

#[test]
fn parts_of_a_text_are_sides() {
    let fathom = Fathom::new();
    let dd = |seconds: &str, rate: &str| {
        format!(
            "1024+0 records in\n1024+0 records out\n1073741824 bytes (1.1 GB) copied, {seconds} s, {rate} MB/s\n"
        )
    };
    let mail = format!("Hello,\n\nbefore:\n\n{}\nand after:\n\n{}", dd("10.0", "107"), dd("20.0", "53.7"));
    std::fs::write(fathom.work().join("mail.txt"), mail).expect("a mail");
    let _ = fathom
        .run(["compare", "mail.txt:1-7", "mail.txt:8-20"])
        .expect_code(0)
        .expect_stdout("measured as one run of each cell and side")
        .expect_stdout("B is 1.99× slower than A (one run each; not a verdict).");
}

#[test]
fn the_mail_of_2008_is_compared_with_the_right_words() {
    let Some(text) = seed("the_mail_of_2008_is_compared_with_the_right_words", "000") else { return };
    let fathom = Fathom::new();
    std::fs::write(fathom.work().join("mail.txt"), text).expect("a copy");
    let outcome =
        fathom.run(["compare", "mail.txt:107-373", "mail.txt:374-640", "--metric", "throughput", "--gate"]);
    let told = outcome.expect_code(3).stdout;
    for part in [
        "measured as one run of each cell and side",
        "1.62× faster",
        "9.23× faster",
        "5.14× faster",
        "within 0.5 %",
        "Single runs: B/A = 9.23. No interval can be given. Control cells (direct I/O) differ by at most 7.9 %. \
         Beyond the variation of the control cells: every cell moved by 62.5 % or more",
        "children 79399.89 kB/s, parent 48569.16 kB/s (0.611703)",
        "Not enough data: 12 of 12 figures cannot be decided.",
    ] {
        assert!(told.contains(part), "{part:?} in\n{told}");
    }
    assert!(!told.contains("significant") && !told.contains("p ="), "{told}");
    let found =
        fathom.run(["compare", "mail.txt:107-373", "mail.txt:374-640", "--metric", "throughput", "--json"]);
    the_mails_own_summary(&found.stdout);
}

/// The table in the mail: its author's reading of the logs, in thousands of KiB/s, truncated. One cell, 80, lies
/// between the two figures of its log (79.4 written first, 80.7 again).
fn the_mails_own_summary(json: &str) {
    let found: serde_json::Value = serde_json::from_str(json).expect("JSON");
    let rows = found["comparisons"][0]["rows"].as_array().expect("rows");
    let published = [
        (1, false, [56.0, 90.0]),
        (1, true, [86.0, 86.0]),
        (2, false, [9.5, 87.0]),
        (2, true, [80.0, 85.0]),
        (3, false, [16.5, 85.0]),
        (3, true, [85.0, 85.0]),
    ];
    for (streams, direct, cells) in published {
        let of = |r: &&serde_json::Value| {
            r["operation"] == "write" && r["streams"] == streams && r["direct"] == direct
        };
        let row = rows.iter().find(of).unwrap_or_else(|| panic!("{streams} writers, {direct}: {rows:#?}"));
        for (side, published) in ["a", "b"].iter().zip(cells) {
            let ours = row[side][0].as_f64().expect("a figure") / 1024.0 / 1000.0;
            assert!((ours - published).abs() < 1.0, "{streams} writers, {side}: {ours} against {published}");
            println!("{streams} writers, direct {direct}, {side}: {ours:.2}, published {published}");
        }
    }
}
