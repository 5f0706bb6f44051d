//! Reads the output of test programs as it streams by, and the file of skips after it: sums over all of them, and what each test took. It
//! decides nothing; whether the tests passed is the exit code of each program.

use super::slowest::Cost;
use std::collections::BTreeMap;

/// What the harness says, once, of a test that takes long.
const LONG: &str = " has been running for over 60 seconds";

/// Sums so far.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    passed: u64,
    failed: u64,
    ignored: u64,
    failures: Vec<String>,
    times: Vec<Cost>,
    /// Tests that have run for a minute, and have not ended yet.
    long: Vec<String>,
    /// Name and first reason of each test that skipped itself.
    skips: BTreeMap<String, String>,
}

impl Totals {
    /// Takes a line of output.
    pub(crate) fn take_line(&mut self, line: &str) {
        if let Some(result) = line.strip_prefix("test result: ") {
            self.passed += figure(result, "passed");
            self.failed += figure(result, "failed");
            self.ignored += figure(result, "ignored");
        } else if let Some(name) = line.strip_prefix("test ").and_then(|l| l.strip_suffix(LONG)) {
            self.long.push(name.to_string());
        } else if let Some((name, how)) = line.strip_prefix("test ").and_then(|l| l.rsplit_once(" ... ")) {
            self.long.retain(|long| long != name);
            // "ok <0.123s>", "FAILED <0.123s>"; tests in documentation have no time.
            let (how, time) = how.split_once(" <").unwrap_or((how, ""));
            if how == "FAILED" {
                self.failures.push(name.to_string());
            }
            if let Some(seconds) = time.strip_suffix("s>").and_then(|time| time.parse().ok()) {
                self.times.push(Cost { seconds, name: name.to_string() });
            }
        }
    }

    /// A test program begins: forgets the tests that the previous program was running when it ended.
    pub(crate) fn begin(&mut self) {
        self.long.clear();
    }

    /// The test program hangs: counts the tests that it is running as failed and returns their names.
    pub(crate) fn give_up(&mut self) -> String {
        let names = self.long.join(", ");
        self.failed += self.long.len() as u64;
        self.failures.append(&mut self.long);
        names
    }

    /// Takes the file of skips: lines `SKIPPED name: reason`. A test that skips several of its parts counts once.
    pub(crate) fn take_skips(&mut self, file: &str) {
        for line in file.lines() {
            let Some((name, reason)) = line.strip_prefix("SKIPPED ").and_then(|l| l.split_once(": ")) else {
                continue;
            };
            self.skips.entry(name.to_string()).or_insert_with(|| reason.to_string());
        }
    }

    /// Number of tests that passed, without those that skipped themselves.
    pub(crate) fn passed(&self) -> u64 {
        self.passed.saturating_sub(self.skips.len() as u64)
    }

    /// Tests that failed.
    pub(crate) fn failed(&self) -> u64 {
        self.failed
    }

    /// Tests that were ignored or skipped themselves.
    pub(crate) fn skipped(&self) -> u64 {
        self.ignored + self.skips.len() as u64
    }

    /// Tests that were started.
    pub(crate) fn ran(&self) -> u64 {
        self.passed + self.failed
    }

    /// Names of failed tests.
    pub(crate) fn failures(&self) -> &[String] {
        &self.failures
    }

    /// What each test took, in the order they ended.
    pub(crate) fn times(&self) -> &[Cost] {
        &self.times
    }

    /// (name, reason) of tests that skipped themselves.
    pub(crate) fn skips(&self) -> impl Iterator<Item = (&str, &str)> {
        self.skips.iter().map(|(name, reason)| (name.as_str(), reason.as_str()))
    }
}

/// The number before a word in "ok. 12 passed; 0 failed; 1 ignored; ...".
fn figure(result: &str, word: &str) -> u64 {
    let mut words = result.split([' ', ';']).filter(|w| !w.is_empty()).peekable();
    while let Some(number) = words.next() {
        if words.peek() == Some(&word) {
            return number.parse().unwrap_or(0);
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "
running 3 tests
test a::one ... ok <0.250s>
test a::two ... FAILED <1.500s>
test a::three ... ignored, needs an hour

failures:

---- a::two stdout ----
thread 'a::two' panicked

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 4 filtered out; finished in 0.10s

running 2 tests
test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s
";

    #[test]
    fn sums_run_over_all_test_programs() {
        let mut totals = Totals::default();
        OUTPUT.lines().for_each(|l| totals.take_line(l));
        assert_eq!((totals.passed(), totals.failed(), totals.skipped()), (3, 1, 1));
        assert_eq!(totals.failures(), ["a::two"]);
        assert_eq!(totals.ran(), 4);
        let times: Vec<_> = totals.times().iter().map(|cost| (cost.name.as_str(), cost.seconds)).collect();
        assert_eq!(times, [("a::one", 0.25), ("a::two", 1.5)]);
    }

    #[test]
    fn a_test_without_a_time_counts_as_well() {
        let mut totals = Totals::default();
        totals.take_line("test crates/x/src/lib.rs - f (line 3) ... FAILED");
        totals.take_line("test b - should panic ... ok");
        assert_eq!(totals.failures(), ["crates/x/src/lib.rs - f (line 3)"]);
        assert!(totals.times().is_empty());
    }

    #[test]
    fn a_test_that_skips_itself_has_not_passed() {
        let mut totals = Totals::default();
        OUTPUT.lines().for_each(|l| totals.take_line(l));
        totals.take_skips("SKIPPED one: needs root\nSKIPPED one: needs xfs\nnoise\n");
        assert_eq!((totals.passed(), totals.skipped()), (2, 2));
        assert_eq!(totals.skips().collect::<Vec<_>>(), [("one", "needs root")]);
    }
}
