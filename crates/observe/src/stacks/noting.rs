//! Notes the long sleeps of one phase. A thread takes them from the programs and decides what "long" is: as short as a fixed number of
//! stacks per second allows, so that the cost has a bound.

use super::pages::{Inodes, PageCounts};
use super::{LEAST_NS, LOST, LongSleeps, Sleeps};
use crate::block::WatchError;
use fathom_record::{Halts, LockWaits};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often the programs' sleeps are taken.
const PERIOD: Duration = Duration::from_millis(50);
/// Stacks in that time, above which only longer sleeps are noted. A stack costs some 3 us: 0.6 % of a processor.
const WANTED: usize = 100;
/// Time for programs that were entered before noting ended.
const SETTLE: Duration = Duration::from_millis(1);

/// Noting in progress. Dropping it without [`Noting::stop`] ends it and discards what was noted.
#[derive(Debug)]
pub struct Noting {
    words: Option<Sender<SyncSender<()>>>,
    thread: Option<JoinHandle<(Noted, Sleeps)>>,
}

/// What was noted of a phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Noted {
    /// The long sleeps.
    pub sleeps: LongSleeps,
    /// Pages that entered and left the page cache, and pauses.
    pub pages: PageCounts,
    /// Waits for locks; `None` if this kernel has no such events.
    pub locks: Option<LockWaits>,
    /// How long the measured threads were stopped.
    pub halts: Halts,
}

impl Noting {
    /// Starts the thread, which counts the pages of these files.
    pub fn start(mut sleeps: Sleeps, inodes: &Inodes) -> Result<Self, WatchError> {
        sleeps.set(LEAST_NS, 0);
        sleeps.begin(inodes);
        let (words, heard) = mpsc::channel();
        let thread = std::thread::Builder::new().name("long-sleeps".into()).spawn(move || go(sleeps, &heard));
        let thread = thread.map_err(|e| WatchError::Thread(format!("could not be started: {e}")))?;
        Ok(Self { words: Some(words), thread: Some(thread) })
    }

    /// Discards what was noted: it was warm-up.
    pub fn restart(&self) {
        let (done, wait) = mpsc::sync_channel(1);
        if self.words.as_ref().is_some_and(|words| words.send(done).is_ok()) {
            let _ = wait.recv();
        }
    }

    /// Ends the thread. Returns what it noted, and the programs for the next phase.
    pub fn stop(mut self) -> Result<(Noted, Sleeps), WatchError> {
        drop(self.words.take());
        let thread = self.thread.take().ok_or_else(|| WatchError::Thread("was never started".into()))?;
        thread.join().map_err(|_| WatchError::Thread("failed".into()))
    }
}

impl Drop for Noting {
    fn drop(&mut self) {
        drop(self.words.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn go(mut sleeps: Sleeps, words: &Receiver<SyncSender<()>>) -> (Noted, Sleeps) {
    let mut kept = LongSleeps::default();
    loop {
        match words.recv_timeout(PERIOD) {
            Ok(done) => {
                sleeps.restart();
                kept.clear();
                let _ = done.send(());
            }
            Err(RecvTimeoutError::Timeout) => {
                let mut lengths = Vec::new();
                sleeps.drain(|raw| {
                    lengths.push(raw[4].saturating_sub(raw[2]));
                    kept.add(raw);
                });
                sleeps.set(LEAST_NS, next_least_ns(sleeps.word(LEAST_NS), &mut lengths));
            }
            Err(RecvTimeoutError::Disconnected) => {
                sleeps.end();
                std::thread::sleep(SETTLE);
                sleeps.drain(|raw| kept.add(raw));
                kept.lost += sleeps.word(LOST);
                let (pages, locks, halts) = (sleeps.counts(), sleeps.lock_waits(), sleeps.halts());
                return (Noted { sleeps: kept, pages, locks, halts }, sleeps);
            }
        }
    }
}

/// The length from which on sleeps are noted next, by the lengths of those that were noted last.
fn next_least_ns(least_ns: u64, lengths: &mut [u64]) -> u64 {
    if lengths.len() > WANTED {
        let at = lengths.len() - WANTED;
        *lengths.select_nth_unstable(at).1
    } else if lengths.len() < WANTED / 4 {
        least_ns / 2
    } else {
        least_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_wanted_are_noted() {
        let mut many: Vec<u64> = (0..4000).rev().collect();
        assert_eq!(next_least_ns(0, &mut many), 3900, "a hundred are at least as long");
        assert_eq!(next_least_ns(5000, &mut [6000; 60]), 5000);
        assert_eq!(next_least_ns(5000, &mut [6000; 3]), 2500);
        assert_eq!(next_least_ns(1, &mut []), 0);
    }
}
