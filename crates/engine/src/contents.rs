//! Data to write and to check. The buffers of one worker: a pool from which written records are taken, and a buffer that records
//! are read into.
//!
//! Unique data costs a few ns per 512 bytes: records are slices of a pool of random bytes, and every 512 bytes begin with a stamp
//! derived from their position. So no two blocks of a file are equal at any block size, and nothing is copied.

use crate::buffer::{Buffer, Making};
use crate::fault::{FailedCall, Fault};
use fathom_workload::ops::{Expected, Place, derive_seed};
use fathom_workload::{Data, Stream, Verify};

/// Size of the pool of random bytes: it fits into the second-level cache, as a real program's fresh data would.
const POOL: usize = 1 << 20;
/// Distance of stamps.
const STAMP_EVERY: usize = 512;
/// Purpose number of derived seeds (workload::ops uses 1..=199).
const FOR_POOL: u64 = 200;

/// The buffers and data rules of one worker.
pub(crate) struct Contents {
    data: Data,
    verify: Verify,
    pool: Buffer,
    read: Buffer,
    /// Bytes of the pool in which records may start.
    area: usize,
    at: usize,
    read_area: usize,
    read_at: usize,
    tag: u64,
    written: u64,
    /// Size of each file where the region spans several files in a row: positioned data depend on the offset within their file.
    file_bytes: u64,
}

impl Contents {
    /// Buffers for records up to the stream's largest. `place.worker` is the index of the file in its set.
    pub fn new(stream: &Stream, largest: usize, seed: u64, place: Place) -> Result<Self, Fault> {
        Self::of_several(stream, Making::default(), largest, seed, place, 0, 1)
    }

    /// The buffers of operation `number` of `depth` in flight: together they share one pool's worth of random bytes, so that all
    /// of them still fit into the second-level cache.
    pub fn of_several(
        stream: &Stream,
        making: Making,
        largest: usize,
        seed: u64,
        place: Place,
        number: u32,
        depth: u32,
    ) -> Result<Self, Fault> {
        let (rotate, area) = Self::areas_of(stream, largest, depth);
        let [pool, read] = Self::sizes(stream, largest, depth);
        let tag = derive_seed(seed, Place { repetition: 0, ..place }, FOR_POOL);
        let mut this = Self {
            data: stream.data.clone(),
            verify: stream.verify,
            pool: Buffer::made_of(pool, making)?,
            read: Buffer::made_of(read, making)?,
            area,
            at: 0,
            read_area: rotate,
            read_at: 0,
            tag: tag_of(&stream.data, seed, place),
            written: 0,
            file_bytes: u64::MAX,
        };
        // Records that repeat across files must have the same bytes in every worker and place; unique ones differ by their
        // stamps.
        let common = matches!(stream.data, Data::Reducible { .. });
        let own = derive_seed(tag, Place::default(), u64::from(number));
        this.fill_pool(if common { derive_seed(seed, Place::default(), FOR_POOL) } else { own });
        Ok(this)
    }

    /// Continues with another file of the set: with its stamps, from the beginning of the pool. That is free, so a writer of many
    /// small files does not need a pool for each.
    pub fn turn_to_file(&mut self, seed: u64, number: u32) {
        self.tag = tag_of(&self.data, seed, Place { worker: number, ..Place::default() });
        (self.at, self.written) = (0, 0);
    }

    /// Bytes that reads rotate through, and bytes of the pool in which written records may start.
    fn areas_of(stream: &Stream, largest: usize, depth: u32) -> (usize, usize) {
        let rotate = stream.buffer_area.0 as usize;
        let pooled = matches!(
            stream.data,
            Data::Unique | Data::Reducible { .. } | Data::Checksummed { .. } | Data::Sealed(_)
        );
        let share = (POOL / depth.max(1) as usize).max(largest).next_multiple_of(4096);
        (rotate, if pooled { share.max(rotate) } else { rotate })
    }

    /// Bytes needed by the pool and the read buffer of one operation in flight. A buffer that the direction does not use is 0,
    /// and gets one page.
    fn sizes(stream: &Stream, largest: usize, depth: u32) -> [usize; 2] {
        let (rotate, area) = Self::areas_of(stream, largest, depth);
        let write = if stream.direction.writes() { largest + area } else { 0 };
        let read = if stream.direction.reads() { largest + rotate } else { 0 };
        [write, read]
    }

