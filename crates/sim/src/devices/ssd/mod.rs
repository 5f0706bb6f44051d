//! Flash behind channels: dies read and program pages in parallel; a buffer acknowledges writes before they are programmed. Not
//! calibrated to any product.
//!
//! Commands reserve dies, channels and the host's link in order of arrival. Writes go round-robin over the dies like a log; reads come
//! from the die given by their address or, with garbage collection, by the page map.

mod flash;
mod map;

pub use flash::{Flash, FlashRules};
pub use map::{CleaningWork, MOST_SLOTS, PageMap, SLOT_SECTORS};

use super::{Command, Counters, Device, SECTOR_BYTES};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Parameters of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SsdRules {
    /// Dies, channels and their timing.
    pub flash: FlashRules,
    /// Capacity visible to the host, sectors of 512 bytes.
    pub capacity_sectors: u64,
    /// Maximum number of commands outstanding at once.
    pub depth: u32,
    /// Controller overhead per command, ns.
    pub overhead_ns: u64,
    /// Rate of the host's link; 0: no limit.
    pub host_bytes_per_s: u64,
    /// Buffer for writes acknowledged before they are programmed; 0: none.
    pub buffer_bytes: u64,
    /// Pages programmed per hundred pages written, where garbage collection is not modelled.
    pub write_amplification_percent: u32,
    /// Flash beyond the capacity, percent; 0: garbage collection is not modelled.
    pub over_provisioning_percent: u32,
    /// Pages per block, for garbage collection.
    pub pages_per_block: u32,
}

impl SsdRules {
    /// Flash slots with garbage collection; at most [`MOST_SLOTS`] can be mapped.
    #[must_use]
    pub fn flash_slots(&self) -> u64 {
        self.mapped(PageMap::flash_slots)
    }

    /// Calls a function with the parameters of the page map.
    fn mapped<R>(&self, of: impl FnOnce(u64, u32, u64, u64, u64) -> R) -> R {
        let slots_per_page = u64::from(self.flash.page_bytes) / SECTOR_BYTES / SLOT_SECTORS;
        of(
            self.capacity_sectors.div_ceil(SLOT_SECTORS),
            self.over_provisioning_percent,
            slots_per_page.max(1),
            u64::from(self.pages_per_block),
            u64::from(self.flash.channels.max(1)) * u64::from(self.flash.dies_per_channel.max(1)),
        )
    }
}

/// A flash drive behind channels.
#[derive(Clone, Debug)]
pub struct Ssd {
    rules: SsdRules,
    flash: Flash,
    map: Option<PageMap>,
    link_free: u64,
    /// Bytes in the page being filled.
    filling: u64,
    /// Write amplification not yet spent, in hundredths of a page.
    extra: u64,
    /// Bytes that leave the buffer, and when.
    leaving: BinaryHeap<Reverse<(u64, u64)>>,
    buffered: u64,
    done: BinaryHeap<Reverse<(u64, u64, u32)>>,
    sequence: u64,
    counters: Counters,
    busy_until: u64,
}

impl Ssd {
    /// With garbage collection, the drive starts full of old data, so that measurements show its steady state.
    #[must_use]
    pub fn new(rules: SsdRules) -> Self {
        let map = (rules.over_provisioning_percent > 0).then(|| rules.mapped(PageMap::full));
        Self {
            rules,
            flash: Flash::new(rules.flash),
            map,
            link_free: 0,
            filling: 0,
            extra: 0,
            leaving: BinaryHeap::new(),
            buffered: 0,
            done: BinaryHeap::new(),
            sequence: 0,
            counters: Counters::default(),
            busy_until: 0,
        }
    }

    /// Pages programmed so far, including garbage collection and write amplification.
    #[must_use]
    pub fn programmed_pages(&self) -> u64 {
        self.flash.programmed()
    }

    fn link(&mut self, from: u64, bytes: u64) -> u64 {
        let ns = u128::from(bytes) * 1_000_000_000;
        let ns = ns.checked_div(u128::from(self.rules.host_bytes_per_s)).unwrap_or(0) as u64;
        self.link_free = self.link_free.max(from) + ns;
        self.link_free
    }

