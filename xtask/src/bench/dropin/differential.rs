//! `cargo xtask bench fio-differential`: runs generated jobs in fio and in the drop-in, with the test in
//! `crates/cli/tests/fio/differential`. Options set the seed and the number of jobs. It measures no speed: it counts the jobs that
//! behave the same, are refused, or differ.

use crate::Usage;
use crate::steps::cargo;
use anyhow::{Context as _, Result};
use std::path::Path;

/// The options, and the environment variable from which the test reads each.
const OPTIONS: [(&str, &str); 4] = [
    ("--seed", "FATHOM_DIFFERENTIAL_SEED"),
    ("--jobs", "FATHOM_DIFFERENTIAL_JOBS"),
    ("--job", "FATHOM_DIFFERENTIAL_JOB"),
    ("--fio", "FATHOM_DIFFERENTIAL_FIO"),
];

/// Runs the test. Returns whether it found no difference and no unknown refusal.
pub fn run(root: &Path, rest: &[String]) -> Result<bool> {
    let mut tests = cargo(root);
    tests.args(["test", "--quiet", "--package", "fathom", "--test", "cli", "--", "--nocapture", "--exact"]);
    tests.arg("fio::differential::generated_jobs_do_what_they_do_in_fio");
    for (name, value) in asked(rest).map_err(Usage)? {
        tests.env(name, value);
    }
    Ok(tests.status().context("cargo could not be started")?.success())
}

/// The environment variables that the options set, with their values.
fn asked(rest: &[String]) -> Result<Vec<(&'static str, &str)>, String> {
    rest.chunks(2)
        .map(|pair| {
            let found = OPTIONS.iter().find(|(option, _)| *option == pair[0]);
            let (option, name) = found.ok_or(format!(
                "`bench fio-differential` does not know {:?}; there are --seed, --jobs, --job and --fio.",
                pair[0]
            ))?;
            let value = pair.get(1).ok_or(format!("{option} needs a value."))?;
            if *option != "--fio" && value.parse::<u64>().is_err() {
                return Err(format!("{option} needs a number, not {value:?}."));
            }
            Ok((*name, value.as_str()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_handed_on() {
        let read = |line: &str| {
            let words: Vec<String> = line.split_whitespace().map(String::from).collect();
            asked(&words).map(|found| found.iter().map(|(a, b)| format!("{a}={b}")).collect::<Vec<_>>())
        };
        let both = ["FATHOM_DIFFERENTIAL_SEED=7", "FATHOM_DIFFERENTIAL_FIO=/opt/fio"];
        assert_eq!(read("--seed 7 --fio /opt/fio").unwrap(), both);
        assert!(read("--seed").is_err() && read("--seed x").is_err() && read("--sed 1").is_err());
        assert!(read("").unwrap().is_empty());
    }
}