    /// Memory for the buffers of one operation in flight. With huge pages only used buffers count: the others have base pages.
    pub fn bytes(stream: &Stream, largest: usize, depth: u32) -> u64 {
        let needed = Self::sizes(stream, largest, depth).into_iter().filter(|&bytes| bytes > 0);
        needed.fold(0, |sum, bytes| sum.saturating_add(Buffer::taken(bytes, stream.buffers.pages)))
    }

    fn fill_pool(&mut self, seed: u64) {
        let pool = self.pool.all_mut();
        match self.data {
            Data::Unique | Data::Checksummed { .. } | Data::Sealed(_) => random_bytes(pool, seed),
            Data::Reducible { compressible_percent, ref filler, .. } => {
                random_bytes(pool, seed);
                let random = random_bytes_of_a_page(compressible_percent);
                for page in pool.chunks_mut(4096) {
                    let from = random.min(page.len());
                    page[from..].fill(0);
                    for piece in page[from..].chunks_mut(filler.len().max(1)) {
                        let bytes = piece.len().min(filler.len());
                        piece[..bytes].copy_from_slice(&filler[..bytes]);
                    }
                }
            }
            Data::Zero | Data::Positioned { .. } => pool.fill(0),
            Data::Byte(b) => pool.fill(b),
            Data::Repeated { ref bytes } => {
                for piece in pool.chunks_mut(bytes.len().max(1)) {
                    piece.copy_from_slice(&bytes[..piece.len()]);
                }
            }
            Data::Marked { byte, stride, length } => {
                let (stride, length) = (stride.0.max(1) as usize, length.0 as usize);
                pool.fill(0);
                for mark in pool.chunks_mut(stride) {
                    let end = length.min(mark.len());
                    mark[..end].fill(byte);
                }
            }
        }
    }

    /// The record to write at `offset`. For fixed data this only advances a cursor.
    #[inline(always)]
    pub fn record_to_write(&mut self, offset: u64, bytes: usize) -> &mut [u8] {
        let at = self.at;
        if self.area > 0 {
            let next = at + bytes.next_multiple_of(4096);
            self.at = if next >= self.area { 0 } else { next };
        }
        let tag = self.tag;
        match self.data {
            Data::Unique => {
                let record = &mut self.pool.all_mut()[at..at + bytes];
                stamp(record, offset, tag, STAMP_EVERY);
                record
            }
            Data::Positioned { .. } => {
                let record = &mut self.pool.all_mut()[at..at + bytes];
                fill_positioned(record, offset, tag);
                record
            }
            Data::Checksummed { block } => {
                let record = &mut self.pool.all_mut()[at..at + bytes];
                crate::checksum::seal(record, block.0 as usize, offset % self.file_bytes);
                record
            }
            Data::Sealed(ref sealed) => {
                let record = &mut self.pool.all_mut()[at..at + bytes];
                if sealed.zeros_percent > 0 {
                    // Separate random bytes per record; zeros stay in the pool.
                    let random = bytes * (100 - usize::from(sealed.zeros_percent.min(100))) / 100;
                    random_bytes(&mut record[..random], mix(offset.wrapping_add(tag)));
                    record[random..].fill(0);
                }
                crate::sealed::seal(record, sealed, offset % self.file_bytes);
                record
            }
            Data::Reducible { compressible_percent, duplicate_percent, within_percent, distinct, .. } => {
                self.written += 1;
                let shares = (duplicate_percent, within_percent);
                let (position, tag) = reduced(self.written, offset, tag, shares, distinct);
                let at = if position == offset { at } else { 0 };
                let record = &mut self.pool.all_mut()[at..at + bytes];
                stamp_pages(record, position, tag, random_bytes_of_a_page(compressible_percent));
                record
            }
            // The pattern restarts with every record.
            Data::Repeated { .. } => &mut self.pool.all_mut()[..bytes],
            _ => &mut self.pool.all_mut()[at..at + bytes],
        }
    }

    /// Target of the next read.
    #[inline(always)]
    pub fn record_to_read(&mut self, bytes: usize) -> &mut [u8] {
        let at = self.read_at;
        if self.read_area > 0 {
            let next = at + bytes.next_multiple_of(4096);
            self.read_at = if next >= self.read_area { 0 } else { next };
        }
        &mut self.read.all_mut()[at..at + bytes]
    }

