//! Command lines that leave no test: the banner and an empty table, as IOzone prints them, and a note on stderr.

use fathom_testkit::Fathom;

#[test]
fn a_run_without_a_test_says_so() {
    for line in ["iozone -s 64k -i 11", "iozone -a -n 128k -g 64k"] {
        let outcome = Fathom::new().run_line(line).expect_code(0);
        assert!(outcome.stdout.contains("iozone test complete."), "{line}: {}", outcome.stdout);
        assert!(outcome.stderr.contains("no test was run"), "{line}: {}", outcome.stderr);
    }
}
