//! Many hosts: what the ranks of one run do together, whoever carries their messages. Rank 0 reads the command line and tells the others
//! ([`order`]); each makes its share of the workload and executes it phase by phase with the engine ([`run`]); they meet before every phase
//! and start at one agreed time ([`circle`], [`clocks`]); their shares are joined in a tree and rank 0 keeps them ([`merged`]).
//!
//! `fathom-mpi` brings a [`Team`] made of MPI and nothing else. A team of one is the plain program.

mod circle;
mod client_file;
mod clocks;
mod leave;
mod line;
mod merged;
mod order;
mod place;
mod run;
mod seats;
mod tell;
#[cfg(test)]
mod tests;

pub use circle::Message;

use crate::{console, exit};
use circle::Circle;
use fathom_record::ranks::Share;
use std::ffi::OsString;

/// Processes that execute one run together. Messages between two of them arrive in order and are never lost while both live.
pub trait Team {
    /// The number of this process, from 0.
    fn rank(&self) -> u32;
    /// How many there are.
    fn size(&self) -> u32;
    /// Sends a message and does not wait until it has arrived.
    fn send(&self, to: u32, kind: u8, bytes: &[u8]);
    /// The next message that has arrived, if one has.
    fn poll(&self) -> Option<Message>;
    /// Whether all that was sent has left.
    fn sent(&self) -> bool;
    /// Enters a barrier.
    fn enter_barrier(&self);
    /// Whether all have entered the barrier that this process entered last.
    fn passed_barrier(&self) -> bool;
    /// What carries the messages, for the record: "Open MPI 4.1.4".
    fn carrier(&self) -> String;
}

/// How a team's run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Exit code of this process.
    pub code: u8,
    /// All processes came to the end together: the team can be taken down in order. If not, somebody is dead or hangs, and waiting for
    /// all would be waiting for ever.
    pub together: bool,
}

/// What needs no team: help, the version, and mistakes in the command line. `None` if there is something to be run.
#[must_use]
pub fn answer_alone(words: &[OsString]) -> Option<u8> {
    line::answer_alone(words)
}

/// Whether a signal has stopped this process already. May be asked in a signal handler.
#[must_use]
pub fn stopped() -> bool {
    fathom_engine::interrupted_by().is_some()
}

/// Brings the shares of all ranks of one phase to rank 0, as every run does when a phase is done: along a tree, and two become one on the
/// way. `Some(None)` on a rank that has passed its own on, `None` if somebody was lost.
pub fn join(team: &dyn Team, share: Share) -> Option<Option<Share>> {
    Circle::new(team).join(Some(share))
}

/// Executes the command line on a team. Every process of it calls this with the same words.
pub fn main(team: &dyn Team, words: &[OsString]) -> End {
    fathom_engine::watch_signals();
    let mut circle = Circle::new(team);
    let code = match run::all(&mut circle, words) {
        Ok(code) => code,
        Err(text) => {
            if circle.is_first() {
                console::error(&text);
            }
            exit::FAILED
        }
    };
    circle.leave(code)
}
