//! Communication of the ranks of a run: messages, waits that notice a rank that ends early, trees to broadcast to all
//! and to collect from all.
//!
//! Every wait keeps checking: it ends when the communicator is broken by a rank's failure (which it broadcasts), by a signal
//! (a launcher ends the others when it loses one), or because rank 0 has not heard from a rank for too long.

use super::count::Count;
use super::{End, Team};
use crate::exit;
use fathom_engine::interrupted_by;
use fathom_record::ranks::Share;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// A message from one rank to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The sender's rank.
    pub from: u32,
    /// What the message is about; routes it to the code that waits for it.
    pub kind: u8,
    /// The payload.
    pub bytes: Vec<u8>,
}

/// A rank ends the run; the payload is the reason.
const BROKEN: u8 = 1;
/// The first worker of a phase is done.
const FIRST_DONE: u8 = 2;
/// Heartbeat.
const BEAT: u8 = 3;
/// A rank will be silent for a while.
const QUIET: u8 = 4;
/// Broadcast down the tree.
const DOWN: u8 = 5;
/// Collected up the tree.
const UP: u8 = 6;
/// A rank's data sent directly to rank 0 when the tree is broken.
pub(super) const LEFT_OVER: u8 = 7;
/// Rank 0 has all it needs.
const BYE: u8 = 8;
pub(super) const PING: u8 = 9;
pub(super) const PONG: u8 = 10;

/// What a rank has counted so far.
const COUNT: u8 = 11;

/// Prefix of the reason of a rank that a signal stopped.
const BY_SIGNAL: &str = "stopped by signal";

/// Heartbeat interval.
const BEAT_EVERY: Duration = Duration::from_secs(1);

/// A pause between two looks at the messages that no busy machine causes.
const AWAY: Duration = Duration::from_secs(2);

/// Why the run ends early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EarlyEnd {
    pub by: u32,
    pub why: String,
    /// Ended by a signal, not by a failure.
    pub signal: bool,
}

pub(super) struct Comm<'t> {
    pub team: &'t dyn Team,
    inbox: VecDeque<Message>,
    broken: Option<EarlyEnd>,
    /// Rank 0: when it last heard from each rank that is expected to send heartbeats.
    heard: Vec<Option<Instant>>,
    patience: Duration,
    /// When this rank last received messages.
    tended: Instant,
    beat: Option<Instant>,
    first_done: bool,
    counts: Vec<Option<Count>>,
    /// The rank that went silent.
    lost: Option<u32>,
}

impl<'t> Comm<'t> {
    pub fn new(team: &'t dyn Team) -> Self {
        let count = if team.rank() == 0 { team.size() as usize } else { 0 };
        Self {
            team,
            inbox: VecDeque::new(),
            broken: None,
            heard: vec![None; count],
            patience: Duration::from_secs(8),
            tended: Instant::now(),
            beat: None,
            first_done: false,
            counts: vec![None; count],
            lost: None,
        }
    }

    pub fn is_first(&self) -> bool {
        self.team.rank() == 0
    }

    pub fn alone(&self) -> bool {
        self.team.size() == 1
    }

    pub fn broken(&self) -> Option<&EarlyEnd> {
        self.broken.as_ref()
    }

    /// Sets how long rank 0 waits before it considers a silent rank dead.
    pub fn have_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// Ends the run for all ranks.
    pub fn break_up(&mut self, why: String) {
        self.break_for(why, false);
    }

    fn break_for(&mut self, why: String, signal: bool) {
        if self.broken.is_some() {
            return;
        }
        let by = self.team.rank();
        // A launcher signals all; a message to a dead rank could block. If a signal reached one rank alone, rank 0
        // informs the others.
        let recipients = if signal { 0..1 } else { 0..self.team.size() };
        for to in recipients.filter(|&r| r != by && Some(r) != self.lost) {
            self.team.send(to, BROKEN, why.as_bytes());
        }
        self.broken = Some(EarlyEnd { by, why, signal });
    }

