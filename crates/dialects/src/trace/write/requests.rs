//! Pairs events into requests for formats with a row per request: by device, first sector and direction, newest
//! issue first. Memory is bounded: if too many requests wait, the oldest is returned unfinished.

use fathom_record::BlockEvent;
use fathom_record::block::event::TASK_NAME_BYTES;
use fathom_record::block::log::LogDevice;
use fathom_record::block::{BlockAction, DeviceNumber, RequestFlags};
use std::collections::{BTreeMap, HashSet, VecDeque};

/// Limit on requests in flight and on waiting bios.
const MOST_WAITING: usize = 1 << 17;

/// The history of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRow {
    /// Device number.
    pub device: DeviceNumber,
    /// Operation and flags at issue.
    pub flags: RequestFlags,
    /// First sector, in units of 512 bytes.
    pub sector: u64,
    /// Number of sectors.
    pub sectors: u32,
    /// Arrival time of the bio with its first sector, if traced.
    pub queued_ns: Option<u64>,
    /// Time of issue to the driver; `None` for devices without requests.
    pub issued_ns: Option<u64>,
    /// Completion time; `None` if the trace ended before.
    pub completed_ns: Option<u64>,
    /// Kernel error number, 0 for success.
    pub error: i32,
    /// Process that issued it, or submitted the bio.
    pub pid: u32,
    /// CPU of that process.
    pub cpu: u16,
    /// Name of that process.
    pub task: [u8; TASK_NAME_BYTES],
}

type Key = (DeviceNumber, u16, u64);

/// Pairs events. Rows are returned as requests complete, the rest at the end.
#[derive(Debug, Default)]
pub struct Requests {
    /// The trace has only arrivals: each is a row at once.
    arrivals_only: bool,
    bios: HashSet<DeviceNumber>,
    flights: BTreeMap<Key, Vec<RequestRow>>,
    flying: usize,
    /// Requeued requests, whose next issue is not a new one.
    given_back: HashSet<Key>,
    waiting: BTreeMap<Key, u64>,
    /// In order of issue, for eviction.
    order: VecDeque<(Key, u64)>,
    forgotten: u64,
}

/// Direction used for pairing: flags may change between issue and completion (a flush returns as FF), the direction does not.
fn direction(flags: RequestFlags) -> u16 {
    let of =
        RequestFlags::READ.with(RequestFlags::WRITE).with(RequestFlags::DISCARD).with(RequestFlags::OTHER);
    flags.0 & of.0
}

fn key(event: &BlockEvent) -> Key {
    (event.device, direction(event.flags), event.sector)
}

impl Requests {
    /// An empty state. With `arrivals_only`, no request is ever issued or completed, and each arrival is a row.
    #[must_use]
    pub fn new(arrivals_only: bool) -> Self {
        Self { arrivals_only, ..Self::default() }
    }

    /// Sets which devices have bios instead of requests.
    pub fn devices(&mut self, devices: &[LogDevice]) {
        self.bios.extend(devices.iter().filter(|d| d.bio_based).map(|d| d.number));
    }

    /// Processes an event. Returns the request that it completed.
    pub fn event(&mut self, event: &BlockEvent) -> Option<RequestRow> {
        let bios = self.bios.contains(&event.device);
        match event.action {
            BlockAction::Queue if self.arrivals_only => Some(row(event, Some(event.time_ns), None)),
            BlockAction::Queue if bios => self.begin(row(event, Some(event.time_ns), None)),
            BlockAction::Queue => {
                if event.sectors > 0 {
                    self.waiting.entry(key(event)).or_insert(event.time_ns);
                    // More waiting bios than any queue holds: the issue of old arrivals was lost.
                    if self.waiting.len() > MOST_WAITING {
                        self.waiting.pop_first();
                    }
                }
                None
            }
            BlockAction::Issue => self.issue(event),
            BlockAction::Requeue => {
                if self.flights.contains_key(&key(event)) {
                    self.given_back.insert(key(event));
                }
                None
            }
            BlockAction::Complete => self.complete(event),
            BlockAction::BioComplete if bios => self.complete(event),
            _ => None,
        }
    }

    fn issue(&mut self, event: &BlockEvent) -> Option<RequestRow> {
        if self.given_back.remove(&key(event)) {
            return None;
        }
        let (device, direction, sector) = key(event);
        let last = sector.saturating_add(event.sectors.saturating_sub(1).into());
        let inside: Vec<Key> = self
            .waiting
            .range((device, direction, sector)..=(device, direction, last))
            .map(|(key, _)| *key)
            .collect();
        let mut queued = None;
        for bio in inside {
            let arrived = self.waiting.remove(&bio);
            if bio.2 == sector {
                queued = arrived;
            }
        }
        self.begin(row(event, queued, Some(event.time_ns)))
    }

    fn begin(&mut self, row: RequestRow) -> Option<RequestRow> {
        let key = (row.device, direction(row.flags), row.sector);
        self.flights.entry(key).or_default().push(row);
        self.flying += 1;
        self.order.push_back((key, row.issued_ns.or(row.queued_ns).unwrap_or(0)));
        self.evict()
    }

    /// Evicts the oldest request if too many are in flight, as its completion was lost.
    fn evict(&mut self) -> Option<RequestRow> {
        if self.flying <= MOST_WAITING {
            // Entries of completed requests stay in the order until reached; too many of them are purged.
            if self.order.len() > 2 * MOST_WAITING {
                let flights = &self.flights;
                self.order.retain(|(key, _)| flights.contains_key(key));
            }
            return None;
        }
        while let Some((key, _)) = self.order.pop_front() {
            if let Some(row) = self.take(key, true) {
                self.forgotten += 1;
                return Some(row);
            }
        }
        None
    }

