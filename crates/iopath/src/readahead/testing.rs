//! For the tests of this folder: a cache that records its reads, and a sequence of calls on one open file, one at a time or concurrent
//! with their pages interleaved as if every call waited for every page.

use super::{Call, Counters, Kind, Mark, Pages, Policy, Presence, Reading, State, Touch, by_name};
use std::collections::BTreeMap;

/// Keeps everything; reads are in flight until the end of a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Cache {
    present: BTreeMap<u64, (Presence2, Option<Mark>)>,
    reads: Vec<(u64, u32)>,
    in_flight: Vec<std::ops::Range<u64>>,
    /// Reads of pages that were present: an error of the policy.
    pub twice: u64,
    /// Largest read.
    pub largest: u32,
    /// Last page read.
    pub last: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence2 {
    InFlight,
    Cached,
}

impl Cache {
    pub fn fill(&mut self, pages: impl IntoIterator<Item = u64>) {
        self.present.extend(pages.into_iter().map(|page| (page, (Presence2::Cached, None))));
    }

    pub fn drop_page(&mut self, page: u64) {
        self.present.remove(&page);
    }

    pub fn reads(&self) -> &[(u64, u32)] {
        &self.reads
    }

    pub fn mark(&self, page: u64) -> Option<Mark> {
        self.present.get(&page).and_then(|(_, mark)| *mark)
    }

    pub fn touch(&self, page: u64) -> Touch {
        let presence = match self.present.get(&page) {
            None => Presence::Absent,
            Some((Presence2::InFlight, _)) => Presence::InFlight,
            Some((Presence2::Cached, _)) => Presence::Cached,
        };
        Touch { page, presence, mark: self.mark(page) }
    }

    /// The data of all reads in flight arrive.
    pub fn arrive(&mut self) {
        for page in self.in_flight.drain(..).flatten() {
            if let Some((presence, _)) = self.present.get_mut(&page) {
                *presence = Presence2::Cached;
            }
        }
    }
}

impl Pages for Cache {
    fn present(&self, page: u64) -> bool {
        self.present.contains_key(&page)
    }

    fn read(&mut self, first: u64, pages: u32, mark: Option<Mark>, _kind: Kind) {
        let range = first..first + u64::from(pages);
        self.twice += range.clone().filter(|page| self.present.contains_key(page)).count() as u64;
        self.largest = self.largest.max(pages);
        self.last = self.last.max(range.end.saturating_sub(1));
        for page in range.clone() {
            let mark = mark.filter(|mark| (mark.page..mark.page + u64::from(mark.pages)).contains(&page));
            self.present.insert(page, (Presence2::InFlight, mark));
        }
        if let Some(mark) = mark {
            assert!(
                range.start <= mark.page && mark.page + u64::from(mark.pages) <= range.end,
                "mark outside its read"
            );
        }
        self.in_flight.push(range);
        self.reads.push((first, pages));
    }

    fn unmark(&mut self, mark: Mark) {
        for page in mark.page..mark.page + u64::from(mark.pages) {
            if let Some((_, at)) = self.present.get_mut(&page) {
                *at = None;
            }
        }
    }
}

/// Calls on one open file.
pub(super) struct Story {
    pub policy: Policy,
    pub state: State,
    pub cache: Cache,
    pub file_bytes: u64,
}

impl Story {
    pub fn of(policy: &str) -> Self {
        let policy = by_name(policy).unwrap();
        Self { state: policy.open(), policy, cache: Cache::default(), file_bytes: 1 << 30 }
    }

    /// A complete call; reads started at one page arrive before the next page is touched.
    pub fn read(&mut self, offset: u64, bytes: u64) {
        let call = Call { offset, bytes, file_bytes: self.file_bytes };
        let mut reading = self.policy.begin_call(&mut self.state, call);
        for page in call.pages() {
            self.step(&mut reading, page);
        }
        self.policy.end_call(&mut self.state, reading);
    }

    /// Concurrent calls that touch their pages in turns, each waiting for the page it touched.
    pub fn interleaved(&mut self, calls: impl Iterator<Item = (u64, u64)>) {
        let mut going: Vec<_> = calls
            .map(|(offset, bytes)| {
                let call = Call { offset, bytes, file_bytes: self.file_bytes };
                Some((self.policy.begin_call(&mut self.state, call), call.pages()))
            })
            .collect();
        while going.iter().any(Option::is_some) {
            for slot in &mut going {
                let Some((mut reading, mut pages)) = slot.take() else { continue };
                match pages.next() {
                    Some(page) => {
                        self.step(&mut reading, page);
                        *slot = Some((reading, pages));
                    }
                    None => self.policy.end_call(&mut self.state, reading),
                }
            }
        }
    }

    fn step(&mut self, reading: &mut Reading, page: u64) {
        let touch = self.cache.touch(page);
        self.policy.touch(&mut self.state, reading, touch, &mut self.cache);
        assert!(self.cache.present(page), "{} left page {page} absent", self.policy.name());
        self.cache.arrive();
    }

    pub fn reads(&self) -> &[(u64, u32)] {
        self.cache.reads()
    }

    pub fn take_reads(&mut self) -> Vec<(u64, u32)> {
        std::mem::take(&mut self.cache.reads)
    }

    pub fn counters(&self) -> &Counters {
        self.state.counters()
    }
}

/// The numbers below `count`, shuffled by a seed.
pub(super) fn shuffled(count: u64, seed: u64) -> Vec<u64> {
    let mut numbers: Vec<u64> = (0..count).collect();
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for at in (1..numbers.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        numbers.swap(at, (state % (at as u64 + 1)) as usize);
    }
    numbers
}