    fn read(&mut self, from: u64, command: Command) -> u64 {
        let page = u64::from(self.rules.flash.page_bytes) / SECTOR_BYTES;
        let mut ready = from;
        let mut sector = command.sector;
        while sector < command.end() {
            let end = ((sector / page + 1) * page).min(command.end());
            let die = match &self.map {
                Some(map) => map.die_of(sector / SLOT_SECTORS),
                None => sector / page,
            };
            ready = ready.max(self.flash.read(from, die, (end - sector) * SECTOR_BYTES));
            sector = end;
        }
        self.link(ready, command.bytes())
    }

    fn write(&mut self, from: u64, command: Command) -> u64 {
        let arrived = self.link(from, command.bytes());
        let accepted = self.make_room(arrived, command.bytes());
        let programmed = self.program(accepted, command);
        if self.rules.buffer_bytes >= command.bytes() {
            self.buffered += command.bytes();
            self.leaving.push(Reverse((programmed, command.bytes())));
            self.counters.cached_writes += 1;
            accepted
        } else {
            programmed
        }
    }

    /// Time at which the buffer has space for `bytes` bytes.
    fn make_room(&mut self, from: u64, bytes: u64) -> u64 {
        let mut at = from;
        while let Some(&Reverse((leaves, size))) = self.leaving.peek() {
            if leaves > at && self.buffered + bytes <= self.rules.buffer_bytes {
                break;
            }
            self.leaving.pop();
            self.buffered -= size;
            at = at.max(leaves);
        }
        at
    }

    /// Programs pages as they fill up; a partial page is programmed with the next write.
    fn program(&mut self, from: u64, command: Command) -> u64 {
        let mut ready = from;
        if let Some(map) = &mut self.map {
            let flash = &mut self.flash;
            for slot in command.sector / SLOT_SECTORS..command.end().div_ceil(SLOT_SECTORS) {
                map.write(slot, |cleaned| ready = ready.max(flash.clean(from, cleaned)));
            }
            return ready;
        }
        let page = u64::from(self.rules.flash.page_bytes);
        self.filling += command.bytes();
        while self.filling >= page {
            self.filling -= page;
            ready = ready.max(self.flash.program(from));
            self.extra += u64::from(self.rules.write_amplification_percent.saturating_sub(100));
            while self.extra >= 100 {
                self.extra -= 100;
                self.flash.program(from);
            }
        }
        ready
    }

    /// Returns the time at which all data written so far is programmed.
    fn flush(&mut self, from: u64) -> u64 {
        let mut ready = from;
        if self.filling > 0 {
            self.filling = 0;
            ready = ready.max(self.flash.program(from));
        }
        while let Some(Reverse((leaves, size))) = self.leaving.pop() {
            ready = ready.max(leaves);
            self.buffered -= size;
        }
        ready
    }
}

impl Device for Ssd {
    fn capacity_sectors(&self) -> u64 {
        self.rules.capacity_sectors
    }

    fn depth(&self) -> u32 {
        self.rules.depth.max(1)
    }

    fn submit(&mut self, now: u64, command: Command) {
        let from = now + self.rules.overhead_ns;
        self.counters.overhead_ns += self.rules.overhead_ns;
        let at = if command.is_flush() {
            self.flush(from)
        } else if command.write {
            self.write(from, command)
        } else {
            self.read(from, command)
        };
        self.counters.busy_ns += at.saturating_sub(now.max(self.busy_until));
        self.busy_until = self.busy_until.max(at);
        self.done.push(Reverse((at, self.sequence, command.tag)));
        self.sequence += 1;
    }

    fn next_event(&self) -> Option<u64> {
        self.done.peek().map(|Reverse((at, ..))| *at)
    }

