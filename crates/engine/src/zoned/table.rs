//! The write pointers of a file's zones, which all workers of a phase move. A worker owns a zone while it has writes in flight there:
//! the device takes them only in order.

use super::kernel::{self, Zone};
use crate::shared_memory::{Mapped, Sharable};
use fathom_workload::CollectZones;
use fathom_workload::ops::{Op, Region};
use rustix::io::Errno;
use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// What changes of a zone. Changed only while the table is locked.
#[repr(C)]
struct ZoneState {
    pointer: AtomicU64,
    /// The worker that writes in it, counted from 1; 0: none.
    owner: AtomicU32,
    in_flight: AtomicU32,
}

#[repr(C)]
struct Totals {
    locked: AtomicU32,
    /// Partly written zones.
    open: AtomicU32,
    writes: AtomicU64,
}

// SAFETY: atomics, for which zero is a valid value.
unsafe impl Sharable for ZoneState {}
// SAFETY: as above.
unsafe impl Sharable for Totals {}

/// The zones of a file.
pub(crate) struct ZoneTable {
    zones: Vec<Zone>,
    states: Mapped<ZoneState>,
    /// One element.
    totals: Mapped<Totals>,
    /// For resets; `None` if the zones are only ours.
    device: Option<File>,
    /// The device's maximum number of partly written zones; 0: none is known.
    pub most_open: u32,
}

/// What one worker wants of the table.
pub(super) struct ZoneWriter {
    /// Its number, counted from 1.
    pub worker: u32,
    /// Whether another zone may be written instead of the one that was drawn.
    pub random: bool,
    /// Whether several of its writes may be in flight in one zone.
    pub several: bool,
    /// Whether what it has written is read back, so that no zone may be reset.
    pub keeps: bool,
    /// Maximum number of partly written zones of all workers, and of this one; 0: no limit.
    pub most_open: u32,
    pub most_open_each: u32,
    pub collect: Option<CollectZones>,
    pub region: Region,
    /// Zones that it has begun.
    pub begun: Vec<usize>,
}

/// Where a write goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placed {
    At(u64),
    /// Nowhere until other writes have completed.
    Busy,
    /// Nowhere: its zone is full.
    Full,
}

/// Holds the table's lock.
struct Locked<'a>(&'a AtomicU32);

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Release);
    }
}

impl ZoneTable {
    /// Zones with their write pointers.
    pub(super) fn new(
        zones: &[(Zone, u64)],
        device: Option<File>,
        most_open: u32,
    ) -> Result<Self, crate::EngineError> {
        let (states, totals) = (Mapped::<ZoneState>::new(zones.len())?, Mapped::<Totals>::new(1)?);
        for ((_, pointer), state) in zones.iter().zip(states.iter()) {
            state.pointer.store(*pointer, Ordering::Relaxed);
        }
        let zones = zones.iter().map(|(zone, _)| *zone).collect();
        let table = Self { zones, states, totals, device, most_open };
        let open = (0..table.zones.len()).filter(|&n| table.is_partly_written(n)).count();
        table.totals[0].open.store(open as u32, Ordering::Relaxed);
        Ok(table)
    }

    /// The part of a region that begins and ends with a zone.
    pub fn whole_zones(&self, region: Region) -> Region {
        let end = region.start.saturating_add(region.length);
        let inside = || self.zones.iter().filter(|z| z.start >= region.start && z.end <= end);
        let (Some(first), Some(last)) = (inside().next(), inside().next_back()) else {
            return Region { start: region.start, length: 0 };
        };
        Region { start: first.start, length: last.end - first.start }
    }

    /// Whether the device demands that zones be written in order.
    pub(super) fn is_of_device(&self) -> bool {
        self.device.is_some()
    }

    /// Empties all zones of a region.
    pub(super) fn reset_region(&self, region: Region) -> Result<(), Errno> {
        for index in self.of_region(region).filter(|&index| self.zones[index].in_order) {
            if self.pointer(index) > self.zones[index].start {
                self.reset(index)?;
            }
        }
        Ok(())
    }

