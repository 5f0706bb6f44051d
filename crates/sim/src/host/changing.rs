//! Host values overridden for one run: the profile's text is changed before it is parsed, and each change counts as a guess.

use super::shipped::text as text_of;
use super::{Host, HostProfileError, NAMES};
use crate::changed::{self, ProfileChange};

impl Host {
    /// Parses a profile's text with some values changed. Their source becomes a guess.
    ///
    /// # Errors
    /// As [`Host::parse`]; also a key that no host has.
    pub fn parse_changed(
        name: &str,
        text: &str,
        changes: &[ProfileChange],
    ) -> Result<Self, HostProfileError> {
        if changes.is_empty() {
            return Self::parse(name, text);
        }
        let failed = |message: String| HostProfileError::Text { place: name.into(), message };
        let all = NAMES.iter().filter_map(|name| text_of(name)?.parse().ok());
        let mut others: Vec<String> = all.flat_map(|table: toml::Table| changed::keys(&table)).collect();
        others.extend(["cpu.wake_us", "pages.recycled_permille"].map(String::from));
        let changed = changed::apply(text, changes, &others).map_err(|e| failed(e.to_string()))?;
        // Line numbers of a generated text mean nothing to the user.
        Self::parse(name, &changed).map_err(|error| match error {
            HostProfileError::Text { message, .. } => {
                HostProfileError::Text { place: format!("{name}, as changed"), message }
            }
            other @ HostProfileError::Unknown { .. } => other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::BatchOrder;

    #[test]
    fn overridden_values_replace_those_of_the_profile() {
        let text = text_of("today").unwrap();
        let changed = |changes: &[(&str, &str)]| {
            let changes: Vec<ProfileChange> =
                changes.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
            Host::parse_changed("today", text, &changes)
        };
        let random = [("pages.order", "random"), ("pages.batch", "31"), ("pages.recycled_permille", "300")];
        let host = changed(&random).unwrap();
        assert_eq!(host.pages.as_ref().unwrap().order.get(), BatchOrder::Random);
        assert!(host.uncertain.guessed.contains(&"pages.order".to_string()), "{:?}", host.uncertain);
        for (changes, told) in [
            (&random[..2], "pages.recycled_permille is left out; expected 0 to 1000"),
            (&[("cpu.cpus", "0")][..], "today, as changed: cpu.cpus is 0"),
            (&[("cpu.cpu", "1")][..], "this profile has no value cpu.cpu; similar names: cpu.cpus"),
            (&[("memory.replacement", "best")][..], "unknown variant"),
        ] {
            let error = changed(changes).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
    }
}
