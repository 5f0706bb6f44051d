//! Parses one page of the kernel's trace ring: a timestamp, the length of the data in use, then records, each with the time since the one
//! before. Pure; arbitrary bytes are accepted, and invalid data ends the page.
//!
//! A record begins with a word of 32 bits: its kind (5 bits) and the time since the record before (27 bits). Kind 0: the next word holds
//! the length; 1 to 28: the length in words; 29: padding (a discarded record, or the rest of the page); 30: more bits of the time since;
//! 31: the absolute time.

use super::format::PageFormat;

/// Flag in `commit`: records were lost before this page.
const MISSED: u64 = 1 << 31;
/// Flag in `commit`: the number of lost records follows the data.
const MISSED_STORED: u64 = 1 << 30;

const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
/// A timestamp has 59 bits; the upper ones are taken from the time before.
const STAMP_BITS: u32 = 59;

/// A ring page as read.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    data: &'a [u8],
    start_ns: u64,
    missed: bool,
}

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Its timestamp, in the clock of the ring.
    pub time_ns: u64,
    /// The event from its `common_type` on, with up to three bytes of padding.
    pub data: &'a [u8],
}

impl<'a> Page<'a> {
    /// Parses the page header. `None` if the page is shorter than its header.
    #[must_use]
    pub fn new(bytes: &'a [u8], format: PageFormat) -> Option<Self> {
        let start_ns = u64::from_ne_bytes(bytes.get(format.timestamp..)?.get(..8)?.try_into().ok()?);
        let commit = bytes.get(format.commit.offset..)?;
        let commit = match format.commit.size {
            4 => u64::from(u32::from_ne_bytes(commit.get(..4)?.try_into().ok()?)),
            _ => u64::from_ne_bytes(commit.get(..8)?.try_into().ok()?),
        };
        let data = bytes.get(format.data..)?;
        let used = usize::try_from(commit & (MISSED_STORED - 1)).ok()?.min(data.len());
        Some(Self { data: &data[..used], start_ns, missed: commit & MISSED != 0 })
    }

    /// Whether records were lost between the previous page and this one.
    #[must_use]
    pub fn missed(&self) -> bool {
        self.missed
    }

    /// The records in the order they were written.
    #[must_use]
    pub fn records(&self) -> Records<'a> {
        Records { rest: self.data, time_ns: self.start_ns }
    }
}

/// Iterator over a page's records.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    rest: &'a [u8],
    time_ns: u64,
}

impl<'a> Records<'a> {
    fn word(&self, at: usize) -> Option<u32> {
        Some(u32::from_ne_bytes(self.rest.get(at..at + 4)?.try_into().ok()?))
    }

    /// Advances by `bytes` and returns the bytes between `from` and there.
    fn take(&mut self, from: usize, bytes: usize) -> Option<&'a [u8]> {
        let taken = self.rest.get(from..bytes)?;
        self.rest = &self.rest[bytes..];
        Some(taken)
    }

    /// One record; the inner `None` is one that only advances the time.
    #[inline]
    fn step(&mut self) -> Option<Option<Record<'a>>> {
        let (kind, delta) = parts(self.word(0)?);
        let data = match kind {
            PADDING if delta == 0 => return None,
            PADDING => {
                self.take(4, self.word(4)?.checked_add(4)? as usize)?;
                None
            }
            TIME_EXTEND | TIME_STAMP => {
                let high = u64::from(self.word(4)?) << 27;
                self.take(8, 8)?;
                self.time_ns = match kind {
                    TIME_EXTEND => self.time_ns.wrapping_add(high | u64::from(delta)),
                    _ => stamp(self.time_ns, high | u64::from(delta)),
                };
                return Some(None);
            }
            0 => {
                let length = self.word(4)? as usize;
                // The length includes its own word.
                Some(self.take(8, length.checked_add(4)?.max(8))?)
            }
            words => Some(self.take(4, 4 + 4 * words as usize)?),
        };
        self.time_ns = self.time_ns.wrapping_add(u64::from(delta));
        Some(data.map(|data| Record { time_ns: self.time_ns, data }))
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    #[inline]
    fn next(&mut self) -> Option<Record<'a>> {
        loop {
            match self.step() {
                Some(Some(record)) => return Some(record),
                Some(None) => {}
                None => {
                    self.rest = &[];
                    return None;
                }
            }
        }
    }
}

/// Kind and time of a record's first word: bit fields, which start at the other end on big-endian machines.
fn parts(word: u32) -> (u32, u32) {
    if cfg!(target_endian = "little") { (word & 31, word >> 5) } else { (word >> 27, word & 0x7ff_ffff) }
}

