//! The programs `fathom` and `fathom-mpi`: read the command line, run the command, set the exit code. Composition and nothing else: this
//! is the only place where executors, dialects, the store and reports meet. A library only so that `fathom-mpi`, which is built apart
//! because it needs MPI, can use it: [`main`] is `fathom`, [`ranks`] is what many hosts do together.
//!
//! Exit codes: 0 done, 1 a check failed or the answer is "worse", 2 usage or bad input, 3 the run could not be completed (what
//! was measured is kept), 128 + signal after a signal. Drop-ins use the exit codes of the program they stand in for.

mod begun;
mod cold;
mod commands;
mod consent;
mod console;
mod epilogue;
mod exit;
mod flows;
mod input;
mod keeper;
mod line;
mod mark;
mod observing;
mod output;
mod printing;
pub mod ranks;
mod readying;
mod run_loop;
mod sampled;
mod script;
mod secrets;
mod small;
mod state;
mod sweeper;

use clap::Parser as _;
use std::ffi::OsString;
use std::process::ExitCode;

/// The program `fathom`.
#[must_use]
pub fn main() -> ExitCode {
    let code = command();
    // What a gate or a signal says goes first.
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
    // Called by the name of a program it stands in for, through a link.
    let name = words.first().map(std::path::Path::new).and_then(|p| p.file_name()).unwrap_or_default();
    if name == "iozone" {
        return commands::iozone::run("iozone", &words[1..], &line::Common::default());
    }
    if name == "sysbench" {
        return commands::sysbench::run("sysbench", &words[1..], &line::Common::default());
    }
    if name == "filebench" {
        return commands::filebench::run("filebench", &words[1..], &line::Common::default());
    }
    if name == "fio" {
        return commands::fio::run("fio", &words[1..], &line::Common::default());
    }
    let line = match line::Line::try_parse_from(&words) {
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
            console::error(&format!("{error:#}"));
            ExitCode::from(exit::of(&error))
        }
    }
}
