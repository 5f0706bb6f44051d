//! The settings that apply to one job; the last one wins. Each lookup is recorded, so that a test can check that no option
//! marked as done is parsed and then ignored.

use super::number::{self, Size};
use super::table::{self, Kind};
use super::text::Setting;
use super::{Spot, UsageError, lenient_number, triples};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// Where a setting comes from, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The command line, before any job.
    CommandLine,
    /// A global section above.
    Global,
    /// The job's own section.
    Own,
}

/// The settings of a job.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Section name of the job.
    pub job: String,
    /// Position of the job's name.
    pub spot: Spot,
    /// Whether the job is the first of a further job file, and so waits for the jobs before it.
    pub begins_file: bool,
    list: Vec<(Level, Setting)>,
    asked: RefCell<BTreeSet<&'static str>>,
}

impl Settings {
    /// Collects settings given in ascending order of precedence.
    ///
    /// # Errors
    /// If `kb_base` is invalid.
    pub fn new(job: &str, spot: &Spot, list: Vec<(Level, Setting)>) -> Result<Self, UsageError> {
        let made =
            Self { job: job.into(), spot: spot.clone(), begins_file: false, list, asked: RefCell::default() };
        match made.number("kb_base")? {
            None | Some(1024 | 1000) => Ok(made),
            Some(other) => Err(made.wrong("kb_base", format!("kb_base {other}: 1024 or 1000 is expected"))),
        }
    }

    /// The meaning of `k` in printed values.
    #[must_use]
    pub fn kb_base(&self) -> u64 {
        if self.word("kb_base") == Some("1000") { 1000 } else { 1024 }
    }

    /// The meaning of `k` in the value of an option.
    #[must_use]
    pub fn kb_base_of(&self, name: &'static str) -> u64 {
        self.last(name).map_or(1024, |(_, setting)| setting.kb_base)
    }

    /// Every setting, weakest first.
    pub fn all(&self) -> impl Iterator<Item = &(Level, Setting)> {
        self.list.iter()
    }

