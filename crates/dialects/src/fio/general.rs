//! General options of fio, and fathom's own for this dialect: what is printed, where, and what is skipped.

use super::number::{self, MS};
use super::{Spot, UsageError, Version, table};
use std::path::PathBuf;

/// General options, which belong to no job.
#[derive(Clone, Debug, Default)]
pub struct General {
    /// fio version whose output is imitated.
    pub version: Version,
    /// `--output`; `None`: stdout.
    pub output: Option<PathBuf>,
    /// `--output-format`, `--minimal`, `--append-terse`: in printing order.
    pub formats: Vec<Format>,
    /// `--terse-version`; `None`: 3.
    pub terse_version: Option<u8>,
    /// `--aux-path`: directory for logs and other side files.
    pub aux_path: Option<PathBuf>,
    /// `--section`: run only these jobs.
    pub sections: Vec<String>,
    /// `--parse-only`: check the options and exit.
    pub parse_only: bool,
    /// `--showcmd`: print the jobs as command lines.
    pub show_command: bool,
    /// `--readonly`: refuse jobs that write.
    pub read_only: bool,
    /// `--eta`: `Some(false)`: never, `Some(true)`: always, `None`: auto.
    pub eta: Option<bool>,
    /// `--eta-newline`: interval after which the status line moves to a new line, ns.
    pub eta_newline_ns: Option<u64>,
    /// `--eta-interval`: shortest time between updates of the status line, ns; 0: no limit.
    pub eta_interval_ns: u64,
    /// `--status-interval`: time between reports of the results so far, ns.
    pub status_interval_ns: Option<u64>,
    /// `--bandwidth-log`: aggregate bandwidth of all jobs, in agg-read_bw.log and others.
    pub bandwidth_log: bool,
    /// `--inflate-log`: compressed log to print instead of running.
    pub inflate_log: Option<PathBuf>,
    /// `--warnings-fatal`: treat fio's warnings as errors.
    pub warnings_fatal: bool,
    /// `--check`: print the workload in the native format instead of running.
    pub check: bool,
    /// `--explain`: print every value with its origin and notes.
    pub explain: bool,
    /// `--allow-write`: files that may be written although fathom did not create them.
    pub allow_write: Vec<PathBuf>,
    /// `--debug=parse`, or `all`.
    pub debug_parse: bool,
    /// `--debug=random`: print the seeds of the jobs.
    pub debug_random: bool,
    /// Lines printed for `--debug`.
    pub debug_lines: Vec<String>,
    /// Text requested instead of a run.
    pub help: Option<Help>,
    /// Options accepted without effect: option and reason.
    pub ignored: Vec<(String, String)>,
}

/// Output formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// One line, fields separated by semicolons.
    Terse,
    /// JSON.
    Json,
    /// JSON with histograms.
    JsonPlus,
    /// Human-readable text.
    Normal,
}

/// Text that replaces the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Help {
    /// `--help`.
    Usage,
    /// `--version`.
    Version,
    /// `--cmdhelp`: one option, or all.
    Options(Option<String>),
    /// `--enghelp`: all engines, or `ENGINE[,OPTION]`.
    Engines(Option<String>),
}

/// General options: name, and whether a value is required.
const GENERAL: [(&str, TakesValue); 40] = [
    ("output", TakesValue::Needed),
    ("output-format", TakesValue::Needed),
    ("minimal", TakesValue::None),
    ("append-terse", TakesValue::None),
    ("terse-version", TakesValue::Needed),
    ("section", TakesValue::Needed),
    ("parse-only", TakesValue::None),
    ("showcmd", TakesValue::None),
    ("readonly", TakesValue::None),
    ("eta", TakesValue::Needed),
    ("eta-newline", TakesValue::Needed),
    ("eta-interval", TakesValue::Needed),
    ("warnings-fatal", TakesValue::None),
    ("version", TakesValue::None),
    ("help", TakesValue::None),
    ("cmdhelp", TakesValue::Optional),
    ("enghelp", TakesValue::Optional),
    ("check", TakesValue::None),
    ("explain", TakesValue::None),
    ("allow-write", TakesValue::Needed),
    ("max-jobs", TakesValue::Needed),
    ("alloc-size", TakesValue::Needed),
    ("idle-prof", TakesValue::Needed),
    ("debug", TakesValue::Needed),
    ("inflate-log", TakesValue::Needed),
    ("crctest", TakesValue::Optional),
    ("cpuclock-test", TakesValue::None),
    ("latency-log", TakesValue::None),
    ("bandwidth-log", TakesValue::Optional),
    ("status-interval", TakesValue::Needed),
    ("aux-path", TakesValue::Needed),
    ("client", TakesValue::Needed),
    ("server", TakesValue::Optional),
    ("remote-config", TakesValue::Needed),
    ("daemonize", TakesValue::Needed),
    ("trigger", TakesValue::Needed),
    ("trigger-file", TakesValue::Needed),
    ("trigger-timeout", TakesValue::Needed),
    ("trigger-remote", TakesValue::Needed),
    ("merge-blktrace-only", TakesValue::None),
];

