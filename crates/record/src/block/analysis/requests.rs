//! Pairing on a device with requests: a bio's arrival with the issue of the request it ended up in, a request's issue with its
//! completion.

use super::super::activity::{IssuerKind, RequestClass};
use super::super::event::{BlockAction, BlockEvent};
use super::class::class_of;
use super::positions::{InFlightIndex, Position};
use super::tally::{Completed, Issued, Tally};

/// Maximum number of requests followed per device; real devices have at most a few thousand in flight.
const FLIGHTS_MAX: usize = 1 << 16;
/// Maximum number of waiting bios: each request may hold hundreds.
const WAITING_MAX: usize = 1 << 17;

/// A request in the driver, or returned by it and to be issued again.
struct DriverRequest {
    class: RequestClass,
    issued_ns: u64,
    /// Arrival of its first bio, if seen.
    arrived_ns: Option<u64>,
    /// Size of the whole request.
    sectors: u32,
    /// Sectors not completed yet.
    left: u32,
    watch: u32,
    given_back: bool,
    error: bool,
}

/// A bio, or the rest of one, without an issued request yet.
struct UnissuedBio {
    arrived_ns: u64,
    end: u64,
    issuer: u16,
    /// The second part of a split bio, without its own arrival.
    cut: bool,
}

/// State of a device with requests.
pub(super) struct RequestTracker {
    flights: InFlightIndex<DriverRequest>,
    waiting: InFlightIndex<UnissuedBio>,
    given_back: usize,
    queueing: bool,
}

impl RequestTracker {
    /// `queueing`: whether arrivals are seen.
    pub(super) fn new(queueing: bool) -> Self {
        Self {
            flights: InFlightIndex::new(FLIGHTS_MAX),
            waiting: InFlightIndex::new(WAITING_MAX),
            given_back: 0,
            queueing,
        }
    }

    /// Takes an event of the device; `now_ns` never runs backwards.
    #[inline]
    pub(super) fn event(&mut self, tally: &mut Tally, event: &BlockEvent, now_ns: u64, kind: IssuerKind) {
        match event.action {
            BlockAction::Issue => self.issue(tally, event, now_ns, kind),
            BlockAction::Complete => self.complete(tally, event, now_ns),
            BlockAction::Requeue => self.requeue(tally, event),
            _ if !self.queueing => {}
            BlockAction::Queue => self.arrive(tally, event, now_ns, kind),
            BlockAction::Split => self.split(tally, event),
            BlockAction::BackMerge => merge(tally, event, |class| &mut class.back_merges),
            BlockAction::FrontMerge => merge(tally, event, |class| &mut class.front_merges),
            BlockAction::RequestMerge => merge(tally, event, |class| &mut class.request_merges),
            BlockAction::BioComplete => self.withdraw(tally, event),
            BlockAction::Unplug => {
                let (lists, requests) = tally.unplugs.unwrap_or_default();
                tally.unplugs = Some((lists + 1, requests + u64::from(event.sectors)));
            }
            BlockAction::GetRequest | BlockAction::Insert | BlockAction::Plug | BlockAction::Remap => {}
        }
    }

    #[inline]
    fn issue(&mut self, tally: &mut Tally, event: &BlockEvent, now_ns: u64, kind: IssuerKind) {
        let position = Position::of(event);
        if self.given_back > 0 && self.reissue(tally, position, event.sectors, now_ns) {
            return;
        }
        let class = class_of(event.flags, event.sectors);
        let first = self.first_bio(tally, position, event.sectors);
        let arrived_ns = first.as_ref().map(|bio| bio.arrived_ns);
        // A kernel thread often issues requests on behalf of others, so the submitter of the bio is the better issuer.
        let issuer = match first {
            Some(bio) => bio.issuer,
            None => tally.issuers.number(kind, event),
        };
        if let Some(arrived_ns) = arrived_ns {
            tally.class(class).q2d.add(now_ns.saturating_sub(arrived_ns));
        }
        tally.issue(Issued {
            class,
            flags: event.flags,
            sector: position.sector,
            sectors: event.sectors,
            issuer,
        });
        let flight = DriverRequest {
            class,
            issued_ns: now_ns,
            arrived_ns,
            sectors: event.sectors,
            left: event.sectors,
            watch: tally.watch,
            given_back: false,
            error: false,
        };
        if let Some(lost) = self.flights.put(position, flight) {
            self.forget(tally, &lost);
        }
    }

    /// Removes the request's bios from the waiting ones and returns the one that arrived first: the others were merged before
    /// or behind it.
    #[inline]
    fn first_bio(&mut self, tally: &mut Tally, position: Position, sectors: u32) -> Option<UnissuedBio> {
        let mut first: Option<UnissuedBio> = None;
        let (mut at, end) = (position.sector, position.sector.saturating_add(u64::from(sectors)));
        while at < end && self.waiting.len() > 0 {
            // Several may begin here: prefer one that ends where the request does.
            let fit = |bio: &UnissuedBio| u8::from(bio.end <= end) + u8::from(bio.end == end);
            let Some(bio) = self.waiting.take(position.at(at), fit) else {
                // One of the merged bios arrived unseen.
                at += 1;
                continue;
            };
            tally.in_queue.down(1);
            at = bio.end;
            if first.as_ref().is_none_or(|f| bio.arrived_ns < f.arrived_ns) {
                first = Some(bio);
            }
        }
        first
    }