    /// Chooses where a write goes and moves the write pointer there; the zone is the worker's until [`Self::written`].
    pub(super) fn place(&self, op: &Op, writer: &mut ZoneWriter) -> Result<Placed, Errno> {
        let drawn = self.zone_at(op.offset);
        if !self.zones[drawn].in_order {
            return Ok(Placed::At(op.offset));
        }
        let bytes = u64::from(op.bytes);
        let chosen = {
            let _locked = self.lock();
            match self.choose(drawn, op.offset, bytes, writer) {
                Choice::Zone { index, reset: false } => return Ok(self.take(index, bytes, writer)),
                Choice::Zone { index, reset: true } => {
                    // Nobody else touches it meanwhile.
                    self.states[index].owner.store(writer.worker, Ordering::Relaxed);
                    index
                }
                Choice::Busy => return Ok(Placed::Busy),
                Choice::Full => return Ok(Placed::Full),
            }
        };
        let done = self.reset(chosen);
        writer.begun.retain(|&begun| begun != chosen);
        let _locked = self.lock();
        if let Err(error) = done {
            self.states[chosen].owner.store(0, Ordering::Relaxed);
            return Err(error);
        }
        Ok(self.take(chosen, bytes, writer))
    }

    fn choose(&self, drawn: usize, offset: u64, bytes: u64, writer: &ZoneWriter) -> Choice {
        let begins = !writer.random && offset == self.zones[drawn].start && self.pointer(drawn) > offset;
        let collected =
            !writer.keeps && self.collects(writer) && self.pointer(drawn) > self.zones[drawn].start;
        let has_room = self.has_room(drawn, bytes) && !begins;
        if !has_room && !writer.random && !begins {
            return Choice::Full;
        }
        if (!has_room || collected) && writer.keeps && !writer.random {
            return Choice::Full;
        }
        let resets = collected || !has_room;
        if self.is_free(drawn, writer) && self.may_open(drawn, writer) {
            let nothing_in_flight = self.states[drawn].in_flight.load(Ordering::Relaxed) == 0;
            if !resets {
                return Choice::Zone { index: drawn, reset: false };
            }
            if !writer.keeps && nothing_in_flight {
                return Choice::Zone { index: drawn, reset: true };
            }
        }
        if !writer.random {
            return Choice::Busy;
        }
        self.another(drawn, bytes, writer)
    }

    /// Another zone than the one drawn: one that is partly written, else an empty one.
    fn another(&self, drawn: usize, bytes: u64, writer: &ZoneWriter) -> Choice {
        let region = self.of_region(writer.region);
        let (first, count) = (region.start, region.len());
        let others = || (0..count).map(|n| first + (drawn - first + 1 + n) % count);
        let usable = |index: &usize| self.zones[*index].in_order && self.is_free(*index, writer);
        let zone = |reset| move |index| Choice::Zone { index, reset };
        let open = others().filter(usable).find(|&n| self.is_partly_written(n) && self.has_room(n, bytes));
        let found = open.map(zone(false)).or_else(|| {
            let empty = |n: &usize| self.pointer(*n) == self.zones[*n].start && self.may_open(*n, writer);
            others().filter(usable).find(|n| empty(n) && self.has_room(*n, bytes)).map(zone(false))
        });
        let found = found.or_else(|| {
            // What is left of a partly written zone may be too small for this write.
            let left = |n: &usize| {
                self.is_partly_written(*n) && self.states[*n].in_flight.load(Ordering::Relaxed) == 0
            };
            others().filter(usable).find(left).filter(|_| !writer.keeps).map(zone(true))
        });
        found.unwrap_or_else(|| {
            let in_flight = |n: usize| self.states[n].in_flight.load(Ordering::Relaxed) > 0;
            if writer.keeps && !others().any(in_flight) { Choice::Full } else { Choice::Busy }
        })
    }

    /// Moves the write pointer of a zone past a write.
    fn take(&self, index: usize, bytes: u64, writer: &mut ZoneWriter) -> Placed {
        let (zone, state) = (&self.zones[index], &self.states[index]);
        let before = self.pointer(index);
        let after = before.saturating_add(bytes);
        assert!(after <= zone.full, "a write goes past the end of its zone");
        if before == zone.start && after < zone.full {
            self.totals[0].open.fetch_add(1, Ordering::Relaxed);
            writer.begun.push(index);
        } else if before > zone.start && after >= zone.full {
            self.one_less_open();
            writer.begun.retain(|&begun| begun != index);
        }
        state.pointer.store(after, Ordering::Relaxed);
        state.owner.store(writer.worker, Ordering::Relaxed);
        state.in_flight.fetch_add(1, Ordering::Relaxed);
        Placed::At(before)
    }