/// The full time of a 59-bit timestamp that follows `before`.
fn stamp(before: u64, low: u64) -> u64 {
    let round = 1_u64 << STAMP_BITS;
    let time = before & !(round - 1) | low & (round - 1);
    // More than half the range behind: the lower bits have wrapped around.
    if before > time && before - time > round / 2 { time.wrapping_add(round) } else { time }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::synthetic::PageBuilder;

    fn read(page: &[u8]) -> Vec<(u64, Vec<u8>)> {
        let page = Page::new(page, PageFormat::USUAL).expect("a page");
        page.records().map(|r| (r.time_ns, r.data.to_vec())).collect()
    }

    #[test]
    fn short_and_long_records_have_their_times() {
        let long = vec![7_u8; 200];
        let page = PageBuilder::new(1000).record(5, &[1; 4]).record(0, &[2; 112]).record(10, &long).build();
        let records = read(&page);
        assert_eq!(
            records,
            [(1005, vec![1; 4]), (1005, vec![2; 112]), (1015, long)],
            "one word, 28 words, and a length in its own word"
        );
    }

    #[test]
    fn every_short_length_is_understood() {
        let mut builder = PageBuilder::new(0);
        for words in 1..=28 {
            builder = builder.record(1, &vec![words as u8; 4 * words]);
        }
        let records = read(&builder.build());
        assert_eq!(records.len(), 28);
        for (i, (time, data)) in records.iter().enumerate() {
            assert_eq!((*time, data.len(), data[0]), (i as u64 + 1, 4 * (i + 1), i as u8 + 1));
        }
    }

    #[test]
    fn records_taken_back_move_the_time_and_say_nothing() {
        let page = PageBuilder::new(100).record(1, &[1; 4]).taken_back(9, 24).record(1, &[2; 4]).build();
        assert_eq!(read(&page), [(101, vec![1; 4]), (111, vec![2; 4])]);
    }

    #[test]
    fn the_end_of_the_page_can_be_filled() {
        let page = PageBuilder::new(100).record(1, &[1; 4]).filled().record(1, &[2; 4]).build();
        assert_eq!(read(&page), [(101, vec![1; 4])]);
    }

    #[test]
    fn long_pauses_and_absolute_times() {
        let pause = 5_000_000_000;
        let page = PageBuilder::new(1 << 40).extend(pause).record(3, &[1; 4]).build();
        assert_eq!(read(&page), [((1 << 40) + pause + 3, vec![1; 4])]);
        let page = PageBuilder::new(1 << 40).stamp((1 << 41) + 77).record(3, &[1; 4]).build();
        assert_eq!(read(&page), [((1 << 41) + 80, vec![1; 4])]);
    }

    #[test]
    fn a_stamp_takes_its_upper_bits_from_the_time_before() {
        let upper = 3_u64 << STAMP_BITS;
        assert_eq!(stamp(upper | 5, 9), upper | 9);
        let end = (1 << STAMP_BITS) - 1;
        assert_eq!(stamp(upper | end, 4), (4_u64 << STAMP_BITS) | 4, "the lower bits went round");
        assert_eq!(stamp(upper | 9, 5), upper | 5, "a little back is no round");
    }

    #[test]
    fn a_page_says_that_records_were_lost_before_it() {
        let page = PageBuilder::new(1).record(1, &[1; 4]);
        assert!(!Page::new(&page.clone().build(), PageFormat::USUAL).expect("a page").missed());
        let missed = page.missed().build();
        assert!(Page::new(&missed, PageFormat::USUAL).expect("a page").missed());
        assert_eq!(read(&missed).len(), 1, "the flags are no part of the length");
    }

    #[test]
    fn other_layouts_are_followed() {
        let narrow = PageFormat {
            timestamp: 0,
            commit: super::super::format::Field { offset: 8, size: 4 },
            data: 12,
            bytes: 8192,
        };
        let page = PageBuilder::of(narrow, 50).record(2, &[9; 8]).build();
        assert_eq!(page.len(), 8192);
        let records: Vec<_> = Page::new(&page, narrow).expect("a page").records().collect();
        assert_eq!(records, [Record { time_ns: 52, data: &[9; 8] }]);
    }

    #[test]
    fn a_record_longer_than_the_page_ends_it() {
        let whole = PageBuilder::new(0).record(1, &[1; 4]).record(1, &[2; 64]).build();
        let mut cut = whole.clone();
        cut[8..16].copy_from_slice(&40_u64.to_ne_bytes());
        assert_eq!((read(&whole).len(), read(&cut).len()), (2, 1));
        assert!(Page::new(&whole[..10], PageFormat::USUAL).is_none());
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic_or_run_for_ever(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..600)) {
            if let Some(page) = Page::new(&bytes, PageFormat::USUAL) {
                let records = page.records().count();
                proptest::prop_assert!(records <= bytes.len() / 4);
            }
        }

        #[test]
        fn what_was_built_is_read_again(
            deltas in proptest::collection::vec((0_u64..1 << 32, 1_usize..60), 0..20)
        ) {
            let mut builder = PageBuilder::new(1 << 33);
            let mut time = 1_u64 << 33;
            let mut wanted = Vec::new();
            for (i, &(delta, words)) in deltas.iter().enumerate() {
                let data = vec![i as u8; 4 * words];
                time += delta;
                builder = builder.after(delta, &data);
                wanted.push((time, data));
            }
            proptest::prop_assert_eq!(read(&builder.build()), wanted);
        }
    }
}
