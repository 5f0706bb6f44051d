//! Every known option of fio: one row each, with aliases, value type, and how it is handled.
//! Job files, the command line, `--cmdhelp` and the table in docs/fio.md all use these rows.

mod data;
mod defaults;
mod engine;
mod files;
mod io_type;
mod network;
mod offsets;
mod pace;
mod process;
mod report;

pub use defaults::default_of;
pub use engine::engines_of;

use super::{lenient_number, number, split, triples};
use std::fmt::Write as _;

/// One option.
#[derive(Debug)]
pub struct FioOption {
    /// Primary name.
    pub name: &'static str,
    /// Alternative names.
    pub aliases: &'static [&'static str],
    /// Type of the value.
    pub kind: Kind,
    /// How it is handled.
    pub state: FioSupport,
    /// One-line description.
    pub help: &'static str,
}

/// How an option is handled.
#[derive(Debug)]
pub enum FioSupport {
    /// Works as in fio.
    Done,
    /// Accepted without effect on the measurement, for this reason.
    Harmless(&'static str),
    /// Not supported, and would change the workload.
    Refused {
        /// Values that request nothing special and are accepted.
        unless: &'static [&'static str],
        /// Reason for the refusal.
        why: &'static str,
        /// The nearest supported alternative.
        instead: &'static str,
    },
}

/// Types of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No value, or 0 or 1.
    Flag,
    /// 0 or 1.
    Bool,
    /// An integer with fio's suffixes.
    Number,
    /// An integer that may be negative.
    Signed,
    /// Bytes, with suffixes.
    Bytes,
    /// Bytes, or a range of them.
    Range,
    /// Bytes or a percentage.
    Size,
    /// A time; a bare number is multiplied by this many nanoseconds.
    Time(u64),
    /// One of these words; text after a colon or comma is parsed by the option's user.
    Word(&'static [&'static str]),
    /// A decimal number.
    Float,
    /// A list of decimal numbers, `a:b:c`.
    Floats,
    /// Bytes for reads, writes, trims.
    BytesTriple,
    /// Ranges of bytes for reads, writes, trims.
    RangeTriple,
    /// Sizes with percentages, for reads, writes, trims.
    SplitTriple,
    /// Any text.
    Text,
    /// Any text, or no value.
    OptionalText,
}

impl Kind {
    /// Description of the expected value, for help.
    #[must_use]
    pub fn expected(self) -> String {
        match self {
            Self::Flag => "no value, 0 or 1".into(),
            Self::Bool => "0 or 1".into(),
            Self::Number => "number".into(),
            Self::Signed => "number, may be negative".into(),
            Self::Bytes => "bytes (k, m, g, t, p)".into(),
            Self::Range => "bytes, or a range of them".into(),
            Self::Size => "bytes or percent".into(),
            Self::Time(number::S) => "time (bare: seconds)".into(),
            Self::Time(number::MS) => "time (bare: milliseconds)".into(),
            Self::Time(_) => "time (bare: microseconds)".into(),
            Self::Word(words) => words.join(", "),
            Self::Float => "number with fraction".into(),
            Self::Floats => "numbers a:b:c".into(),
            Self::BytesTriple => "bytes for reads,writes,trims".into(),
            Self::RangeTriple => "ranges for reads,writes,trims".into(),
            Self::SplitTriple => "size/percent:... for reads,writes,trims".into(),
            Self::Text => "text".into(),
            Self::OptionalText => "text, or no value".into(),
        }
    }

    /// Whether the following word on the command line is its value.
    #[must_use]
    pub fn takes_next_word(self) -> bool {
        self != Self::Flag
    }

    /// Checks a value of this type. `None` is an option without `=`.
    ///
    /// # Errors
    /// A message that says what was expected.
    pub fn check(self, value: Option<&str>, kb_base: u64) -> Result<(), String> {
        let Some(text) = value else {
            return if matches!(self, Self::Flag | Self::OptionalText) {
                Ok(())
            } else {
                Err(format!("a value is missing: {}", self.expected()))
            };
        };
        match self {
            // As in fio, any number turns a flag on.
            Self::Flag => lenient_number::switch(text, i64::MAX).map(drop),
            Self::Bool => lenient_number::switch(text, 1).map(drop),
            Self::Number | Self::Bytes => lenient_number::bytes(text, kb_base).map(drop),
            Self::Signed => {
                lenient_number::whole(text).map(drop).ok_or_else(|| format!("{text:?} is not a whole number"))
            }
            Self::Range => number::from_to(text, kb_base).map(drop),
            Self::Size => lenient_number::size(text, kb_base).map(drop),
            Self::Time(bare) => lenient_number::time(text, bare).map(drop),
            Self::Word(words) => word(text, words).map(drop),
            Self::Float => number::float(text).map(drop),
            Self::Floats => number::floats(text).map(drop),
            Self::BytesTriple => triples::read(text, [0; 3], |t| lenient_number::bytes(t, kb_base)).map(drop),
            Self::RangeTriple => {
                triples::given(text)?;
                number::triple(text, [(0, 0); 3], |t| number::range(t, kb_base)).map(drop)
            }
            Self::SplitTriple => {
                number::triple(text, [const { Vec::new() }; 3], |t| split::read(t, kb_base)).map(drop)
            }
            Self::Text | Self::OptionalText if text.is_empty() => Err("the value is empty".into()),
            Self::Text | Self::OptionalText => Ok(()),
        }
    }
}

