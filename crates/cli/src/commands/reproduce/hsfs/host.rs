//! The layer between HSFS and the drive: the host's disk driver, which sorts waiting requests by block number (C-LOOK)
//! and gives the drive one command at a time, and the iostat figures taken there.

use fathom_sim::SimError;
use fathom_sim::devices::{self, AnyDevice, Command, Device as _};
use std::collections::BTreeMap;
use std::fmt;

/// Profile of the laptop's drive.
pub(super) const DEVICE: &str = "t60p";

pub(super) struct Host {
    drive: AnyDevice,
    /// By sector, then by arrival.
    waiting: BTreeMap<(u64, u64), Command>,
    arrived: u64,
    /// Sector of the last command sent to the drive.
    head: u64,
    busy: bool,
    submitted: u64,
    interval_ns: u64,
    rows: Vec<IostatInterval>,
    /// The open interval, its start, and the time up to which it is accounted.
    open: IostatInterval,
    from_ns: u64,
    counted_ns: u64,
}

/// Figures of an interval as in iostat.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct IostatInterval {
    /// Length.
    pub ns: u64,
    /// Completed reads.
    pub reads: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Sum of the times that commands waited in the driver.
    pub waiting_ns: u64,
    /// Time with at least one command waiting.
    pub queued_ns: u64,
    /// Time with a command in the drive.
    pub busy_ns: u64,
}

impl IostatInterval {
    fn seconds(&self) -> f64 {
        self.ns as f64 / 1e9
    }

    pub(super) fn reads_per_s(&self) -> f64 {
        self.reads as f64 / self.seconds()
    }

    pub(super) fn kib_per_s(&self) -> f64 {
        self.bytes as f64 / 1024.0 / self.seconds()
    }

    /// Average number of commands waiting in the driver.
    pub(super) fn wait(&self) -> f64 {
        self.waiting_ns as f64 / self.ns as f64
    }

    /// Drive time per command, ms.
    pub(super) fn service_ms(&self) -> f64 {
        self.busy_ns as f64 / 1e6 / (self.reads as f64).max(1.0)
    }

    /// Share of the time with a command in the drive, %.
    pub(super) fn busy_percent(&self) -> f64 {
        self.busy_ns as f64 / self.ns as f64 * 100.0
    }

    pub(super) fn sum(rows: &[Self]) -> Self {
        rows.iter().fold(Self::default(), |sum, row| Self {
            ns: sum.ns + row.ns,
            reads: sum.reads + row.reads,
            bytes: sum.bytes + row.bytes,
            waiting_ns: sum.waiting_ns + row.waiting_ns,
            queued_ns: sum.queued_ns + row.queued_ns,
            busy_ns: sum.busy_ns + row.busy_ns,
        })
    }
}

/// Column heads of `iostat -xn` on Solaris.
pub(super) const HEADS: &str = "    r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device";

impl fmt::Display for IostatInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:7.1} {:6.1} {:6.1} {:6.1} {:4.1} {:4.1} {:6.1} {:6.1} {:3.0} {:3.0} c0t0d0",
            self.reads_per_s(),
            0.0,
            self.kib_per_s(),
            0.0,
            self.wait(),
            self.busy_percent() / 100.0,
            self.waiting_ns as f64 / 1e6 / (self.reads as f64).max(1.0),
            self.service_ms(),
            self.queued_ns as f64 / self.ns as f64 * 100.0,
            self.busy_percent(),
        )
    }
}

impl Host {
    /// An idle host; `interval_ns` is the length of an interval.
    pub(super) fn new(interval_ns: u64) -> Result<Self, SimError> {
        let failed = |e: &dyn fmt::Display| SimError::Unsupported(e.to_string());
        let profile = devices::by_name(DEVICE).map_err(|e| failed(&e))?;
        Ok(Self {
            drive: profile.build().map_err(|e| failed(&e))?,
            waiting: BTreeMap::new(),
            arrived: 0,
            head: 0,
            busy: false,
            submitted: 0,
            interval_ns,
            rows: Vec::new(),
            open: IostatInterval::default(),
            from_ns: 0,
            counted_ns: 0,
        })
    }