    fn take(&mut self, key: Key, oldest: bool) -> Option<RequestRow> {
        let rows = self.flights.get_mut(&key)?;
        let row = if oldest { rows.remove(0) } else { rows.pop()? };
        if rows.is_empty() {
            self.flights.remove(&key);
            self.given_back.remove(&key);
        }
        self.flying -= 1;
        Some(row)
    }

    fn complete(&mut self, event: &BlockEvent) -> Option<RequestRow> {
        let (device, direction, sector) = key(event);
        let row = match self.take((device, direction, sector), false) {
            Some(row) => row,
            // A flush is issued at sector 0 and completes at the last of all sectors, and once more for the request that needed it.
            None if event.sectors == 0 => {
                self.take((device, direction, 0), false).filter(|r| r.sectors == 0)?
            }
            None => return None,
        };
        if event.sectors > 0 && event.sectors < row.sectors && event.error == 0 {
            // Partial completion: the rest completes at its own sector.
            let rest = RequestRow {
                sector: sector + u64::from(event.sectors),
                sectors: row.sectors - event.sectors,
                ..row
            };
            let done = RequestRow { sectors: event.sectors, completed_ns: Some(event.time_ns), ..row };
            self.begin(rest);
            return Some(done);
        }
        Some(RequestRow { completed_ns: Some(event.time_ns), error: event.error, ..row })
    }

    /// Requests in flight at the end, in order of issue, and the number evicted before.
    #[must_use]
    pub fn finish(self) -> (Vec<RequestRow>, u64) {
        let mut rest: Vec<RequestRow> = self.flights.into_values().flatten().collect();
        rest.sort_by_key(|r| (r.issued_ns.or(r.queued_ns), r.device, r.sector));
        (rest, self.forgotten)
    }
}

fn row(event: &BlockEvent, queued_ns: Option<u64>, issued_ns: Option<u64>) -> RequestRow {
    RequestRow {
        device: event.device,
        flags: event.flags,
        sector: event.sector,
        sectors: event.sectors,
        queued_ns,
        issued_ns,
        completed_ns: None,
        error: 0,
        pid: event.pid,
        cpu: event.cpu,
        task: event.task,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(action: BlockAction, time_ns: u64, sector: u64, sectors: u32) -> BlockEvent {
        BlockEvent {
            time_ns,
            device: DeviceNumber { major: 7, minor: 1 },
            action,
            flags: RequestFlags::WRITE,
            sector,
            sectors,
            pid: 5,
            cpu: 0,
            error: 0,
            task: BlockEvent::task_of("dd"),
        }
    }

    fn rows(events: &[BlockEvent]) -> Vec<RequestRow> {
        let mut requests = Requests::default();
        let mut rows: Vec<RequestRow> = events.iter().filter_map(|e| requests.event(e)).collect();
        rows.extend(requests.finish().0);
        rows
    }

    #[test]
    fn bios_that_were_merged_are_one_request() {
        use BlockAction::{BackMerge, Complete, Issue, Queue};
        let rows = rows(&[
            event(Queue, 10, 64, 8),
            event(Queue, 12, 72, 8),
            event(BackMerge, 13, 72, 8),
            event(Issue, 20, 64, 16),
            event(Queue, 25, 72, 8),
            event(Complete, 50, 64, 16),
            event(Issue, 60, 72, 8),
        ]);
        let found: Vec<_> =
            rows.iter().map(|r| (r.queued_ns, r.issued_ns, r.completed_ns, r.sectors)).collect();
        assert_eq!(found, [(Some(10), Some(20), Some(50), 16), (Some(25), Some(60), None, 8)]);
    }

    #[test]
    fn a_request_that_is_issued_twice_is_one_and_a_part_that_is_done_is_a_row() {
        use BlockAction::{Complete, Issue, Requeue};
        let given_back = rows(&[
            event(Issue, 1, 8, 8),
            event(Requeue, 2, 8, 8),
            event(Issue, 3, 8, 8),
            event(Complete, 4, 8, 8),
        ]);
        assert_eq!(given_back.len(), 1);
        let parts = rows(&[event(Issue, 1, 8, 8), event(Complete, 4, 8, 3), event(Complete, 9, 11, 5)]);
        let found: Vec<_> = parts.iter().map(|r| (r.sector, r.sectors, r.completed_ns)).collect();
        assert_eq!(found, [(8, 3, Some(4)), (11, 5, Some(9))]);
    }

    #[test]
    fn a_flush_completes_where_the_kernel_says() {
        use BlockAction::{Complete, Issue};
        let flush = |action, time, sector| BlockEvent {
            flags: RequestFlags::PREFLUSH,
            ..event(action, time, sector, 0)
        };
        let rows = rows(&[flush(Issue, 5, 0), flush(Complete, 9, u64::MAX), flush(Complete, 10, u64::MAX)]);
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].completed_ns, Some(9));
    }

    #[test]
    fn what_never_ends_does_not_fill_memory() {
        let mut requests = Requests::default();
        let mut out = 0;
        for n in 0..(3 * MOST_WAITING as u64) {
            out += u64::from(requests.event(&event(BlockAction::Issue, n, n * 8, 8)).is_some());
        }
        assert!(requests.flying <= MOST_WAITING && requests.order.len() <= 2 * MOST_WAITING + 1);
        let (rest, forgotten) = requests.finish();
        assert_eq!((rest.len() as u64 + out, forgotten), (3 * MOST_WAITING as u64, out));
    }
}