    fn advance(&mut self, now: u64, done: &mut Vec<u32>) {
        while self.next_event().is_some_and(|at| at <= now) {
            if let Some(Reverse((_, _, tag))) = self.done.pop() {
                done.push(tag);
            }
        }
    }

    fn counters(&self, now: u64) -> Counters {
        let (transfer_ns, members) = (self.flash.moved_ns(), self.flash.channels());
        let busy_ns = self.counters.busy_ns - self.busy_until.saturating_sub(now);
        Counters { busy_ns, transfer_ns, members, ..self.counters }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{closed, numbers, read, write};
    use super::*;

    const US: u64 = 1_000;

    fn rules() -> SsdRules {
        SsdRules {
            flash: FlashRules {
                channels: 4,
                dies_per_channel: 2,
                planes: 1,
                page_bytes: 16384,
                read_ns: 50 * US,
                program_ns: 600 * US,
                erase_ns: 3000 * US,
                channel_bytes_per_s: 819_200_000,
            },
            capacity_sectors: 1 << 17,
            depth: 64,
            overhead_ns: 5 * US,
            host_bytes_per_s: 3_200_000_000,
            buffer_bytes: 1 << 20,
            write_amplification_percent: 100,
            over_provisioning_percent: 0,
            pages_per_block: 64,
        }
    }

    #[test]
    fn a_read_is_overhead_sense_channel_and_link() {
        let done = closed(&mut Ssd::new(rules()), &[read(0, 0, 8)], 1);
        assert_eq!(done, [5 * US + 50 * US + 5 * US + 1280]);
    }

    #[test]
    fn dies_work_at_the_same_time() {
        let spread: Vec<_> = (0..8).map(|n| read(0, n * 32, 8)).collect();
        let same: Vec<_> = (0..8).map(|n| read(0, n * 32 * 8, 8)).collect();
        let end = |commands: &[Command]| *closed(&mut Ssd::new(rules()), commands, 8).iter().max().unwrap();
        assert!(end(&same) > 5 * end(&spread), "{} {}", end(&same), end(&spread));
    }

    #[test]
    fn the_buffer_answers_until_it_is_full() {
        let commands: Vec<_> = (0..256).map(|n| write(0, n * 32, 32)).collect();
        let done = closed(&mut Ssd::new(rules()), &commands, 1);
        assert!(done[40] < 500 * US, "{}", done[40]);
        // Eight dies program 16 KiB each in 600 us plus the channel's 20 us.
        let rate = 128 * 16384 * 1_000_000_000 / (done[255] - done[127]);
        assert!(rate > 200_000_000 && rate < 230_000_000, "{rate}");
    }

    #[test]
    fn a_flush_waits_for_the_programs() {
        let done = closed(&mut Ssd::new(rules()), &[write(0, 0, 8), write(0, 0, 0)], 1);
        assert!(done[1] - done[0] >= 600 * US);
    }

    #[test]
    fn write_amplification_costs_programs() {
        let mut ssd = Ssd::new(SsdRules { write_amplification_percent: 250, ..rules() });
        let commands: Vec<_> = (0..100).map(|n| write(0, n * 32, 32)).collect();
        closed(&mut ssd, &commands, 1);
        assert_eq!(ssd.programmed_pages(), 250);
    }

    #[test]
    fn garbage_collection_makes_random_writes_dearer_than_writes_in_order() {
        let amplification = |random: bool| {
            let mut ssd = Ssd::new(SsdRules { over_provisioning_percent: 15, ..rules() });
            let slots = (1 << 17) / 8;
            let places: Vec<u64> =
                if random { numbers(slots, 60_000, 4) } else { (0..60_000).map(|n| n % slots).collect() };
            let commands: Vec<_> = places.iter().map(|&slot| write(0, slot * 8, 8)).collect();
            closed(&mut ssd, &commands, 32);
            ssd.programmed_pages() * 100 * 4 / 60_000
        };
        let (random, ordered) = (amplification(true), amplification(false));
        assert!(ordered < 130, "{ordered}");
        assert!(random > 200 && random < 900, "{random}");
    }
}
