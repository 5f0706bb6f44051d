//! Physical addresses of the cache's pages: the page allocator of `iopath` assigns one to every page brought in, from the list of the
//! requesting CPU, and the page keeps it until evicted. These numbers determine which pages of a bio share a segment.
//!
//! Freeing pages to the allocator is not modelled: a page that replaces another gets the next number, and numbering wraps at the end of
//! memory.

use crate::host::{BatchOrder, PhysicalPages};
use crate::sources::Sourced;
use fathom_iopath::pages::{PageAllocator, PageOrder};
use fathom_iopath::{Limits, PageSpan};

/// The allocator and the pages it assigned to the frames.
pub(crate) struct Physical {
    allocator: PageAllocator,
    /// Physical page number of each frame.
    numbers: Vec<u32>,
}

impl Physical {
    /// For `cpus` CPUs and `pages` pages of memory.
    pub fn new(rules: &PhysicalPages, cpus: u32, pages: u32) -> Self {
        let order = match rules.order.get() {
            BatchOrder::Ascending => PageOrder::Ascending,
            BatchOrder::Descending => PageOrder::Descending,
            BatchOrder::Random => {
                let recycled_permille = rules.recycled_permille.as_ref().map_or(0, Sourced::get);
                PageOrder::Random { recycled_permille }
            }
        };
        let allocator = PageAllocator::new(order, cpus as usize, pages, 0).batch(rules.batch.get());
        Self { allocator, numbers: Vec::new() }
    }

    /// A page is brought into this frame for the task on `cpu`.
    pub fn put(&mut self, place: u32, cpu: usize) {
        let at = place as usize;
        if self.numbers.len() <= at {
            self.numbers.resize(at + 1, 0);
        }
        self.numbers[at] = self.allocator.take(cpu);
    }

    /// How many of these frames fit into one bio under the limits, at least one, and their memory.
    pub fn span(&self, places: impl Iterator<Item = u32>, limits: &Limits) -> (u32, PageSpan) {
        let (mut pages, mut span) = (0, PageSpan::EMPTY);
        for place in places {
            let number = self.numbers.get(place as usize).copied().unwrap_or(0);
            let longer = span.join(PageSpan::of_pages([number], limits), limits);
            if pages > 0 && longer.segments() > limits.max_segments {
                break;
            }
            (pages, span) = (pages + 1, longer);
        }
        (pages, span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::Source;

    /// Segments of the bios of `pages` pages brought in one after the other by `cpus` CPUs that take turns of 100.
    fn bios(order: BatchOrder, cpus: u32, pages: u32) -> Vec<(u32, u16)> {
        let guess = |value| Sourced { value, src: Source::Guess, note: String::new() };
        let batch = Sourced { value: 31, src: Source::Guess, note: String::new() };
        let share = Sourced { value: 300, src: Source::Guess, note: String::new() };
        let recycled_permille = (order == BatchOrder::Random).then_some(share);
        let rules = PhysicalPages { order: guess(order), batch, recycled_permille };
        let mut physical = Physical::new(&rules, cpus, 1 << 20);
        (0..pages * cpus).for_each(|n| physical.put(n, (n / 100 % cpus) as usize));
        let mut places = (0..pages * cpus).filter(|n| n / 100 % cpus == 0).take(pages as usize).peekable();
        let mut found = Vec::new();
        while places.peek().is_some() {
            let mut one = Vec::new();
            let (taken, span) =
                physical.span(places.clone().take(64).inspect(|p| one.push(*p)), &Limits::CCISS);
            (0..taken).for_each(|_| {
                places.next();
            });
            found.push((taken, span.segments()));
        }
        found
    }

    #[test]
    fn ascending_batches_fill_a_request_and_descending_ones_its_scatter_list() {
        assert!(
            bios(BatchOrder::Ascending, 1, 6400)
                .iter()
                .all(|&(pages, segments)| (pages, segments) == (64, 4))
        );
        assert!(bios(BatchOrder::Descending, 1, 31 * 40).iter().all(|&bio| bio == (31, 31)));
    }

    #[test]
    fn recycled_pages_part_batches() {
        let bios = bios(BatchOrder::Random, 1, 6400);
        // 300 of a thousand break a run on both sides: a segment for about every two pages.
        let (pages, segments) = bios.iter().fold((0, 0), |s, b| (s.0 + b.0, s.1 + u32::from(b.1)));
        assert!((pages / 3..pages * 3 / 4).contains(&segments), "{segments} of {pages} pages");
    }

    #[test]
    fn two_cpus_part_batches_and_not_pages() {
        let bios = bios(BatchOrder::Ascending, 2, 6400);
        assert!(bios.iter().all(|&(pages, segments)| pages == 64 && (4..=6).contains(&segments)), "{bios:?}");
        assert!(bios.iter().any(|&(_, segments)| segments > 4));
    }
}
