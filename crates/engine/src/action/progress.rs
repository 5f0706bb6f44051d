//! What laying out tells while it is at work, and what became of each file.

use crate::Engine;

/// Where laying a file set out is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    /// The set.
    pub set: &'a str,
    /// What is being done.
    pub step: Step,
    /// Files or directories that are done.
    pub done: u64,
    /// Of so many.
    pub total: u64,
    /// Bytes written so far.
    pub bytes: u64,
}

/// Steps of laying a file set out. Each that there is something to do for is told at its start and at its end, and about ten times a
/// second in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A tree that stands in its place is removed.
    Removing,
    /// Directories are made.
    Directories,
    /// Files are made, or looked at and made to fit.
    Files,
    /// What was written is brought to the disk.
    WritingBack,
}

/// What became of a file that had to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prepared {
    /// It was made.
    Created {
        /// Bytes written.
        bytes: u64,
    },
    /// It was there and too short, and was written on at its end.
    Extended {
        /// Its size before.
        from: u64,
        /// Bytes written.
        bytes: u64,
    },
    /// It was there and too long for a tree, and was cut.
    Cut {
        /// Its size before.
        from: u64,
    },
    /// It is used as it was found.
    Reused,
}

/// Whom progress is told.
pub(crate) type Listener = Box<dyn FnMut(&Progress<'_>) + Send>;

impl Engine {
    /// Has laying out tell how far it is.
    pub fn on_progress(&mut self, listener: impl FnMut(&Progress<'_>) + Send + 'static) {
        self.progress = Some(Box::new(listener));
    }
}