/// Values of `--idle-prof` that are accepted and ignored; `calibrate` is refused.
const IDLE: [&str; 2] = ["system", "percpu"];

const DEBUG: [&str; 19] = [
    "process",
    "file",
    "io",
    "mem",
    "blktrace",
    "verify",
    "random",
    "parse",
    "diskutil",
    "job",
    "mutex",
    "profile",
    "time",
    "net",
    "rate",
    "compress",
    "steadystate",
    "helperthread",
    "zbd",
];

/// Whether an option takes a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TakesValue {
    None,
    /// With `=` only.
    Optional,
    Needed,
}

/// Expands one-letter option names.
pub(super) fn short(name: &str) -> &str {
    match name {
        "o" => "output",
        "h" => "help",
        "v" => "version",
        "m" => "minimal",
        long => long,
    }
}

/// Finds a general option by name or unique prefix.
pub(super) fn find(name: &str) -> Option<(&'static str, TakesValue)> {
    if let Some(found) = GENERAL.iter().find(|g| g.0 == name) {
        return Some(*found);
    }
    let mut found = GENERAL.iter().filter(|g| g.0.starts_with(name));
    match (found.next(), found.next()) {
        (Some(only), None) if name.len() > 2 && table::beginning_with(name).is_empty() => Some(*only),
        _ => None,
    }
}

impl General {
    /// Whether jobs are only parsed, not run: then nothing on disk is looked up, as in fio.
    #[must_use]
    pub fn is_only_read(&self) -> bool {
        (self.parse_only || self.show_command) && !(self.check || self.explain)
    }

    pub(super) fn set(&mut self, name: &str, value: Option<String>, spot: &Spot) -> Result<(), UsageError> {
        let text = value.unwrap_or_default();
        match name {
            "output" => self.output = Some(text.into()),
            "output-format" => {
                self.formats = text.split(',').map(|word| format_of(word, spot)).collect::<Result<_, _>>()?;
            }
            "minimal" => self.formats = vec![Format::Terse],
            "append-terse" => {
                if self.formats.is_empty() {
                    self.formats.push(Format::Normal);
                }
                self.formats.push(Format::Terse);
            }
            "terse-version" => match text.parse() {
                Ok(version @ 2..=5) => self.terse_version = Some(version),
                _ => {
                    return Err(UsageError::at(
                        spot,
                        format!("terse version {text:?}: 2, 3, 4 or 5 is expected"),
                    ));
                }
            },
            "section" => self.sections.push(text),
            "aux-path" => self.aux_path = Some(text.into()),
            "parse-only" => self.parse_only = true,
            "showcmd" => self.show_command = true,
            "readonly" => self.read_only = true,
            "eta" => {
                self.eta = match text.as_str() {
                    "always" => Some(true),
                    "never" => Some(false),
                    "auto" => None,
                    _ => {
                        return Err(UsageError::at(
                            spot,
                            format!("--eta={text}: always, never or auto is expected"),
                        ));
                    }
                };
            }
            "warnings-fatal" => self.warnings_fatal = true,
            "version" => self.help = Some(Help::Version),
            "help" => self.help = Some(Help::Usage),
            "cmdhelp" => self.help = Some(Help::Options((!text.is_empty()).then_some(text))),
            "enghelp" => self.help = Some(Help::Engines((!text.is_empty()).then_some(text))),
            "check" => self.check = true,
            "explain" => self.explain = true,
            "allow-write" => self.allow_write.push(text.into()),
            "eta-newline" => self.eta_newline_ns = Some(time(name, &text, 1, spot)?),
            "eta-interval" => self.eta_interval_ns = time(name, &text, 250 * MS, spot)?,
            "status-interval" => self.status_interval_ns = Some(time(name, &text, 100 * MS, spot)?),
            "bandwidth-log" if text.is_empty() => self.bandwidth_log = true,
            "debug" => {
                let words: Vec<&str> = text.split(',').map(str::trim).collect();
                if let Some(word) = words.iter().find(|word| **word != "all" && !DEBUG.contains(*word)) {
                    return Err(UsageError::at(
                        spot,
                        format!("--debug={word}: one of {} is expected", DEBUG.join(", ")),
                    )
                    .fio(format!("fio: debug mask {word} not found\n")));
                }
                let asked = |for_what: &str| words.iter().any(|word| [for_what, "all"].contains(word));
                self.debug_parse |= asked("parse");
                self.debug_random |= asked("random");
                self.ignored.push((format!("--{name}"), reason(name).into()));
            }
            "inflate-log" => self.inflate_log = Some(text.into()),
            "idle-prof" if !IDLE.contains(&text.as_str()) => {
                return Err(UsageError::at(
                    spot,
                    format!("--idle-prof={text}: {} is expected", IDLE.join(" or ")),
                )
                .fio(format!("fio: incorrect idle-prof option: {text}\n")));
            }
            "max-jobs" | "alloc-size" | "idle-prof" => {
                self.ignored.push((format!("--{name}"), reason(name).into()));
            }
            _ => {
                return Err(UsageError::at(spot, format!("--{name} is not supported: {}", reason(name)))
                    .hint("fathom fio --help lists what is"));
            }
        }
        Ok(())
    }
}

