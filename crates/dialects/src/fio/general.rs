//! Options of the program fio itself, and fathom's own for this dialect: what is printed, where to, and what is not to be done.

use super::number::{self, MS};
use super::{Spot, Version, Wrong, table};
use std::path::PathBuf;

/// Options of the program.
#[derive(Clone, Debug, Default)]
pub struct General {
    /// Whose outputs are printed.
    pub version: Version,
    /// `--output`.
    pub output: Option<PathBuf>,
    /// `--output-format`, `--minimal`, `--append-terse`: in the order of printing.
    pub formats: Vec<Format>,
    /// `--terse-version`; 3 without.
    pub terse_version: Option<u8>,
    /// `--aux-path`: where is written down what logs are made of.
    pub aux_path: Option<PathBuf>,
    /// `--section`: only these jobs.
    pub sections: Vec<String>,
    /// `--parse-only`.
    pub parse_only: bool,
    /// `--showcmd`.
    pub show_command: bool,
    /// `--readonly`.
    pub read_only: bool,
    /// `--eta`: never, always; `None`: auto.
    pub eta: Option<bool>,
    /// `--eta-newline`: so often the status line stays and another begins, ns.
    pub eta_newline_ns: Option<u64>,
    /// `--eta-interval`: the status line is written no more often, ns; 0: as often as there is news.
    pub eta_interval_ns: u64,
    /// `--status-interval`: what was done so far is printed so often, ns.
    pub status_interval_ns: Option<u64>,
    /// `--bandwidth-log`: bandwidth of all jobs together, into agg-read_bw.log and others.
    pub bandwidth_log: bool,
    /// `--inflate-log`: a compressed log whose lines are to be printed instead of running.
    pub inflate_log: Option<PathBuf>,
    /// `--warnings-fatal`.
    pub warnings_fatal: bool,
    /// `--check`: say what would be done, in the native format.
    pub check: bool,
    /// `--explain`: every value with its origin, and what to know of it.
    pub explain: bool,
    /// `--allow-write`: files that fathom did not make and may write.
    pub allow_write: Vec<PathBuf>,
    /// `--debug=parse`, or `all`.
    pub debug_parse: bool,
    /// `--debug=random`: the seeds of the jobs are told.
    pub debug_random: bool,
    /// What is printed for it.
    pub debug_lines: Vec<String>,
    /// What is to be printed instead of running.
    pub help: Option<Help>,
    /// What was accepted without effect: option and reason.
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
    /// Text.
    Normal,
}

/// What is printed instead of running.
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

/// General options: name, whether a value is needed.
const GENERAL: [(&str, Value); 40] = [
    ("output", Value::Needed),
    ("output-format", Value::Needed),
    ("minimal", Value::None),
    ("append-terse", Value::None),
    ("terse-version", Value::Needed),
    ("section", Value::Needed),
    ("parse-only", Value::None),
    ("showcmd", Value::None),
    ("readonly", Value::None),
    ("eta", Value::Needed),
    ("eta-newline", Value::Needed),
    ("eta-interval", Value::Needed),
    ("warnings-fatal", Value::None),
    ("version", Value::None),
    ("help", Value::None),
    ("cmdhelp", Value::Optional),
    ("enghelp", Value::Optional),
    ("check", Value::None),
    ("explain", Value::None),
    ("allow-write", Value::Needed),
    ("max-jobs", Value::Needed),
    ("alloc-size", Value::Needed),
    ("idle-prof", Value::Needed),
    ("debug", Value::Needed),
    ("inflate-log", Value::Needed),
    ("crctest", Value::Optional),
    ("cpuclock-test", Value::None),
    ("latency-log", Value::None),
    ("bandwidth-log", Value::Optional),
    ("status-interval", Value::Needed),
    ("aux-path", Value::Needed),
    ("client", Value::Needed),
    ("server", Value::Optional),
    ("remote-config", Value::Needed),
    ("daemonize", Value::Needed),
    ("trigger", Value::Needed),
    ("trigger-file", Value::Needed),
    ("trigger-timeout", Value::Needed),
    ("trigger-remote", Value::Needed),
    ("merge-blktrace-only", Value::None),
];

/// What `--idle-prof` can be asked for; calibration alone is nothing that is ignored.
const IDLE: [&str; 2] = ["system", "percpu"];

/// What `--debug` can be asked for.
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
pub(super) enum Value {
    None,
    /// With `=` only.
    Optional,
    Needed,
}

/// Names of one letter.
pub(super) fn short(name: &str) -> &str {
    match name {
        "o" => "output",
        "h" => "help",
        "v" => "version",
        "m" => "minimal",
        long => long,
    }
}

/// A general option by its name, or by a beginning that nothing else has.
pub(super) fn find(name: &str) -> Option<(&'static str, Value)> {
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
    /// Jobs are only read: as in fio, nothing on the disk is looked for.
    #[must_use]
    pub fn is_only_read(&self) -> bool {
        (self.parse_only || self.show_command) && !(self.check || self.explain)
    }

    pub(super) fn set(&mut self, name: &str, value: Option<String>, spot: &Spot) -> Result<(), Wrong> {
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
                    return Err(Wrong::at(spot, format!("terse version {text:?}: 2, 3, 4 or 5 is expected")));
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
                        return Err(Wrong::at(
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
                    return Err(Wrong::at(
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
                return Err(Wrong::at(
                    spot,
                    format!("--idle-prof={text}: {} is expected", IDLE.join(" or ")),
                )
                .fio(format!("fio: incorrect idle-prof option: {text}\n")));
            }
            "max-jobs" | "alloc-size" | "idle-prof" => {
                self.ignored.push((format!("--{name}"), reason(name).into()));
            }
            _ => {
                return Err(Wrong::at(spot, format!("--{name} is not supported: {}", reason(name)))
                    .hint("fathom fio --help lists what is"));
            }
        }
        Ok(())
    }
}

/// A time of at least `least_ns`; a bare number is of seconds.
fn time(name: &str, text: &str, least_ns: u64, spot: &Spot) -> Result<u64, Wrong> {
    match number::time(text, number::S) {
        Ok(ns) if ns >= least_ns => Ok(ns),
        Ok(_) => Err(Wrong::at(
            spot,
            format!("--{name}={text}: at least {} ms is expected", least_ns.div_ceil(MS)),
        )),
        Err(why) => Err(Wrong::at(spot, format!("--{name}={text}: {why}"))),
    }
}

/// Why a general option is ignored, or refused.
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

fn format_of(word: &str, spot: &Spot) -> Result<Format, Wrong> {
    match word.trim() {
        "normal" => Ok(Format::Normal),
        "terse" | "minimal" => Ok(Format::Terse),
        "json" => Ok(Format::Json),
        "json+" => Ok(Format::JsonPlus),
        _ => {
            Err(Wrong::at(spot, format!("output format {word:?}: normal, terse, json or json+ is expected")))
        }
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