    /// Receives messages, sends heartbeats and checks the other ranks.
    pub fn tend(&mut self) {
        while let Some(message) = self.team.poll() {
            if let Some(heard) = self.heard.get_mut(message.from as usize) {
                match message.kind {
                    QUIET => *heard = None,
                    BEAT => *heard = Some(Instant::now()),
                    _ if heard.is_some() => *heard = Some(Instant::now()),
                    _ => {}
                }
            }
            match message.kind {
                BEAT | QUIET => {}
                COUNT => self.counted(message.from, Count::read(&message.bytes)),
                FIRST_DONE => self.first_done = true,
                BROKEN => {
                    let why = String::from_utf8_lossy(&message.bytes).into_owned();
                    let signal = why.starts_with(BY_SIGNAL);
                    self.broken.get_or_insert(EarlyEnd { by: message.from, why, signal });
                    stop_here();
                }
                _ => self.inbox.push_back(message),
            }
        }
        if let Some(signal) = interrupted_by() {
            self.break_for(format!("{BY_SIGNAL} {signal}"), true);
        }
        if self.beat.is_some_and(|at| at.elapsed() >= BEAT_EVERY) {
            self.beats();
        }
        if self.tended.elapsed() > AWAY {
            // This rank was stopped itself: what the others sent is only now on its way.
            self.heard.iter_mut().flatten().for_each(|at| *at = Instant::now());
        }
        self.tended = Instant::now();
        if self.broken.is_none() {
            let lost = self.heard.iter().position(|h| h.is_some_and(|at| at.elapsed() > self.patience));
            if let Some(lost) = lost {
                self.lost = Some(lost as u32);
                self.break_up(format!(
                    "rank {lost} has not answered for {} s; it died, or its host is unreachable",
                    self.patience.as_secs()
                ));
                stop_here();
            }
        }
    }

    /// From now on this rank sends heartbeats.
    pub fn beats(&mut self) {
        if !self.is_first() {
            self.team.send(0, BEAT, &[]);
            self.beat = Some(Instant::now());
        }
    }

    /// This rank has counted so much in the running phase.
    pub fn tell_count(&mut self, count: Count) {
        if self.is_first() {
            self.counted(0, Some(count));
        } else {
            self.team.send(0, COUNT, &count.written());
        }
    }

    fn counted(&mut self, from: u32, count: Option<Count>) {
        if let Some(last) = self.counts.get_mut(from as usize) {
            *last = count;
        }
    }

    /// All ranks start together: counts that were still on their way have arrived.
    pub fn forget_counts(&mut self) {
        self.counts.fill(None);
    }

    /// On rank 0: the last count of every rank in this phase.
    pub fn counts(&self) -> &[Option<Count>] {
        &self.counts
    }

    /// This rank starts something long and sends no heartbeats meanwhile.
    pub fn falls_silent(&mut self) {
        if !self.is_first() && self.beat.take().is_some() {
            self.team.send(0, QUIET, &[]);
        }
    }

    /// Waits for a result; `None` if the communicator breaks first.
    pub fn wait<T>(&mut self, mut for_what: impl FnMut(&mut Self) -> Option<T>) -> Option<T> {
        let mut looks = 0u32;
        loop {
            self.tend();
            if let Some(found) = for_what(self) {
                return Some(found);
            }
            if self.broken.is_some() {
                return None;
            }
            looks += 1;
            let pause = if looks < 200 { 20 } else { 500 };
            std::thread::sleep(Duration::from_micros(pause));
        }
    }

    /// The next message of a kind, if one has arrived.
    pub fn take(&mut self, kind: u8, from: Option<u32>) -> Option<Message> {
        let at = self.inbox.iter().position(|m| m.kind == kind && from.is_none_or(|r| r == m.from))?;
        self.inbox.remove(at)
    }

    /// Waits for all ranks.
    pub fn barrier(&mut self) -> Option<()> {
        if self.alone() {
            return Some(());
        }
        self.tend();
        if self.broken.is_some() {
            return None;
        }
        self.team.enter_barrier();
        self.wait(|comm| comm.team.passed_barrier().then_some(()))
    }

    /// The rank from which this one receives broadcasts.
    pub fn parent(&self) -> Option<u32> {
        let rank = self.team.rank();
        (rank > 0).then(|| rank & (rank - 1))
    }

    pub fn children(&self) -> Vec<u32> {
        let (rank, size) = (self.team.rank(), self.team.size());
        let lowest = if rank == 0 { u32::MAX } else { rank & rank.wrapping_neg() };
        (0..32)
            .map(|bit| 1u32 << bit)
            .take_while(|&bit| bit < lowest)
            .filter_map(|bit| rank.checked_add(bit))
            .filter(|&child| child < size)
            .collect()
    }