    /// Checks the record just read into the buffer of `record_to_read`, where it began at `at`.
    pub fn check(&self, expected: Expected, offset: u64, at: usize, bytes: usize) -> Result<(), Fault> {
        let record = &self.read.all()[at..at + bytes];
        match expected {
            Expected::Anything => return Ok(()),
            Expected::Zeros => return wrong_byte(first_other(record, 0), offset),
            Expected::Written => {}
        }
        if let Data::Checksummed { block } = self.data {
            return crate::checksum::check(record, block.0 as usize, offset % self.file_bytes);
        }
        if let Data::Sealed(sealed) = &self.data {
            return crate::sealed::check(record, sealed, offset % self.file_bytes);
        }
        let wrong = match (self.verify, &self.data) {
            (Verify::No, _) => None,
            (Verify::Marks, Data::Marked { byte, stride, length }) => {
                marks_mismatch(record, *byte, stride.0 as usize, length.0 as usize)
            }
            (_, Data::Zero) => first_other(record, 0),
            (_, Data::Byte(b)) => first_other(record, *b),
            (_, Data::Repeated { bytes }) => {
                let expected = bytes.iter().cycle();
                record
                    .iter()
                    .zip(expected)
                    .enumerate()
                    .find_map(|(i, (&found, &expected))| (found != expected).then_some((i, expected, found)))
            }
            (_, Data::Marked { byte, stride, length }) => {
                let (stride, length) = (stride.0.max(1) as usize, length.0 as usize);
                record.iter().enumerate().find_map(|(i, &found)| {
                    let expected = if i % stride < length { *byte } else { 0 };
                    (found != expected).then_some((i, expected, found))
                })
            }
            (_, Data::Positioned { .. }) => positioned_mismatch(record, offset, self.tag),
            // Refused by `check`: only the stamps could be compared.
            (_, Data::Unique | Data::Reducible { .. } | Data::Checksummed { .. } | Data::Sealed(_)) => None,
        };
        wrong_byte(wrong, offset)
    }

    /// Declares that the region consists of files of this size in a row.
    pub fn in_files_of(&mut self, bytes: u64) {
        self.file_bytes = bytes.max(1);
    }

    /// The memory of written and of read records, for registering it with the kernel.
    pub fn areas(&mut self) -> [&mut [u8]; 2] {
        [self.pool.all_mut(), self.read.all_mut()]
    }

    /// Whether records are checked after reading.
    pub fn checks(&self) -> bool {
        self.verify != Verify::No
    }

    /// Offset of the next record in the read buffer.
    pub fn read_position(&self) -> usize {
        self.read_at
    }
}

/// A tag that distinguishes the data of a file from those of others. For positioned data it is the same in every phase, so that
/// one phase can check what another wrote; it differs for each file of the set.
fn tag_of(data: &Data, seed: u64, place: Place) -> u64 {
    match data {
        Data::Positioned { tag } => {
            derive_seed(*tag, Place { worker: place.worker, ..Place::default() }, FOR_POOL)
        }
        _ => derive_seed(seed, Place { repetition: 0, ..place }, FOR_POOL),
    }
}

/// Position and tag for a record's stamps: its own, or those of one of the `distinct` shared records (0: 16).
fn reduced(
    n: u64,
    offset: u64,
    tag: u64,
    (duplicate_percent, within_percent): (u8, u8),
    distinct: u32,
) -> (u64, u64) {
    let draw = mix(n ^ tag);
    if (draw % 100) as u8 >= duplicate_percent {
        return (offset, tag);
    }
    let distinct = if distinct == 0 { 16 } else { u64::from(distinct) };
    let shared = (draw >> 32) % distinct * (1 << 20);
    // Duplicates within the file use the file's tag, those across files a common one.
    if ((draw >> 8) % 100) as u8 >= within_percent { (shared, 0) } else { (shared, tag) }
}

fn random_bytes_of_a_page(compressible_percent: u8) -> usize {
    4096 * (100 - usize::from(compressible_percent.min(100))) / 100
}

