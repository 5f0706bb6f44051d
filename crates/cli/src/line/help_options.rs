//! Selects the global options that a command's help shows: those that apply to it.

use super::Line;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Command, CommandFactory as _, FromArgMatches as _};
use std::ffi::OsString;
use std::num::IntErrorKind;

/// Commands that measure.
const MEASURE: [&str; 8] = ["survey", "run", "iozone", "sysbench", "filebench", "fio", "sweep", "compare"];
/// Other commands that store runs or read stored ones.
const STORE: [&str; 9] = ["sim", "history", "import", "report", "list", "show", "why", "export", "rm"];

impl Line {
    /// The command line as its help shows it.
    pub fn shown() -> Command {
        let mut command = Self::command();
        // Only then do all commands have the global options.
        command.build();
        let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
        names.into_iter().fold(command, |command, name| {
            let (measures, keeps) = (MEASURE.contains(&&*name), STORE.contains(&&*name));
            command.mut_subcommand(name.clone(), |sub| {
                hide(sub, &|option| match option {
                    "observe" => !measures,
                    "no_store" => !measures && name != "sim",
                    "store" => !measures && !keeps,
                    _ => false,
                })
            })
        })
    }

    /// Parses a command line.
    pub fn read(words: &[OsString]) -> Result<Self, clap::Error> {
        let mut command = Self::shown();
        let mut matches: ArgMatches = command.try_get_matches_from_mut(words).map_err(|mut error| {
            if let Some(clear) = number_expected(&error) {
                return clear;
            }
            // Drops "To pass '--sise' as a value, use '-- --sise'": a mistyped option is never a file name.
            if error.kind() == ErrorKind::UnknownArgument {
                error.remove(ContextKind::Suggested);
                let unknown = error.get(ContextKind::InvalidArg).map(ToString::to_string);
                let is_file = unknown.as_ref().is_some_and(|word| !word.starts_with('-'));
                if is_file && words.get(1).is_some_and(|command| command == "sweep") {
                    let tip = "a workload's words follow '--': fathom sweep --vary SETTING=A,B -- FILE";
                    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
                }
                let is_its =
                    |option: &String| unknown.as_ref().is_some_and(|u| option.starts_with(u.as_str()));
                if let Some(option) = with_one_dash(&Self::shown(), words).filter(is_its) {
                    error.insert(ContextKind::InvalidArg, ContextValue::String(option.clone()));
                    error.insert(ContextKind::SuggestedArg, ContextValue::String(format!("-{option}")));
                }
            }
            error
        })?;
        Self::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
    }
}

/// The error for a value that is no number, in place of "invalid digit found in string".
fn number_expected(error: &clap::Error) -> Option<clap::Error> {
    let source = std::error::Error::source(error)?;
    let digits = source.downcast_ref::<std::num::ParseIntError>();
    // Of numbers that are too large clap says so.
    let no_number =
        digits.is_some_and(|e| matches!(e.kind(), IntErrorKind::InvalidDigit | IntErrorKind::Empty));
    if !no_number && !source.is::<std::num::ParseFloatError>() {
        return None;
    }
    let (option, value) = (error.get(ContextKind::InvalidArg)?, error.get(ContextKind::InvalidValue)?);
    let expected = if digits.is_some() { "a whole number, 0 or more" } else { "a number" };
    let text = format!("{option}: \"{value}\" is not {expected}\n");
    Some(clap::Error::raw(ErrorKind::ValueValidation, text))
}

/// The first word that is the name of an option of its command behind a single dash: "-quick".
fn with_one_dash(command: &Command, words: &[OsString]) -> Option<String> {
    let mut command = command;
    for word in words.iter().skip(1).map_while(|word| word.to_str()).take_while(|word| *word != "--") {
        let name = word.strip_prefix('-').filter(|name| name.len() > 1 && !name.starts_with('-'));
        if name.is_some_and(|name| command.get_arguments().any(|arg| arg.get_long() == Some(name))) {
            return Some(word.to_owned());
        }
        command = command.find_subcommand(word).unwrap_or(command);
    }
    None
}

fn hide(command: Command, is_hidden: &dyn Fn(&str) -> bool) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let command = command.mut_args(|arg| if is_hidden(arg.get_id().as_str()) { arg.hide(true) } else { arg });
    names.into_iter().fold(command, |command, name| command.mut_subcommand(name, |sub| hide(sub, is_hidden)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn help(words: &[&str]) -> String {
        let words: Vec<OsString> = ["fathom"].iter().chain(words).map(OsString::from).collect();
        Line::read(&words).expect_err("help ends it").to_string()
    }

    #[test]
    fn a_command_shows_the_options_that_mean_something_there() {
        for (command, shown) in [
            (&["list", "-h"][..], &["--store"][..]),
            (&["doctor", "-h"], &[]),
            (&["survey", "-h"], &["--store", "--observe", "--no-store"]),
            (&["sim", "run", "-h"], &["--store", "--no-store"]),
            (&["iso", "ls", "-h"], &[]),
        ] {
            let help = help(command);
            for option in ["--store", "--observe", "--no-store"] {
                assert_eq!(help.contains(option), shown.contains(&option), "{command:?} {option}: {help}");
            }
        }
    }

    #[test]
    fn a_sweep_without_dashes_is_told_of_them() {
        let said = help(&["sweep", "--vary", "scheduler=none", "ok.toml"]);
        assert!(said.contains("unexpected argument 'ok.toml'") && said.contains("-- FILE"), "{said}");
        assert!(!help(&["list", "ok.toml"]).contains("-- FILE"));
    }

    #[test]
    fn an_option_behind_one_dash_is_recognised() {
        let said = help(&["survey", "-quick"]);
        assert!(said.contains("unexpected argument '-quick'") && said.contains("'--quick'"), "{said}");
        let said = help(&["survey", "-quirk"]);
        assert!(!said.contains("--quick'"), "{said}");
    }

    #[test]
    fn a_value_that_is_no_number_is_told_so() {
        let said = help(&["survey", "--seed", "abc"]);
        assert!(said.contains("--seed <SEED>: \"abc\" is not a whole number, 0 or more"), "{said}");
    }

    #[test]
    fn they_stand_last() {
        let help = help(&["survey", "-h"]);
        let (own, global) = help.split_once("Global options:").expect("a heading");
        assert!(
            own.contains("--quick") && !own.contains("--store ") && global.contains("--store "),
            "{help}"
        );
    }

    #[test]
    fn every_command_is_read_as_before() {
        let words = ["fathom", "--store", "x.db", "list", "-n", "3", "--json"].map(OsString::from);
        let line = Line::read(&words).expect("a command line");
        assert_eq!(line.common.store.as_deref(), Some(std::path::Path::new("x.db")));
        assert!(
            Line::read(&["fathom", "lst"].map(OsString::from)).expect_err("no").to_string().contains("list")
        );
    }

    #[test]
    fn an_unknown_option_is_no_file_name() {
        let said = |option: &str| {
            let words = ["fathom", "run", option, "x", "w.toml"].map(OsString::from);
            Line::read(&words).expect_err("no such option").to_string()
        };
        assert!(!said("--bak").contains("as a value"), "{}", said("--bak"));
        assert!(said("--oberve").contains("'--observe'"), "{}", said("--oberve"));
    }
}
