//! Writing the data that a file set is laid out with. Real writes: fallocate would leave unwritten extents, which read without
//! device access and write slowly.

use super::CHUNK;
use crate::contents::Contents;
use crate::fault::Fault;
use crate::{EngineError, interrupted_by};
use fathom_workload::ops::Place;
use fathom_workload::{Bytes, Data, Direction, FileSet, Stream, Workload};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Writes the files of a set one by one, in the records that the set requests. It has memory for two of them, at least 2 MiB.
pub(super) struct Writer {
    contents: Contents,
    seed: u64,
    /// Bytes of one write.
    record: u64,
    /// Bytes generated together: whole records, and enough that small ones use all of the random bytes.
    made: u64,
    /// Offset of its first block, if blocks do not begin with the file: less than a block.
    from: u64,
}

impl Writer {
    /// A writer of the set's own data, or of other data for it.
    pub fn new(workload: &Workload, set: &FileSet, data: Data) -> Result<Self, EngineError> {
        Self::beginning_at(workload, set, data, 0)
    }

    /// The same, with self-checking blocks aligned to the given offset, before and after it.
    pub fn beginning_at(
        workload: &Workload,
        set: &FileSet,
        data: Data,
        start: u64,
    ) -> Result<Self, EngineError> {
        let from = match &data {
            Data::Sealed(sealed) => start % sealed.block.0.max(1),
            _ => 0,
        };
        let record = record_bytes(set, &data);
        let made = (CHUNK as u64).next_multiple_of(record);
        let mut stream = Stream::new(&set.name, Direction::Write, Bytes(made));
        stream.data = data;
        let failed = |f: Fault| {
            EngineError::system("get memory for the data", std::io::Error::from_raw_os_error(f.errno))
        };
        let seed = workload.seed.0;
        let contents = Contents::new(&stream, made as usize, seed, Place::default()).map_err(failed)?;
        Ok(Self { contents, seed, record, made, from })
    }

    /// Writes a range of file `number` of the set: the same byte at the same offset, in whatever parts it is written. Adds to
    /// `bytes` as it goes; a signal ends it early.
    pub fn write(
        &mut self,
        file: &File,
        number: u32,
        range: Range<u64>,
        bytes: &AtomicU64,
    ) -> std::io::Result<()> {
        self.contents.turn_to_file(self.seed, number);
        let mut at = range.start;
        while at < range.end && interrupted_by().is_none() {
            // As if the file had been laid out from its beginning. The part before its first block is no block.
            let (first, made) = match at.checked_sub(self.from) {
                Some(inside) => (self.from + inside / self.made * self.made, self.made),
                None => (0, self.from),
            };
            let until = range.end.min(first.saturating_add(made));
            let data = self.contents.record_to_write(first, (until - first) as usize);
            while at < until {
                let end = until.min((at / self.record + 1).saturating_mul(self.record));
                file.write_all_at(&data[(at - first) as usize..(end - first) as usize], at)?;
                bytes.fetch_add(end - at, Relaxed);
                at = end;
            }
        }
        Ok(())
    }
}

/// Bytes of one write. A self-checking block is generated as a whole.
fn record_bytes(set: &FileSet, data: &Data) -> u64 {
    let asked = set.prepare_record.0.clamp(1, FileSet::LARGEST_PREPARE_RECORD.0);
    match data {
        Data::Checksummed { block } => asked.next_multiple_of(block.0.max(1)),
        Data::Sealed(sealed) => asked.next_multiple_of(sealed.block.0.max(1)),
        _ => asked,
    }
}