/// The word of `words` that a value begins with, up to `,` or `:`.
///
/// # Errors
/// A message that lists the words.
pub fn word(text: &str, words: &'static [&'static str]) -> Result<&'static str, String> {
    let given = text.trim().split([',', ':']).next().unwrap_or_default();
    let found = words.iter().find(|w| **w == given);
    found.copied().ok_or_else(|| format!("{given:?} is none of the valid values: {}", words.join(", ")))
}

impl FioSupport {
    /// Whether a value of a refused option requests nothing special.
    #[must_use]
    pub fn lets_pass(&self, value: Option<&str>) -> bool {
        let Self::Refused { unless, .. } = self else { return true };
        let Some(value) = value else { return false };
        let number = |text: &str| number::bytes(text, 1024).ok();
        unless.iter().any(|u| value.trim() == *u || (number(u).is_some() && number(u) == number(value)))
    }
}

const fn done(name: &'static str, kind: Kind, help: &'static str) -> FioOption {
    FioOption { name, aliases: &[], kind, state: FioSupport::Done, help }
}

const fn harmless(name: &'static str, kind: Kind, help: &'static str, why: &'static str) -> FioOption {
    FioOption { name, aliases: &[], kind, state: FioSupport::Harmless(why), help }
}

const fn refused(
    name: &'static str,
    kind: Kind,
    unless: &'static [&'static str],
    help: &'static str,
    why: &'static str,
    instead: &'static str,
) -> FioOption {
    FioOption { name, aliases: &[], kind, state: FioSupport::Refused { unless, why, instead }, help }
}

/// The row with aliases added.
const fn also(row: FioOption, aliases: &'static [&'static str]) -> FioOption {
    FioOption { aliases, ..row }
}

/// All rows, in table order.
pub fn rows() -> impl Iterator<Item = &'static FioOption> {
    [
        io_type::ROWS,
        files::ROWS,
        engine::ROWS,
        offsets::ROWS,
        pace::ROWS,
        data::ROWS,
        process::ROWS,
        report::ROWS,
        network::ROWS,
    ]
    .into_iter()
    .flatten()
}

/// Finds a row by name or alias.
#[must_use]
pub fn find(name: &str) -> Option<&'static FioOption> {
    rows().find(|row| row.name == name || row.aliases.contains(&name))
}

/// Rows with a name or alias that begins with `start`: the command line accepts a unique prefix.
#[must_use]
pub fn beginning_with(start: &str) -> Vec<&'static FioOption> {
    let begins =
        |row: &&FioOption| std::iter::once(&row.name).chain(row.aliases).any(|name| name.starts_with(start));
    let all: Vec<&FioOption> = rows().filter(begins).collect();
    let of_fio: Vec<&FioOption> =
        all.iter().copied().filter(|row| !NOT_OF_FIO_3_33.contains(&row.name)).collect();
    if of_fio.len() == 1 { of_fio } else { all }
}

/// Options that came later than fio 3.33, went before, or belong to engines: they make no beginning ambiguous there.
const NOT_OF_FIO_3_33: [&str; 10] = [
    "container",
    "end_syncfs",
    "exit_on_io_done",
    "fadvise_stream",
    "fdp",
    "fdp_pli",
    "grace_time",
    "ioengine_so_path",
    "namenode",
    "ramp_size",
];

/// The table as Markdown, for the manual page.
#[must_use]
pub fn markdown() -> String {
    let mut out = String::from("| option | value | state | |\n|---|---|---|---|\n");
    for row in rows() {
        let names: Vec<String> =
            std::iter::once(&row.name).chain(row.aliases).map(|name| format!("`{name}`")).collect();
        let (state, words) = match &row.state {
            FioSupport::Done => ("done", String::new()),
            FioSupport::Harmless(why) => ("harmless", format!(": {why}")),
            FioSupport::Refused { unless: [], why, instead } => ("refused", format!(": {why}; {instead}")),
            FioSupport::Refused { unless, why, instead } => {
                ("refused", format!(" (but for {}): {why}; {instead}", unless.join(", ")))
            }
        };
        let expected = row.kind.expected().replace('|', "\\|");
        let _ = writeln!(out, "| {} | {expected} | {state} | {}{words} |", names.join(", "), row.help);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_name_stands_twice() {
        let mut seen = BTreeSet::new();
        for name in rows().flat_map(|r| std::iter::once(r.name).chain(r.aliases.iter().copied())) {
            assert!(seen.insert(name), "{name}");
        }
        assert!(seen.len() > 250, "{}", seen.len());
    }

    #[test]
    fn what_a_refused_option_lets_pass_is_of_its_kind() {
        for row in rows() {
            if let FioSupport::Refused { unless, why, instead } = &row.state {
                for value in *unless {
                    assert_eq!(row.kind.check(Some(value), 1024), Ok(()), "{}", row.name);
                }
                assert!(!why.is_empty() && !instead.is_empty(), "{}", row.name);
            }
            assert!(!row.help.is_empty(), "{}", row.name);
        }
    }

    #[test]
    fn values_are_checked_by_kind() {
        let check = |name: &str, value| find(name).unwrap().kind.check(value, 1024);
        assert_eq!(check("time_based", None), Ok(()));
        assert!(check("direct", None).unwrap_err().contains("missing"));
        assert!(check("direct", Some("yes")).unwrap_err().contains("neither"));
        assert!(check("rw", Some("raed")).unwrap_err().contains("randread"));
        assert_eq!(check("rw", Some("randread:8")), Ok(()));
    }
}
