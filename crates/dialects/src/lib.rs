//! Other programs' languages. A dialect reads a command line or a file into a [`fathom_workload::Workload`] and prints a
//! [`fathom_record::Run`] as that program would, to the letter; what such programs printed is read back by [`import`].
//!
//! Pure: no I/O, no clock, no executor. What a dialect must know of the world comes in as values or closures; what it has to
//! say goes out as text that the caller writes. Side files are names and contents that the caller saves.

pub mod filebench;
pub mod fio;
pub mod import;
pub mod iozone;
pub mod sysbench;
pub mod trace;

use fathom_record::OpError;

/// Prints a run piece by piece while it happens. Every call returns what is to be written to stdout at once; the pieces in order
/// are the whole output. The same printer replays a stored run, so live and replayed output cannot differ.
pub trait LivePrinter {
    /// Everything before the first figure.
    fn head(&mut self) -> String;
    /// A phase is about to start.
    fn phase_started(&mut self, phase: &fathom_workload::Phase) -> String;
    /// A phase is done.
    fn phase_done(&mut self, phase: &fathom_record::Phase) -> String;
    /// The user ended the run; what was measured is in the text.
    fn interrupted(&mut self) -> String;
    /// An operation failed and ended the run.
    fn failed(&mut self, error: &OpError) -> String;
    /// Everything was done.
    fn end(&mut self) -> String;
}