    /// Counts a write where it was drawn as in flight, whatever the write pointer: the device refuses it.
    pub(super) fn place_anyway(&self, op: &Op, writer: &ZoneWriter) {
        let _locked = self.lock();
        let state = &self.states[self.zone_at(op.offset)];
        state.owner.store(writer.worker, Ordering::Relaxed);
        state.in_flight.fetch_add(1, Ordering::Relaxed);
    }

    /// A write that was placed has completed, or failed.
    pub(super) fn written(&self, op: &Op, failed: bool) {
        let index = self.zone_at(op.offset);
        if !self.zones[index].in_order {
            return;
        }
        let _locked = self.lock();
        let state = &self.states[index];
        if failed && self.is_partly_written(index) {
            // Where the device's write pointer is now is not known: the zone is reset before it is written again.
            state.pointer.store(self.zones[index].full, Ordering::Relaxed);
            self.one_less_open();
        }
        let before = state.in_flight.fetch_sub(1, Ordering::Relaxed);
        assert!(before > 0, "a write ends in a zone where none is in flight");
        if before == 1 {
            state.owner.store(0, Ordering::Relaxed);
        }
    }

    /// Where a read goes; `None`: nowhere, since nothing is written there.
    pub(super) fn readable(&self, op: &Op, region: Region, random: bool, unit: u64) -> Option<u64> {
        let drawn = self.zone_at(op.offset);
        let bytes = u64::from(op.bytes);
        let within = op.offset - self.zones[drawn].start;
        if op.offset.saturating_add(bytes) <= self.pointer(drawn) {
            return Some(op.offset);
        }
        if !random {
            return None;
        }
        let of_region = self.of_region(region);
        let (first, count) = (of_region.start, of_region.len());
        let index = (0..count)
            .map(|n| first + (drawn - first + n) % count)
            .find(|&n| self.pointer(n) - self.zones[n].start >= bytes)?;
        let places = (self.pointer(index) - self.zones[index].start - bytes) / unit + 1;
        Some(self.zones[index].start + within / unit % places * unit)
    }

    /// Empties a zone that no other worker uses.
    fn reset(&self, index: usize) -> Result<(), Errno> {
        if let Some(device) = &self.device {
            kernel::reset(device.as_raw_fd(), &self.zones[index])?;
        }
        let _locked = self.lock();
        if self.is_partly_written(index) {
            self.one_less_open();
        }
        self.states[index].pointer.store(self.zones[index].start, Ordering::Relaxed);
        Ok(())
    }

    fn collects(&self, writer: &ZoneWriter) -> bool {
        let Some(collect) = writer.collect else { return false };
        let writes = self.totals[0].writes.fetch_add(1, Ordering::Relaxed) + 1;
        if !writes.is_multiple_of(collect.every) {
            return false;
        }
        let in_order = self.of_region(writer.region).filter(|&n| self.zones[n].in_order);
        let written: u64 = in_order.map(|n| self.pointer(n) - self.zones[n].start).sum();
        written as f64 * 100.0 >= collect.above_percent * writer.region.length as f64
    }

    fn one_less_open(&self) {
        let before = self.totals[0].open.fetch_sub(1, Ordering::Relaxed);
        assert!(before > 0, "more zones end than have begun");
    }

    fn is_free(&self, index: usize, writer: &ZoneWriter) -> bool {
        let owner = self.states[index].owner.load(Ordering::Relaxed);
        owner == 0 || (owner == writer.worker && writer.several)
    }

    /// Whether a zone is partly written already, or one more may be.
    fn may_open(&self, index: usize, writer: &ZoneWriter) -> bool {
        let open = self.totals[0].open.load(Ordering::Relaxed);
        let below = |limit: u32, open: u32| limit == 0 || open < limit;
        // Others may have filled zones that it has begun.
        let begun = writer.begun.iter().filter(|&&n| self.is_partly_written(n)).count() as u32;
        self.is_partly_written(index)
            || (below(writer.most_open, open) && below(writer.most_open_each, begun))
    }

