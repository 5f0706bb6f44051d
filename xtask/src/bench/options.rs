//! The command line of a bench: `cargo xtask bench NAME [--rounds N] [--seconds S] ...`. It reads words into [`Options`] and runs
//! nothing; which bench makes use of what is said in `cargo xtask help`.

use crate::Usage;
use anyhow::{Result, bail};
use std::path::PathBuf;

/// What a bench was asked for.
#[derive(Debug, PartialEq)]
pub struct Options {
    /// Interleaved rounds; each bench has its own number when none is given.
    pub rounds: Option<usize>,
    /// Comparisons of each kind, in the bench that counts false alarms; likewise.
    pub sessions: Option<usize>,
    /// Length of one measurement; likewise.
    pub seconds: Option<f64>,
    /// Only cases whose name contains this.
    pub case: Option<String>,
    /// Where every sample goes as JSON.
    pub json: Option<PathBuf>,
    /// Size of the file.
    pub file_mib: u64,
    /// A bound that is missed makes the exit code 1.
    pub gate: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            rounds: None,
            sessions: None,
            seconds: None,
            case: None,
            json: None,
            file_mib: 512,
            gate: false,
        }
    }
}

impl Options {
    /// Reads what follows the name of the bench. A bare number is the number of rounds.
    pub fn parse(words: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || match words.next() {
                Some(value) => Ok(value.as_str()),
                None => Err(Usage(format!("{word} of `bench` must be followed by a value."))),
            };
            match word.as_str() {
                "--rounds" => options.rounds = Some(number(word, value()?, 1..=99)?),
                "--sessions" => options.sessions = Some(number(word, value()?, 1..=999)?),
                "--seconds" => options.seconds = Some(seconds(value()?)?),
                "--case" => options.case = Some(value()?.to_owned()),
                "--json" => options.json = Some(value()?.into()),
                "--file-mib" => options.file_mib = number(word, value()?, 16..=65536)? as u64,
                "--gate" => options.gate = true,
                other if other.starts_with('-') => {
                    bail!(Usage(format!("`bench` does not know the option {other}.")))
                }
                other => options.rounds = Some(number("the number of rounds", other, 1..=99)?),
            }
        }
        Ok(options)
    }

    /// A usage error if one of these options was given to a bench that makes no use of it.
    pub fn refuse(&self, bench: &str, names: &[&str]) -> Result<()> {
        let given = |name: &&&str| match **name {
            "--seconds" => self.seconds.is_some(),
            "--rounds" => self.rounds.is_some(),
            "--file-mib" => self.file_mib != Self::default().file_mib,
            "--gate" => self.gate,
            _ => false,
        };
        match names.iter().find(given) {
            Some(name) => bail!(Usage(format!("`bench {bench}` makes no use of {name}."))),
            None => Ok(()),
        }
    }

    /// Whether a case of this name was asked for.
    pub fn wants(&self, name: &str) -> bool {
        self.case.as_ref().is_none_or(|part| name.contains(part.as_str()))
    }
}

fn number(what: &str, text: &str, range: std::ops::RangeInclusive<usize>) -> Result<usize> {
    match text.parse() {
        Ok(n) if range.contains(&n) => Ok(n),
        _ => bail!(Usage(format!(
            "{what} must be a whole number from {} to {}, not {text:?}.",
            range.start(),
            range.end()
        ))),
    }
}

fn seconds(text: &str) -> Result<f64> {
    match text.parse::<f64>() {
        Ok(s) if (0.05..=600.0).contains(&s) => Ok(s),
        _ => bail!(Usage(format!("--seconds must be a number from 0.05 to 600, not {text:?}."))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options> {
        Options::parse(&line.split_whitespace().map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn every_option_is_read() {
        let options =
            parse("--rounds 3 --sessions 7 --seconds 0.2 --case cached --json x.json --file-mib 64 --gate")
                .unwrap();
        let expected = Options {
            rounds: Some(3),
            sessions: Some(7),
            seconds: Some(0.2),
            case: Some("cached".into()),
            json: Some("x.json".into()),
            file_mib: 64,
            gate: true,
        };
        assert_eq!(options, expected);
        assert_eq!(parse("5").unwrap().rounds, Some(5));
        assert_eq!(parse("").unwrap(), Options::default());
    }

    #[test]
    fn mistakes_are_named() {
        for (line, part) in [
            ("--rounds", "followed by a value"),
            ("--rounds 0", "from 1 to 99"),
            ("--seconds soon", "0.05 to 600"),
            ("--fast", "--fast"),
            ("many", "whole number"),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.is::<Usage>() && error.to_string().contains(part), "{line}: {error}");
        }
    }

    #[test]
    fn what_a_bench_does_not_use_is_refused() {
        let options = parse("--seconds 2 --gate").unwrap();
        assert!(options.refuse("x", &["--rounds", "--file-mib"]).is_ok());
        let error = options.refuse("x", &["--rounds", "--gate"]).unwrap_err();
        assert!(error.is::<Usage>() && error.to_string().contains("--gate"), "{error}");
    }

    #[test]
    fn a_case_is_chosen_by_a_part_of_its_name() {
        assert!(parse("").unwrap().wants("null"));
        assert!(parse("--case ull").unwrap().wants("null") && !parse("--case x").unwrap().wants("null"));
    }
}
