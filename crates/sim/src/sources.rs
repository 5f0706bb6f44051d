//! Where the values of a profile come from. Every value of a profile carries it, and every report says how many of which kind it
//! stands on: a what-if answer on guesses must say so.

use serde::Deserialize;

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// A data sheet, a manual, or the source code of the kernel in question.
    Datasheet,
    /// Measured on the thing itself, or counted by it.
    Measured,
    /// Set so that one published or measured figure comes out.
    Fit,
    /// Nobody knows; it is plausible.
    Guess,
}

/// A value with its source.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sourced<T> {
    /// The value, in the unit that its name ends in.
    pub value: T,
    /// Where it comes from.
    pub src: Source,
    /// Which data sheet, measured how, fitted to what.
    #[serde(default)]
    pub note: String,
}

impl<T: Copy> Sourced<T> {
    /// The value.
    #[must_use]
    pub fn get(&self) -> T {
        self.value
    }
}

/// How many values come from where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Data sheets, manuals, kernel sources.
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
    /// Counts the values of a profile's text, wherever they stand in it.
    #[must_use]
    pub fn of(profile: &toml::Table) -> Self {
        let mut tally = Self::default();
        profile.values().for_each(|v| tally.add_value(v));
        tally
    }

    fn add_value(&mut self, value: &toml::Value) {
        match value {
            toml::Value::Table(table) => {
                match table.get("src").and_then(toml::Value::as_str) {
                    Some("datasheet") => self.datasheet += 1,
                    Some("measured") => self.measured += 1,
                    Some("fit") => self.fitted += 1,
                    Some("guess") => self.guessed += 1,
                    _ => {}
                }
                table.values().for_each(|v| self.add_value(v));
            }
            toml::Value::Array(values) => values.iter().for_each(|v| self.add_value(v)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_wherever_they_stand() {
        let text = "[cpu]\ncall_us = { value = 1, src = \"guess\" }\n[a.b]\nc = { value = 2, src = \"fit\", note = \"n\" }\n[[zone]]\nlba = { value = 0, src = \"datasheet\" }\n";
        let tally = Tally::of(&text.parse().unwrap());
        assert_eq!(tally, Tally { datasheet: 1, measured: 0, fitted: 1, guessed: 1 });
        assert_eq!((tally + tally).to_string(), "2 from data sheets, 0 measured, 2 fitted, 2 guessed");
    }
}
