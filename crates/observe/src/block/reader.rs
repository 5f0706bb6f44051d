//! The observer's thread: sleeps until a ring is half full or a drain period has passed, reads all events, and passes on those that are
//! in order. It reads raw pages: text would cost twenty times the CPU.

use super::decode::Decoder;
use super::error::WatchError;
use super::format::PageFormat;
use super::instance::Ring;
use super::merge::Merge;
use super::origin::Origins;
use super::page::Page;
use super::watch::Sink;
use crate::words::count;
use std::io::{self, PipeReader};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// Longest time between two drains.
pub(super) const PERIOD_MS: u64 = 20;
/// Pause after a ring that claimed to be ready was empty.
const IDLE: Duration = Duration::from_millis(1);
/// After the end of recording, records still being written on other CPUs get this long. A CPU writes one within a microsecond,
/// unless a hypervisor takes it away.
const SETTLE: Duration = Duration::from_micros(100);
/// Pages read from one ring before the next ring's turn.
const TURN: usize = 4096;

/// State of the thread.
pub(super) struct Reader<S> {
    pub rings: Vec<Ring>,
    pub page: PageFormat,
    pub decoder: Decoder,
    pub origins: Origins,
    pub sink: S,
    /// Becomes readable when the watch is to end and its other end is dropped.
    pub stop: PipeReader,
    /// The rings' counters at the start.
    pub before: Vec<RingCounters>,
}

/// Result of the thread.
pub(super) struct Ended<S> {
    pub sink: S,
    pub events: u64,
    pub lost: u64,
    pub cpu_ns: u64,
    pub notes: Vec<String>,
}

/// The kernel's counters of a ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RingCounters {
    /// Events lost because the ring was full.
    lost: u64,
    /// Events read.
    read: u64,
}

impl RingCounters {
    pub fn of(ring: &Ring) -> Result<Self, WatchError> {
        let mut text = [0; 1024];
        let length = ring
            .stats
            .read_at(&mut text, 0)
            .map_err(WatchError::io(format!("per_cpu/cpu{}/stats", ring.cpu)))?;
        Ok(Self::parse(&String::from_utf8_lossy(&text[..length])))
    }

    fn parse(text: &str) -> Self {
        let field = |name: &str| {
            let value = text.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(':'));
            value.and_then(|v| v.trim().parse().ok()).unwrap_or(0)
        };
        let lost: u64 = ["overrun", "commit overrun", "dropped events"]
            .iter()
            .map(|n| field(n))
            .fold(0, u64::saturating_add);
        Self { lost, read: field("read events") }
    }
}

/// Counts so far.
#[derive(Default)]
struct Counts {
    /// Records in the pages read.
    records: u64,
    /// Events passed on.
    events: u64,
}

impl<S: Sink> Reader<S> {
    /// Runs until the watch ends.
    pub fn run(mut self) -> Result<Ended<S>, WatchError> {
        let mut merge = Merge::new(self.rings.len());
        let mut counts = Counts::default();
        let mut page = vec![0; self.page.bytes];
        loop {
            let stopped = self.sleep()?;
            let read = self.drain(&mut merge, &mut counts, &mut page)?;
            if stopped {
                break;
            }
            self.hand_on(&mut merge, &mut counts, false);
            if read == 0 && !stopped {
                // A ring that claims to be ready but is empty must not cause a busy loop.
                std::thread::sleep(IDLE);
            }
        }
        std::thread::sleep(SETTLE);
        self.drain(&mut merge, &mut counts, &mut page)?;
        self.hand_on(&mut merge, &mut counts, true);
        self.end(&merge, &counts)
    }

