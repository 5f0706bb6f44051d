//! Device profiles with single values changed, and the files that a profile may refer to.

use super::shipped::{NAMES, text as text_of};
use super::{DeviceProfile, ProfileError};
use crate::changed::{self, ProfileChange};

impl DeviceProfile {
    /// A shipped profile with some values changed: (table, key, value as TOML).
    ///
    /// # Errors
    /// The profile does not exist, or a value is invalid.
    pub fn changed(name: &str, values: &[(&str, &str, &str)]) -> Result<Self, ProfileError> {
        let original = text_of(name).ok_or_else(|| ProfileError::Unknown { name: name.to_string() })?;
        let changes: Vec<ProfileChange> =
            values.iter().map(|(part, key, value)| (format!("{part}.{key}"), (*value).to_owned())).collect();
        Self::parse_changed(name, original, &changes, &no_files)
    }

    /// Parses a profile's text with some values changed; their source becomes a guess. `read` returns the texts of files that the profile
    /// names (the disk of an array).
    ///
    /// # Errors
    /// As [`DeviceProfile::parse`]; also a key that no profile of this kind has.
    pub fn parse_changed(
        name: &str,
        text: &str,
        changes: &[ProfileChange],
        read: ReadText<'_>,
    ) -> Result<Self, ProfileError> {
        if changes.is_empty() {
            return Self::parse_with(name, text, read);
        }
        let at = |message: String| ProfileError::Text { place: name.to_owned(), message };
        let text = changed::apply(text, changes, &others(text)).map_err(|e| at(e.to_string()))?;
        // Line numbers of a generated text mean nothing to the user.
        Self::parse_with(name, &text, read).map_err(|error| match error {
            ProfileError::Text { message, .. } => {
                ProfileError::Text { place: format!("{name}, as changed"), message }
            }
            other => other,
        })
    }
}

/// Returns the text of a profile's file, or why it cannot be read.
pub type ReadText<'r> = &'r dyn Fn(&str) -> Result<String, String>;

/// A [`ReadText`] without any files.
pub(super) fn no_files(_: &str) -> Result<String, String> {
    Err("a file, and only the profiles that are shipped are known here".into())
}

/// Whether a profile is given as a file, by a path or the file extension, rather than by name.
#[must_use]
pub fn is_file(name: &str) -> bool {
    name.contains('/') || name.ends_with(".toml")
}

/// Keys that shipped profiles of the same kind have.
fn others(text: &str) -> Vec<String> {
    let kind = |text: &str| text.parse::<toml::Table>().ok()?.get("kind").cloned();
    let same = NAMES.iter().filter_map(|name| text_of(name)).filter(|t| kind(t) == kind(text));
    let mut all: Vec<String> =
        same.filter_map(|t| t.parse().ok()).flat_map(|t: toml::Table| changed::keys(&t)).collect();
    all.push("members.failed".into());
    all.retain(|key| key != "members.failed" || kind(text).is_some_and(|k| k.as_str() == Some("array")));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::Device as _;

    fn changed(name: &str, changes: &[(&str, &str)]) -> Result<DeviceProfile, ProfileError> {
        let changes: Vec<ProfileChange> =
            changes.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let read = |path: &str| match path {
            "./mine.toml" => Ok(text_of("sata-7200-ncq").unwrap().to_owned()),
            "./flash.toml" => Ok(text_of("ssd-generic").unwrap().to_owned()),
            _ => Err("no such file".into()),
        };
        DeviceProfile::parse_changed(name, text_of(name).unwrap(), &changes, &read)
    }

    #[test]
    fn overridden_values_replace_those_of_the_profile_and_count_as_guesses() {
        let as_shipped = changed("smartarray-6i-h1", &[]).unwrap();
        let other =
            changed("smartarray-6i-h1", &[("layout.level", "raid10"), ("members.count", "8")]).unwrap();
        let sectors = |profile: &DeviceProfile| profile.build().unwrap().capacity_sectors();
        // Three of four, and four of eight.
        assert_eq!(sectors(&as_shipped) / 3, sectors(&other) / 4);
        assert!(other.uncertain.guessed.contains(&"members.count".to_string()), "{:?}", other.uncertain);
        assert_eq!(other.tally.measured + 2, as_shipped.tally.measured);
        for (changes, told) in [
            (
                &[("layout.unit", "128")][..],
                "this profile has no value layout.unit; similar names: layout.unit_kib",
            ),
            (&[("layout.unit_kib", "0")][..], "smartarray-6i-h1, as changed: layout.unit_kib is 0"),
            (&[("layout.level", "raid7")][..], "unknown variant"),
            (&[("members.failed", "9")][..], "members.failed is 9"),
        ] {
            let error = changed("smartarray-6i-h1", changes).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn the_disk_of_an_array_may_be_a_file() {
        let own = changed("smartarray-6i-h1", &[("members.disk", "./mine.toml")]).unwrap();
        let shipped = changed("smartarray-6i-h1", &[("members.disk", "sata-7200-ncq")]).unwrap();
        assert_eq!(own.build().unwrap().capacity_sectors(), shipped.build().unwrap().capacity_sectors());
        for (disk, told) in [
            ("./flash.toml", "expected a profile of the kind disk"),
            ("./none.toml", "no such file"),
            ("floppy", "expected the name of a shipped disk, or the path of a disk's profile"),
        ] {
            let error = changed("smartarray-6i-h1", &[("members.disk", disk)]).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
    }
}