    /// Size of the medium.
    pub(super) fn medium_bytes(&self) -> u64 {
        self.drive.capacity_sectors() * devices::SECTOR_BYTES
    }

    /// Number of commands so far.
    pub(super) fn submitted(&self) -> u64 {
        self.submitted
    }

    /// Complete intervals so far.
    pub(super) fn intervals(&self) -> &[IostatInterval] {
        &self.rows
    }

    pub(super) fn submit(&mut self, now: u64, tag: u32, byte: u64, bytes: u64) {
        self.count(now);
        let sectors = u32::try_from(bytes / devices::SECTOR_BYTES).unwrap_or(u32::MAX);
        let command =
            Command { tag, write: false, sector: byte / devices::SECTOR_BYTES, sectors, segments: 1 };
        self.waiting.insert((command.sector, self.arrived), command);
        self.arrived += 1;
        self.submitted += 1;
        self.start(now);
    }

    /// Time of the drive's next event.
    pub(super) fn next_event(&self) -> Option<u64> {
        self.drive.next_event()
    }

    /// Advances to `now` and adds the tags of completed commands to `done`.
    pub(super) fn advance(&mut self, now: u64, done: &mut Vec<u32>) {
        self.count(now);
        let before = done.len();
        self.drive.advance(now, done);
        if done.len() > before {
            self.busy = false;
            self.open.reads += (done.len() - before) as u64;
            self.start(now);
        }
    }

    /// Sends the next command in ascending order to the drive, or wraps to the lowest.
    fn start(&mut self, now: u64) {
        if self.busy {
            return;
        }
        let next = self.waiting.range((self.head, 0)..).next().or_else(|| self.waiting.iter().next());
        let Some((&key, &command)) = next else { return };
        self.waiting.remove(&key);
        self.head = key.0;
        self.busy = true;
        self.open.bytes += command.bytes();
        self.drive.submit(now, command);
    }

    /// Accounts the time since the last change, and closes the intervals that have passed.
    fn count(&mut self, now: u64) {
        while self.counted_ns < now {
            let end = self.from_ns + self.interval_ns;
            let until = now.min(end);
            let passed = until - self.counted_ns;
            let waiting = self.waiting.len() as u64;
            self.open.waiting_ns += waiting * passed;
            self.open.queued_ns += if waiting > 0 { passed } else { 0 };
            self.open.busy_ns += if self.busy { passed } else { 0 };
            self.counted_ns = until;
            if until == end {
                self.rows.push(IostatInterval { ns: self.interval_ns, ..std::mem::take(&mut self.open) });
                self.from_ns = end;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driver_sweeps_upward_and_starts_again_at_the_lowest() {
        let mut host = Host::new(1_000_000_000).unwrap();
        let at = |n: u64| n * 100 * 2048;
        for (tag, place) in [(0, 5), (1, 9), (2, 1), (3, 7)] {
            host.submit(0, tag, at(place), 2048);
        }
        let (mut order, mut done) = (Vec::new(), Vec::new());
        while let Some(now) = host.next_event() {
            host.advance(now, &mut done);
            order.append(&mut done);
        }
        assert_eq!(order, [0, 3, 1, 2]);
    }

    #[test]
    fn figures_are_those_of_iostat() {
        let row = IostatInterval {
            ns: 1_000_000_000,
            reads: 1515,
            bytes: 1515 * 2048,
            waiting_ns: 400_000_000,
            queued_ns: 430_000_000,
            busy_ns: 960_000_000,
        };
        assert_eq!(
            format!("{HEADS}\n{row}"),
            "    r/s    w/s   kr/s   kw/s wait actv wsvc_t asvc_t  %w  %b device\n \
             1515.0    0.0 3030.0    0.0  0.4  1.0    0.3    0.6  43  96 c0t0d0"
        );
    }
}
