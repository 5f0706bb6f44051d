//! The command line of 2004, which means requests and not seconds. Line 15 of the specification's acceptance list, on a smaller set.

use crate::sysbench::support::{run, value};
use fathom_testkit::Fathom;

/// As in the article of 2004, but for the size.
const SEED: &str = "--num-threads=16 --test=fileio --file-total-size=8M --file-test-mode=rndrw";

#[test]
fn the_command_of_2004_does_what_it_did() {
    let fathom = Fathom::new();
    let out = run(&fathom, &format!("{SEED} prepare")).expect_code(0).stdout;
    assert!(out.starts_with("sysbench 0.4.12:  multi-threaded system evaluation benchmark\n\n128 files, 64Kb each, 8Mb total\n"), "{out}");
    let outcome = run(&fathom, &format!("{SEED} run")).expect_code(0);
    let out = &outcome.stdout;
    let counts = out.split("Operations performed:  ").nth(1).unwrap_or_else(|| panic!("{out}"));
    let counts: Vec<u64> = counts.lines().next().unwrap().split(' ').filter_map(|w| w.parse().ok()).collect();
    let [reads, writes, others, all] = counts[..] else { panic!("{out}") };
    assert_eq!((others, all), (12_800, 22_800));
    assert_eq!((reads, writes), (6000, 4000), "exact with any number of threads");
    assert!(out.contains("Mb  Total transferred 156.25Mb  ("), "{out}");
    assert!(out.contains(" Requests/sec executed\n\nTest execution summary:\n    total time: "), "{out}");
    assert_eq!(value(out, "total number of events:"), 10_000.0);
    assert!(outcome.stderr.contains("--dialect=1.0"), "{}", outcome.stderr);
    assert_eq!(&fathom.run_line("show --original").expect_code(0).stdout, out);
    let _ = run(&fathom, &format!("{SEED} cleanup")).expect_code(0);
}

#[test]
fn sequential_modes_make_one_pass() {
    let fathom = Fathom::new();
    let common = "--test=fileio --num-threads=3 --file-num=4 --file-total-size=4M";
    let _ = run(&fathom, &format!("{common} prepare")).expect_code(0);
    for (mode, done) in [
        ("seqrd", "256 Read, 0 Write, 0 Other = 256 Total"),
        ("seqrewr", "0 Read, 256 Write, 12 Other = 268 Total"),
        ("seqwr", "0 Read, 256 Write, 12 Other = 268 Total"),
    ] {
        let out = run(&fathom, &format!("{common} --max-requests=7 --file-test-mode={mode} run"))
            .expect_code(0)
            .stdout;
        assert!(out.contains(&format!("\nOperations performed:  {done}\n")), "{mode}: {out}");
    }
}

#[test]
fn the_same_line_in_the_meaning_of_1_0() {
    let fathom = Fathom::new();
    let common = "--dialect=1.0 --num-threads=2 --test=fileio --file-num=2 --file-total-size=1M";
    let _ = run(&fathom, &format!("{common} prepare")).expect_code(0);
    let outcome = run(&fathom, &format!("{common} --max-time=1 --file-test-mode=rndrw run")).expect_code(0);
    let begin = "WARNING: --num-threads is deprecated, use --threads instead\n\
                 WARNING: --max-time is deprecated, use --time instead\nsysbench 1.0.20 (";
    assert!(outcome.stdout.starts_with(begin), "{}", outcome.stdout);
    assert!(outcome.stderr.starts_with("WARNING: the --test option is deprecated."), "{}", outcome.stderr);
    assert!(value(&outcome.stdout, "total time:") >= 1.0);
}