    /// Returns true once the watch is to end.
    fn sleep(&self) -> Result<bool, WatchError> {
        let wait = |fd: &dyn AsRawFd| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let mut fds: Vec<libc::pollfd> = self.rings.iter().map(|r| wait(&r.pages)).collect();
        fds.push(wait(&self.stop));
        // SAFETY: the array outlives the call, and its length is passed.
        let ready =
            unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, PERIOD_MS as libc::c_int) };
        if ready < 0 {
            let why = io::Error::last_os_error();
            if why.kind() != io::ErrorKind::Interrupted {
                return Err(WatchError::io("trace_pipe_raw")(why));
            }
        }
        Ok(ready > 0 && fds.last().is_some_and(|stop| stop.revents != 0))
    }

    /// Reads every ring until it is empty. Returns the number of records.
    fn drain(&mut self, merge: &mut Merge, counts: &mut Counts, page: &mut [u8]) -> Result<u64, WatchError> {
        let before = counts.records;
        let now_ns = monotonic_ns();
        self.origins.next_round();
        for (i, ring) in self.rings.iter_mut().enumerate() {
            let mut turns = 0;
            let cpu = ring.cpu;
            while ring.read_page(page).map_err(WatchError::io(format!("per_cpu/cpu{cpu}/trace_pipe_raw")))? {
                let Some(page) = Page::new(page, self.page) else { break };
                for record in page.records() {
                    counts.records += 1;
                    merge.take(i, |event| {
                        self.decoder.decode_into(&record, cpu, event)?;
                        self.origins.look(event);
                        Some(())
                    });
                }
                turns += 1;
                if turns >= TURN {
                    break;
                }
            }
            if turns < TURN {
                merge.empty(i, now_ns);
            }
        }
        Ok(counts.records - before)
    }

    fn hand_on(&mut self, merge: &mut Merge, counts: &mut Counts, all: bool) {
        let mut give = |event: &mut fathom_record::block::BlockEvent| {
            if let Some(who) = self.origins.of(event) {
                counts.events += 1;
                self.sink.event(event, &who);
            }
        };
        if all { merge.rest(&mut give) } else { merge.ready(&mut give) }
    }

    fn end(self, merge: &Merge, counts: &Counts) -> Result<Ended<S>, WatchError> {
        let (mut lost, mut read) = (0, 0);
        for (ring, before) in self.rings.iter().zip(&self.before) {
            let after = RingCounters::of(ring)?;
            lost += after.lost.saturating_sub(before.lost);
            read += after.read.saturating_sub(before.read);
        }
        let notes = notes(lost, (read, counts.records), merge.late(), self.origins.by_name());
        Ok(Ended { sink: self.sink, events: counts.events, lost, cpu_ns: thread_cpu_ns(), notes })
    }
}

/// Sentences on what makes the events doubtful; `read` is how many the kernel delivered and how many were decoded.
fn notes(lost: u64, read: (u64, u64), late: u64, by_name: u64) -> Vec<String> {
    let mut notes = Vec::new();
    if lost > 0 {
        let events = count(lost, "event");
        notes.push(format!("{events} found no room in the kernel's rings: counts and sizes are incomplete"));
    }
    let (reported, understood) = read;
    if reported != understood {
        let were = if reported == 1 { "was" } else { "were" };
        let events = count(reported, "event");
        notes.push(format!("the kernel says {events} {were} read, {understood} understood"));
    }
    match late {
        0 => {}
        1 => notes.push("1 event came late and is out of the order of time".into()),
        n => notes.push(format!("{n} events came late and are out of the order of time")),
    }
    match by_name {
        0 => {}
        1 => notes
            .push("1 task ended before it could be identified; by its name it was counted as ours".into()),
        n => notes.push(format!(
            "{n} tasks ended before they could be identified; by their names they were counted as ours"
        )),
    }
    notes
}

/// CLOCK_MONOTONIC, the same as the ring's clock `mono`.
pub(super) fn monotonic_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

/// CPU time of the calling thread.
pub(super) fn thread_cpu_ns() -> u64 {
    clock_ns(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure outlives the call; both clocks exist on every Linux.
    unsafe { libc::clock_gettime(clock, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_of_one_event_or_task_speak_of_one() {
        assert_eq!(notes(0, (5, 5), 0, 0), [""; 0]);
        assert_eq!(
            notes(1, (1, 0), 1, 1),
            [
                "1 event found no room in the kernel's rings: counts and sizes are incomplete",
                "the kernel says 1 event was read, 0 understood",
                "1 event came late and is out of the order of time",
                "1 task ended before it could be identified; by its name it was counted as ours",
            ]
        );
        assert_eq!(
            notes(2, (2, 1), 3, 4),
            [
                "2 events found no room in the kernel's rings: counts and sizes are incomplete",
                "the kernel says 2 events were read, 1 understood",
                "3 events came late and are out of the order of time",
                "4 tasks ended before they could be identified; by their names they were counted as ours",
            ]
        );
    }

    #[test]
    fn the_rings_counters_are_read() {
        let text = "entries: 12\noverrun: 3\ncommit overrun: 1\nbytes: 999\noldest event ts:  1.5\nnow ts:  2.5\ndropped events: 40\nread events: 77\n";
        assert_eq!(RingCounters::parse(text), RingCounters { lost: 44, read: 77 });
        assert_eq!(RingCounters::parse(""), RingCounters::default());
    }
}
