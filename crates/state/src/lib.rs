//! Data that one run leaves for the next: journals of files and settings, the list of kept files. Every command reads it first,
//! also when run by root, and acts on it, so it must not come from another user.
//!
//! * [`place`]: where the directory is.
//! * [`Directory`]: a directory that only this user and root can change; every file in it is opened through its descriptor.
//! * [`trust`]: what "only this user and root" means for one file or directory.
//! * [`lines`]: a text of facts, one a line, each with a checksum.
//! * [`owner`]: which process a journal belongs to, and whether it is alive.
//! * [`here`]: the working directory, whatever its name leads to by now.
//! * [`Identity`]: distinguishes our file from another of the same name.
//! * [`kept_mark`]: the same for users with another state directory.
//!
//! docs/safety.md explains it for users.

mod directory;
mod error;
mod here;
mod identity;
pub mod kept_mark;
pub mod lines;
pub mod owner;
pub mod place;
pub mod trust;
mod walk;

pub use directory::{Directory, Locked};
pub use error::Untrusted;
pub use here::{absolute, enter, go, here};
pub use identity::Identity;

/// Name prefix of directories that hold a file system image made for a measurement, and its mount point.
pub const IMAGE_DIRECTORY: &str = ".fathom-sweep-";
