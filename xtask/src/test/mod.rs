//! `cargo xtask test`: the one command that says whether the house is in order. Prerequisites, format, lints, tidy, build, every
//! test; a failed step does not stop the others. The last line on stdout is `N passed, M failed, K skipped`.
//!
//! What the numbers mean: passed and failed are tests, except that a failed step without a failed test (format, a crashed test
//! program) counts as one failed. Skipped are ignored tests and those that named themselves through the
//! file to which `fathom_testkit::skip` appends; the harness counts these as passed, this program does not.

mod build;
mod compiler;
mod leftovers;
mod output;
mod prerequisites;
mod programs;
mod slowest;

use crate::steps::{Steps, cargo, seconds, succeeds};
use crate::tidy;
use anyhow::{Context, Result};
use build::Built;
use compiler::Compiler;
use leftovers::Suite;
use output::Totals;
use slowest::slowest;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

/// What was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// Only tests whose name contains this; lints are left out.
    filter: Option<String>,
    /// Install nothing.
    no_install: bool,
    /// Handed to the test programs.
    harness: Vec<String>,
}

impl Options {
    /// Reads what follows `cargo xtask test`.
    pub(crate) fn parse(args: &[String]) -> Result<Self, String> {
        let mut options = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--no-install" => options.no_install = true,
                "--" => options.harness = args.by_ref().cloned().collect(),
                dashed if dashed.starts_with('-') => {
                    return Err(format!("`test` does not know the option {dashed}."));
                }
                _ if options.filter.is_some() => {
                    return Err(format!("`test` takes one filter, and {arg:?} is a second."));
                }
                filter => options.filter = Some(filter.to_string()),
            }
        }
        Ok(options)
    }
}

/// Runs it all; whether all was in order.
pub(crate) fn run(root: &Path, options: &Options) -> Result<bool> {
    let started = Instant::now();
    let mut steps = Steps::default();
    steps.take("prerequisites", || prerequisites::provide(options.no_install));
    let (compiler, built) = match options.filter {
        Some(_) => build(root, &mut steps, Compiler::plain()),
        None => lint_and_build(root, &mut steps),
    };
    let mut totals = Totals::default();
    let suite = Suite::begin().context("no file for the names of skipped tests")?;
    steps.take("test", || test(root, options, &compiler, &built, &suite, &mut totals));
    steps.take("nothing is left", || Ok(suite.end()));
    conclude(&steps, &totals, &built, started);
    Ok(steps.failed().is_empty())
}

/// Format, tidy, and clippy, which builds what it lints; each whether or not the one before failed. Where clippy finds something,
/// all is built without it. Says how it was built.
fn lint_and_build(root: &Path, steps: &mut Steps) -> (Compiler, Built) {
    steps.take("fmt", || succeeds(cargo(root).args(["fmt", "--all", "--check"])));
    steps.take("tidy", || tidy::run(root));
    let mut linted = None;
    steps.take("clippy and build", || {
        let clippy = Compiler::clippy(root)?;
        linted = build::build(root, &clippy)?.map(|built| (clippy, built));
        Ok(linted.is_some())
    });
    linted.unwrap_or_else(|| build(root, steps, Compiler::plain()))
}

fn build(root: &Path, steps: &mut Steps, compiler: Compiler) -> (Compiler, Built) {
    let mut built = None;
    steps.take("build", || {
        built = build::build(root, &compiler)?;
        Ok(built.is_some())
    });
    (compiler, built.unwrap_or_default())
}

/// Every test of the workspace, those in documentation included.
fn test(
    root: &Path,
    options: &Options,
    compiler: &Compiler,
    built: &Built,
    suite: &Suite,
    totals: &mut Totals,
) -> Result<bool> {
    let mut args: Vec<_> = options.filter.iter().cloned().collect();
    args.extend(options.harness.iter().cloned());
    let mut good = !built.programs.is_empty();
    good &= programs::run(&built.programs, &args, suite.environment(), totals)?;
    // With a filter, documentation tests run only if nothing else matches: each crate would have to be compiled again for them.
    if options.filter.is_none() || totals.ran() == 0 {
        good &= programs::relay(&mut documentation(root, compiler, &args), totals)?;
    }
    totals.take_skips(&suite.skips()?);
    if totals.ran() == 0
        && let Some(filter) = &options.filter
    {
        eprintln!("No test has {filter:?} in its name.");
        return Ok(false);
    }
    Ok(good)
}

/// The command that runs the tests in documentation.
fn documentation(root: &Path, compiler: &Compiler, args: &[String]) -> std::process::Command {
    let mut command = compiler.cargo(root);
    command.args(["test", "--workspace", "--no-fail-fast", "--doc", "--"]).args(args);
    command
}

/// Lists what was slow, what was skipped and what failed, the failed steps last, and closes with the line of sums.
fn conclude(steps: &Steps, totals: &Totals, built: &Built, started: Instant) {
    eprint!("{}{}", slowest("compile units", &built.units), slowest("tests", totals.times()));
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, reason) in totals.skips() {
        by_reason.entry(reason).or_default().push(name);
    }
    for (reason, names) in by_reason {
        eprintln!("skipped, {reason}: {}", names.join(", "));
    }
    for name in totals.failures() {
        eprintln!("failed: {name}");
    }
    eprintln!("==> all steps in {}", seconds(started.elapsed()));
    if !steps.failed().is_empty() {
        eprintln!("==> FAILED: {}", steps.failed().join(", "));
    }
    println!("{}", closing_line(steps.failed(), totals));
}

/// `N passed, M failed, K skipped`. A step that failed without a failed test counts as one.
fn closing_line(failed_steps: &[String], totals: &Totals) -> String {
    let other_than_tests = failed_steps.iter().filter(|step| *step != "test").count() as u64;
    let test_failed = failed_steps.iter().any(|step| step == "test");
    let failed = other_than_tests + totals.failed().max(u64::from(test_failed));
    format!("{} passed, {failed} failed, {} skipped", totals.passed(), totals.skipped())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(&line.split_whitespace().map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn the_command_line_is_read() {
        let options = parse("--no-install op_order -- --nocapture -q").unwrap();
        assert_eq!(options.filter.as_deref(), Some("op_order"));
        assert!(options.no_install);
        assert_eq!(options.harness, ["--nocapture", "-q"]);
        assert_eq!(parse("").unwrap(), Options::default());
        assert!(parse("--fast").is_err());
        assert!(parse("a b").unwrap_err().contains("one filter"));
    }

    #[test]
    fn the_closing_line_counts_failed_steps() {
        let mut totals = Totals::default();
        totals.take_line("test result: FAILED. 10 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out");
        totals.take_skips("SKIPPED mounts: needs root\n");
        let steps = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(closing_line(&steps(&["test"]), &totals), "9 passed, 2 failed, 2 skipped");
        assert_eq!(closing_line(&steps(&["fmt", "tidy", "test"]), &totals), "9 passed, 4 failed, 2 skipped");
        assert_eq!(closing_line(&[], &Totals::default()), "0 passed, 0 failed, 0 skipped");
        // A test program that crashed leaves no failed test, only a failed step.
        assert_eq!(closing_line(&steps(&["test"]), &Totals::default()), "0 passed, 1 failed, 0 skipped");
    }
}
