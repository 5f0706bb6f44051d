//! Why a knob could not be turned, in sentences for the person who asked for it.

use std::path::PathBuf;

/// An error of this module.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KnobError {
    /// There is no knob of this name.
    #[error("{name} is no knob that fathom knows; these are: {known}")]
    Unknown {
        /// What was typed.
        name: String,
        /// All names.
        known: String,
    },
    /// The knob does not exist for what is measured.
    #[error("{knob} cannot be turned here: {why}")]
    NotHere {
        /// The knob.
        knob: String,
        /// What is missing.
        why: String,
    },
    /// The value cannot be one of this knob's.
    #[error("{value:?} is no value for {knob}: {allowed}")]
    BadValue {
        /// The knob.
        knob: String,
        /// What was typed.
        value: String,
        /// What it may be.
        allowed: String,
    },
    /// The kernel did not take the value.
    #[error("the kernel refused {value:?} for {knob} of {device} ({error}); {allowed}")]
    Refused {
        /// The knob.
        knob: String,
        /// Whose.
        device: String,
        /// What was written.
        value: String,
        /// What it may be.
        allowed: String,
        /// Its answer.
        error: std::io::Error,
    },
    /// This user may not turn it.
    #[error("{knob} of {device} cannot be turned by this user ({path}: {error}); it needs root and a /sys and /proc that can be written to. Nothing was turned, nothing was run", path = path.display())]
    NoPermission {
        /// The knob.
        knob: String,
        /// Whose.
        device: String,
        /// Its file.
        path: PathBuf,
        /// The kernel's answer.
        error: std::io::Error,
    },
    /// Somebody else is turning the device's knobs.
    #[error(
        "another sweep is turning the knobs of {device}; two at once would measure each other. Wait for it, or sweep another device"
    )]
    Busy {
        /// The device.
        device: String,
    },
    /// A knob's file could not be read.
    #[error("{knob} of {device} could not be read ({path}: {error})", path = path.display())]
    Unreadable {
        /// The knob.
        knob: String,
        /// Whose.
        device: String,
        /// Its file.
        path: PathBuf,
        /// The kernel's answer.
        error: std::io::Error,
    },
    /// Without a journal nothing may be turned.
    #[error("the journal of what is changed could not be written below {directory} ({error}); without it nothing is changed. XDG_STATE_HOME names another place for it", directory = directory.display())]
    Journal {
        /// The state directory.
        directory: PathBuf,
        /// What went wrong.
        error: std::io::Error,
    },
    /// Without a guardian nothing may be turned.
    #[error(
        "the process that puts everything back if this one is killed could not be started ({0}); without it nothing is changed"
    )]
    Guardian(std::io::Error),
    /// A file system on a loop device could not be made.
    #[error("{what} ({error})")]
    Disk {
        /// What was being done, as a clause.
        what: String,
        /// What went wrong.
        error: std::io::Error,
    },
    /// A tool that makes file systems was not content.
    #[error("{command} failed: {said}")]
    Tool {
        /// The command line.
        command: String,
        /// What it said.
        said: String,
    },
}