/// A time of at least `least_ns`; a bare number is in seconds.
fn time(name: &str, text: &str, least_ns: u64, spot: &Spot) -> Result<u64, UsageError> {
    match number::time(text, number::S) {
        Ok(ns) if ns >= least_ns => Ok(ns),
        Ok(_) => Err(UsageError::at(
            spot,
            format!("--{name}={text}: at least {} ms is expected", least_ns.div_ceil(MS)),
        )),
        Err(why) => Err(UsageError::at(spot, format!("--{name}={text}: {why}"))),
    }
}

/// Why a general option is ignored or refused.
fn reason(name: &str) -> &'static str {
    match name {
        "max-jobs" | "alloc-size" => "there is no such limit",
        "idle-prof" => "the CPU that is left over is not measured",
        "debug" => {
            "of fio's debugging output there is only what parse says of steadystate, and the seeds of random"
        }
        "bandwidth-log" => {
            "its files are called agg-read_bw.log, agg-write_bw.log and agg-trim_bw.log, and have no other name"
        }
        "latency-log" => "a job says which logs it writes: write_lat_log",
        "client" | "server" | "remote-config" | "daemonize" => "there are no clients and servers",
        "crctest" | "cpuclock-test" => "`cargo xtask bench engine` measures fathom itself",
        _ => "it is not part of this",
    }
}

fn format_of(word: &str, spot: &Spot) -> Result<Format, UsageError> {
    match word.trim() {
        "normal" => Ok(Format::Normal),
        "terse" | "minimal" => Ok(Format::Terse),
        "json" => Ok(Format::Json),
        "json+" => Ok(Format::JsonPlus),
        _ => Err(UsageError::at(
            spot,
            format!("output format {word:?}: normal, terse, json or json+ is expected"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{planned, refused};

    #[test]
    fn times_of_the_status_are_read() {
        let general = planned(
            "--eta-newline=2 --eta-interval=500ms --status-interval=1 --bandwidth-log --name=a --size=1m",
        )
        .general;
        assert_eq!(
            (general.eta_newline_ns, general.eta_interval_ns, general.status_interval_ns),
            (Some(2_000_000_000), 500_000_000, Some(1_000_000_000))
        );
        assert!(general.bandwidth_log && general.ignored.is_empty());
        assert!(refused("--eta-interval=100ms --name=a --size=1m").contains("at least 250 ms"));
        assert!(refused("--status-interval=0 --name=a --size=1m").contains("at least 100 ms"));
        assert!(refused("--status-interval=soon --name=a --size=1m").contains("--status-interval=soon"));
        let debugged = planned("--debug=parse,io --name=a --size=1m").general;
        assert!(debugged.debug_parse && !debugged.debug_random && debugged.ignored.len() == 1);
        assert!(refused("--debug=nothing --name=a --size=1m").contains("fio: debug mask nothing not found"));
        assert!(
            refused("--idle-prof=foo --name=a --size=1m").contains("fio: incorrect idle-prof option: foo\n")
        );
        assert_eq!(planned("--idle-prof=percpu --name=a --size=1m").general.ignored.len(), 1);
        assert!(refused("--bandwidth-log=x --name=a --size=1m").contains("agg-read_bw.log"));
    }
}
