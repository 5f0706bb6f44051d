//! The order in which the page allocator hands out physical pages, as far as the length of requests depends on it: neighbouring pages
//! share a segment only if the second directly follows the first, so a kernel that hands pages out in descending order fills every
//! scatter list with single pages.
//!
//! The model: blocks of 2^k free pages are split in ascending order; each CPU has a list that is refilled with a batch (31 pages on the
//! host of 2008). Before 2.6.24-rc1 a batch came out in order; 2.6.24-rc1 to rc5 pushed every page of a batch on the head of the list, so
//! that it came out reversed.

use crate::bio::PageSpan;
use crate::limits::Limits;

/// The order in which a batch comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageOrder {
    /// As split: before 2.6.24-rc1, and since 2.6.24-rc6.
    Ascending,
    /// Reversed.
    Descending,
    /// Ascending, except that this many of a thousand pages are recycled ones from anywhere.
    Random {
        /// 0 to 1000.
        recycled_permille: u16,
    },
}

/// The allocator. Frame numbers count from 0 and wrap at the end of memory: freeing is not modelled.
#[derive(Clone, Debug)]
pub struct PageAllocator {
    order: PageOrder,
    batch: u32,
    frames: u32,
    /// Next frame to be split off.
    next_frame: u32,
    lists: Vec<CpuList>,
    drawn: u64,
    seed: u64,
}

/// The rest of a CPU's batch: frames from `first`, `left` of them.
#[derive(Clone, Copy, Debug, Default)]
struct CpuList {
    first: u32,
    left: u32,
}

impl PageAllocator {
    /// Pages per refill of a CPU's list on i386 with up to some GiB of memory.
    pub const BATCH: u32 = 31;

    /// An allocator over `frames` pages of memory for `cpus` CPUs.
    pub fn new(order: PageOrder, cpus: usize, frames: u32, seed: u64) -> Self {
        let lists = vec![CpuList::default(); cpus.max(1)];
        let frames = frames.max(Self::BATCH);
        Self { order, batch: Self::BATCH, frames, next_frame: 0, lists, drawn: 0, seed }
    }

    /// Sets a batch size other than 31 pages.
    #[must_use]
    pub fn batch(mut self, pages: u32) -> Self {
        self.batch = pages.clamp(1, self.frames);
        self
    }

    /// The frame number of a new page for a CPU (modulo the number of CPUs).
    pub fn take(&mut self, cpu: usize) -> u32 {
        if let PageOrder::Random { recycled_permille } = self.order {
            let draw = self.draw();
            if draw % 1000 < u64::from(recycled_permille) {
                return ((draw >> 32) % u64::from(self.frames)) as u32;
            }
        }
        let at = cpu % self.lists.len();
        if self.lists[at].left == 0 {
            self.lists[at] = self.refill();
        }
        let list = &mut self.lists[at];
        list.left -= 1;
        if self.order == PageOrder::Descending {
            return list.first + list.left;
        }
        list.first += 1;
        list.first - 1
    }

    /// The memory of `pages` new pages.
    pub fn span(&mut self, cpu: usize, pages: u32, limits: &Limits) -> PageSpan {
        PageSpan::of_pages((0..pages).map(|_| self.take(cpu)), limits)
    }

    fn refill(&mut self) -> CpuList {
        if self.frames - self.next_frame < self.batch {
            self.next_frame = 0;
        }
        let first = self.next_frame;
        self.next_frame += self.batch;
        CpuList { first, left: self.batch }
    }

    /// A number that depends on the seed and the draw's index only (splitmix64), so that runs with the same seed see the same pages.
    fn draw(&mut self) -> u64 {
        self.drawn += 1;
        let mut mixed = self.seed.wrapping_add(self.drawn.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(order: PageOrder, n: usize) -> Vec<u32> {
        let mut pages = PageAllocator::new(order, 1, 1 << 20, 1).batch(4);
        (0..n).map(|_| pages.take(0)).collect()
    }

    #[test]
    fn a_batch_comes_out_in_its_order() {
        assert_eq!(taken(PageOrder::Ascending, 6), [0, 1, 2, 3, 4, 5]);
        assert_eq!(taken(PageOrder::Descending, 6), [3, 2, 1, 0, 7, 6]);
    }

    #[test]
    fn cpus_take_whole_batches_by_turns() {
        let mut pages = PageAllocator::new(PageOrder::Ascending, 2, 1 << 20, 1);
        assert_eq!((pages.take(0), pages.take(1), pages.take(0)), (0, 31, 1));
    }

    #[test]
    fn recycled_pages_break_runs_and_memory_ends() {
        let mixed = taken(PageOrder::Random { recycled_permille: 500 }, 1000);
        let runs = mixed.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
        assert!((150..350).contains(&runs), "{runs}");
        assert_eq!(mixed, taken(PageOrder::Random { recycled_permille: 500 }, 1000));
        let mut small = PageAllocator::new(PageOrder::Ascending, 1, 40, 1);
        assert!((0..100).all(|_| small.take(0) < 40));
    }

    #[test]
    fn a_span_counts_its_segments() {
        let mut pages = PageAllocator::new(PageOrder::Ascending, 1, 1 << 20, 1);
        assert_eq!(pages.span(0, 64, &Limits::CCISS).segments(), 4);
        let mut pages = PageAllocator::new(PageOrder::Descending, 1, 1 << 20, 1);
        assert_eq!(pages.span(0, 31, &Limits::CCISS).segments(), 31);
    }
}
