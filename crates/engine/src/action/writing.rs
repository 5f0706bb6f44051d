//! Writing the data that a file set is laid out with. Real writes: fallocate would leave unwritten extents, which read as nothing and
//! write slowly.

use super::CHUNK;
use crate::contents::Contents;
use crate::worker::Fault;
use crate::{EngineError, interrupted_by};
use fathom_workload::ops::Place;
use fathom_workload::{Bytes, Data, Direction, FileSet, Stream, Workload};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Writes files of a set, one after the other. It has about 2 MiB of memory of its own.
pub(super) struct Writer {
    contents: Contents,
    seed: u64,
}

impl Writer {
    /// A writer of the set's own data, or of other data for it.
    pub fn new(workload: &Workload, set: &FileSet, data: Data) -> Result<Self, EngineError> {
        let mut stream = Stream::new(&set.name, Direction::Write, Bytes(CHUNK as u64));
        stream.data = data;
        let failed = |f: Fault| {
            EngineError::system("get memory for the data", std::io::Error::from_raw_os_error(f.errno))
        };
        let seed = workload.seed.0;
        let contents = Contents::new(&stream, CHUNK, seed, Place::default()).map_err(failed)?;
        Ok(Self { contents, seed })
    }

    /// Writes a range of file `number` of the set: the same byte at the same place, in whatever parts it is written. Adds to `bytes`
    /// as it goes; a signal ends it early.
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
            // As if the chunk had been laid out from its beginning.
            let chunk = at / CHUNK as u64 * CHUNK as u64;
            let until = range.end.min(chunk + CHUNK as u64);
            let data = self.contents.record_to_write(chunk, (until - chunk) as usize);
            file.write_all_at(&data[(at - chunk) as usize..], at)?;
            bytes.fetch_add(until - at, Relaxed);
            at = until;
        }
        Ok(())
    }
}
