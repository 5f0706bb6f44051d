//! SysBench: the command line of its fileio test in, its output out, to the letter of release 1.0.20, or of 0.4.12 for command lines
//! of that time, which mean something else (see `words::is_old`).
//!
//! `table` lists the options; `words`, `general` and `fileio` read a command line into [`Options`]; `plan` makes the workload;
//! [`Printer`] prints; `files` has the texts of prepare and cleanup; `failure` those of errors; `replay` prints a stored run.
//! Nothing here does I/O: the time and the text of a file of options come in with [`Context`].

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

pub use exit::Exit;
pub use help::documentation;
pub use options::{Command, Dialect, Options};
pub use printer::Printer;
pub use replay::{ReplayError, print};

use fathom_workload::Workload;
use std::path::Path;

/// What the dialect must know of the world.
pub struct Context<'a> {
    /// Seed of the run where the command line gives none: another one every time.
    pub clock_seed: u64,
    /// Gives the text of a file of options, or why it cannot be had.
    pub read: &'a dyn Fn(&Path) -> Result<String, String>,
}

/// A command line that can be executed.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// What was typed.
    pub options: Options,
    /// The arguments with those of --config-file in its place, so that the run can be printed again without that file.
    pub arguments: Vec<String>,
    /// What is to be done. Of prepare and cleanup it names the files only.
    pub workload: Workload,
    /// For stderr before anything else: SysBench's own warnings.
    pub warnings: String,
    /// For stdout before anything else: warnings, and the version.
    pub opening: String,
    /// For stderr: options that change nothing, and why. Full lines without line ends.
    pub notes: Vec<String>,
}

/// What was said so far.
#[derive(Clone, Debug, Default)]
struct Said {
    stdout: String,
    stderr: String,
}

/// SysBench's other tests.
const OTHERS: [&str; 4] = ["cpu", "memory", "threads", "mutex"];

/// Reads a command line (without the program's name).
///
/// # Errors
/// Everything that ends the program before it does anything: help, version, mistakes, refusals; with SysBench's exit codes.
pub fn plan(args: &[String], context: &Context<'_>) -> Result<Parsed, Exit> {
    let args = &words::with_files(args, context.read)?;
    let old = words::is_old(args)?;
    let dialect = if old { Dialect::Old } else { Dialect::New };
    let mut said = Said::default();
    let words = words::split(args, old);
    if words.test_option && !old {
        said.stderr += "WARNING: the --test option is deprecated. You can pass a script name or path on the command line without any options.\n";
    }
    if let Some(word) = &words.surplus {
        return Err(Exit::complaint(format_args!("Unrecognized command line argument: {word}")).after(&said));
    }
    let mut o = Options::new(dialect);
    read(&mut o, words, &mut said).map_err(|exit| exit.after(&said))?;
    if old {
        o.notes.push(
            "this command line has the form of SysBench 0.4 and is taken in its meaning (requests, not seconds); --dialect=1.0 gives it that of 1.0.20"
                .into(),
        );
    }
    if o.command == Command::Run && o.effective_io_mode() != o.io_mode {
        o.notes.push("--file-fsync-all: every write waits for its fsync, so requests are made one after the other, by pread and pwrite".into());
    }
    if o.verbosity == 5 && o.command == Command::Run {
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

fn read(o: &mut Options, words: words::Words, said: &mut Said) -> Result<(), Exit> {
    let options = words.options;
    general::read(o, &options, said)?;
    let asked = |name: &str| {
        options.iter().rev().find(|g| g.is(name)).is_some_and(|g| values::switch(g).unwrap_or(false))
    };
    if asked("help") {
        return Err(Exit::done(help::general(o.dialect)));
    }
    if asked("version") {
        return Err(Exit::done(help::version(o.dialect)));
    }
    if o.verbosity >= 3 {
        said.stdout += &help::banner(o.dialect);
    }
    match words.test.as_deref() {
        Some("fileio") => {}
        Some(test) if OTHERS.contains(&test) || test.starts_with("oltp_") || test.ends_with(".lua") => {
            return Err(Exit::refused(format_args!(
                "of SysBench's tests only fileio is here; {test} measures something other than storage"
            )));
        }
        Some(test) => {
            return Err(Exit::fatal(format_args!(
                "Cannot find benchmark '{test}': no such built-in test, file or module"
            ))
            .because("fileio is the test that is here"));
        }
        None => {
            return Err(Exit::refused(
                "no test was named; sysbench --help shows how, and the one that is here is fileio",
            ));
        }
    }
    let Some(command) = words.command else {
        return Err(Exit::complaint(
            "The 'fileio' test requires a command argument. See 'sysbench fileio help'",
        ));
    };
    if command == "help" && o.dialect == Dialect::New {
        return match options.iter().find(|g| table::find(&g.name, false).is_none()) {
            Some(given) => Err(values::unknown(given)),
            None => Err(Exit::done(help::fileio(o.dialect))),
        };
    }
    fileio::read(o, &options, &command)
}
