//! The tunables of a policy as a table: name, unit, default, range and description. The same table serves parsing (`fifo_batch=8`),
//! reading, errors for unknown names, and the documentation.

use std::fmt;

/// Unit of a tunable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Milliseconds.
    Millis,
    /// Microseconds.
    Micros,
    /// Nanoseconds.
    Nanos,
    /// Requests.
    Requests,
    /// Pages of 4 KiB.
    Pages,
    /// Sectors of 512 bytes.
    Sectors,
    /// KiB.
    KiB,
    /// Bytes.
    Bytes,
    /// A switch: 0 or 1.
    Switch,
    /// A number without a unit.
    Number,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Millis => "ms",
            Self::Micros => "us",
            Self::Nanos => "ns",
            Self::Requests => "requests",
            Self::Pages => "pages",
            Self::Sectors => "sectors",
            Self::KiB => "KiB",
            Self::Bytes => "bytes",
            Self::Switch => "0 or 1",
            Self::Number => "number",
        })
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tunable {
    /// Name, that of the kernel's file where there is one.
    pub name: &'static str,
    /// Unit of the value.
    pub unit: Unit,
    /// The kernel's default.
    pub default: u64,
    /// Smallest value.
    pub min: u64,
    /// Largest value.
    pub max: u64,
    /// Description, in one line.
    pub doc: &'static str,
}

/// An hour, the longest allowed time.
const LONGEST_MS: u64 = 3_600_000;

/// Constructors for the rows of a table.
impl Tunable {
    /// A time of up to an hour, ms.
    pub(crate) const fn millis(name: &'static str, default: u64, doc: &'static str) -> Self {
        Self { name, unit: Unit::Millis, default, min: 0, max: LONGEST_MS, doc }
    }

    /// A count of up to 2^20.
    pub(crate) const fn count(name: &'static str, unit: Unit, default: u64, doc: &'static str) -> Self {
        Self { name, unit, default, min: 0, max: 1 << 20, doc }
    }

    /// 0 or 1.
    pub(crate) const fn switch(name: &'static str, default: u64, doc: &'static str) -> Self {
        Self { name, unit: Unit::Switch, default, min: 0, max: 1, doc }
    }

    /// With another smallest value.
    pub(crate) const fn at_least(self, min: u64) -> Self {
        Self { min, ..self }
    }

    /// With another largest value.
    pub(crate) const fn at_most(self, max: u64) -> Self {
        Self { max, ..self }
    }
}

/// Why a tunable cannot be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TunableError {
    /// No tunable has this name.
    #[error("{elevator} has no tunable {name:?}; {}", known_list(known))]
    Unknown {
        /// Owner of the table.
        elevator: &'static str,
        /// The requested name.
        name: String,
        /// The existing names.
        known: Vec<&'static str>,
    },
    /// The value is out of range.
    #[error("{elevator}: {name}={value} is outside {min} to {max} ({unit})")]
    OutOfRange {
        /// Owner of the table.
        elevator: &'static str,
        /// The tunable.
        name: &'static str,
        /// The requested value.
        value: u64,
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
        /// Unit of the value.
        unit: Unit,
    },
    /// It is given twice.
    #[error("{elevator}: {name} is given twice; once is enough")]
    Twice {
        /// Owner of the table.
        elevator: &'static str,
        /// The tunable.
        name: String,
    },
}

fn known_list(known: &[&str]) -> String {
    if known.is_empty() { "it has none".to_string() } else { format!("it has {}", known.join(", ")) }
}

/// A table and its current values.
#[derive(Clone, Debug)]
pub struct Tunables<const N: usize> {
    table: &'static [Tunable; N],
    values: [u64; N],
}

impl<const N: usize> Tunables<N> {
    /// Every value at its default.
    pub fn new(table: &'static [Tunable; N]) -> Self {
        Self { table, values: std::array::from_fn(|row| table[row].default) }
    }

    /// The table with its values.
    pub fn view(&self) -> View<'_> {
        View { table: self.table, values: &self.values }
    }

    /// Sets a row to a value that [`check`] accepted.
    pub(crate) fn set(&mut self, row: usize, value: u64) {
        self.values[row] = value;
    }
}

