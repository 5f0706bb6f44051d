//! The bytes that a stream would write, without writing them, for estimating their compressibility. They come from the same
//! buffers and the same rule as the real ones, as consecutive records.

use crate::contents::Contents;
use fathom_workload::ops::Place;
use fathom_workload::{Bytes, Direction, Stream};

/// The first `bytes` bytes of consecutive records of the stream, from the beginning of a file. Records are no longer than the
/// sample. Empty for a stream that does not write, and without memory for its buffers.
#[must_use]
pub fn sample(stream: &Stream, seed: u64, bytes: usize) -> Vec<u8> {
    let record = usize::try_from(stream.record.largest().0).unwrap_or(bytes).min(bytes);
    if !stream.direction.writes() || record == 0 {
        return Vec::new();
    }
    // As a writer with a single buffer: a sample needs neither a read buffer nor the area that buffers rotate through.
    let writer = Stream { direction: Direction::Write, buffer_area: Bytes(0), ..stream.clone() };
    let Ok(mut contents) = Contents::new(&writer, record, seed, Place::default()) else { return Vec::new() };
    let mut sample = Vec::with_capacity(bytes);
    while sample.len() < bytes {
        let here = record.min(bytes - sample.len());
        let offset = sample.len() as u64;
        sample.extend_from_slice(contents.record_to_write(offset, here));
    }
    sample
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_workload::Data;
    use std::collections::HashSet;

    const MIB: usize = 1 << 20;

    fn of(data: Data, record: u64, bytes: usize) -> Vec<u8> {
        sample(&Stream { data, ..Stream::new("f", Direction::Write, Bytes(record)) }, 7, bytes)
    }

    #[test]
    fn unique_data_repeats_nowhere() {
        for record in [512, 4096, 5000, 64 << 20] {
            let sample = of(Data::Unique, record, MIB);
            assert_eq!(sample.len(), MIB);
            let blocks: HashSet<&[u8]> = sample.chunks(512).collect();
            assert_eq!(blocks.len(), MIB / 512, "records of {record} bytes");
        }
    }

    #[test]
    fn a_sample_follows_the_data_rule() {
        assert_eq!(of(Data::Byte(9), 4096, 10_000), vec![9; 10_000]);
        let half = Data::Reducible {
            compressible_percent: 50,
            duplicate_percent: 0,
            within_percent: 0,
            distinct: 0,
            filler: Vec::new(),
        };
        let zeroes = of(half, 65_536, MIB).iter().filter(|b| **b == 0).count() as f64 / MIB as f64;
        assert!((0.49..0.52).contains(&zeroes), "{zeroes}");
        assert_eq!(of(Data::Unique, 4096, MIB), of(Data::Unique, 4096, MIB), "the same seed");
    }

    #[test]
    fn streams_that_only_read_have_no_sample() {
        assert!(sample(&Stream::new("f", Direction::Read, Bytes(4096)), 7, MIB).is_empty());
        let mixed = Stream::new("f", Direction::Mix(fathom_workload::Mix::ReadPercent(50)), Bytes(4096));
        assert_eq!(sample(&mixed, 7, MIB).len(), MIB);
        assert!(of(Data::Unique, 4096, 0).is_empty());
    }
}