    /// Broadcasts from rank 0; `what` of other ranks is ignored.
    pub fn tell<T: Serialize + DeserializeOwned>(&mut self, what: Option<T>) -> Option<T> {
        let bytes = match self.parent() {
            None => serde_json::to_vec(&what?).ok()?,
            Some(parent) => self.wait(|comm| comm.take(DOWN, Some(parent)))?.bytes,
        };
        for child in self.children() {
            self.team.send(child, DOWN, &bytes);
        }
        serde_json::from_slice(&bytes).ok()
    }

    /// Collects every rank's data at rank 0, merging pairs on the way. Returns `Some(None)` on the other ranks.
    pub fn collect<T: Serialize + DeserializeOwned>(
        &mut self,
        mine: T,
        mut join: impl FnMut(&mut T, T),
    ) -> Option<Option<T>> {
        let mut all = mine;
        for child in self.children() {
            let message = self.wait(|comm| comm.take(UP, Some(child)))?;
            match serde_json::from_slice(&message.bytes) {
                Ok(theirs) => join(&mut all, theirs),
                Err(e) => {
                    self.break_up(format!("what rank {child} sent cannot be read: {e}"));
                    return None;
                }
            }
        }
        let Some(parent) = self.parent() else { return Some(Some(all)) };
        let bytes = serde_json::to_vec(&all).ok()?;
        self.team.send(parent, UP, &bytes);
        self.wait(|comm| comm.team.sent().then_some(()))?;
        Some(None)
    }

    /// Like [`Comm::collect`], for the ranks' results of a phase.
    pub fn join(&mut self, mine: Option<Share>) -> Option<Option<Share>> {
        let joined = self.collect(mine, |all, more| match (all.as_mut(), more) {
            (Some(all), Some(more)) => all.join(more),
            (None, more) => *all = more,
            (Some(_), None) => {}
        })?;
        Some(joined.flatten())
    }

    /// A worker of this rank was the first to finish. Sent once per phase.
    pub fn tell_first_done(&mut self) {
        if !std::mem::replace(&mut self.first_done, true) {
            for to in (0..self.team.size()).filter(|&r| r != self.team.rank()) {
                self.team.send(to, FIRST_DONE, &[]);
            }
        }
    }

    pub fn first_done(&self) -> bool {
        self.first_done
    }

    /// Starts a new phase, in which no worker is done yet.
    pub fn begin(&mut self) {
        self.first_done = false;
    }

    /// After the communicator broke: rank 0 receives the other ranks' data that arrives in time, the others send.
    pub fn hand_over(&mut self, mine: &[u8]) -> Vec<Message> {
        if !self.is_first() {
            self.team.send(0, LEFT_OVER, mine);
            let until = Instant::now() + Duration::from_secs(2);
            while !self.team.sent() && Instant::now() < until {
                self.tend();
                std::thread::sleep(Duration::from_micros(200));
            }
            return Vec::new();
        }
        // A launcher waits a second before it kills the other ranks.
        let signal = self.broken.as_ref().is_some_and(|b| b.signal);
        let most = if signal { Duration::from_millis(250) } else { Duration::from_secs(4) };
        let (begin, mut found) = (Instant::now(), Vec::new());
        let expected = self.team.size() as usize - 1 - usize::from(self.lost.is_some());
        while found.len() < expected && begin.elapsed() < most {
            self.tend();
            match self.take(LEFT_OVER, None) {
                Some(message) => found.push(message),
                None => std::thread::sleep(Duration::from_micros(200)),
            }
        }
        found
    }

    /// The end of the run.
    pub fn leave(mut self, code: u8) -> End {
        let Some(broken) = self.broken.clone() else {
            // Only rank 0 returns the result's code: a launcher would end the others while they finish.
            return End { code: if self.is_first() { code } else { exit::DONE }, together: true };
        };
        if broken.signal {
            return End { code: if self.is_first() { code } else { exit::FAILED }, together: false };
        }
        if self.is_first() {
            let together = self.lost.is_none();
            for to in (1..self.team.size()).filter(|&r| Some(r) != self.lost) {
                self.team.send(to, BYE, &[u8::from(together)]);
            }
            return End { code, together };
        }
        let until = Instant::now() + Duration::from_secs(8);
        while Instant::now() < until {
            self.tend();
            if let Some(bye) = self.take(BYE, Some(0)) {
                return End { code: exit::DONE, together: bye.bytes == [1] };
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        End { code: exit::FAILED, together: false }
    }
}

/// Makes the engine stop the current phase on this rank.
pub(super) fn stop_here() {
    if interrupted_by().is_none() {
        // SAFETY: raise has no preconditions; the signal's handler only touches atomics.
        unsafe { libc::raise(libc::SIGTERM) };
    }
}
