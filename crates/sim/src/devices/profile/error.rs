//! What can be wrong with a profile, told with name, line and column.

use super::shipped::NAMES;
use fathom_workload::Diagnostic;
use serde::de::DeserializeOwned;

/// A profile that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// There is none of this name.
    #[error("no device profile {name:?}; there are {known}, and a file's path is taken too", known = NAMES.join(", "))]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// The text is not one, or a value cannot be.
    #[error("{place}: {message}")]
    Text {
        /// Name or file, with line and column where they are known.
        place: String,
        /// What is wrong.
        message: String,
    },
}

/// A profile's text under its name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    pub name: &'a str,
    pub text: &'a str,
}

impl Reader<'_> {
    /// Reads a type from the whole text.
    pub fn read<T: DeserializeOwned>(&self, text: &str) -> Result<T, ProfileError> {
        toml::from_str(text).map_err(|e| self.toml(&e))
    }

    /// An error of the TOML reader.
    pub fn toml(&self, error: &toml::de::Error) -> ProfileError {
        self.at(error.span(), error.message().to_string())
    }

    fn at(&self, span: Option<std::ops::Range<usize>>, message: String) -> ProfileError {
        let place = Diagnostic { span, message: String::new(), help: None }.line_column(self.text);
        let place = match place {
            Some((line, column)) => format!("{}:{line}:{column}", self.name),
            None => self.name.to_string(),
        };
        ProfileError::Text { place, message }
    }

    /// A value that cannot be: `key` with its sections, as in `geometry.heads`.
    pub fn value(&self, key: &str, value: &str, expected: &str) -> ProfileError {
        self.at(self.find(key), format!("{key} is {value}; expected {expected}"))
    }

    /// Where a key stands.
    fn find(&self, key: &str) -> Option<std::ops::Range<usize>> {
        let (section, key) = key.rsplit_once('.').unwrap_or(("", key));
        let mut inside = "";
        let mut at = 0;
        for line in self.text.split_inclusive('\n') {
            let words = line.trim();
            if let Some(name) = words.strip_prefix('[') {
                inside = name.trim_matches(|c| c == '[' || c == ']');
            } else if inside == section && words.split(['=', ' ']).next() == Some(key) {
                return Some(at..at + line.len());
            }
            at += line.len();
        }
        None
    }

    /// The value, if it lies in a range.
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
