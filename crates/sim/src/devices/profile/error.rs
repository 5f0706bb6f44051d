//! Errors in a profile, with name, line and column.

use super::shipped::NAMES;
use crate::place::{of_key, place};
use serde::de::DeserializeOwned;

/// A profile that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// No shipped profile has this name.
    #[error("no device profile {name:?}; choose one of {known}, or give the path of a file", known = NAMES.join(", "))]
    Unknown {
        /// The name that was given.
        name: String,
    },
    /// The text is invalid, or a value is out of range.
    #[error("{place}: {message}")]
    Text {
        /// Name or file, with line and column where known.
        place: String,
        /// Description of the error.
        message: String,
    },
}

/// A profile's name and text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    pub name: &'a str,
    pub text: &'a str,
}

impl Reader<'_> {
    /// Deserialises the whole text.
    pub fn read<T: DeserializeOwned>(&self, text: &str) -> Result<T, ProfileError> {
        toml::from_str(text).map_err(|e| self.toml(&e))
    }

    /// Converts an error of the TOML parser.
    pub fn toml(&self, error: &toml::de::Error) -> ProfileError {
        self.at(error.span(), error.message().to_string())
    }

    fn at(&self, span: Option<std::ops::Range<usize>>, message: String) -> ProfileError {
        ProfileError::Text { place: place(self.name, self.text, span), message }
    }

    /// An invalid value: `key` includes its tables, as in `geometry.heads`.
    pub fn value(&self, key: &str, value: &str, expected: &str) -> ProfileError {
        self.at(of_key(self.text, key), format!("{key} is {value}; expected {expected}"))
    }

    /// Checks a rate for which 0 means no limit: a value that would round to 0 is an error.
    pub fn rate(&self, key: &str, mb_s: f64) -> Result<(), ProfileError> {
        if mb_s == 0.0 || (0.001..=1e6).contains(&mb_s) {
            return Ok(());
        }
        Err(self.value(key, &mb_s.to_string(), "0 (no limit), or 0.001 to 1000000 MB/s"))
    }

    /// Checks that a value lies in a range.
    pub fn within<T: PartialOrd + std::fmt::Display>(
        &self,
        key: &str,
        value: T,
        range: std::ops::RangeInclusive<T>,
        unit: &str,
    ) -> Result<T, ProfileError> {
        if range.contains(&value) {
            return Ok(value);
        }
        let expected = format!("{} to {}{unit}", range.start(), range.end());
        Err(self.value(key, &value.to_string(), &expected))
    }
}
