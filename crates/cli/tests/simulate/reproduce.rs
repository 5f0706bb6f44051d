//! `fathom reproduce`: the published table, its tolerances, its exit code, and the same bytes every time.

use fathom_testkit::{Fathom, golden};

/// Reproduces a table with its page, and holds the page to the text: everything drawn, every miss called one.
fn with_page(table: &str, code: i32, pictures: usize, words: &[&str]) -> String {
    let fathom = Fathom::new();
    let text = fathom.run(["reproduce", table, "-o", "page.html"]).expect_code(code);
    let page = std::fs::read_to_string(fathom.work().join("page.html")).expect("a page");
    for words in words.iter().chain(&["nothing here was measured", "Degrees of freedom"]) {
        assert!(page.contains(words), "{words}");
    }
    assert_eq!(page.matches("<svg class=\"fathom\"").count(), pictures);
    let missed = text.stdout.matches("\n  MISS   ").count();
    assert_eq!(page.matches("<strong>MISS</strong>").count(), missed);
    text.stdout
}

#[test]
fn the_table_of_2004_holds_its_tolerances_and_misses_one_over_what_is_held_out() {
    let words = [
        "2.6.6-rc3 deadline: published",
        "Counters of read-ahead",
        "Held out: other figures of the thread",
        "2.6.6-bk anticipatory, 256 MB of memory, 2 GB",
    ];
    let table = with_page("sysbench-2004", 1, 3, &words);
    for words in ["77.5377", "165.3393", " seen ", "Degrees of freedom", "reset because of misses", "guessed"]
    {
        assert!(table.contains(words), "{words}: {table}");
    }
    assert_eq!(table.matches("\n  holds  ").count(), 6, "{table}");
    let missed: Vec<&str> = table.lines().filter(|l| l.contains("MISS")).collect();
    assert!(missed.len() == 1 && missed[0].starts_with("  MISS   RMS over the held-out figures"), "{table}");
    let held_out: Vec<&str> =
        table.lines().filter(|l| l.ends_with("held out: no value was set by it")).collect();
    assert_eq!(held_out.len(), 9, "{table}");
    assert!(held_out[1].contains(" 81.2-82.6 ") && held_out[5].contains(" 0.73 "), "{table}");
    assert_eq!(table.matches("not counted: a rule was chosen by it").count(), 2, "{table}");
    assert!(table.lines().all(|l| l.chars().count() <= 140), "{table}");
}

#[test]
fn the_table_is_the_same_every_time() {
    let fathom = Fathom::new();
    let json = || fathom.run(["reproduce", "sysbench-2004", "--seeds", "1", "--json"]).stdout;
    let first = json();
    for key in ["\"rms_percent\"", "\"held_out\"", "\"held_out_rms_percent\"", "\"published_least\""] {
        assert!(first.contains(key), "{key}: {first}");
    }
    assert_eq!(json(), first);
}

#[test]
fn the_cciss_table_of_2008_is_what_it_was_and_its_misses_are_called_misses() {
    let words = ["Initial writers, MB/s", "H2: commands bypass the cache", "MISS 1x3GB"];
    let table = with_page("cciss-2008", 1, 2, &words);
    golden("tests/simulate/golden/cciss-2008.txt", &table);
    let misses = |of: &str| table.matches(&format!("\n  MISS {of}")).count();
    assert_eq!(
        (misses("1x3GB "), misses("3x1GB ")),
        (1, 1),
        "the open cells are misses, and said to be: {table}"
    );
    assert_eq!(misses("2x1.5GB "), 1, "so is a cell that is far off under one hypothesis: {table}");
    assert!(misses("  ascending pages") == 1 && table.contains("not exact"), "{table}");
    assert!(table.contains("H1: the same without fitted numbers"), "{table}");
    assert!(table.lines().all(|l| l.chars().count() <= 130), "{table}");
}

#[test]
fn what_a_table_does_not_draw_has_no_seeds() {
    let refused = Fathom::new().run(["reproduce", "cciss-2008", "--seeds", "3"]).expect_code(2);
    assert!(refused.stderr.contains("--seeds: cciss-2008 has no random choices"), "{}", refused.stderr);
}

#[test]
fn the_surfaces_of_2005_are_what_they_were_and_hold_their_tolerances() {
    let words = ["First reads, published, MiB/s", "Rereads, error of the simulation in %", "All 7 stated"];
    let table = with_page("ncsa-2005", 0, 6, &words);
    golden("tests/simulate/golden/ncsa-2005.txt", &table);
    assert_eq!(table.matches("\n  holds  ").count(), 7, "{table}");
    assert!(table.contains("Misses") && !table.contains("  MISS "), "{table}");
    assert!(table.lines().all(|l| l.chars().count() <= 140), "{table}");
}

#[test]
fn what_is_no_page_or_is_there_is_refused_before_anything_is_simulated() {
    let fathom = Fathom::new();
    std::fs::write(fathom.work().join("there.html"), "mine").expect("writes");
    let _ = fathom.run_line("reproduce ncsa-2005 -o there.html").expect_code(2).expect_stderr("exists");
    let _ = fathom.run_line("reproduce ncsa-2005 -o a.pdf").expect_code(2).expect_stderr("written as .html");
}

#[test]
fn what_would_change_nothing_is_refused() {
    let fathom = Fathom::new();
    let _ = fathom
        .run(["reproduce", "ncsa-2005", "--seeds", "2"])
        .expect_code(2)
        .expect_stderr("no random choices");
    for table in ["ncsa-2005", "hsfs-2007"] {
        let _ = fathom.run(["reproduce", table, "--ablation"]).expect_code(2).expect_stderr("no --ablation");
    }
    let _ = fathom.run(["reproduce", "hsfs-2007", "--seeds", "2"]).expect_code(2).expect_stderr("one seed");
}
