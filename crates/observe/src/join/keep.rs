//! Keeps individual requests for the join: times, sector and issuer. Bounded: of a phase with millions of requests only the first ones
//! are kept, and the number of others is reported.

use fathom_record::block::IssuerKind;
use fathom_record::block::event::{BlockAction, BlockEvent, DeviceNumber, RequestFlags};
use std::collections::HashMap;

/// A request at the device nearest to the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Time of issue to the driver, ns of CLOCK_MONOTONIC.
    pub issued_ns: u64,
    /// Completion time, ns of CLOCK_MONOTONIC; 0 if not seen.
    pub completed_ns: u64,
    /// First sector.
    pub sector: u64,
    /// Number of sectors.
    pub sectors: u32,
    /// Kind and modifiers of the request.
    pub flags: RequestFlags,
    /// Kind of issuer.
    pub issuer: IssuerKind,
}

impl Kept {
    /// Length in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        u64::from(self.sectors) * fathom_record::block::event::SECTOR_BYTES
    }

    /// Whether it only flushes the device's cache.
    #[must_use]
    pub fn is_flush(&self) -> bool {
        self.sectors == 0 && self.flags.has(RequestFlags::PREFLUSH)
    }
}

/// Collects requests from events.
#[derive(Debug)]
pub struct Keeper {
    device: DeviceNumber,
    /// For a device without requests, its bios are kept.
    bio_based: bool,
    most: usize,
    kept: Vec<Kept>,
    open: HashMap<(u64, bool), usize>,
    passed_over: u64,
}

impl Keeper {
    /// For one device; keeps at most `most` requests (32 bytes each).
    #[must_use]
    pub fn new(device: DeviceNumber, bio_based: bool, most: usize) -> Self {
        Self { device, bio_based, most, kept: Vec::new(), open: HashMap::new(), passed_over: 0 }
    }

    /// Takes an event, in time order.
    pub fn event(&mut self, event: &BlockEvent, issuer: IssuerKind) {
        if event.device != self.device {
            return;
        }
        let (begin, end) = if self.bio_based {
            (BlockAction::Queue, BlockAction::BioComplete)
        } else {
            (BlockAction::Issue, BlockAction::Complete)
        };
        let key = (event.place(), event.flags.has(RequestFlags::WRITE));
        if event.action == begin {
            if self.kept.len() >= self.most {
                self.passed_over += 1;
                return;
            }
            self.open.insert(key, self.kept.len());
            self.kept.push(Kept {
                issued_ns: event.time_ns,
                completed_ns: 0,
                sector: event.place(),
                sectors: event.sectors,
                flags: event.flags,
                issuer,
            });
        } else if event.action == end
            && let Some(at) = self.open.remove(&key)
        {
            self.kept[at].completed_ns = event.time_ns;
        }
    }

    /// Drops all requests from before `from_ns` except those in flight.
    pub fn restart(&mut self, from_ns: u64) {
        self.kept.retain(|k| k.issued_ns >= from_ns || k.completed_ns == 0);
        self.open = self
            .kept
            .iter()
            .enumerate()
            .filter(|(_, k)| k.completed_ns == 0)
            .map(|(i, k)| ((k.sector, k.flags.has(RequestFlags::WRITE)), i))
            .collect();
        self.passed_over = 0;
    }

    /// The kept requests in order of issue, and the number of those dropped for lack of space.
    #[must_use]
    pub fn finish(self) -> (Vec<Kept>, u64) {
        (self.kept, self.passed_over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(action: BlockAction, time_ns: u64, sector: u64, word: &str) -> BlockEvent {
        BlockEvent {
            time_ns,
            device: DeviceNumber { major: 7, minor: 0 },
            action,
            flags: RequestFlags::parse(word),
            sector,
            sectors: 8,
            pid: 1,
            cpu: 0,
            error: 0,
            task: [0; 16],
        }
    }

    #[test]
    fn issue_and_completion_meet_and_the_bound_holds() {
        let mut keeper = Keeper::new(DeviceNumber { major: 7, minor: 0 }, false, 3);
        keeper.event(&event(BlockAction::Issue, 10, 0, "R"), IssuerKind::Own);
        keeper.event(&event(BlockAction::Issue, 11, 0, "W"), IssuerKind::Writeback);
        keeper.event(&event(BlockAction::Complete, 20, 0, "W"), IssuerKind::Other);
        keeper.event(&event(BlockAction::Issue, 30, 64, "R"), IssuerKind::Own);
        keeper.event(&event(BlockAction::Issue, 40, 128, "R"), IssuerKind::Own);
        let mut other = event(BlockAction::Issue, 50, 0, "R");
        other.device.minor = 1;
        keeper.event(&other, IssuerKind::Own);
        let (kept, passed_over) = keeper.finish();
        let told: Vec<_> = kept.iter().map(|k| (k.issued_ns, k.completed_ns, k.issuer)).collect();
        assert_eq!(
            told,
            [(10, 0, IssuerKind::Own), (11, 20, IssuerKind::Writeback), (30, 0, IssuerKind::Own)]
        );
        assert_eq!(passed_over, 1);
    }

    #[test]
    fn a_flush_is_completed_where_no_sector_is() {
        let mut keeper = Keeper::new(DeviceNumber { major: 7, minor: 0 }, false, 3);
        let flush =
            |action, time_ns, sector| BlockEvent { sectors: 0, ..event(action, time_ns, sector, "FF") };
        keeper.event(&flush(BlockAction::Issue, 10, 0), IssuerKind::Own);
        keeper.event(&flush(BlockAction::Complete, 30, u64::MAX), IssuerKind::Own);
        let (kept, _) = keeper.finish();
        assert!(kept[0].is_flush());
        assert_eq!((kept[0].issued_ns, kept[0].completed_ns), (10, 30));
    }

    #[test]
    fn what_is_under_way_outlives_the_warm_up() {
        let mut keeper = Keeper::new(DeviceNumber { major: 7, minor: 0 }, false, 9);
        keeper.event(&event(BlockAction::Issue, 10, 0, "R"), IssuerKind::Own);
        keeper.event(&event(BlockAction::Complete, 20, 0, "R"), IssuerKind::Own);
        keeper.event(&event(BlockAction::Issue, 30, 64, "R"), IssuerKind::Own);
        keeper.restart(35);
        keeper.event(&event(BlockAction::Complete, 50, 64, "R"), IssuerKind::Own);
        assert_eq!(keeper.finish().0.iter().map(|k| k.completed_ns).collect::<Vec<_>>(), [50]);
    }
}
