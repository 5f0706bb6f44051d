//! The SysBench options that fileio accepts, one row each, and fathom's own: the single source for parsing, help,
//! documentation and refusals. `general` and `fileio` act on them.

/// Type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// A 32-bit integer.
    Number,
    /// A number of bytes, optionally with a suffix K, M, G or T.
    Size,
    /// A decimal number.
    Real,
    /// on, off and similar words; no value means on.
    Switch,
    /// Any text.
    Text,
    /// Comma-separated texts.
    List,
}

/// Group of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionGroup {
    /// Options of every test.
    General,
    /// Random number options.
    Random,
    /// Logging and reporting.
    Log,
    /// Databases, unused here.
    Database,
    /// fileio options.
    FileIo,
    /// fathom's own options.
    Ours,
}

/// Releases that have an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Versions {
    /// 0.4 and 1.0.
    Both,
    /// 0.4 only.
    Old,
    /// 1.0 only.
    New,
}

/// How an option is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SysbenchSupport {
    /// Works as in SysBench, or as described in its help if SysBench lacks it.
    Done,
    /// Accepted; the text says what it does here.
    Harmless(&'static str),
    /// An error; the text says why.
    Refused(&'static str),
}

/// One option.
#[derive(Clone, Copy, Debug)]
pub struct SysbenchOption {
    /// Name without leading dashes.
    pub name: &'static str,
    /// Type of the value.
    pub value: ValueType,
    /// Placeholder for the value in help texts.
    pub placeholder: &'static str,
    /// Default as shown in help texts; `None` if not shown.
    pub default: Option<&'static str>,
    /// Group.
    pub part: OptionGroup,
    /// Releases that have it.
    pub versions: Versions,
    /// How it is handled.
    pub state: SysbenchSupport,
    /// One-line description.
    pub help: &'static str,
}

impl SysbenchOption {
    /// Usage text, `--file-num=N` or `--validate[=on|off]`.
    #[must_use]
    pub fn usage(&self) -> String {
        match self.value {
            ValueType::Switch => format!("--{}[=on|off]", self.name),
            _ => format!("--{}={}", self.name, self.placeholder),
        }
    }
}

const fn row(
    part: OptionGroup,
    name: &'static str,
    value: ValueType,
    default: &'static str,
    help: &'static str,
) -> SysbenchOption {
    let placeholder = match value {
        ValueType::Number | ValueType::Real => "N",
        ValueType::Size => "SIZE",
        ValueType::Switch => "",
        ValueType::Text => "STRING",
        ValueType::List => "[LIST,...]",
    };
    SysbenchOption {
        name,
        value,
        placeholder,
        default: Some(default),
        part,
        versions: Versions::Both,
        state: SysbenchSupport::Done,
        help,
    }
}

const fn old(base: SysbenchOption) -> SysbenchOption {
    SysbenchOption { versions: Versions::Old, ..base }
}

const fn new(base: SysbenchOption) -> SysbenchOption {
    SysbenchOption { versions: Versions::New, ..base }
}

const fn shown(base: SysbenchOption, placeholder: &'static str) -> SysbenchOption {
    SysbenchOption { placeholder, ..base }
}

const fn bare(base: SysbenchOption) -> SysbenchOption {
    SysbenchOption { default: None, ..base }
}

const fn harmless(base: SysbenchOption, note: &'static str) -> SysbenchOption {
    SysbenchOption { state: SysbenchSupport::Harmless(note), ..base }
}

const fn refused(base: SysbenchOption, why: &'static str) -> SysbenchOption {
    SysbenchOption { state: SysbenchSupport::Refused(why), ..base }
}

use OptionGroup::{Database, FileIo, General, Log, Ours, Random};
use ValueType::{List, Number, Real, Size, Switch, Text};

const NO_DATABASE: &str = "nothing here talks to a database";
const UNIFORM: &str = "fileio draws all positions uniformly, in SysBench too";

/// All options.
pub const OPTIONS: [SysbenchOption; 66] = [
    new(row(General, "threads", Number, "1", "worker threads")),
    new(row(General, "events", Number, "0", "end after N events, periodic fsyncs included; 0: no limit")),
    new(row(General, "time", Number, "10", "end after N seconds; 0: no limit")),
    row(
        General,
        "forced-shutdown",
        Text,
        "off",
        "end the run at the latest N seconds (or percent of --time) after --time; or off",
    ),
    harmless(
        row(General, "thread-stack-size", Size, "64K", "stack of each thread"),
        "checked and not used: fathom chooses the stack size of its threads",
    ),
    new(row(
        General,
        "rate",
        Number,
        "0",
        "events a second of all threads together, at random times; 0: as fast as it goes",
    )),
    row(General, "report-interval", Number, "0", "a line of figures every N seconds; 0: none"),
    row(
        General,
        "report-checkpoints",
        List,
        "",
        "a full report after each of these numbers of seconds; counters restart",
    ),
    row(General, "debug", Switch, "off", "the same as --verbosity=5"),
    row(
        General,
        "validate",
        Switch,
        "off",
        "prepare: write blocks that check themselves; run: check every block that is read",
    ),
    row(General, "help", Switch, "off", "this text"),
    row(General, "version", Switch, "off", "the version"),
    new(bare(shown(
        row(General, "config-file", Text, "", "read options from a file, one a line"),
        "FILENAME",
    ))),
    new(row(General, "tx-rate", Number, "0", "old name of --rate")),
    new(row(General, "max-requests", Number, "0", "old name of --events")),
    new(row(General, "max-time", Number, "0", "old name of --time")),
    new(row(General, "num-threads", Number, "1", "old name of --threads")),
    old(row(General, "num-threads", Number, "1", "worker threads")),
    old(row(
        General,
        "max-requests",
        Number,
        "10000",
        "random modes: end after N reads and writes; 0: no limit",
    )),
    old(row(General, "max-time", Number, "0", "end after N seconds; 0: no limit")),
    old(row(General, "init-rng", Switch, "off", "other random numbers in every run")),
    old(row(General, "seed-rng", Number, "0", "seed of the random numbers; 0: always the same one")),
    old(row(
        General,
        "tx-rate",
        Number,
        "0",
        "requests a second of all threads together, at random times; 0: as fast as it goes",
    )),
    old(refused(
        row(General, "tx-jitter", Number, "0", "how far requests of --tx-rate are off their time"),
        "The workload model spaces requests evenly or at random, not by a given deviation.",
    )),
    bare(row(General, "test", Text, "", "the test to run: fileio")),
    harmless(
        shown(row(Random, "rand-type", Text, "special", "distribution of random numbers"), "STRING"),
        UNIFORM,
    ),
    harmless(row(Random, "rand-spec-iter", Number, "12", "how often numbers are drawn for one"), UNIFORM),
    harmless(row(Random, "rand-spec-pct", Number, "1", "share of special values in percent"), UNIFORM),
    harmless(
        row(Random, "rand-spec-res", Number, "75", "how often special values are drawn, in percent"),
        UNIFORM,
    ),
    new(row(Random, "rand-seed", Number, "0", "seed of the random numbers; 0: another one every time")),
    new(harmless(row(Random, "rand-pareto-h", Real, "0.2", "skew of the Pareto distribution"), UNIFORM)),
    new(row(
        Log,
        "verbosity",
        Number,
        "3",
        "how much is said: 5 everything, 3 the usual, 2 and less only what went wrong",
    )),
    old(row(
        Log,
        "verbosity",
        Number,
        "4",
        "how much is said: 5 everything, 3 the usual, 2 and less only what went wrong",
    )),
    row(Log, "percentile", Number, "95", "which percentile of the latency is reported, 1 to 100; 0: none"),
    new(row(Log, "histogram", Switch, "off", "print the histogram of latencies")),
    new(harmless(row(Database, "db-driver", Text, "mysql", "kind of database"), NO_DATABASE)),
    new(harmless(row(Database, "db-ps-mode", Text, "auto", "prepared statements"), NO_DATABASE)),
    new(harmless(
        row(Database, "db-debug", Switch, "off", "print what is sent to the database"),
        NO_DATABASE,
    )),
    new(harmless(row(Database, "mysql-host", List, "localhost", "MySQL: host"), NO_DATABASE)),
    new(harmless(row(Database, "mysql-port", List, "3306", "MySQL: port"), NO_DATABASE)),
    new(harmless(row(Database, "mysql-socket", List, "", "MySQL: socket"), NO_DATABASE)),
    new(harmless(row(Database, "mysql-user", Text, "sbtest", "MySQL: user"), NO_DATABASE)),
    new(harmless(row(Database, "mysql-password", Text, "", "MySQL: password"), NO_DATABASE)),
    new(harmless(row(Database, "mysql-db", Text, "sbtest", "MySQL: database"), NO_DATABASE)),
    new(harmless(row(Database, "pgsql-host", Text, "localhost", "PostgreSQL: host"), NO_DATABASE)),
    new(harmless(row(Database, "pgsql-port", Number, "5432", "PostgreSQL: port"), NO_DATABASE)),
    new(harmless(row(Database, "pgsql-user", Text, "sbtest", "PostgreSQL: user"), NO_DATABASE)),
    new(harmless(row(Database, "pgsql-password", Text, "", "PostgreSQL: password"), NO_DATABASE)),
    new(harmless(row(Database, "pgsql-db", Text, "sbtest", "PostgreSQL: database"), NO_DATABASE)),
    row(FileIo, "file-num", Number, "128", "how many files"),
    shown(row(FileIo, "file-block-size", Size, "16384", "bytes of one request"), "N"),
    row(FileIo, "file-total-size", Size, "2G", "bytes of all files together"),
    bare(row(
        FileIo,
        "file-test-mode",
        Text,
        "",
        "what is done {seqwr, seqrewr, seqrd, rndrd, rndwr, rndrw}",
    )),
    row(FileIo, "file-io-mode", Text, "sync", "by which calls {sync,async,mmap}"),
    row(FileIo, "file-async-backlog", Number, "128", "async: requests in flight in each thread"),
    row(FileIo, "file-extra-flags", List, "", "further flags of open {sync,dsync,direct}"),
    row(FileIo, "file-fsync-freq", Number, "100", "fsync every file after every N requests (0: never)"),
    row(FileIo, "file-fsync-all", Switch, "off", "fsync after every write, as part of it"),
    row(FileIo, "file-fsync-end", Switch, "on", "every thread syncs every file at the end"),
    row(FileIo, "file-fsync-mode", Text, "fsync", "how files are synced {fsync, fdatasync}"),
    row(FileIo, "file-merged-requests", Number, "0", "sequential modes: blocks of one request (0: one)"),
    row(FileIo, "file-rw-ratio", Real, "1.5", "rndrw: reads for each write"),
    bare(shown(
        row(
            Ours,
            "dialect",
            Text,
            "",
            "the release whose options are meant {0.4,1.0}; 0.4 if the line has --test with --num-threads or with an option that 1.0 does not have, but neither --time nor --events",
        ),
        "VERSION",
    )),
    shown(row(Ours, "file-path", Text, ".", "directory of the files"), "DIR"),
    row(
        Ours,
        "file-replace",
        Switch,
        "off",
        "files of these names that fathom did not make may be written, replaced and removed",
    ),
    row(Ours, "file-cold", Switch, "off", "run: drop the files from the page cache first"),
];

/// Finds an option by its name as given: `_` counts as `-`. If both releases have a row, this release's.
#[must_use]
pub fn find(name: &str, old: bool) -> Option<&'static SysbenchOption> {
    let name = name.replace('_', "-");
    let other = if old { Versions::New } else { Versions::Old };
    OPTIONS.iter().find(|r| r.name == name && r.versions != other)
}

/// Whether only 0.4 has the option.
#[must_use]
pub fn of_04_only(name: &str) -> bool {
    find(name, true).is_some() && find(name, false).is_none()
}

/// The rows of a group, in order.
pub fn of_part(part: OptionGroup, old: bool) -> impl Iterator<Item = &'static SysbenchOption> {
    let other = if old { Versions::New } else { Versions::Old };
    OPTIONS.iter().filter(move |r| r.part == part && r.versions != other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_row_in_each_release() {
        for old in [false, true] {
            for row in
                OPTIONS.iter().filter(|r| r.versions != if old { Versions::New } else { Versions::Old })
            {
                assert_eq!(find(row.name, old).map(|r| r.help), Some(row.help), "{}", row.name);
            }
        }
    }

    #[test]
    fn underscores_are_dashes() {
        assert_eq!(find("file_test_mode", false).map(|r| r.name), Some("file-test-mode"));
        assert!(find("threads", true).is_none() && find("init-rng", false).is_none());
    }

    #[test]
    fn fileio_has_thirteen_options() {
        assert_eq!(of_part(FileIo, false).count(), 13);
    }
}
