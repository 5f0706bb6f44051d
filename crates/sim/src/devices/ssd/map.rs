//! The page map of a drive with garbage collection: where each 4 KiB slot lies, and which slots of a block are still valid. When a die
//! runs out of free blocks, its block with the fewest valid slots is cleaned (greedy). A die whose blocks are all valid has nothing to
//! clean; writes to it go to another die. The map takes 8 bytes per slot of flash.

use std::collections::VecDeque;

/// Sectors per slot, the unit of mapping.
pub const SLOT_SECTORS: u64 = 8;

/// Minimum of free blocks per die: one to write to, one to move slots into. Below it the die is cleaned.
const LEAST_FREE: usize = 2;

const NOWHERE: u32 = u32::MAX;

/// Maximum number of flash slots: 512 MiB of memory for the map, 512 GiB of flash.
pub const MOST_SLOTS: u64 = 1 << 27;

/// Cleaning work on a die caused by a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CleaningWork {
    /// Index of the die.
    pub die: u64,
    /// Pages read to move their slots.
    pub pages_read: u64,
    /// Pages programmed, both full host pages and moved ones.
    pub pages_programmed: u64,
    /// Blocks erased.
    pub blocks_erased: u64,
}

#[derive(Clone, Debug)]
struct Die {
    free: VecDeque<u32>,
    open: u32,
    /// Slots written in the open block.
    written: u64,
}

/// Maps logical slots to flash slots.
#[derive(Clone, Debug)]
pub struct PageMap {
    /// Flash slot of each logical slot.
    place: Vec<u32>,
    /// Logical slot of each flash slot.
    owner: Vec<u32>,
    /// Valid slots of each block.
    valid: Vec<u32>,
    dies: Vec<Die>,
    slots_per_page: u64,
    slots_per_block: u64,
    next_die: usize,
}

impl PageMap {
    /// A map of `slots` logical slots, all written once in order, with `over_percent` percent more flash. Blocks are distributed
    /// round-robin over the dies.
    #[must_use]
    pub fn full(slots: u64, over_percent: u32, slots_per_page: u64, pages_per_block: u64, dies: u64) -> Self {
        let slots_per_block = slots_per_page * pages_per_block.max(1);
        let blocks_per_die = blocks_per_die(slots, over_percent, slots_per_block, dies);
        let blocks = blocks_per_die * dies;
        let die = |n: u64| Die {
            free: (1..blocks_per_die).map(|block| (block * dies + n) as u32).collect(),
            open: n as u32,
            written: 0,
        };
        let mut map = Self {
            place: vec![NOWHERE; slots as usize],
            owner: vec![NOWHERE; (blocks * slots_per_block) as usize],
            valid: vec![0; blocks as usize],
            dies: (0..dies).map(die).collect(),
            slots_per_page,
            slots_per_block,
            next_die: 0,
        };
        for slot in 0..slots {
            map.write(slot, |_| {});
        }
        map
    }

    /// Flash slots of the map made by [`PageMap::full`]; at most [`MOST_SLOTS`] can be mapped.
    #[must_use]
    pub fn flash_slots(
        slots: u64,
        over_percent: u32,
        slots_per_page: u64,
        pages_per_block: u64,
        dies: u64,
    ) -> u64 {
        let slots_per_block = slots_per_page * pages_per_block.max(1);
        let blocks = blocks_per_die(slots, over_percent, slots_per_block, dies).saturating_mul(dies);
        blocks.saturating_mul(slots_per_block)
    }

    /// The die that holds a slot.
    #[must_use]
    pub fn die_of(&self, slot: u64) -> u64 {
        let place = self.place.get(slot as usize).copied().unwrap_or(0);
        u64::from(place) / self.slots_per_block % self.dies.len() as u64
    }

    /// Writes a slot; the slots of a page go to the same die. Calls `each` with the work on every die involved.
    pub fn write(&mut self, slot: u64, mut each: impl FnMut(&CleaningWork)) {
        if slot >= self.place.len() as u64 {
            return;
        }
        let die = self.die_with_room(&mut each);
        let mut cleaned = CleaningWork { die: die as u64, ..CleaningWork::default() };
        self.append(die, slot as u32, &mut cleaned);
        let page_is_full = self.dies[die].written.is_multiple_of(self.slots_per_page);
        self.next_die = if page_is_full { (die + 1) % self.dies.len() } else { die };
        self.make_room(die, &mut cleaned);
        each(&cleaned);
    }

    /// The next die in turn, or, if all its slots are valid, the one with most free blocks. There always is one: together the dies have
    /// three blocks each beyond what all slots need, so not all of them can be full of valid slots except for two blocks.
    fn die_with_room(&mut self, each: &mut impl FnMut(&CleaningWork)) -> usize {
        let next = self.next_die;
        if self.dies[next].free.len() >= LEAST_FREE {
            return next;
        }
        let mut others: Vec<usize> = (0..self.dies.len()).filter(|&die| die != next).collect();
        others.sort_by_key(|&die| std::cmp::Reverse(self.dies[die].free.len()));
        for die in std::iter::once(next).chain(others) {
            let mut cleaned = CleaningWork { die: die as u64, ..CleaningWork::default() };
            let room = self.make_room(die, &mut cleaned);
            if cleaned.blocks_erased > 0 {
                each(&cleaned);
            }
            if room {
                return die;
            }
        }
        debug_assert!(false, "no die has room, although the flash is larger than what is mapped");
        next
    }

