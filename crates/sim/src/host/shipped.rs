//! The shipped host profiles by name: texts of `profiles/host`, parsed on demand.

use super::{Host, HostProfileError};

/// Names of the shipped hosts.
pub const NAMES: [&str; 6] = [
    "athlon-2004-linux-2.4",
    "athlon-2004-linux-2.6",
    "laptop-2007-hsfs",
    "ncsa-2005-linux-2.4",
    "server-2007-linux-2.6",
    "today",
];

/// Their texts, in the order of [`NAMES`].
const TEXTS: [&str; 6] = [
    include_str!("../../profiles/host/athlon-2004-linux-2.4.toml"),
    include_str!("../../profiles/host/athlon-2004-linux-2.6.toml"),
    include_str!("../../profiles/host/laptop-2007-hsfs.toml"),
    include_str!("../../profiles/host/ncsa-2005-linux-2.4.toml"),
    include_str!("../../profiles/host/server-2007-linux-2.6.toml"),
    include_str!("../../profiles/host/today.toml"),
];

/// The text of a shipped profile; `None` if the name is unknown.
#[must_use]
pub fn text(name: &str) -> Option<&'static str> {
    NAMES.iter().position(|n| *n == name).map(|at| TEXTS[at])
}

/// Parses a shipped host.
///
/// # Errors
/// If no host has that name.
pub fn shipped(name: &str) -> Result<Host, HostProfileError> {
    let text = text(name).ok_or_else(|| HostProfileError::Unknown { name: name.into() })?;
    Host::parse(name, text)
}
