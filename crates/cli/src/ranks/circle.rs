//! The ranks of a run in touch with each other: messages, waiting that notices when somebody ends before its time, trees to tell all and to
//! collect from all.
//!
//! Nothing here waits without looking: a wait ends when the circle is broken, by a rank's failure (it tells all), by a signal (a launcher
//! ends the others when it loses one), or because rank 0 has not heard of somebody for too long.

use super::{End, Team};
use crate::exit;
use fathom_engine::interrupted_by;
use fathom_record::ranks::Share;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// What one rank sends to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who sent it.
    pub from: u32,
    /// What it is about.
    pub kind: u8,
    /// What it says.
    pub bytes: Vec<u8>,
}

/// A rank ends the run: why.
const BROKEN: u8 = 1;
/// The first worker of a phase is done.
const FIRST_DONE: u8 = 2;
/// Somebody lives.
const BEAT: u8 = 3;
/// Somebody will say nothing for a while.
const QUIET: u8 = 4;
/// Told to all, by the tree.
const DOWN: u8 = 5;
/// Collected from all, by the tree.
const UP: u8 = 6;
/// What a rank has, straight to rank 0, when the tree is broken.
pub(super) const LEFT_OVER: u8 = 7;
/// Rank 0 has all it wants.
const BYE: u8 = 8;
pub(super) const PING: u8 = 9;
pub(super) const PONG: u8 = 10;

/// How the reason of a rank begins that a signal stopped.
const BY_SIGNAL: &str = "stopped by signal";

/// How often a rank says that it lives.
const BEAT_EVERY: Duration = Duration::from_secs(1);

/// Why the run ends before its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Broken {
    pub by: u32,
    pub why: String,
    /// A signal, and no failure of ours.
    pub signal: bool,
}

pub(super) struct Circle<'t> {
    pub team: &'t dyn Team,
    inbox: VecDeque<Message>,
    broken: Option<Broken>,
    /// Rank 0: when it last heard of those that it expects to hear of.
    heard: Vec<Option<Instant>>,
    patience: Duration,
    beat: Option<Instant>,
    first_done: bool,
    /// The rank that has not been heard of.
    lost: Option<u32>,
}

impl<'t> Circle<'t> {
    pub fn new(team: &'t dyn Team) -> Self {
        let count = if team.rank() == 0 { team.size() as usize } else { 0 };
        Self {
            team,
            inbox: VecDeque::new(),
            broken: None,
            heard: vec![None; count],
            patience: Duration::from_secs(6),
            beat: None,
            first_done: false,
            lost: None,
        }
    }

    pub fn is_first(&self) -> bool {
        self.team.rank() == 0
    }

    pub fn alone(&self) -> bool {
        self.team.size() == 1
    }

    pub fn broken(&self) -> Option<&Broken> {
        self.broken.as_ref()
    }

    /// Rank 0 takes a rank for dead that it has not heard of for so long.
    pub fn have_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// Ends the run for all.
    pub fn break_up(&mut self, why: String) {
        self.break_for(why, false);
    }

    fn break_for(&mut self, why: String, signal: bool) {
        if self.broken.is_some() {
            return;
        }
        let by = self.team.rank();
        // A launcher signals all; a word to one that is dead by now could block. Of a signal that reached one rank alone, rank 0 tells.
        let told = if signal { 0..1 } else { 0..self.team.size() };
        for to in told.filter(|&r| r != by && Some(r) != self.lost) {
            self.team.send(to, BROKEN, why.as_bytes());
        }
        self.broken = Some(Broken { by, why, signal });
    }

    /// Takes what has arrived and looks after the others.
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
                FIRST_DONE => self.first_done = true,
                BROKEN => {
                    let why = String::from_utf8_lossy(&message.bytes).into_owned();
                    let signal = why.starts_with(BY_SIGNAL);
                    self.broken.get_or_insert(Broken { by: message.from, why, signal });
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
        if self.broken.is_none() {
            let lost = self.heard.iter().position(|h| h.is_some_and(|at| at.elapsed() > self.patience));
            if let Some(lost) = lost {
                self.lost = Some(lost as u32);
                self.break_up(format!(
                    "rank {lost} has not been heard of for {} s; it died, or its host cannot be reached",
                    self.patience.as_secs()
                ));
                stop_here();
            }
        }
    }

    /// From now on this rank can be expected to say that it lives.
    pub fn beats(&mut self) {
        if !self.is_first() {
            self.team.send(0, BEAT, &[]);
            self.beat = Some(Instant::now());
        }
    }

    /// This rank does something that may take long, and says nothing meanwhile.
    pub fn falls_silent(&mut self) {
        if !self.is_first() && self.beat.take().is_some() {
            self.team.send(0, QUIET, &[]);
        }
    }

    /// Waits for something; `None` if the circle breaks before.
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

    /// The next message of a kind, if it has arrived.
    pub fn take(&mut self, kind: u8, from: Option<u32>) -> Option<Message> {
        let at = self.inbox.iter().position(|m| m.kind == kind && from.is_none_or(|r| r == m.from))?;
        self.inbox.remove(at)
    }

    /// Waits for all.
    pub fn barrier(&mut self) -> Option<()> {
        if self.alone() {
            return Some(());
        }
        self.tend();
        if self.broken.is_some() {
            return None;
        }
        self.team.enter_barrier();
        self.wait(|circle| circle.team.passed_barrier().then_some(()))
    }

    /// Who passes on to this rank what is told to all, and to whom it passes it on.
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

    /// Rank 0 tells all; `what` of the others is not looked at.
    pub fn tell<T: Serialize + DeserializeOwned>(&mut self, what: Option<T>) -> Option<T> {
        let bytes = match self.parent() {
            None => serde_json::to_vec(&what?).ok()?,
            Some(parent) => self.wait(|circle| circle.take(DOWN, Some(parent)))?.bytes,
        };
        for child in self.children() {
            self.team.send(child, DOWN, &bytes);
        }
        serde_json::from_slice(&bytes).ok()
    }

    /// Brings what every rank has to rank 0; on the way two become one. `Some(None)` for the others.
    pub fn collect<T: Serialize + DeserializeOwned>(
        &mut self,
        mine: T,
        mut join: impl FnMut(&mut T, T),
    ) -> Option<Option<T>> {
        let mut all = mine;
        for child in self.children() {
            let message = self.wait(|circle| circle.take(UP, Some(child)))?;
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
        self.wait(|circle| circle.team.sent().then_some(()))?;
        Some(None)
    }

    /// As [`Circle::collect`], of what ranks did in a phase.
    pub fn join(&mut self, mine: Option<Share>) -> Option<Option<Share>> {
        let joined = self.collect(mine, |all, more| match (all.as_mut(), more) {
            (Some(all), Some(more)) => all.join(more),
            (None, more) => *all = more,
            (Some(_), None) => {}
        })?;
        Some(joined.flatten())
    }

    /// A worker of this rank was the first that was done. Told once in a phase.
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

    /// A new phase: nobody is done.
    pub fn begin(&mut self) {
        self.first_done = false;
    }

    /// What is left with every rank, when the circle is broken: rank 0 gets what comes in time, the others send.
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
        // A launcher that ends the others waits a second before it kills them.
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
            // Only rank 0 says how it went: a launcher would end the others in the midst of their farewell.
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

/// Has the engine stop what runs here.
pub(super) fn stop_here() {
    if interrupted_by().is_none() {
        // SAFETY: raise has no preconditions; the signal's handler only touches atomics.
        unsafe { libc::raise(libc::SIGTERM) };
    }
}