    /// Cleans a die until it has enough free blocks; false if all its slots are valid before that.
    fn make_room(&mut self, die: usize, cleaned: &mut CleaningWork) -> bool {
        while self.dies[die].free.len() < LEAST_FREE {
            if !self.clean(die, cleaned) {
                return false;
            }
        }
        true
    }

    fn append(&mut self, die: usize, slot: u32, cleaned: &mut CleaningWork) {
        let old = std::mem::replace(&mut self.place[slot as usize], NOWHERE);
        if old != NOWHERE {
            self.owner[old as usize] = NOWHERE;
            self.valid[(u64::from(old) / self.slots_per_block) as usize] -= 1;
        }
        let at = &mut self.dies[die];
        let place = u64::from(at.open) * self.slots_per_block + at.written;
        at.written += 1;
        if at.written.is_multiple_of(self.slots_per_page) {
            cleaned.pages_programmed += 1;
        }
        let block = at.open as usize;
        if at.written == self.slots_per_block {
            at.written = 0;
            // The caller has ensured that two blocks are free, and cleaning takes at most one before it frees one.
            let next = at.free.pop_front();
            assert!(next.is_some(), "a die that is written to has a free block");
            at.open = next.unwrap_or_default();
        }
        self.place[slot as usize] = place as u32;
        self.owner[place as usize] = slot;
        self.valid[block] += 1;
    }

    /// Moves the valid slots of the emptiest block and erases it; false if that would free nothing.
    fn clean(&mut self, die: usize, cleaned: &mut CleaningWork) -> bool {
        let dies = self.dies.len();
        let candidates = (die..self.valid.len()).step_by(dies);
        let closed = candidates.filter(|&block| {
            block as u32 != self.dies[die].open && !self.dies[die].free.contains(&(block as u32))
        });
        let Some(victim) = closed.min_by_key(|&block| (self.valid[block], block)) else { return false };
        if u64::from(self.valid[victim]) == self.slots_per_block {
            return false;
        }
        let first = victim as u64 * self.slots_per_block;
        for page in 0..self.slots_per_block / self.slots_per_page {
            let slots = first + page * self.slots_per_page..first + (page + 1) * self.slots_per_page;
            let mut moved = false;
            for place in slots {
                let owner = self.owner[place as usize];
                if owner != NOWHERE {
                    self.append(die, owner, cleaned);
                    moved = true;
                }
            }
            cleaned.pages_read += u64::from(moved);
        }
        cleaned.blocks_erased += 1;
        self.dies[die].free.push_back(victim as u32);
        true
    }
}

/// Blocks per die for its share of the slots plus `over_percent` percent. Each die also needs its open block and the free ones.
fn blocks_per_die(slots: u64, over_percent: u32, slots_per_block: u64, dies: u64) -> u64 {
    let wanted = slots + slots * u64::from(over_percent) / 100;
    wanted.div_ceil(slots_per_block * dies) + 1 + LEAST_FREE as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_has_one_place_and_blocks_count_their_slots() {
        let mut map = PageMap::full(3000, 20, 4, 16, 2);
        for n in 0..40_000u64 {
            map.write(n * 7919 % 3000, |_| {});
        }
        let mut seen = std::collections::BTreeSet::new();
        for (slot, &place) in map.place.iter().enumerate() {
            assert_eq!(map.owner[place as usize] as usize, slot);
            assert!(seen.insert(place));
        }
        assert_eq!(map.valid.iter().sum::<u32>(), 3000);
        assert!(map.dies.iter().all(|die| die.free.len() >= LEAST_FREE - 1));
    }

    #[test]
    fn a_die_that_is_full_of_true_slots_is_not_written_over() {
        // Only every eighth page is rewritten, always on the dies of the first write: the garbage of the others is elsewhere.
        for stride in [8, 16, 24, 32, 40] {
            let mut map = PageMap::full(4096, 10, 4, 8, 4);
            for round in 0..200u64 {
                for slot in (0..4096).step_by(stride) {
                    map.write((slot + round % 3) % 4096, |_| {});
                }
            }
            let places: std::collections::BTreeSet<u32> = map.place.iter().copied().collect();
            assert_eq!(places.len(), 4096, "stride {stride}: logical slots share a place");
            for (slot, &place) in map.place.iter().enumerate() {
                assert_eq!(map.owner[place as usize] as usize, slot);
            }
            let owned = map.owner.iter().filter(|&&owner| owner != NOWHERE).count();
            assert_eq!((map.valid.iter().sum::<u32>(), owned), (4096, 4096));
        }
    }

    #[test]
    fn slots_of_a_page_lie_on_one_die() {
        let map = PageMap::full(64, 50, 4, 16, 2);
        let dies: Vec<u64> = (0..12).map(|slot| map.die_of(slot)).collect();
        assert_eq!(dies, [0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0]);
    }
}
