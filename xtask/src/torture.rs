//! `cargo xtask torture`: the tests of `crates/cli/tests/torture` for as long as one likes, and what they tried and survived.

use crate::steps::cargo;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;

/// The kinds of accidents, each a test of its name.
const KINDS: [&str; 6] = ["kills", "faults", "swaps", "full_disk", "frozen", "stores"];
/// As many at once as make a machine busy without starving any of them.
const AT_ONCE: usize = 3;

/// What is asked for.
#[derive(Debug, PartialEq)]
pub(crate) struct Options {
    kinds: Vec<String>,
    minutes: u64,
    seed: u64,
    trial: Option<u64>,
}

impl Options {
    /// Reads what stands behind `torture`.
    pub(crate) fn parse(args: &[String]) -> Result<Self, String> {
        // Another seed each time, so that the accidents are not always the same.
        let seconds = std::time::UNIX_EPOCH.elapsed().map_or(1, |since| since.as_secs());
        let mut options = Self { kinds: Vec::new(), minutes: 10, seed: seconds, trial: None };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut number =
                || args.next().and_then(|text| text.parse().ok()).ok_or(format!("{arg} needs a number."));
            match arg.as_str() {
                "--minutes" => options.minutes = number()?,
                "--seed" => options.seed = number()?,
                "--trial" => options.trial = Some(number()?),
                kind if KINDS.contains(&kind) => options.kinds.push(kind.into()),
                other => {
                    return Err(format!(
                        "`torture` does not know {other:?}; kinds are {}.",
                        KINDS.join(", ")
                    ));
                }
            }
        }
        if options.trial.is_some() && options.kinds.len() != 1 {
            return Err("--trial is a trial of one kind, and needs its name.".into());
        }
        if options.kinds.is_empty() {
            options.kinds = KINDS.map(String::from).to_vec();
        }
        Ok(options)
    }

    /// How long each kind is tried, so that all together take the minutes asked for.
    fn seconds(&self) -> u64 {
        let rounds = self.kinds.len().div_ceil(AT_ONCE) as u64;
        self.minutes * 60 / rounds
    }
}

/// Tortures, and prints a line for each kind; whether all was survived.
pub(crate) fn run(root: &Path, options: &Options) -> Result<bool> {
    let (seed, seconds) = (options.seed.to_string(), options.seconds().to_string());
    println!("torture: {seconds} s of each kind, seed {seed}");
    let mut tests = cargo(root);
    tests.args(["test", "--quiet", "--package", "fathom", "--test", "cli", "--", "--nocapture"]);
    tests.args(["--test-threads", &AT_ONCE.to_string(), "--exact"]);
    tests.args(options.kinds.iter().map(|kind| format!("torture::{kind}::{kind}")));
    tests.env("FATHOM_TORTURE_SECONDS", &seconds).env("FATHOM_TORTURE_SEED", &seed);
    if let Some(trial) = options.trial {
        tests.env("FATHOM_TORTURE_TRIAL", trial.to_string());
    }
    let mut running = tests.stdout(Stdio::piped()).spawn().context("cargo could not be started")?;
    let Some(stdout) = running.stdout.take() else { bail!("cargo has no output") };
    let mut found = BTreeMap::new();
    for line in BufReader::new(stdout).lines() {
        let line = line.context("the output of the tests")?;
        println!("{line}");
        found.extend(counts(&line));
    }
    let passed = running.wait().context("the tests")?.success();
    println!("\n{:<10} {:>8} {:>9}", "kind", "tried", "survived");
    for (kind, (tried, survived)) in &found {
        println!("{kind:<10} {tried:>8} {survived:>9}");
    }
    let whole = options.kinds.iter().all(|kind| found.contains_key(kind));
    Ok(passed && whole && found.values().all(|(tried, survived)| *tried > 0 && tried == survived))
}

/// "torture kills: tried 512, survived 512", wherever it stands in a line.
fn counts(line: &str) -> Option<(String, (u64, u64))> {
    let (kind, rest) = line.split_once("torture ")?.1.split_once(": tried ")?;
    let (tried, survived) = rest.split_once(", survived ")?;
    Some((kind.into(), (tried.parse().ok()?, survived.trim_end().parse().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(&line.split_whitespace().map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn what_is_said_of_a_kind_is_read() {
        let line = "test torture::kills::kills ... torture kills: tried 12, survived 11";
        assert_eq!(counts(line), Some(("kills".into(), (12, 11))));
        assert_eq!(counts("test torture::kills::kills ... ok"), None);
    }

    #[test]
    fn the_minutes_are_shared_by_the_kinds() {
        assert_eq!(parse("--minutes 30 --seed 7").unwrap().seconds(), 900);
        assert_eq!(parse("kills --minutes 30").unwrap().seconds(), 1800);
        let one = parse("kills --seed 7 --trial 3").unwrap();
        assert_eq!((one.kinds, one.seed, one.trial), (vec!["kills".into()], 7, Some(3)));
        assert!(parse("--trial 3").is_err() && parse("dances").is_err() && parse("--minutes").is_err());
    }
}
