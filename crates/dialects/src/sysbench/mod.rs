//! SysBench: parses the command line of its fileio test and prints its output exactly as release 1.0.20, or as 0.4.12 for command lines
//! of that time, which have a different meaning (see `words::is_old`).
//!
//! `table` lists the options; `words`, `general` and `fileio` parse a command line into [`SysbenchOptions`]; `plan` makes the workload;
//! [`SysbenchPrinter`] prints; `files` has the texts of prepare and cleanup; `failure` those of errors; `replay` prints a stored run.
//! No I/O here: the seed and option files are passed in as [`Context`].

mod exit;
pub mod failure;
mod figures;
mod fileio;
pub mod files;
mod general;
mod head;
mod help;
mod latency;
pub mod options;
mod plan;
mod printer;
mod replay;
mod report;
mod report_old;
pub mod table;
#[cfg(test)]
mod tests;
mod values;
mod words;

pub use exit::SysbenchExit;
pub use help::documentation;
pub use options::{Dialect, FileioCommand, SysbenchOptions};
pub use printer::SysbenchPrinter;
pub use replay::{SysbenchReplayError, print};

use fathom_workload::Workload;
use std::path::Path;

/// What the dialect needs to know about its environment.
pub struct Context<'a> {
    /// Seed if the command line gives none; it should differ for each run.
    pub clock_seed: u64,
    /// Returns the text of an option file, or why it cannot be read.
    pub read: &'a dyn Fn(&Path) -> Result<String, String>,
}

/// A command line that can be executed.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// Parsed options.
    pub options: SysbenchOptions,
    /// The arguments with --config-file replaced by its contents, so that the run can be reproduced without that file.
    pub arguments: Vec<String>,
    /// The workload to run. For prepare and cleanup it only has the files.
    pub workload: Workload,
    /// SysBench's own warnings, printed first on stderr.
    pub warnings: String,
    /// Printed first on stdout: warnings, and the version.
    pub opening: String,
    /// Notes for stderr about options without effect. Full lines without line ends.
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, Default)]
struct Said {
    stdout: String,
    stderr: String,
}

const OTHERS: [&str; 4] = ["cpu", "memory", "threads", "mutex"];

/// Parses a command line (without the program's name).
///
/// # Errors
/// Any exit before a run: help, version, errors, refusals; with SysBench's exit codes.
pub fn plan(args: &[String], context: &Context<'_>) -> Result<Parsed, SysbenchExit> {
    let args = &words::with_files(args, context.read)?;
    let old = words::is_old(args)?;
    let dialect = if old { Dialect::Old } else { Dialect::New };
    let mut said = Said::default();
    let words = words::split(args, old);
    if words.test_option && !old {
        said.stderr += "WARNING: the --test option is deprecated. You can pass a script name or path on the command line without any options.\n";
    }
    if let Some(word) = &words.surplus {
        return Err(
            SysbenchExit::complaint(format_args!("Unrecognized command line argument: {word}")).after(&said)
        );
    }
    let mut o = SysbenchOptions::new(dialect);
    read(&mut o, words, &mut said).map_err(|exit| exit.after(&said))?;
    if old {
        o.notes.push(
            "this command line has the form of SysBench 0.4 and is taken in its meaning (requests, not seconds); --dialect=1.0 gives it that of 1.0.20"
                .into(),
        );
    }
    if o.command == FileioCommand::Run && o.effective_io_mode() != o.io_mode {
        o.notes.push("--file-fsync-all: every write waits for its fsync, so requests are made one after the other, by pread and pwrite".into());
    }
    if o.verbosity == 5 && o.command == FileioCommand::Run {
        o.notes.push("--debug: single requests are not printed; it would measure the printing".into());
    }
    let notes = o.notes.clone();
    let workload =
        Workload { note: format!("sysbench {}", args.join(" ")), ..plan::workload(&o, context.clock_seed) };
    Ok(Parsed {
        options: o,
        arguments: args.clone(),
        workload,
        warnings: said.stderr,
        opening: said.stdout,
        notes,
    })
}

fn read(o: &mut SysbenchOptions, words: words::Words, said: &mut Said) -> Result<(), SysbenchExit> {
    let options = words.options;
    general::read(o, &options, said)?;
    let asked = |name: &str| {
        options.iter().rev().find(|g| g.is(name)).is_some_and(|g| values::switch(g).unwrap_or(false))
    };
    // SysBench takes -h for the name of a test; its users mean --help.
    if asked("help") || [&words.test, &words.command].into_iter().flatten().any(|word| word == "-h") {
        return Err(SysbenchExit::done(help::general(o.dialect)));
    }
    if asked("version") {
        return Err(SysbenchExit::done(help::version(o.dialect)));
    }
    if o.verbosity >= 3 {
        said.stdout += &help::banner(o.dialect);
    }
    match words.test.as_deref() {
        Some("fileio") => {}
        Some(test) if OTHERS.contains(&test) || test.starts_with("oltp_") || test.ends_with(".lua") => {
            return Err(SysbenchExit::refused(format_args!(
                "of SysBench's tests only fileio is here; {test} measures something other than storage"
            )));
        }
        Some(test) => {
            return Err(SysbenchExit::fatal(format_args!(
                "Cannot find benchmark '{test}': no such built-in test, file or module"
            ))
            .because("fileio is the test that is here"));
        }
        None => {
            return Err(SysbenchExit::refused(
                "no test was named; sysbench --help shows how, and the one that is here is fileio",
            ));
        }
    }
    let Some(command) = words.command else {
        return Err(SysbenchExit::complaint(
            "The 'fileio' test requires a command argument. See 'sysbench fileio help'",
        ));
    };
    if command == "help" && o.dialect == Dialect::New {
        return match options.iter().find(|g| table::find(&g.name, false).is_none()) {
            Some(given) => Err(values::unknown(given)),
            None => Err(SysbenchExit::done(help::fileio(o.dialect))),
        };
    }
    fileio::read(o, &options, &command)
}
