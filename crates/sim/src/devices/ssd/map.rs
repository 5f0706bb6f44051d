//! The page map of a drive that collects garbage: where each 4 KiB slot lies, which slots of a block are still true, and on each die the
//! block with fewest true slots to be cleaned when free blocks run out (greedy). 8 bytes for each slot of flash.

use std::collections::VecDeque;

/// Sectors of a slot: what is mapped at once.
pub const SLOT_SECTORS: u64 = 8;

/// Free blocks of a die below which it is cleaned: one to go on writing, one to move slots into.
const LEAST_FREE: usize = 2;

const NOWHERE: u32 = u32::MAX;

/// What a write led to on its die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// The die.
    pub die: u64,
    /// Pages read to move their slots.
    pub pages_read: u64,
    /// Pages programmed: full ones of the host and of moving.
    pub pages_programmed: u64,
    /// Blocks erased.
    pub blocks_erased: u64,
}

#[derive(Clone, Debug)]
struct Die {
    free: VecDeque<u32>,
    open: u32,
    /// Slots of the open block that are written.
    written: u64,
}

/// The map.
#[derive(Clone, Debug)]
pub struct PageMap {
    /// Flash slot of each logical slot.
    place: Vec<u32>,
    /// Logical slot of each flash slot.
    owner: Vec<u32>,
    /// True slots of each block.
    valid: Vec<u32>,
    dies: Vec<Die>,
    slots_per_page: u64,
    slots_per_block: u64,
    next_die: usize,
}

impl PageMap {
    /// A map of `slots` logical slots, all written once in order, with flash for so many percent more. Blocks go over the dies in turns.
    #[must_use]
    pub fn full(slots: u64, over_percent: u32, slots_per_page: u64, pages_per_block: u64, dies: u64) -> Self {
        let slots_per_block = slots_per_page * pages_per_block.max(1);
        let wanted = slots + slots * u64::from(over_percent) / 100;
        // Each die needs its open block and the free ones beyond what it holds.
        let blocks_per_die = wanted.div_ceil(slots_per_block * dies) + 1 + LEAST_FREE as u64;
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
            map.write(slot);
        }
        map
    }

    /// The die that holds a slot.
    #[must_use]
    pub fn die_of(&self, slot: u64) -> u64 {
        let place = self.place.get(slot as usize).copied().unwrap_or(0);
        u64::from(place) / self.slots_per_block % self.dies.len() as u64
    }

    /// Writes a slot; slots of a page go to the same die.
    pub fn write(&mut self, slot: u64) -> Cleaned {
        let die = self.next_die;
        let mut cleaned = Cleaned { die: die as u64, ..Cleaned::default() };
        if slot >= self.place.len() as u64 {
            return cleaned;
        }
        self.append(die, slot as u32, &mut cleaned);
        if self.dies[die].written.is_multiple_of(self.slots_per_page) {
            self.next_die = (die + 1) % self.dies.len();
        }
        while self.dies[die].free.len() < LEAST_FREE && self.clean(die, &mut cleaned) {}
        cleaned
    }

    fn append(&mut self, die: usize, slot: u32, cleaned: &mut Cleaned) {
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
            at.open = at.free.pop_front().unwrap_or(at.open);
        }
        self.place[slot as usize] = place as u32;
        self.owner[place as usize] = slot;
        self.valid[block] += 1;
    }

    /// Moves the true slots of the emptiest block away and erases it; false if that would gain nothing.
    fn clean(&mut self, die: usize, cleaned: &mut Cleaned) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_has_one_place_and_blocks_count_their_slots() {
        let mut map = PageMap::full(3000, 20, 4, 16, 2);
        for n in 0..40_000u64 {
            map.write(n * 7919 % 3000);
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
    fn slots_of_a_page_lie_on_one_die() {
        let map = PageMap::full(64, 50, 4, 16, 2);
        let dies: Vec<u64> = (0..12).map(|slot| map.die_of(slot)).collect();
        assert_eq!(dies, [0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0]);
    }
}
