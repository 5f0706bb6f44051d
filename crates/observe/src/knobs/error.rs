//! Errors of setting knobs, as sentences for the user.

use std::path::PathBuf;

/// Why a knob or a temporary disk could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KnobError {
    /// There is no knob of this name.
    #[error("{name} is no knob that fathom knows; these are: {known}")]
    Unknown {
        /// The name as given.
        name: String,
        /// All names.
        known: String,
    },
    /// The measured devices do not have this knob.
    #[error("{knob} cannot be turned here: {why}")]
    NotHere {
        /// Name of the knob.
        knob: String,
        /// What is missing.
        why: String,
    },
    /// The value is invalid for the knob.
    #[error("{value:?} is no value for {knob}: {allowed}")]
    BadValue {
        /// Name of the knob.
        knob: String,
        /// The value as given.
        value: String,
        /// The valid values.
        allowed: String,
    },
    /// The kernel rejected the value.
    #[error("the kernel refused {value:?} for {knob} of {device} ({error}); {allowed}")]
    Refused {
        /// Name of the knob.
        knob: String,
        /// The device that has it.
        device: String,
        /// The value written.
        value: String,
        /// The valid values.
        allowed: String,
        /// The kernel's error.
        error: std::io::Error,
    },
    /// This user may not write the knob.
    #[error("{knob} of {device} cannot be turned by this user ({path}: {error}); it needs root and a /sys and /proc that can be written to. Nothing was turned, nothing was run", path = path.display())]
    NoPermission {
        /// Name of the knob.
        knob: String,
        /// The device that has it.
        device: String,
        /// Its file.
        path: PathBuf,
        /// The kernel's error.
        error: std::io::Error,
    },
    /// Another process holds the device's lock.
    #[error(
        "another sweep is turning the knobs of {device}; two at once would measure each other. Wait for it, or sweep another device"
    )]
    Busy {
        /// The locked device.
        device: String,
    },
    /// A knob's file could not be read.
    #[error("{knob} of {device} could not be read ({path}: {error})", path = path.display())]
    Unreadable {
        /// Name of the knob.
        knob: String,
        /// The device that has it.
        device: String,
        /// Its file.
        path: PathBuf,
        /// The kernel's error.
        error: std::io::Error,
    },
    /// The journal could not be written, so nothing may be set.
    #[error("the journal of what is changed could not be written below {directory} ({error}); without it nothing is changed. XDG_STATE_HOME names another place for it", directory = directory.display())]
    Journal {
        /// The state directory.
        directory: PathBuf,
        /// The underlying error.
        error: std::io::Error,
    },
    /// The guardian could not be started, so nothing may be set.
    #[error(
        "the process that puts everything back if this one is killed could not be started ({0}); without it nothing is changed"
    )]
    Guardian(std::io::Error),
    /// A file system on a loop device could not be created.
    #[error("{what} ({error})")]
    Disk {
        /// The failed step, as a clause.
        what: String,
        /// The underlying error.
        error: std::io::Error,
    },
    /// A file system tool failed.
    #[error("{command} failed: {said}")]
    Tool {
        /// The command line.
        command: String,
        /// Its output.
        said: String,
    },
}
