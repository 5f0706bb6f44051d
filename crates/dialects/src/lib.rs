//! Other programs' languages. A dialect reads a command line or a file into a [`fathom_workload::Workload`] and prints a
//! [`fathom_record::Run`] as that program would, to the letter; what such programs printed is read back by [`import`].
//!
//! Pure: no I/O, no clock, no executor. Facts about the machine are passed in as values or closures; output is returned as text for
//! the caller to write. Side files are returned as names and contents for the caller to save.

pub mod filebench;
pub mod fio;
pub mod import;
pub mod iozone;
pub mod sysbench;
pub mod trace;

use fathom_record::OpError;

/// Prints a run piece by piece while it happens. Each call returns the text to write to stdout immediately; the pieces in order are
/// the whole output. The same printer replays a stored run, so live and replayed output cannot differ.
pub trait LivePrinter {
    /// Everything before the first figure.
    fn head(&mut self) -> String;
    /// A phase is about to start.
    fn phase_started(&mut self, phase: &fathom_workload::Phase) -> String;
    /// A phase is done.
    fn phase_done(&mut self, phase: &fathom_record::Phase) -> String;
    /// The user interrupted the run; the text covers what was measured so far.
    fn interrupted(&mut self) -> String;
    /// An operation failed and ended the run.
    fn failed(&mut self, error: &OpError) -> String;
    /// The run is complete.
    fn end(&mut self) -> String;
}