    fn is_partly_written(&self, index: usize) -> bool {
        let zone = &self.zones[index];
        zone.in_order && (zone.start + 1..zone.full).contains(&self.pointer(index))
    }

    fn has_room(&self, index: usize, bytes: u64) -> bool {
        self.pointer(index).saturating_add(bytes) <= self.zones[index].full
    }

    fn pointer(&self, index: usize) -> u64 {
        self.states[index].pointer.load(Ordering::Relaxed)
    }

    /// The zone of an offset; the last one for offsets behind it.
    fn zone_at(&self, offset: u64) -> usize {
        self.zones.partition_point(|zone| zone.end <= offset).min(self.zones.len() - 1)
    }

    fn of_region(&self, region: Region) -> std::ops::Range<usize> {
        let end = region.start.saturating_add(region.length);
        self.zones.partition_point(|z| z.start < region.start)..self.zones.partition_point(|z| z.end <= end)
    }

    fn lock(&self) -> Locked<'_> {
        let locked = &self.totals[0].locked;
        while locked.compare_exchange_weak(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            std::thread::yield_now();
        }
        Locked(locked)
    }
}

/// A zone to write in, which may have to be reset first.
enum Choice {
    Zone { index: usize, reset: bool },
    Busy,
    Full,
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_workload::ops::OpCode;

    const ZONE: u64 = 64 << 10;
    const BLOCK: u64 = 16 << 10;

    /// Sixteen zones, empty or written up to here.
    fn table(pointers: &[u64]) -> ZoneTable {
        let zone =
            |n: u64| Zone { start: n * ZONE, end: (n + 1) * ZONE, full: (n + 1) * ZONE, in_order: true };
        let zones: Vec<(Zone, u64)> = (0..16)
            .map(|n| (zone(n), n * ZONE + pointers.get(n as usize).copied().unwrap_or_default()))
            .collect();
        ZoneTable::new(&zones, None, 0).unwrap()
    }

    fn writer(worker: u32, random: bool) -> ZoneWriter {
        ZoneWriter {
            worker,
            random,
            several: false,
            keeps: false,
            most_open: 0,
            most_open_each: 0,
            collect: None,
            region: Region { start: 0, length: 16 * ZONE },
            begun: Vec::new(),
        }
    }

    fn write(zone: u64) -> Op {
        Op { kind: OpCode::Write, file: 0, offset: zone * ZONE, bytes: BLOCK as u32, think_ns: 0 }
    }

    fn read(offset: u64) -> Op {
        Op { kind: OpCode::Read, offset, ..write(0) }
    }

    /// Places a write and completes it; where it went, in zones and blocks.
    fn done(table: &ZoneTable, op: Op, writer: &mut ZoneWriter) -> Option<(u64, u64)> {
        let Placed::At(offset) = table.place(&op, writer).unwrap() else { return None };
        table.written(&Op { offset, ..op }, false);
        Some((offset / ZONE, offset % ZONE / BLOCK))
    }

    #[test]
    fn random_writes_go_to_the_write_pointer_and_full_zones_are_reset() {
        let (table, mut writer) = (table(&[]), writer(1, true));
        let all: Vec<_> = (0..6).filter_map(|_| done(&table, write(3), &mut writer)).collect();
        assert_eq!(all, [(3, 0), (3, 1), (3, 2), (3, 3), (3, 0), (3, 1)]);
    }

