//! `fathom reproduce`: the published table, its tolerances, its exit code, and the same bytes every time.

use fathom_testkit::{Fathom, golden};

#[test]
fn the_table_of_2004_holds_its_tolerances_but_for_the_files_that_went_off() {
    let fathom = Fathom::new();
    let table = fathom.run(["reproduce", "sysbench-2004"]).expect_code(1);
    for words in ["77.5377", "165.3393", " seen ", "Degrees of freedom", "files that went off", "guessed"] {
        assert!(table.stdout.contains(words), "{words}: {}", table.stdout);
    }
    assert_eq!(table.stdout.matches("\n  holds  ").count(), 5, "{}", table.stdout);
    assert_eq!(table.stdout.matches("\n  MISS   counters of read-ahead").count(), 1, "{}", table.stdout);
    assert!(!table.stdout.contains("held out  "), "what was seen is not called held out");
    assert!(table.stdout.lines().all(|l| l.chars().count() <= 140), "{}", table.stdout);
}

#[test]
fn the_table_is_the_same_every_time() {
    let fathom = Fathom::new();
    let json = || fathom.run(["reproduce", "sysbench-2004", "--seeds", "1", "--json"]).stdout;
    let first = json();
    assert!(first.contains("\"rms_percent\""), "{first}");
    assert_eq!(json(), first);
}

#[test]
fn the_cciss_table_of_2008_is_what_it_was_and_its_misses_are_called_misses() {
    let table = Fathom::new().run(["reproduce", "cciss-2008"]).expect_code(1).stdout;
    golden("tests/simulate/golden/cciss-2008.txt", &table);
    let misses = |of: &str| table.matches(&format!("\n  MISS {of}")).count();
    assert_eq!(
        (misses("1x3GB "), misses("3x1GB ")),
        (1, 1),
        "the open cells are misses, and said to be: {table}"
    );
    assert_eq!(misses("2x1.5GB "), 1, "so is a cell that is far off under one hypothesis: {table}");
    assert!(misses("  ascending pages") == 1 && table.contains("not exact"), "{table}");
    assert!(table.contains("H1: the same without a fitted number"), "{table}");
    assert!(table.lines().all(|l| l.chars().count() <= 130), "{table}");
}

#[test]
fn what_a_table_does_not_draw_has_no_seeds() {
    let refused = Fathom::new().run(["reproduce", "cciss-2008", "--seeds", "3"]).expect_code(2);
    assert!(refused.stderr.contains("--seeds does not go with cciss-2008"), "{}", refused.stderr);
}

#[test]
fn the_surfaces_of_2005_are_what_they_were_and_hold_their_tolerances() {
    let table = Fathom::new().run(["reproduce", "ncsa-2005"]).expect_code(0).stdout;
    golden("tests/simulate/golden/ncsa-2005.txt", &table);
    assert_eq!(table.matches("\n  holds  ").count(), 7, "{table}");
    assert!(table.contains("Misses") && !table.contains("  MISS "), "{table}");
    assert!(table.lines().all(|l| l.chars().count() <= 140), "{table}");
}

#[test]
fn what_would_change_nothing_is_refused() {
    let fathom = Fathom::new();
    let _ = fathom
        .run(["reproduce", "ncsa-2005", "--seeds", "2"])
        .expect_code(2)
        .expect_stderr("nothing at random");
    for table in ["ncsa-2005", "hsfs-2007"] {
        let _ = fathom.run(["reproduce", table, "--ablation"]).expect_code(2).expect_stderr("no --ablation");
    }
    let _ = fathom.run(["reproduce", "hsfs-2007", "--seeds", "2"]).expect_code(2).expect_stderr("one seed");
}
