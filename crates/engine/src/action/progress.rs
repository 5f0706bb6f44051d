//! Progress of laying out, and the fate of each file.

use crate::Engine;

/// Progress of laying out a file set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    /// Name of the set.
    pub set: &'a str,
    /// The current step.
    pub step: Step,
    /// Number of finished files or directories.
    pub done: u64,
    /// Number of files or directories in this step.
    pub total: u64,
    /// Bytes written so far.
    pub bytes: u64,
}

/// Steps of laying out a file set. Each step with work to do is reported at its start and end, and about ten times a second in
/// between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// An existing tree in its place is removed.
    Removing,
    /// Directories are created.
    Directories,
    /// Files are created, or checked and adjusted.
    Files,
    /// Written data are synced to the device.
    WritingBack,
}

/// What happened to a file that must exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prepared {
    /// It was created.
    Created {
        /// Bytes written.
        bytes: u64,
    },
    /// It existed but was too short, so it was extended.
    Extended {
        /// Its size before, in bytes.
        from: u64,
        /// Bytes written.
        bytes: u64,
    },
    /// It existed but was too long for a tree, so it was truncated.
    Cut {
        /// Its size before, in bytes.
        from: u64,
    },
    /// It is used as found.
    Reused,
}

/// Receiver of progress reports.
pub(crate) type Listener = Box<dyn FnMut(&Progress<'_>) + Send>;

impl Engine {
    /// Reports the progress of laying out to `listener`.
    pub fn on_progress(&mut self, listener: impl FnMut(&Progress<'_>) + Send + 'static) {
        self.progress = Some(Box::new(listener));
    }
}
