//! Which version of fio is stood in for: it decides what is printed, and nothing of what is done.

use super::World;

/// A version of fio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// That of Debian 12.
    V3_33,
    /// The newest that was looked at.
    #[default]
    V3_42,
}

/// Who needs another than the newest says so in the environment.
pub const VARIABLE: &str = "FATHOM_FIO_VERSION";

impl Version {
    /// The one that the environment asks for.
    ///
    /// # Errors
    /// A sentence, if it asks for one that is not known.
    pub fn asked(world: &World<'_>) -> Result<Self, String> {
        match (world.variable)(VARIABLE).as_deref().map(str::trim) {
            None | Some("" | "3.42") => Ok(Self::V3_42),
            Some("3.33") => Ok(Self::V3_33),
            Some(other) => Err(format!("{VARIABLE}={other}: 3.33 or 3.42 is expected")),
        }
    }

    /// As `--version` prints it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::V3_33 => "fio-3.33",
            Self::V3_42 => "fio-3.42",
        }
    }
}
