//! Pairing on a device without requests (md, most of device mapper, zram): a bio's arrival with its completion.
//!
//! Bios are matched by their end, which every way of completing one leaves unchanged. A driver that walks through the bio
//! reports an empty range at its end; one that cuts pieces off its front reports the last piece. Earlier pieces, if reported,
//! lie inside a bio in flight and are not counted; the last one is always reported last.

use super::super::activity::{IssuerKind, RequestClass};
use super::super::event::{BlockAction, BlockEvent};
use super::class::class_of;
use super::positions::Position;
use super::tally::{Completed, Issued, Tally};
use std::collections::BTreeMap;

/// Maximum number of bios followed per device.
const FLIGHTS_MAX: usize = 1 << 16;
/// Maximum number of bios with the same end that are searched for the matching start.
const LOOK: usize = 64;

/// Direction, end, and a number that makes it unique.
type Key = (u16, u64, u64);

struct InFlightBio {
    class: RequestClass,
    start: u64,
    sectors: u32,
    issued_ns: u64,
    watch: u32,
    error: bool,
}

/// State of a device without requests.
pub(super) struct BioTracker {
    flights: BTreeMap<Key, InFlightBio>,
    count: u64,
    queueing: bool,
}

impl BioTracker {
    /// `queueing`: whether to count arrivals and splits too.
    pub(super) fn new(queueing: bool) -> Self {
        Self { flights: BTreeMap::new(), count: 0, queueing }
    }

    /// Takes an event of the device; `now_ns` never runs backwards.
    pub(super) fn event(&mut self, tally: &mut Tally, event: &BlockEvent, now_ns: u64, kind: IssuerKind) {
        match event.action {
            BlockAction::Queue => self.issue(tally, event, now_ns, kind),
            BlockAction::Complete | BlockAction::BioComplete => self.complete(tally, event, now_ns),
            BlockAction::Split => tally.splits += 1,
            _ => {}
        }
    }

    fn issue(&mut self, tally: &mut Tally, event: &BlockEvent, now_ns: u64, kind: IssuerKind) {
        let position = Position::of(event);
        let class = class_of(event.flags, event.sectors);
        let issuer = tally.issuers.number(kind, event);
        tally.class(class).bios += u64::from(self.queueing);
        tally.issue(Issued {
            class,
            flags: event.flags,
            sector: position.sector,
            sectors: event.sectors,
            issuer,
        });
        if self.flights.len() >= FLIGHTS_MAX {
            tally.in_device.down(1);
            tally.give_up(tally.watch);
            return;
        }
        let end = position.sector.saturating_add(u64::from(event.sectors));
        self.count += 1;
        let flight = InFlightBio {
            class,
            start: position.sector,
            sectors: event.sectors,
            issued_ns: now_ns,
            watch: tally.watch,
            error: false,
        };
        self.flights.insert((position.direction, end, self.count), flight);
    }

    fn complete(&mut self, tally: &mut Tally, event: &BlockEvent, now_ns: u64) {
        let position = Position::of(event);
        let end = position.sector.saturating_add(u64::from(event.sectors));
        let Some(flight) = self.whole(position, end).and_then(|key| self.flights.remove(&key)) else {
            let known = self.part(position, end, event.error != 0);
            tally.begun_before += u64::from(!known && event.sectors > 0);
            return;
        };
        tally.in_device.down(1);
        if flight.watch != tally.watch {
            tally.begun_before += 1;
            return;
        }
        let d2c_ns = now_ns.saturating_sub(flight.issued_ns);
        tally.complete(Completed {
            class: flight.class,
            sectors: flight.sectors,
            d2c_ns,
            whole_ns: d2c_ns,
            error: flight.error || event.error != 0,
        });
    }

    /// The bio that ends here: preferably one that also begins here, else the newest that encloses it.
    fn whole(&self, position: Position, end: u64) -> Option<Key> {
        let all = self
            .flights
            .range((position.direction, end, 0)..=(position.direction, end, u64::MAX))
            .rev()
            .take(LOOK);
        let around = all.filter(|(_, flight)| flight.start <= position.sector);
        around.max_by_key(|&(&(_, _, n), flight)| (flight.start == position.sector, n)).map(|(&key, _)| key)
    }

    /// Whether this is a piece of a bio in flight; an error of a piece marks the whole.
    fn part(&mut self, position: Position, end: u64, error: bool) -> bool {
        let beyond =
            (position.direction, end.saturating_add(1), 0)..=(position.direction, u64::MAX, u64::MAX);
        match self.flights.range_mut(beyond).next() {
            Some((_, flight)) if flight.start <= position.sector => {
                flight.error |= error;
                true
            }
            _ => false,
        }
    }

    /// Events were lost: nothing is known to be in flight any more.
    pub(super) fn gap(&mut self, tally: &mut Tally) {
        for flight in self.flights.values() {
            tally.give_up(flight.watch);
        }
        self.flights.clear();
        tally.in_device.empty();
    }

    /// Issued in this watch and not completed.
    pub(super) fn in_flight(&self, watch: u32) -> u64 {
        self.flights.values().filter(|f| f.watch == watch).count() as u64
    }
}
