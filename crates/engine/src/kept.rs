//! Extents that workers have written (`keep_written`), passed from one phase to another: in unnamed files in memory, because
//! workers may be separate processes. Sixteen bytes per extent, in the order of reading back.

use crate::EngineError;
use crate::fault::{FailedCall, Fault};
use crate::layout::instances;
use fathom_workload::ops::Extent;
use fathom_workload::{Phase, Program, WrittenBy};
use rustix::fs::MemfdFlags;
use rustix::io::Errno;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read as _, Seek as _, Write as _};

/// Size of an extent in the file.
const ENTRY: usize = 16;
/// Flag beside the file index: the range was deallocated and must be zeros.
const ZEROS: u32 = 1 << 31;
/// Buffer size for writing and reading them.
const BUFFER: usize = 1 << 16;

/// What the workers of all phases so far have left to be read back.
#[derive(Default)]
pub(crate) struct ReadBackStore {
    files: HashMap<(u32, u32), File>,
}

impl ReadBackStore {
    /// Creates empty files for the workers of a phase that remember their writes; those of an earlier repetition are dropped.
    pub fn begin(&mut self, number: u32, phase: &Phase) -> Result<(), EngineError> {
        for (worker, (thread, _)) in (0u32..).zip(phase.groups.iter().flat_map(instances)) {
            if let Program::Stream(stream) = &thread.program
                && stream.keep_written.is_some()
            {
                let file = rustix::fs::memfd_create("fathom-written", MemfdFlags::CLOEXEC).map_err(|e| {
                    EngineError::system("get memory for what is to be read back", io::Error::from(e))
                })?;
                self.files.insert((number, worker), File::from(file));
            }
        }
        Ok(())
    }

    /// The file of a worker, if it has one.
    pub fn of(&self, by: WrittenBy) -> Option<&File> {
        self.files.get(&(by.phase, by.worker))
    }
}

fn failed(error: &io::Error) -> Fault {
    Fault::of(FailedCall::Memory, Errno::from_io_error(error).unwrap_or(Errno::NOMEM), 0)
}

/// Saves extents to a worker's file.
pub(crate) fn leave(mut place: &File, extents: &[Extent]) -> Result<(), Fault> {
    place.set_len(0).and_then(|()| place.rewind()).map_err(|e| failed(&e))?;
    let mut writer = BufWriter::with_capacity(BUFFER, place);
    for extent in extents {
        let mut entry = [0; ENTRY];
        entry[..8].copy_from_slice(&extent.offset.to_le_bytes());
        entry[8..12].copy_from_slice(&extent.bytes.to_le_bytes());
        let file = extent.file | if extent.zeros { ZEROS } else { 0 };
        entry[12..].copy_from_slice(&file.to_le_bytes());
        writer.write_all(&entry).map_err(|e| failed(&e))?;
    }
    writer.flush().map_err(|e| failed(&e))
}

/// Reads the saved extents.
pub(crate) fn read(mut place: &File) -> Result<Vec<Extent>, Fault> {
    place.rewind().map_err(|e| failed(&e))?;
    let mut reader = BufReader::with_capacity(BUFFER, place);
    let mut extents = Vec::new();
    let mut entry = [0; ENTRY];
    loop {
        match reader.read_exact(&mut entry) {
            Ok(()) => {}
            // A killed worker may have left half an entry.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(extents),
            Err(error) => return Err(failed(&error)),
        }
        let word = u64::from_le_bytes(entry[8..].try_into().unwrap_or_default());
        let file = (word >> 32) as u32;
        extents.push(Extent {
            file: file & !ZEROS,
            zeros: file & ZEROS != 0,
            offset: u64::from_le_bytes(entry[..8].try_into().unwrap_or_default()),
            bytes: word as u32,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_extents_are_read_in_order() {
        let file = File::from(rustix::fs::memfd_create("fathom-test", MemfdFlags::CLOEXEC).unwrap());
        assert!(read(&file).unwrap().is_empty());
        let extent = |n: u32| Extent {
            file: n % 3,
            offset: u64::from(n) << 33,
            bytes: n * 512,
            zeros: n.is_multiple_of(2),
        };
        let many: Vec<Extent> = (0..9999).rev().map(extent).collect();
        leave(&file, &many).unwrap();
        assert_eq!(read(&file).unwrap(), many);
        // Reading again starts from the beginning.
        assert_eq!(read(&file).unwrap().len(), 9999);
        leave(&file, &many[..2]).unwrap();
        assert_eq!(read(&file).unwrap(), many[..2]);
    }
}