    #[test]
    fn a_sequential_stream_resets_a_zone_at_its_start_and_ends_with_it() {
        let (table, mut writer) = (table(&[2 * BLOCK]), writer(1, false));
        let at = |block: u64| Op { offset: block * BLOCK, ..write(0) };
        let all: Vec<_> = (0..5).filter_map(|n| done(&table, at(n), &mut writer)).collect();
        assert_eq!(all, [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0)]);
        let (table, mut writer) = (self::table(&[]), ZoneWriter { keeps: true, ..writer });
        let pass = |writer: &mut ZoneWriter| (0..64).filter_map(|n| done(&table, at(n), writer)).count();
        assert_eq!((pass(&mut writer), pass(&mut writer)), (64, 0), "what is kept is not written again");
    }

    #[test]
    fn no_more_zones_are_begun_than_may_be() {
        let zones = |drawn: &[u64], table: &ZoneTable, writer: &mut ZoneWriter| -> Vec<u64> {
            drawn.iter().filter_map(|n| Some(done(table, write(*n), writer)?.0)).collect()
        };
        let (of_all, mut first) = (table(&[]), ZoneWriter { most_open: 2, ..writer(1, true) });
        // The zone 11 is full after its fourth block.
        let placed = zones(&[0, 11, 7, 5, 14, 2, 9, 1], &of_all, &mut first);
        assert_eq!(placed, [0, 11, 11, 11, 0, 11, 9, 9]);
        let (of_each, mut second) = (table(&[]), ZoneWriter { most_open_each: 1, ..writer(2, true) });
        assert_eq!(zones(&[4, 5, 6], &of_each, &mut second), [4, 4, 4]);
    }

    #[test]
    fn a_zone_belongs_to_one_worker_while_it_has_writes_in_flight() {
        let (table, mut first, mut second) = (table(&[]), writer(1, true), writer(2, true));
        assert_eq!(table.place(&write(3), &mut first), Ok(Placed::At(3 * ZONE)));
        assert_eq!(table.place(&write(3), &mut second), Ok(Placed::At(4 * ZONE)), "another zone");
        let mut in_order = ZoneWriter { random: false, ..writer(3, false) };
        assert_eq!(table.place(&write(3), &mut in_order), Ok(Placed::Busy));
        first.several = true;
        assert_eq!(table.place(&write(3), &mut first), Ok(Placed::At(3 * ZONE + BLOCK)));
        table.written(&write(3), false);
        table.written(&Op { offset: 3 * ZONE + BLOCK, ..write(3) }, false);
        assert_eq!(done(&table, write(3), &mut in_order), Some((3, 0)), "from its start");
    }

    #[test]
    fn after_a_failed_write_the_zone_is_reset() {
        let (table, mut writer) = (table(&[]), writer(1, true));
        assert_eq!(done(&table, write(3), &mut writer), Some((3, 0)));
        let Ok(Placed::At(offset)) = table.place(&write(3), &mut writer) else { panic!() };
        table.written(&Op { offset, ..write(3) }, true);
        assert_eq!(done(&table, write(3), &mut writer), Some((3, 0)));
    }

    #[test]
    fn kept_writes_end_where_no_zone_has_room() {
        let (table, mut writer) = (table(&[]), ZoneWriter { keeps: true, ..writer(1, true) });
        let placed = (0..100).filter_map(|n| done(&table, write(n % 16), &mut writer)).count();
        assert_eq!(placed, 64);
    }

    #[test]
    fn zones_are_collected_once_enough_is_written() {
        let collect = Some(CollectZones { above_percent: 50.0, every: 2 });
        let (table, mut writer) = (table(&[ZONE; 8]), ZoneWriter { collect, ..writer(1, true) });
        let blocks: Vec<_> = (0..4).filter_map(|_| done(&table, write(9), &mut writer)).collect();
        assert_eq!(blocks, [(9, 0), (9, 0), (9, 1), (9, 0)]);
    }

    #[test]
    fn reads_find_what_is_written() {
        let table = table(&[0, ZONE, 2 * BLOCK]);
        let region = Region { start: 0, length: 16 * ZONE };
        let random = |offset| table.readable(&read(offset), region, true, BLOCK);
        assert_eq!(random(ZONE + BLOCK), Some(ZONE + BLOCK));
        assert_eq!(random(0), Some(ZONE), "the next zone that is written");
        assert_eq!(random(2 * ZONE + 3 * BLOCK), Some(2 * ZONE + BLOCK));
        assert_eq!(random(9 * ZONE), Some(ZONE));
        let in_order = |offset| table.readable(&read(offset), region, false, BLOCK);
        assert_eq!((in_order(0), in_order(2 * ZONE)), (None, Some(2 * ZONE)));
        assert_eq!(self::table(&[]).readable(&read(0), region, true, BLOCK), None);
    }

    #[test]
    fn a_region_is_cut_to_whole_zones() {
        let cut = |start, length| table(&[]).whole_zones(Region { start, length });
        assert_eq!(cut(1, 3 * ZONE), Region { start: ZONE, length: 2 * ZONE });
        assert_eq!(cut(0, ZONE - 1).length, 0);
    }
}