    /// The options looked up so far.
    #[cfg(test)]
    pub fn asked(&self) -> BTreeSet<&'static str> {
        self.asked.borrow().clone()
    }

    /// The effective setting of an option.
    #[must_use]
    pub fn last(&self, name: &'static str) -> Option<&(Level, Setting)> {
        self.asked.borrow_mut().insert(name);
        self.list.iter().rev().find(|(_, s)| s.row.name == name)
    }

    /// The job's name in reports: the `name` option if given, else the section. Its files are always named after the section.
    #[must_use]
    pub fn report_name(&self) -> &str {
        match self.last("name") {
            Some((Level::Own, setting)) => setting.value.as_deref().unwrap_or(&self.job),
            _ => &self.job,
        }
    }

    /// Among synonymous options, the name of the one given last.
    #[must_use]
    pub fn last_of(&self, names: &[&'static str]) -> Option<&'static str> {
        self.asked.borrow_mut().extend(names);
        self.list.iter().rev().map(|(_, s)| s.row.name).find(|name| names.contains(name))
    }

    /// An error at the position of the option, or of the job if the option is not given.
    #[must_use]
    pub fn wrong(&self, name: &'static str, message: impl std::fmt::Display) -> UsageError {
        let spot = self.last(name).map_or(&self.spot, |(_, s)| &s.spot);
        UsageError::at(spot, format!("job {}: {message}", self.job))
            .fio(format!("fio: job {} dropped\n", self.job))
    }

    /// The option's value as text.
    #[must_use]
    pub fn text(&self, name: &'static str) -> Option<&str> {
        self.last(name).and_then(|(_, s)| s.value.as_deref())
    }

    /// Parses a value with the given function.
    fn read<T>(
        &self,
        name: &'static str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, UsageError> {
        self.text(name)
            .map(|text| read(text).map_err(|why| self.wrong(name, format!("{name}: {why}"))))
            .transpose()
    }

    /// Whether a flag or bool is on; `default` if not given.
    #[must_use]
    pub fn on(&self, name: &'static str, default: bool) -> bool {
        self.last(name).map_or(default, |(_, s)| {
            s.value.as_deref().is_none_or(|v| lenient_number::switch(v, i64::MAX) == Ok(true))
        })
    }

    /// Whether an option is given with a value other than 0.
    pub(super) fn asks(&self, name: &'static str) -> bool {
        self.last(name)
            .is_some_and(|(_, given)| given.value.as_deref().is_none_or(|value| value.trim() != "0"))
    }

    /// An integer.
    ///
    /// # Errors
    /// If the value is not an integer.
    pub fn number(&self, name: &'static str) -> Result<Option<u64>, UsageError> {
        self.read(name, |t| lenient_number::bytes(t, self.kb_base_of(name)))
    }

    /// A 32-bit integer of at least `least`; `default` if not given.
    ///
    /// # Errors
    /// If the value is not such an integer.
    pub fn count(&self, name: &'static str, least: u32, default: u32) -> Result<u32, UsageError> {
        let Some(given) = self.number(name)? else { return Ok(default) };
        match u32::try_from(given) {
            Ok(n) if n >= least => Ok(n),
            _ => Err(self.wrong(
                name,
                format!("{name}={given}: at least {least} and at most {} is expected", u32::MAX),
            )),
        }
    }

    /// An integer that may be negative.
    ///
    /// # Errors
    /// If the value is not an integer.
    pub fn signed(&self, name: &'static str) -> Result<Option<i32>, UsageError> {
        let number = |t: &str| lenient_number::whole(t).and_then(|n| i32::try_from(n).ok());
        self.read(name, |t| number(t).ok_or_else(|| format!("{t:?} is not a whole number")))
    }

    /// Bytes or a percentage.
    ///
    /// # Errors
    /// If it is neither.
    pub fn size(&self, name: &'static str) -> Result<Option<Size>, UsageError> {
        self.read(name, |t| lenient_number::size(t, self.kb_base_of(name)))
    }

    /// A number of bytes, or a range of them.
    ///
    /// # Errors
    /// If it is neither.
    pub fn range(&self, name: &'static str) -> Result<Option<(u64, u64)>, UsageError> {
        self.read(name, |t| number::from_to(t, self.kb_base_of(name)))
    }

    /// A time in nanoseconds; 0 if not given.
    ///
    /// # Errors
    /// If the value is not a time.
    pub fn time(&self, name: &'static str) -> Result<u64, UsageError> {
        let bare = match table::find(name).map(|r| r.kind) {
            Some(Kind::Time(bare)) => bare,
            _ => number::S,
        };
        Ok(self.read(name, |t| lenient_number::time(t, bare))?.unwrap_or(0))
    }

    /// Values for reads and writes.
    ///
    /// # Errors
    /// If a value does not parse.
    pub fn pair<T: Clone>(
        &self,
        name: &'static str,
        default: T,
        read: impl Fn(&str, u64) -> Result<T, String>,
    ) -> Result<Option<(T, T)>, UsageError> {
        Ok(self.triple(name, default, read)?.map(|[reads, writes, _]| (reads, writes)))
    }

    /// Values for reads, writes and trims.
    ///
    /// # Errors
    /// If a value does not parse.
    pub fn triple<T: Clone>(
        &self,
        name: &'static str,
        default: T,
        read: impl Fn(&str, u64) -> Result<T, String>,
    ) -> Result<Option<[T; 3]>, UsageError> {
        let triple = |text: &str| {
            let places = [default.clone(), default.clone(), default.clone()];
            match table::find(name).map(|r| r.kind) {
                Some(Kind::BytesTriple) => triples::read(text, places, |t| read(t, self.kb_base_of(name))),
                _ => number::triple(text, places, |t| read(t, self.kb_base_of(name))),
            }
        };
        self.read(name, triple)
    }

    /// The keyword of an option, without what follows a colon or comma.
    #[must_use]
    pub fn word(&self, name: &'static str) -> Option<&str> {
        self.text(name).and_then(|t| t.split([',', ':']).next()).map(str::trim)
    }

    /// The part of a value after its first colon.
    #[must_use]
    pub fn after_colon(&self, name: &'static str) -> Option<&str> {
        self.text(name).and_then(|t| t.split_once(':')).map(|t| t.1)
    }

    /// Decimal numbers.
    ///
    /// # Errors
    /// If a value does not parse.
    pub fn floats(&self, name: &'static str) -> Result<Option<Vec<f64>>, UsageError> {
        self.read(name, number::floats)
    }
}