    /// Handles a returned request that is issued again: it is not counted twice. It may have grown since.
    fn reissue(&mut self, tally: &mut Tally, position: Position, sectors: u32, now_ns: u64) -> bool {
        let Some(flight) = self.flights.find(position, |f| f.given_back) else { return false };
        flight.given_back = false;
        flight.issued_ns = now_ns;
        let grown = flight.sectors.saturating_add(sectors.saturating_sub(flight.left));
        flight.left = sectors;
        if grown > flight.sectors {
            if flight.watch == tally.watch {
                tally.grow(flight.class, flight.sectors, grown);
            }
            flight.sectors = grown;
        }
        self.given_back -= 1;
        tally.in_device.up();
        true
    }

    fn requeue(&mut self, tally: &mut Tally, event: &BlockEvent) {
        tally.requeued += 1;
        // A driver may refuse a request before its issue is reported; then there is nothing to return.
        if let Some(flight) = self.flights.find(Position::of(event), |f| !f.given_back) {
            flight.given_back = true;
            self.given_back += 1;
            tally.in_device.down(1);
        }
    }

    #[inline]
    fn complete(&mut self, tally: &mut Tally, event: &BlockEvent, now_ns: u64) {
        let position = Position::of(event);
        let sectors = event.sectors;
        // Prefer a flight with exactly this much left, then one with more, then any. Empty requests only match empty ones.
        let fit = |f: &DriverRequest| match (sectors == 0, f.left == 0) {
            (true, true) => 3,
            (false, false) if f.left == sectors => 3,
            (false, false) if f.left > sectors => 2,
            (false, false) => 1,
            _ => 0,
        };
        let Some(mut flight) = self.flights.take(position, fit) else {
            // The kernel completes a flush twice: the device's own, and the empty request that wanted it.
            tally.begun_before += u64::from(sectors > 0);
            return;
        };
        flight.error |= event.error != 0;
        if flight.left > sectors {
            flight.left -= sectors;
            let rest = position.at(position.sector.saturating_add(u64::from(sectors)));
            if let Some(lost) = self.flights.put(rest, flight) {
                self.forget(tally, &lost);
            }
            return;
        }
        self.leave(tally, &flight);
        if flight.watch != tally.watch {
            tally.begun_before += 1;
            return;
        }
        let d2c_ns = now_ns.saturating_sub(flight.issued_ns);
        tally.complete(Completed {
            class: flight.class,
            sectors: flight.sectors,
            d2c_ns,
            whole_ns: flight.arrived_ns.map_or(d2c_ns, |arrived| now_ns.saturating_sub(arrived)),
            error: flight.error,
        });
    }

    /// Removes a request from the driver's depth.
    #[inline]
    fn leave(&mut self, tally: &mut Tally, flight: &DriverRequest) {
        if flight.given_back {
            self.given_back -= 1;
        } else {
            tally.in_device.down(1);
        }
    }

    fn forget(&mut self, tally: &mut Tally, flight: &DriverRequest) {
        self.leave(tally, flight);
        tally.give_up(flight.watch);
    }

    fn arrive(&mut self, tally: &mut Tally, event: &BlockEvent, now_ns: u64, kind: IssuerKind) {
        let position = Position::of(event);
        let end = position.sector.saturating_add(u64::from(event.sectors));
        // Kernels before 4.13 report the arrival of a split bio's second part again.
        if let Some(rest) = self.waiting.find(position, |bio| bio.cut && bio.end == end) {
            rest.cut = false;
            return;
        }
        tally.class(class_of(event.flags, event.sectors)).bios += 1;
        if event.sectors == 0 {
            return;
        }
        let issuer = tally.issuers.number(kind, event);
        self.wait(tally, position, UnissuedBio { arrived_ns: now_ns, end, issuer, cut: false });
    }

    fn wait(&mut self, tally: &mut Tally, position: Position, bio: UnissuedBio) {
        tally.in_queue.up();
        if self.waiting.put(position, bio).is_some() {
            tally.in_queue.down(1);
        }
    }

    /// Handles a split bio: the second part counts as arrived with the whole.
    fn split(&mut self, tally: &mut Tally, event: &BlockEvent) {
        tally.splits += 1;
        let position = Position::of(event);
        let cut = position.sector.saturating_add(u64::from(event.sectors));
        let inside = |bio: &UnissuedBio| position.sector < cut && cut < bio.end;
        let Some(whole) = self.waiting.find(position, inside) else { return };
        let end = std::mem::replace(&mut whole.end, cut);
        let rest = UnissuedBio { arrived_ns: whole.arrived_ns, end, issuer: whole.issuer, cut: true };
        self.wait(tally, position.at(cut), rest);
    }

    /// Handles a bio that ended without a request because its submitter did not wait for a free one.
    fn withdraw(&mut self, tally: &mut Tally, event: &BlockEvent) {
        let position = Position::of(event);
        let end = position.sector.saturating_add(u64::from(event.sectors));
        if self.waiting.take(position, |bio| u8::from(bio.end == end)).is_some() {
            tally.in_queue.down(1);
        }
    }

    /// Events were lost: nothing is known to be in flight any more.
    pub(super) fn gap(&mut self, tally: &mut Tally) {
        for flight in self.flights.iter() {
            tally.give_up(flight.watch);
        }
        self.flights.clear();
        self.waiting.clear();
        self.given_back = 0;
        tally.in_device.empty();
        tally.in_queue.empty();
    }

    /// Issued in this watch and not completed.
    pub(super) fn in_flight(&self, watch: u32) -> u64 {
        self.flights.iter().filter(|f| f.watch == watch).count() as u64
    }
}

fn merge(tally: &mut Tally, event: &BlockEvent, count: impl Fn(&mut super::class::ClassTally) -> &mut u64) {
    let class = class_of(event.flags, event.sectors);
    *count(tally.class(class)) += 1;
    tally.rows.merged(class);
}
