//! The fio version to imitate. It affects the output only, not the workload.

use super::World;

/// A version of fio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// fio 3.33, as in Debian 12.
    V3_33,
    /// fio 3.42, the newest version compared.
    #[default]
    V3_42,
}

/// Environment variable that selects a version other than the newest.
pub const VARIABLE: &str = "FATHOM_FIO_VERSION";

impl Version {
    /// The version selected by the environment, else the newest.
    ///
    /// # Errors
    /// A message if the version is unknown.
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
