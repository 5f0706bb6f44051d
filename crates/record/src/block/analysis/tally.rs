//! Counters of one device of either kind: classes, issuers, depths, rows. `requests` and `bios` pair the events and report here.

use super::super::activity::{DeviceActivity, RequestClass};
use super::super::event::RequestFlags;
use super::class::{ClassTally, bytes_of};
use super::depth::DepthClock;
use super::issuers::Issuers;
use super::rows::Rows;

pub(super) struct Tally {
    classes: [ClassTally; RequestClass::ALL.len()],
    pub(super) issuers: Issuers,
    /// Depth in the driver.
    pub(super) in_device: DepthClock,
    /// Depth above the driver.
    pub(super) in_queue: DepthClock,
    pub(super) rows: Rows,
    /// Depths are accounted for up to this time.
    at_ns: u64,
    /// Number of the current watch, 0 before the first. Requests issued in an earlier one are known, but not counted.
    pub(super) watch: u32,
    pub(super) begun_before: u64,
    /// Issued in this watch, but not followed to the end.
    pub(super) given_up: u64,
    pub(super) requeued: u64,
    pub(super) splits: u64,
    pub(super) unplugs: Option<(u64, u64)>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Issued {
    pub(super) class: RequestClass,
    pub(super) flags: RequestFlags,
    pub(super) sector: u64,
    pub(super) sectors: u32,
    pub(super) issuer: u16,
}

/// A completed request that was issued in the current watch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Completed {
    pub(super) class: RequestClass,
    pub(super) sectors: u32,
    pub(super) d2c_ns: u64,
    /// Time since arrival, if known.
    pub(super) whole_ns: u64,
    pub(super) error: bool,
}

impl Tally {
    pub(super) fn new() -> Self {
        Self {
            classes: Default::default(),
            issuers: Issuers::default(),
            in_device: DepthClock::default(),
            in_queue: DepthClock::default(),
            rows: Rows::new(0),
            at_ns: 0,
            watch: 0,
            begun_before: 0,
            given_up: 0,
            requeued: 0,
            splits: 0,
            unplugs: None,
        }
    }

    /// Begins a watch: resets the counts, keeps what is in flight.
    pub(super) fn restart(&mut self, at_ns: u64, width_ns: u64) {
        self.classes = Default::default();
        self.issuers.restart();
        self.in_device.restart();
        self.in_queue.restart();
        self.rows.restart(at_ns, width_ns);
        self.at_ns = at_ns;
        self.watch = self.watch.wrapping_add(1).max(1);
        (self.begun_before, self.given_up, self.requeued, self.splits) = (0, 0, 0, 0);
        self.unplugs = None;
    }

    /// Accounts for the time up to `now_ns`, which never runs backwards.
    #[inline]
    pub(super) fn pass(&mut self, now_ns: u64) {
        let ns = now_ns.saturating_sub(self.at_ns);
        if ns == 0 || self.watch == 0 {
            return;
        }
        self.in_device.pass(ns);
        self.in_queue.pass(ns);
        self.rows.pass(self.at_ns, now_ns, self.in_device.depth());
        self.at_ns = now_ns;
    }

    #[inline]
    pub(super) fn class(&mut self, class: RequestClass) -> &mut ClassTally {
        &mut self.classes[class as usize]
    }

    #[inline]
    pub(super) fn issue(&mut self, issued: Issued) {
        self.class(issued.class).issue(issued.flags, issued.sector, issued.sectors);
        self.issuers.count(issued.issuer, issued.class, bytes_of(issued.sectors));
        self.in_device.up();
    }

    /// Corrects the size of a returned request that was issued again with more sectors.
    pub(super) fn grow(&mut self, class: RequestClass, from_sectors: u32, to_sectors: u32) {
        let tally = self.class(class);
        tally.issued_bytes = tally.issued_bytes.saturating_add(bytes_of(to_sectors - from_sectors));
        tally.sizes.remove(from_sectors);
        tally.sizes.add(to_sectors);
    }

    #[inline]
    pub(super) fn complete(&mut self, completed: Completed) {
        let bytes = bytes_of(completed.sectors);
        let tally = self.class(completed.class);
        tally.completed += 1;
        tally.completed_bytes = tally.completed_bytes.saturating_add(bytes);
        tally.errors += u64::from(completed.error);
        tally.d2c.add(completed.d2c_ns);
        self.rows.completed(completed.class, bytes, completed.whole_ns);
    }

    /// Counts a request, issued in the given watch, whose completion will never be seen.
    pub(super) fn give_up(&mut self, watch: u32) {
        self.given_up += u64::from(watch == self.watch);
    }

    /// Counters to store, without the device's identity. `in_flight`: requests issued in this watch that are still with the driver.
    pub(super) fn activity(&self, queueing: bool, in_flight: u64) -> DeviceActivity {
        let classes = RequestClass::ALL.into_iter().zip(&self.classes).filter(|(_, tally)| tally.occurred());
        DeviceActivity {
            requests: classes.map(|(class, tally)| tally.stats(class, queueing)).collect(),
            issuers: self.issuers.active(),
            in_device: self.in_device.times(),
            in_queue: if queueing { self.in_queue.times() } else { Vec::new() },
            busy_ns: self.in_device.busy_ns(),
            unfinished: self.given_up + in_flight,
            begun_before: self.begun_before,
            requeued: self.requeued,
            splits: queueing.then_some(self.splits),
            unplugs: self.unplugs.filter(|_| queueing),
            ..DeviceActivity::default()
        }
    }
}
