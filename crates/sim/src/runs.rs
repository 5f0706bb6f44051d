//! A set of pages stored as contiguous runs, for the dirty pages of a file, mostly written from start to end, and for its blocks without
//! data. Kept by files, filled by writers, emptied from the front by write-back.

use std::collections::BTreeMap;

/// First page of each run and the page after its last. Runs do not touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Runs(BTreeMap<u32, u32>);

impl Runs {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The first page and the length of its run.
    pub fn first(&self) -> Option<(u32, u32)> {
        self.0.first_key_value().map(|(&first, &end)| (first, end - first))
    }

    /// Adds a page, which may already be in the set.
    pub fn insert(&mut self, page: u32) {
        // Common case: it extends the last run.
        if let Some(mut last) = self.0.last_entry()
            && *last.get() == page
        {
            *last.get_mut() = page + 1;
            return;
        }
        let joined = self.0.get(&(page + 1)).copied();
        let end = joined.unwrap_or(page + 1);
        match self.0.range_mut(..=page).next_back() {
            Some((_, before)) if *before > page => return,
            Some((_, before)) if *before == page => *before = end,
            _ => {
                self.0.insert(page, end);
            }
        }
        if joined.is_some() {
            self.0.remove(&(page + 1));
        }
    }

    /// Adds the pages of a range, none of which may be in the set.
    pub fn insert_run(&mut self, pages: std::ops::Range<u32>) {
        if pages.is_empty() {
            return;
        }
        debug_assert!(self.gap_at(pages.start) >= pages.end - pages.start, "some of {pages:?} are there");
        let end = self.0.remove(&pages.end).unwrap_or(pages.end);
        match self.0.range_mut(..=pages.start).next_back() {
            Some((_, before)) if *before == pages.start => *before = end,
            _ => drop(self.0.insert(pages.start, end)),
        }
    }

    /// Length of the run from a page on; 0 if the page is not in the set.
    pub fn run_at(&self, page: u32) -> u32 {
        self.0.range(..=page).next_back().map_or(0, |(_, &end)| end.saturating_sub(page))
    }

    /// Length of the gap from a page on; 0 if the page is in the set.
    pub fn gap_at(&self, page: u32) -> u32 {
        if self.run_at(page) > 0 {
            return 0;
        }
        self.0.range(page..).next().map_or(u32::MAX, |(&first, _)| first - page)
    }

    /// Removes a page. Returns whether it was in the set.
    pub fn remove(&mut self, page: u32) -> bool {
        let Some((&first, &end)) = self.0.range(..=page).next_back().filter(|(_, end)| **end > page) else {
            return false;
        };
        self.0.remove(&first);
        if first < page {
            self.0.insert(first, page);
        }
        if page + 1 < end {
            self.0.insert(page + 1, end);
        }
        true
    }

    /// Removes `pages` pages from the first run, at most all of it.
    pub fn take_first(&mut self, pages: u32) {
        let Some((first, end)) = self.0.pop_first() else { return };
        if pages < end - first {
            self.0.insert(first + pages, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn neighbours_are_one_run() {
        let mut runs = Runs::default();
        [5, 7, 6, 1, 6].into_iter().for_each(|page| runs.insert(page));
        assert_eq!(runs.0, BTreeMap::from([(1, 2), (5, 8)]));
        runs.take_first(9);
        assert_eq!(runs.first(), Some((5, 3)));
        assert!(runs.remove(6) && !runs.remove(6) && !runs.remove(8));
        assert_eq!(runs.first(), Some((5, 1)));
    }

    proptest! {
        #[test]
        fn it_is_the_set_of_its_pages(steps in prop::collection::vec((0u32..40, 0u8..5), 0..200)) {
            let (mut runs, mut set) = (Runs::default(), BTreeSet::new());
            for (page, what) in steps {
                match what {
                    0 => prop_assert_eq!(runs.remove(page), set.remove(&page)),
                    1 => {
                        let some = page % 4 + 1;
                        if let Some((first, length)) = runs.first() {
                            (first..first + some.min(length)).for_each(|p| { set.remove(&p); });
                        }
                        runs.take_first(some);
                    }
                    2 => {
                        let range = page..page + runs.gap_at(page).min(7);
                        runs.insert_run(range.clone());
                        set.extend(range);
                    }
                    _ => {
                        runs.insert(page);
                        set.insert(page);
                    }
                }
                let pages: Vec<u32> = runs.0.iter().flat_map(|(&first, &end)| first..end).collect();
                prop_assert_eq!(&pages, &set.iter().copied().collect::<Vec<_>>());
                let there = set.range(page..).zip(page..).take_while(|(p, n)| *p == n).count() as u32;
                let missing = set.range(page..).next().map_or(u32::MAX, |next| next - page);
                prop_assert_eq!((runs.run_at(page), runs.gap_at(page)), (there, missing));
                prop_assert!(runs.0.iter().zip(runs.0.keys().skip(1)).all(|((_, end), next)| end < next));
            }
        }
    }
}