impl<const N: usize> std::ops::Index<usize> for Tunables<N> {
    type Output = u64;
    fn index(&self, row: usize) -> &u64 {
        &self.values[row]
    }
}

/// A table and its values, for reading.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The rows.
    pub table: &'static [Tunable],
    /// The values, one per row.
    pub values: &'a [u64],
}

impl View<'_> {
    /// A view without tunables.
    pub const NONE: View<'static> = View { table: &[], values: &[] };

    /// Value of a tunable by name.
    pub fn get(&self, name: &str) -> Option<u64> {
        self.table.iter().zip(self.values).find(|(row, _)| row.name == name).map(|(_, &value)| value)
    }
}

/// Splits `NAME[,tunable=value...]` into the name and the settings. A malformed setting is returned as an error, unchanged.
pub(crate) fn words(text: &str) -> (&str, impl Iterator<Item = Result<(&str, u64), &str>>) {
    let mut words = text.split(',').map(str::trim);
    let name = words.next().unwrap_or_default();
    let setting = |word| {
        let (name, value): (&str, &str) = str::split_once(word, '=').ok_or(word)?;
        Ok((name.trim(), value.trim().parse().map_err(|_| word)?))
    };
    (name, words.map(setting))
}

/// Records that a name was given; an error if it was given before, because one of the two values would be lost.
pub(crate) fn once<'t>(
    elevator: &'static str,
    given: &mut Vec<&'t str>,
    name: &'t str,
) -> Result<(), TunableError> {
    if given.contains(&name) {
        return Err(TunableError::Twice { elevator, name: name.to_string() });
    }
    given.push(name);
    Ok(())
}

/// The row of a name, if the value is within its range.
pub(crate) fn check(
    elevator: &'static str,
    table: &'static [Tunable],
    name: &str,
    value: u64,
) -> Result<usize, TunableError> {
    let Some(at) = table.iter().position(|row| row.name == name) else {
        let known = table.iter().map(|row| row.name).collect();
        return Err(TunableError::Unknown { elevator, name: name.to_string(), known });
    };
    let Tunable { name, min, max, unit, .. } = table[at];
    if (min..=max).contains(&value) {
        Ok(at)
    } else {
        Err(TunableError::OutOfRange { elevator, name, value, min, max, unit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static TABLE: [Tunable; 1] =
        [Tunable { name: "quantum", unit: Unit::Requests, default: 4, min: 1, max: 64, doc: "a batch" }];

    #[test]
    fn defaults_are_read_and_values_kept() {
        let mut tunables = Tunables::new(&TABLE);
        assert_eq!(tunables.view().get("quantum"), Some(4));
        tunables.set(check("x", &TABLE, "quantum", 8).unwrap(), 8);
        assert_eq!(tunables[0], 8);
        assert_eq!(tunables.view().get("quanta"), None);
    }

    #[test]
    fn a_name_and_its_settings_are_taken_apart() {
        let (name, settings) = words("deadline@2.6.0, fifo_batch=8,read_expire = 100,x, y=z");
        assert_eq!(name, "deadline@2.6.0");
        let settings: Vec<_> = settings.collect();
        assert_eq!(settings, [Ok(("fifo_batch", 8)), Ok(("read_expire", 100)), Err("x"), Err("y=z")]);
    }

    #[test]
    fn what_does_not_exist_or_fit_is_an_error_that_says_what_does() {
        let unknown = check("cfq@2.6.6", &TABLE, "quanta", 8).unwrap_err();
        assert_eq!(unknown.to_string(), "cfq@2.6.6 has no tunable \"quanta\"; it has quantum");
        let outside = check("cfq@2.6.6", &TABLE, "quantum", 65).unwrap_err();
        assert_eq!(outside.to_string(), "cfq@2.6.6: quantum=65 is outside 1 to 64 (requests)");
        assert!(check("none", &[], "x", 1).unwrap_err().to_string().ends_with("it has none"));
    }
}
