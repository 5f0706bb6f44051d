//! The programs `fathom` and `fathom-mpi`: read the command line, run the command, set the exit code. This is the only
//! place where executors, dialects, the store and reports meet. A library only because `fathom-mpi`, which needs MPI,
//! is built separately: [`main`] is `fathom`, [`ranks`] is what several hosts do together.
//!
//! Exit codes: 0 done, 1 a check failed or the answer is "worse", 2 usage or bad input, 3 the run could not be
//! completed (what was measured is stored), 128 + signal after a signal. Drop-ins use the exit codes of the program
//! they imitate.

mod appended_file;
mod cold;
mod commands;
mod common;
mod consent;
mod console;
mod epilogue;
mod exit;
mod flows;
mod input;
mod line;
mod mark;
mod native;
mod observing;
mod output;
mod prepare;
mod printing;
pub mod ranks;
mod run_loop;
mod run_store;
mod sampled;
mod script;
mod secrets;
mod small;
mod state;
mod sweeper;

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

/// The program `fathom`; returns its exit code.
#[must_use]
pub fn main() -> ExitCode {
    let code = command();
    // The exit code of a gate or a signal takes precedence.
    let is_lost = code == ExitCode::SUCCESS && console::is_incomplete();
    if is_lost { ExitCode::from(exit::FAILED) } else { code }
}

fn command() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    if commands::sweep::guard::is_guardian(&words) {
        return commands::sweep::guard::watch(&words);
    }
    if commands::mount::guard::is_guard(&words) {
        return commands::mount::guard::stand();
    }
    if sweeper::is_sweeper(&words) {
        return sweeper::work(&words);
    }
    fathom_engine::ignore_file_size_signal();
    commands::sweep::guard::put_back_left_behind();
    // Before a drop-in has printed half a table.
    let variables = observing::Observe::wished(None).map(drop).map_err(|e| e.to_string());
    if let Err(wrong) = variables.and_then(|()| cold::check_variable()) {
        console::error(&wrong);
        return ExitCode::from(exit::USAGE);
    }
    if let Some(code) = drop_in(&words) {
        return code;
    }
    let line = match line::Line::read(&words) {
        Ok(line) => line,
        Err(error) => {
            let code = if error.use_stderr() { exit::USAGE } else { exit::DONE };
            console::of_clap(&error);
            return ExitCode::from(code);
        }
    };
    match commands::dispatch(line) {
        Ok(code) => code,
        Err(error) => {
            console::error(&with_causes(&error));
            ExitCode::from(exit::of(&error))
        }
    }
}

/// An error and its causes; skips a cause already contained in the text above it.
fn with_causes(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// Runs a drop-in invoked by its program's name, through a link, or as a command without our options. Building our
/// whole command line would take longer than a short fio job.
fn drop_in(words: &[OsString]) -> Option<ExitCode> {
    let name = |word: &OsString| std::path::Path::new(word).file_name().map(|name| name.to_owned());
    let ours = |word: &OsString| {
        let word = word.to_string_lossy();
        ["--store", "--observe", "--no-store"].iter().any(|option| word.starts_with(option))
    };
    let linked = words.first().and_then(name)?;
    let run = |program: &OsStr, prefix: &str, args: &[OsString]| {
        let common = common::Common::default();
        let as_called = |name| format!("{prefix}{name}");
        Some(match program.to_str()? {
            "iozone" => commands::iozone::run(&as_called("iozone"), args, &common),
            "sysbench" => commands::sysbench::run(&as_called("sysbench"), args, &common),
            "filebench" => commands::filebench::run(&as_called("filebench"), args, &common),
            "fio" => commands::fio::run(&as_called("fio"), args, &common),
            _ => return None,
        })
    };
    run(&linked, "", &words[1..]).or_else(|| {
        let (program, args) = words.get(1..)?.split_first()?;
        // A leading `--` ends our own options.
        let is_ended = args.first().is_some_and(|word| word == "--");
        if is_ended || args.iter().any(ours) { None } else { run(program, "fathom ", args) }
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_cause_is_told_once() {
        let twice = anyhow::anyhow!("no room").context("cannot write x: no room").context("the page");
        assert_eq!(super::with_causes(&twice), "the page: cannot write x: no room");
        assert_eq!(super::with_causes(&anyhow::anyhow!("no room").context("the page")), "the page: no room");
    }
}
