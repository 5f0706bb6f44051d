//! `fathom reproduce`: the published table, its tolerances, its exit code, and the same bytes every time.

use fathom_testkit::Fathom;

#[test]
fn every_stated_tolerance_of_the_table_of_2004_holds() {
    let fathom = Fathom::new();
    let table = fathom.run(["reproduce", "sysbench-2004"]).expect_code(0);
    for words in ["77.5377", "165.3393", "held out", "Degrees of freedom", "read-ahead went off", "guessed"] {
        assert!(table.stdout.contains(words), "{words}: {}", table.stdout);
    }
    assert_eq!(table.stdout.matches("\n  holds  ").count(), 6, "{}", table.stdout);
    assert!(!table.stdout.contains("FAILS"));
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
