//! Provenance of profile values. Every value has a source, and every report counts the values by source: a what-if answer based on
//! guesses must say so.

use serde::Deserialize;

/// Source of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// A data sheet, a manual, or the source code of the kernel in question.
    Datasheet,
    /// Measured or counted on the device itself.
    Measured,
    /// Set so that one published or measured figure is reproduced.
    Fit,
    /// Unknown, but plausible.
    Guess,
}

/// A value with its source.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sourced<T> {
    /// The value, in the unit that its name ends in.
    pub value: T,
    /// Where the value comes from.
    pub src: Source,
    /// Details: which data sheet, how measured, fitted to what.
    #[serde(default)]
    pub note: String,
}

impl<T: Copy> Sourced<T> {
    /// The value without its source.
    #[must_use]
    pub fn get(&self) -> T {
        self.value
    }
}

/// Number of values by source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// From data sheets, manuals or kernel sources.
    pub datasheet: u32,
    /// Measured.
    pub measured: u32,
    /// Fitted.
    pub fitted: u32,
    /// Guessed.
    pub guessed: u32,
}

impl std::ops::Add for Tally {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            datasheet: self.datasheet + other.datasheet,
            measured: self.measured + other.measured,
            fitted: self.fitted + other.fitted,
            guessed: self.guessed + other.guessed,
        }
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { datasheet, measured, fitted, guessed } = self;
        write!(f, "{datasheet} from data sheets, {measured} measured, {fitted} fitted, {guessed} guessed")
    }
}

impl Tally {
    /// Counts the values in a profile's text, at any depth.
    #[must_use]
    pub fn of(profile: &toml::Table) -> Self {
        let mut tally = Self::default();
        profile.values().for_each(|v| tally.add_value(v));
        tally
    }

    /// Counts one more value.
    pub fn count(&mut self, src: Source) {
        *match src {
            Source::Datasheet => &mut self.datasheet,
            Source::Measured => &mut self.measured,
            Source::Fit => &mut self.fitted,
            Source::Guess => &mut self.guessed,
        } += 1;
    }

    fn add_value(&mut self, value: &toml::Value) {
        match value {
            toml::Value::Table(table) => {
                if let Some(src) = table.get("src").and_then(|src| src.clone().try_into().ok()) {
                    self.count(src);
                }
                table.values().for_each(|v| self.add_value(v));
            }
            toml::Value::Array(values) => values.iter().for_each(|v| self.add_value(v)),
            _ => {}
        }
    }
}

/// Names of the values that are not certain: "table.key".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uncertain {
    /// Fitted values.
    pub fitted: Vec<String>,
    /// Guessed values.
    pub guessed: Vec<String>,
}

impl Uncertain {
    /// Collects them from a profile's text, ordered by name.
    #[must_use]
    pub fn of(profile: &toml::Table) -> Self {
        let mut all = Self::default();
        all.add_table("", profile);
        all
    }

    /// Adds a value's name if its source is uncertain.
    pub fn note(&mut self, name: &str, src: Source) {
        match src {
            Source::Fit => self.fitted.push(name.into()),
            Source::Guess => self.guessed.push(name.into()),
            Source::Datasheet | Source::Measured => {}
        }
    }

    fn add_table(&mut self, name: &str, table: &toml::Table) {
        match table.get("src").and_then(toml::Value::as_str) {
            Some("fit") => self.fitted.push(name.into()),
            Some("guess") => self.guessed.push(name.into()),
            _ => {}
        }
        for (key, value) in table {
            let inner = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
            match value {
                toml::Value::Table(table) => self.add_table(&inner, table),
                toml::Value::Array(values) => {
                    values.iter().filter_map(toml::Value::as_table).for_each(|t| self.add_table(&inner, t));
                }
                _ => {}
            }
        }
    }

    /// Appends the names of `others`, each prefixed with `word`.
    #[must_use]
    pub fn and(mut self, word: &str, others: &Self) -> Self {
        let named = |name: &String| format!("{word} {name}");
        self.fitted.extend(others.fitted.iter().map(named));
        self.guessed.extend(others.guessed.iter().map(named));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_in_nested_tables_too() {
        let text = "[cpu]\ncall_us = { value = 1, src = \"guess\" }\n[a.b]\nc = { value = 2, src = \"fit\", note = \"n\" }\n[[zone]]\nlba = { value = 0, src = \"datasheet\" }\n";
        let tally = Tally::of(&text.parse().unwrap());
        assert_eq!(tally, Tally { datasheet: 1, measured: 0, fitted: 1, guessed: 1 });
        assert_eq!((tally + tally).to_string(), "2 from data sheets, 0 measured, 2 fitted, 2 guessed");
    }

    #[test]
    fn uncertain_values_are_listed_by_name() {
        let text = "about = \"x\"\n[cpu]\ncpus = { value = 1, src = \"guess\" }\nhz = { value = 100, src = \"datasheet\" }\n\
                    [[copying.cache]]\nkib = { value = 512, src = \"fit\" }\n";
        let found = Uncertain::of(&text.parse().unwrap());
        assert_eq!(
            (found.fitted, found.guessed),
            (vec!["copying.cache.kib".to_string()], vec!["cpu.cpus".to_string()])
        );
        // As many names as the tally counts, for every shipped profile.
        for name in crate::devices::NAMES {
            let profile = crate::devices::by_name(name).unwrap();
            let (names, tally) = (&profile.uncertain, profile.tally);
            assert_eq!(
                (names.fitted.len() as u32, names.guessed.len() as u32),
                (tally.fitted, tally.guessed),
                "{name}"
            );
        }
    }
}
