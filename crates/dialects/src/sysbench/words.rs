//! Splits arguments into words and options: which test and command, which options in which order, and which
//! release's language. Values are parsed in `general` and `fileio`.

use super::{SysbenchExit, table};
use std::path::Path;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Given {
    /// Text between the dashes and the `=`.
    pub name: String,
    /// Text after the `=`, if any.
    pub value: Option<String>,
    /// The whole argument.
    pub raw: String,
}

impl Given {
    pub(super) fn is(&self, name: &str) -> bool {
        self.name.replace('_', "-") == name
    }

    pub(super) fn text(&self) -> &str {
        self.value.as_deref().unwrap_or("")
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    pub test: Option<String>,
    pub command: Option<String>,
    pub options: Vec<Given>,
    /// Whether the test was named by --test.
    pub test_option: bool,
    /// The first surplus word.
    pub surplus: Option<String>,
}

/// Splits a command line. 0.4 only has --test; the word fileio is accepted as well.
pub(super) fn split(args: &[String], old: bool) -> Words {
    let mut words = Words::default();
    for arg in args {
        if let Some(option) = arg.strip_prefix("--") {
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (option, None),
            };
            let given = Given { name: name.into(), value, raw: arg.clone() };
            if given.is("test") {
                words.test = Some(given.text().into());
                words.test_option = true;
            }
            words.options.push(given);
        } else if words.test.is_none() && (!old || arg == "fileio") {
            words.test = Some(arg.clone());
        } else if words.command.is_none() {
            words.command = Some(arg.clone());
        } else if words.surplus.is_none() {
            words.surplus = Some(arg.clone());
        }
    }
    words
}

/// Whether a command line is in 0.4's language: according to --dialect, else to its form. 0.4 needs --test and --num-threads
/// for a run of several threads; command lines for 1.0 name the test without an option, or use --time or --events. With --test, an option
/// that 1.0 lacks also indicates 0.4, whatever the number of threads.
///
/// # Errors
/// A --dialect that is neither.
pub(super) fn is_old(args: &[String]) -> Result<bool, SysbenchExit> {
    let words = split(args, false);
    let given = |name: &str| words.options.iter().any(|o| o.is(name));
    if let Some(dialect) = words.options.iter().rev().find(|o| o.is("dialect")) {
        return match dialect.text() {
            "0.4" => Ok(true),
            "1.0" => Ok(false),
            other => Err(SysbenchExit::refused(format_args!(
                "--dialect is 0.4 (options of the releases of 2004 to 2015) or 1.0 (options of 1.0.20), not {other:?}"
            ))),
        };
    }
    let of_old = |o: &Given| table::of_04_only(&o.name);
    let old = given("num-threads") || words.options.iter().any(of_old);
    Ok(given("test") && old && !given("time") && !given("events") && !given("threads"))
}

/// Inserts the options of --config-file in its position; a line is `name = value` or `name`, with or without dashes.
///
/// # Errors
/// A file that cannot be read.
pub(super) fn with_files(
    args: &[String],
    read: &dyn Fn(&Path) -> Result<String, String>,
) -> Result<Vec<String>, SysbenchExit> {
    let mut all = Vec::with_capacity(args.len());
    for arg in args {
        let Some(name) = arg.strip_prefix("--config-file=").or_else(|| arg.strip_prefix("--config_file="))
        else {
            all.push(arg.clone());
            continue;
        };
        let text =
            read(Path::new(name)).map_err(|why| SysbenchExit::complaint(format_args!("{name}: {why}")))?;
        all.extend(text.lines().filter_map(line));
    }
    Ok(all)
}

fn line(line: &str) -> Option<String> {
    let line = line.split('#').next().unwrap_or("").trim();
    if line.is_empty() || line.starts_with('[') {
        return None;
    }
    let line = line.strip_prefix("--").unwrap_or(line);
    Some(match line.split_once('=') {
        Some((name, value)) => format!("--{}={}", name.trim_end(), value.trim()),
        None => format!("--{line}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn the_first_words_are_test_and_command_wherever_options_stand() {
        let w = split(&args("--threads=4 fileio --file-num=2 run x y"), false);
        assert_eq!((w.test.as_deref(), w.command.as_deref()), (Some("fileio"), Some("run")));
        assert_eq!(w.surplus.as_deref(), Some("x"));
        assert_eq!(w.options.len(), 2);
        let w = split(&args("--dialect=0.4 fileio run"), true);
        assert_eq!((w.test.as_deref(), w.command.as_deref()), (Some("fileio"), Some("run")));
        let w = split(&args("fileio --test=cpu help"), false);
        assert_eq!((w.test.as_deref(), w.command.as_deref()), (Some("cpu"), Some("help")));
    }

    #[test]
    fn the_release_follows_from_the_form() {
        let old = |line: &str| is_old(&args(line));
        assert_eq!(old("--num-threads=16 --test=fileio --file-test-mode=rndrw run"), Ok(true));
        assert_eq!(old("--num_threads=16 --test=fileio --max-time=60 run"), Ok(true));
        assert_eq!(old("--num-threads=16 --test=fileio --time=60 run"), Ok(false));
        assert_eq!(old("--num-threads=16 --test=fileio --dialect=1.0 run"), Ok(false));
        assert_eq!(old("--test=fileio --file-test-mode=rndrw run"), Ok(false));
        assert_eq!(old("--test=fileio --init-rng=on --max-time=300 --max-requests=0 run"), Ok(true));
        assert_eq!(old("--test=fileio --max-time=300 --max-requests=0 run"), Ok(false));
        assert_eq!(old("--test=fileio --init-rng=on --time=300 run"), Ok(false));
        assert_eq!(old("fileio --init-rng=on run"), Ok(false));
        assert_eq!(old("fileio --dialect=0.4 run"), Ok(true));
        assert!(old("fileio --dialect=0.5 run").is_err());
    }

    #[test]
    fn a_file_of_options_is_read_in_place() {
        let read = |_: &Path| Ok("# c\nthreads = 3\n[group]\n--histogram\nfile_num=4 # four\n\n".to_owned());
        let raw = with_files(&args("--time=1 --config-file=c fileio"), &read).expect("readable");
        assert_eq!(raw, ["--time=1", "--threads=3", "--histogram", "--file_num=4", "fileio"]);
    }
}
