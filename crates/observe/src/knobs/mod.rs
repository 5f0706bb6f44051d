//! Knobs of the kernel: what can be turned, where each one lives for a given path, and turning them so that they are put back after
//! any end.
//!
//! * [`catalogue`]: every knob as data: name, home, values, the order of turning.
//! * [`target`]: from a knob and a path to the kernel file that holds it.
//! * [`files`]: reading, writing and locking those files, behind a trait, so that tests bring a kernel of their own.
//! * [`journal`]: what was there before, on disk before anything is turned.
//! * [`turner`]: turns, reads back, puts back.
//! * [`guardian`]: a process that puts back when its parent dies.
//! * [`undo`]: putting back, whoever does it: the turner, the guardian, or the next start of the program.
//! * [`disk`]: a file system on a loop device made for a measurement; it is in the same journal.
//! * [`own_directory`]: the directory that it is made in, held open, wherever it lies by now.
//!
//! Nothing is turned without a journal. docs/sweep.md explains it for users.

pub mod catalogue;
pub mod disk;
pub mod error;
pub mod files;
pub mod guardian;
pub mod journal;
mod own_directory;
pub mod target;
pub mod turner;
pub mod undo;

#[cfg(test)]
mod fake_kernel;
#[cfg(test)]
mod tests;

pub use catalogue::Knob;
pub use disk::{Disk, FileSystem};
pub use error::KnobError;
pub use files::KnobFiles;
pub use target::Place;
pub use turner::{Reading, Turner, disturbed};
pub use undo::{Outcome, no_journal, put_back_left_behind};
