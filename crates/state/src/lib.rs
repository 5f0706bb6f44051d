//! What one run leaves for the next: journals of files and settings, the list of kept files. Every command begins by reading it, root's too,
//! and acts on it, so it must not come from anybody else.
//!
//! * [`place`]: where the directory is.
//! * [`Directory`]: a directory that only this user and root can change; every file in it is opened through its descriptor.
//! * [`trust`]: what "only this user and root" means for one file or directory.
//! * [`lines`]: a text of facts, one a line, each with a checksum.
//! * [`owner`]: whose journal it is, and whether that process lives.
//! * [`here`]: the working directory, whatever its name leads to by now.
//! * [`Identity`]: what tells a file that we made from another of the same name.
//! * [`kept_mark`]: what tells the same to who has another state directory.
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

/// What the name of a directory begins with that holds the image of a file system made for a measurement, and the point where it is mounted.
pub const IMAGE_DIRECTORY: &str = ".fathom-sweep-";
