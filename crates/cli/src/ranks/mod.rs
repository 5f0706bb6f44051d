//! Several hosts: what the ranks of a run do together, whatever carries their messages. Rank 0 reads the command line
//! and informs the others ([`order`]); each makes its share of the workload and executes it phase by phase with the
//! engine ([`run`]); they meet before every phase and start at an agreed time ([`communicator`], [`clocks`]); their shares
//! are merged in a tree and rank 0 stores them ([`merged`]).
//!
//! `fathom-mpi` supplies a [`Team`] based on MPI and nothing else. A team of one is the plain program.

mod client_file;
mod clocks;
mod comm;
mod count;
mod host_list;
mod hosts;
mod leave;
mod line;
mod live;
mod merged;
mod order;
mod place;
mod run;
mod tell;
#[cfg(test)]
mod tests;

pub use comm::Message;

use crate::{console, exit};
use comm::Comm;
use fathom_record::ranks::Share;
use std::ffi::OsString;

/// Processes that execute one run together. Messages between two of them arrive in order and are not lost while both
/// live.
pub trait Team {
    /// The rank of this process, from 0.
    fn rank(&self) -> u32;
    /// Number of ranks.
    fn size(&self) -> u32;
    /// Sends a message without waiting for its arrival.
    fn send(&self, to: u32, kind: u8, bytes: &[u8]);
    /// The next message that has arrived, if one has.
    fn poll(&self) -> Option<Message>;
    /// Whether all sent messages have left.
    fn sent(&self) -> bool;
    /// Enters a barrier without waiting.
    fn enter_barrier(&self);
    /// Whether all processes have entered the barrier that this process entered last.
    fn passed_barrier(&self) -> bool;
    /// What carries the messages, for the record: "Open MPI 4.1.4".
    fn carrier(&self) -> String;
}

/// How a team's run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Exit code of this process.
    pub code: u8,
    /// All processes reached the end together: the team can be shut down normally. Otherwise one is dead or hangs, and
    /// waiting for all would never end.
    pub together: bool,
}

/// Handles what needs no team: help, the version, and command line errors. `None` if there is something to run.
#[must_use]
pub fn answer_alone(words: &[OsString]) -> Option<u8> {
    line::answer_alone(words)
}

/// Whether a signal has already stopped this process. Safe in a signal handler.
#[must_use]
pub fn stopped() -> bool {
    fathom_engine::interrupted_by().is_some()
}

/// Merges the shares of all ranks for one phase at rank 0 along a tree, as every run does at the end of a phase.
/// `Some(None)` on a rank that has passed its share on, `None` if a rank was lost.
pub fn join(team: &dyn Team, share: Share) -> Option<Option<Share>> {
    Comm::new(team).join(Some(share))
}

/// Executes the command line on a team. Every process calls this with the same words.
pub fn main(team: &dyn Team, words: &[OsString]) -> End {
    fathom_engine::watch_signals();
    let mut comm = Comm::new(team);
    let code = match run::all(&mut comm, words) {
        Ok(code) => code,
        Err(text) => {
            if comm.is_first() {
                console::error(&text);
            }
            exit::FAILED
        }
    };
    comm.leave(code)
}