#[inline(always)]
fn mix(x: u64) -> u64 {
    let y = (x ^ (x >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    y ^ (y >> 29)
}

/// The word at byte position `position` of a file with this tag.
#[inline(always)]
fn word_at(position: u64, tag: u64) -> u64 {
    mix(position.wrapping_add(tag))
}

#[inline(always)]
fn stamp(record: &mut [u8], offset: u64, tag: u64, every: usize) {
    let mut position = offset;
    for block in record.chunks_mut(every) {
        let word = word_at(position, tag).to_le_bytes();
        let n = block.len().min(8);
        block[..n].copy_from_slice(&word[..n]);
        position += every as u64;
    }
}

/// Stamps only the random part of each page, so that the compressible share stays compressible.
fn stamp_pages(record: &mut [u8], offset: u64, tag: u64, random: usize) {
    for (i, page) in record.chunks_mut(4096).enumerate() {
        let end = random.min(page.len());
        stamp(&mut page[..end], offset + i as u64 * 4096, tag, STAMP_EVERY);
    }
}

fn random_bytes(pool: &mut [u8], seed: u64) {
    let mut state = seed;
    for chunk in pool.chunks_mut(8) {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let word = (z ^ (z >> 31)).to_le_bytes();
        chunk.copy_from_slice(&word[..chunk.len()]);
    }
}

type Mismatch = Option<(usize, u8, u8)>;

fn wrong_byte(wrong: Mismatch, offset: u64) -> Result<(), Fault> {
    wrong.map_or(Ok(()), |(i, expected, found)| {
        Err(Fault {
            expected: u64::from(expected),
            found: u64::from(found),
            ..Fault::short(FailedCall::Verify, offset + i as u64, 0, 0)
        })
    })
}

fn first_other(record: &[u8], byte: u8) -> Mismatch {
    record.iter().position(|&b| b != byte).map(|i| (i, byte, record[i]))
}

#[inline]
fn marks_mismatch(record: &[u8], byte: u8, stride: usize, length: usize) -> Mismatch {
    // One-word marks, as IOzone uses, are compared as a whole: byte by byte they cost 5 % of a cached read of 64 KiB.
    if length == 8 && stride >= 8 {
        let word = [byte; 8];
        let whole = record.chunks(stride).all(|mark| mark.first_chunk::<8>().is_none_or(|m| *m == word));
        // A last mark truncated by the record is checked below.
        if whole && (record.len().is_multiple_of(stride) || record.len() % stride >= 8) {
            return None;
        }
    }
    for (i, mark) in record.chunks(stride.max(1)).enumerate() {
        let end = length.min(mark.len());
        if let Some(j) = mark[..end].iter().position(|&b| b != byte) {
            return Some((i * stride + j, byte, mark[j]));
        }
    }
    None
}

/// The parts of a record in each 8-byte word of the file: ((position of the word, first byte in it), the part). Words are aligned
/// to the file, so a record may begin anywhere.
fn words(record: &mut [u8], offset: u64) -> impl Iterator<Item = ((u64, usize), &mut [u8])> {
    let head = ((8 - offset % 8) % 8).min(record.len() as u64) as usize;
    let (first, rest) = record.split_at_mut(head);
    let start = offset + head as u64;
    let first = (!first.is_empty()).then_some(((offset & !7, (offset % 8) as usize), first));
    let rest = rest.chunks_mut(8).enumerate().map(move |(i, part)| ((start + i as u64 * 8, 0), part));
    first.into_iter().chain(rest)
}

/// Fills a record with positioned data. Records that begin on a word boundary, as nearly all do, are filled word by word without
/// locating each: a fifth of the time.
fn fill_positioned(record: &mut [u8], offset: u64, tag: u64) {
    if !offset.is_multiple_of(8) {
        for (word, bytes) in words(record, offset) {
            let whole = word_at(word.0, tag).to_le_bytes();
            bytes.copy_from_slice(&whole[word.1..word.1 + bytes.len()]);
        }
        return;
    }
    let (words, rest) = record.as_chunks_mut::<8>();
    let mut position = offset;
    for word in words {
        *word = word_at(position, tag).to_le_bytes();
        position = position.wrapping_add(8);
    }
    let last = word_at(position, tag).to_le_bytes();
    rest.copy_from_slice(&last[..rest.len()]);
}

/// Whether a record of whole words has the data of its position. All words are compared before the result is tested, to avoid
/// branches.
fn is_positioned(record: &[u8], offset: u64, tag: u64) -> bool {
    let (words, rest) = record.as_chunks::<8>();
    if !offset.is_multiple_of(8) || !rest.is_empty() {
        return false;
    }
    let (mut position, mut different) = (offset, 0);
    for word in words {
        different |= u64::from_le_bytes(*word) ^ word_at(position, tag);
        position = position.wrapping_add(8);
    }
    different == 0
}

fn positioned_mismatch(record: &[u8], offset: u64, tag: u64) -> Mismatch {
    if is_positioned(record, offset, tag) {
        return None;
    }
    let mut at = 0;
    while at < record.len() {
        let position = offset + at as u64;
        let word = word_at(position & !7, tag).to_le_bytes();
        let expected = &word[(position % 8) as usize..];
        let part = &record[at..(at + expected.len()).min(record.len())];
        if let Some(i) = part.iter().zip(expected).position(|(found, e)| found != e) {
            return Some((at + i, expected[i], part[i]));
        }
        at += part.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_workload::{Bytes, Direction};
    use proptest::prelude::*;

    fn contents(data: Data, verify: Verify, record: usize) -> Contents {
        let mut stream = Stream::new("f", Direction::Write, Bytes(record as u64));
        stream.direction = Direction::Mix(fathom_workload::Mix::ReadPercent(50));
        stream.data = data;
        stream.verify = verify;
        Contents::new(&stream, record, 7, Place::default()).unwrap()
    }

    /// Reads back a written record, optionally with one byte changed.
    fn read_back(c: &mut Contents, offset: u64, record: &[u8], spoil: Option<usize>) -> Result<(), Fault> {
        let at = c.read_position();
        let buffer = c.record_to_read(record.len());
        buffer.copy_from_slice(record);
        if let Some(i) = spoil {
            buffer[i] ^= 1;
        }
        c.check(Expected::Written, offset, at, record.len())
    }

    #[test]
    fn trimmed_ranges_must_read_as_zeros() {
        let mut c = contents(Data::Byte(7), Verify::Full, 4096);
        let at = c.read_position();
        c.record_to_read(4096).fill(0);
        assert!(c.check(Expected::Zeros, 8192, at, 4096).is_ok());
        let at = c.read_position();
        c.record_to_read(4096).fill(0);
        c.read.all_mut()[at + 100] = 7;
        let fault = c.check(Expected::Zeros, 8192, at, 4096).unwrap_err();
        assert_eq!((fault.call, fault.offset, fault.expected, fault.found), (FailedCall::Verify, 8292, 0, 7));
        assert!(c.check(Expected::Anything, 8192, at, 4096).is_ok());
    }

    #[test]
    fn iozones_data_is_marks_in_zeroes() {
        let data = Data::Marked { byte: 0x20, stride: Bytes(4096), length: Bytes(8) };
        let mut c = contents(data, Verify::Marks, 8192);
        let record = c.record_to_write(0, 8192).to_vec();
        assert_eq!(record[..8], [0x20; 8]);
        assert_eq!(record[8..4096], [0; 4088]);
        assert_eq!(record[4096..4104], [0x20; 8]);
        assert!(read_back(&mut c, 0, &record, None).is_ok());
        assert_eq!(read_back(&mut c, 0, &record, Some(4097)).unwrap_err().offset, 4097);
    }

    #[test]
    fn blocks_that_are_checked_may_end_with_zeros() {
        let sealed = fathom_workload::Sealed {
            block: Bytes(1024),
            sum: Some(fathom_workload::Sum::Crc32c),
            zeros_percent: 30,
            ..Default::default()
        };
        let mut c = contents(Data::Sealed(sealed), Verify::Full, 4096);
        let records: Vec<Vec<u8>> = (0..600).map(|i| c.record_to_write(i * 4096, 4096).to_vec()).collect();
        for (i, record) in records.iter().enumerate() {
            // Headers are among the zeros.
            assert!(record[2867..3072].iter().chain(&record[3120..]).all(|byte| *byte == 0));
            assert!(record[2048 + 48..2867].iter().filter(|byte| **byte == 0).count() < 20, "{i}");
            assert!(i == 0 || record[100..1000] != records[i - 1][100..1000]);
            assert!(read_back(&mut c, i as u64 * 4096, record, None).is_ok());
            assert!(read_back(&mut c, i as u64 * 4096, record, Some(4000)).is_err());
        }
    }

    #[test]
    fn unique_data_has_no_two_equal_blocks_of_any_size() {
        let mut c = contents(Data::Unique, Verify::No, 4096);
        let mut file = Vec::new();
        for i in 0..2048u64 {
            file.extend_from_slice(c.record_to_write(i * 4096, 4096));
        }
        for unit in [512, 4096, 16384] {
            let mut blocks: Vec<&[u8]> = file.chunks(unit).collect();
            let all = blocks.len();
            blocks.sort_unstable();
            blocks.dedup();
            assert_eq!(blocks.len(), all, "unit {unit}");
        }
    }

    #[test]
    fn records_that_repeat_are_of_as_many_as_was_said() {
        let of_worker = |worker: u32| {
            let data = Data::Reducible {
                compressible_percent: 0,
                duplicate_percent: 100,
                within_percent: 0,
                distinct: 40,
                filler: Vec::new(),
            };
            let mut stream = Stream::new("f", Direction::Write, Bytes(4096));
            stream.data = data;
            let place = Place { worker, ..Place::default() };
            let mut c = Contents::new(&stream, 4096, 7, place).unwrap();
            let mut records: Vec<Vec<u8>> =
                (0..2000u64).map(|i| c.record_to_write(i * 4096, 4096).to_vec()).collect();
            records.sort_unstable();
            records.dedup();
            records
        };
        let first = of_worker(0);
        assert_eq!(first.len(), 40);
        assert_eq!(first, of_worker(1), "across files they are the same");
    }

    #[test]
    fn the_compressible_share_is_zero_and_duplicates_occur() {
        let data = Data::Reducible {
            compressible_percent: 50,
            duplicate_percent: 30,
            within_percent: 0,
            distinct: 0,
            filler: Vec::new(),
        };
        let mut c = contents(data, Verify::No, 4096);
        let mut records = Vec::new();
        for i in 0..2000u64 {
            let r = c.record_to_write(i * 4096, 4096).to_vec();
            assert_eq!(r[2048..], [0; 2048]);
            records.push(r);
        }
        records.sort_unstable();
        records.dedup();
        assert!((1350..1500).contains(&records.len()), "{} distinct of 2000", records.len());
    }

    #[test]
    fn the_compressible_share_repeats_the_filler() {
        let data = Data::Reducible {
            compressible_percent: 50,
            duplicate_percent: 0,
            within_percent: 0,
            distinct: 0,
            filler: vec![1, 2, 3],
        };
        let mut c = contents(data, Verify::No, 8192);
        let expected: Vec<u8> = [1, 2, 3].into_iter().cycle().take(2048).collect();
        for i in 0..300u64 {
            let record = c.record_to_write(i * 8192, 8192);
            for page in record.chunks(4096) {
                assert_eq!(page[2048..], expected, "it starts again in every page");
                assert_ne!(page[..2048], expected);
            }
        }
    }

    #[test]
    fn duplicates_across_files_are_the_same_in_every_worker() {
        let data = Data::Reducible {
            compressible_percent: 0,
            duplicate_percent: 100,
            within_percent: 0,
            distinct: 0,
            filler: Vec::new(),
        };
        let records = |worker| {
            let mut stream = Stream::new("f", Direction::Write, Bytes(4096));
            stream.data = data.clone();
            let mut c = Contents::new(&stream, 4096, 7, Place { worker, ..Place::default() }).unwrap();
            let set: std::collections::BTreeSet<Vec<u8>> =
                (0..500u64).map(|i| c.record_to_write(i * 4096, 4096).to_vec()).collect();
            set
        };
        assert_eq!(records(0).len(), 16);
        assert_eq!(records(0), records(1));
    }

    #[test]
    fn positioned_data_may_be_read_in_other_records_than_it_was_written_in() {
        let mut c = contents(Data::Positioned { tag: 3 }, Verify::Full, 100);
        let file: Vec<u8> = (0..10).flat_map(|i| c.record_to_write(i * 100, 100).to_vec()).collect();
        for (offset, length) in [(0, 99), (0, 96), (8, 992), (1, 64), (37, 100), (901, 99), (5, 2)] {
            assert!(read_back(&mut c, offset as u64, &file[offset..offset + length], None).is_ok());
        }
    }

    proptest! {
        #[test]
        fn a_spoilt_byte_of_positioned_data_is_found(offset in 0u64..1 << 40, record in 1usize..9000, spoil in any::<prop::sample::Index>()) {
            let mut c = contents(Data::Positioned { tag: 3 }, Verify::Full, record);
            let written = c.record_to_write(offset, record).to_vec();
            prop_assert!(read_back(&mut c, offset, &written, None).is_ok());
            let i = spoil.index(record);
            prop_assert_eq!(read_back(&mut c, offset, &written, Some(i)).unwrap_err().offset, offset + i as u64);
        }
    }
}
