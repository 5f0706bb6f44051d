//! Kernel knobs: the available ones, their location for a given path, and setting them so that they are restored after any kind of exit.
//!
//! * [`catalogue`]: every knob as data: name, location, values, the order of setting.
//! * [`target`]: maps a knob and a path to the kernel file that holds it.
//! * [`files`]: reading, writing and locking those files, behind a trait that tests can replace.
//! * [`journal`]: the old values, on disk before anything is set.
//! * [`setter`]: sets, reads back, restores.
//! * [`guardian`]: a process that restores when its parent dies.
//! * [`undo`]: restoring, by the setter, the guardian, or the next start of the program.
//! * [`disk`]: a temporary file system on a loop device, recorded in the same journal.
//! * [`own_directory`]: the directory it is created in, held open, even if it is renamed.
//!
//! Nothing is set without a journal. docs/sweep.md explains it for users.

pub mod catalogue;
pub mod disk;
pub mod error;
pub mod files;
pub mod guardian;
pub mod journal;
mod own_directory;
pub mod setter;
pub mod target;
pub mod undo;

#[cfg(test)]
mod fake_kernel;
#[cfg(test)]
mod tests;

pub use catalogue::Knob;
pub use disk::{Disk, FileSystem};
pub use error::KnobError;
pub use files::KnobFiles;
pub use setter::{Reading, Setter, disturbed};
pub use target::Place;
pub use undo::{Outcome, no_journal, put_back_left_behind};
