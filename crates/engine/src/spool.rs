//! Log of every operation of a stream, written while it runs: into an unnamed file, through a buffer of the worker, so that
//! memory stays bounded. The caller reads it after the run.
//!
//! Cost: uses the loops with rare features (`hot::rare`), and copies 40 bytes per operation; a full buffer is written between two
//! operations.

use crate::EngineError;
use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Kind of a logged operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// A read.
    Read,
    /// A write.
    Write,
    /// A discard or a hole.
    Trim,
}

/// One counted operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Read, write or trim.
    pub does: Does,
    /// Start, ns after counting began.
    pub start_ns: u64,
    /// Latency, ns.
    pub latency_ns: u64,
    /// The part of the latency before submission to the kernel, ns; 0 where operations run one by one.
    pub submission_ns: u64,
    /// Index among the worker's files.
    pub file: u32,
    /// Offset of the first byte in the file.
    pub offset: u64,
    /// Size in bytes.
    pub bytes: u32,
    /// I/O priority, with the class in the bits from 13 up; 0: the thread's.
    pub priority: u16,
}

/// Size of an entry in the file.
const ENTRY: usize = 40;
/// The two highest bits of the start mark a write or a trim: 2^62 ns are 146 years.
const WRITE: u64 = 1 << 63;
const TRIM: u64 = 1 << 62;
/// The latency is in the lower 48 bits of its word (three days), the priority in the others.
const LATENCY: u64 = (1 << 48) - 1;
/// Total size of the buffers in a phase.
const ALL_BUFFERS: usize = 64 << 20;
/// Buffer size of one worker: large enough that writing it out is rare.
const LARGEST_BUFFER: usize = 1 << 20;

impl Operation {
    fn encoded(&self) -> [u8; ENTRY] {
        let does = match self.does {
            Does::Read => 0,
            Does::Write => WRITE,
            Does::Trim => TRIM,
        };
        let start = self.start_ns & !(WRITE | TRIM) | does;
        let submission = u32::try_from(self.submission_ns).unwrap_or(u32::MAX);
        let latency = self.latency_ns.min(LATENCY) | u64::from(self.priority) << 48;
        let mut entry = [0; ENTRY];
        let sizes = u64::from(submission) << 32 | u64::from(self.bytes);
        let words = [start, latency, self.offset, sizes, u64::from(self.file)];
        for (place, word) in entry.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        entry
    }

    fn decoded(entry: &[u8; ENTRY]) -> Self {
        let mut words = [0; 5];
        for (word, place) in words.iter_mut().zip(entry.chunks_exact(8)) {
            *word = u64::from_le_bytes(place.try_into().unwrap_or_default());
        }
        let [start, latency, offset, sizes, file] = words;
        Self {
            does: match start & (WRITE | TRIM) {
                WRITE => Does::Write,
                TRIM => Does::Trim,
                _ => Does::Read,
            },
            start_ns: start & !(WRITE | TRIM),
            latency_ns: latency & LATENCY,
            submission_ns: sizes >> 32,
            file: file as u32,
            offset,
            bytes: sizes as u32,
            priority: (latency >> 48) as u16,
        }
    }
}

/// The logged operations of one worker in one phase.
#[derive(Debug)]
pub struct Operations {
    /// Index of the phase.
    pub phase: u32,
    /// Index of the worker.
    pub worker: u32,
    file: File,
}

impl Operations {
    pub(crate) fn new(phase: u32, worker: u32, file: File) -> Self {
        Self { phase, worker, file }
    }

    /// Reads them from the beginning, in order of completion. One reader at a time.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(&self) -> io::Result<impl Iterator<Item = io::Result<Operation>>> {
        let mut file = self.file.try_clone()?;
        file.rewind()?;
        let mut reader = BufReader::with_capacity(1 << 16, file);
        Ok(std::iter::from_fn(move || {
            let mut entry = [0; ENTRY];
            match reader.read_exact(&mut entry) {
                Ok(()) => Some(Ok(Operation::decoded(&entry))),
                // A killed worker may have left half an entry.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => None,
                Err(error) => Some(Err(error)),
            }
        }))
    }
}

/// Creates an unnamed file in a directory.
pub(crate) fn file_in(directory: &Path) -> Result<File, EngineError> {
    let path = directory.join(format!(".fathom-operations-{}", std::process::id()));
    let failed = |error| EngineError::File { what: "create", path: path.clone(), error };
    let file =
        File::options().read(true).write(true).create_new(true).mode(0o600).open(&path).map_err(failed)?;
    std::fs::remove_file(&path).map_err(failed)?;
    Ok(file)
}

/// A worker's end of the log.
pub(crate) struct Spool {
    /// `None` after a failed write: later operations are lost, which the reader detects.
    file: Option<File>,
    buffer: Vec<u8>,
    /// Fill level at which the buffer is written.
    full: usize,
}

impl Spool {
    /// A spool for one of `workers` workers.
    pub fn new(file: &File, workers: usize) -> Self {
        let share = (ALL_BUFFERS / workers.max(1)).clamp(4096, LARGEST_BUFFER);
        let full = share / ENTRY * ENTRY;
        Self { file: file.try_clone().ok(), buffer: Vec::with_capacity(full), full }
    }

    pub fn note(&mut self, operation: &Operation) {
        self.buffer.extend_from_slice(&operation.encoded());
        if self.buffer.len() >= self.full {
            self.flush();
        }
    }

    #[cold]
    fn flush(&mut self) {
        if let Some(file) = &mut self.file
            && file.write_all(&self.buffer).is_err()
        {
            self.file = None;
        }
        self.buffer.clear();
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        self.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(n: u64) -> Operation {
        Operation {
            does: [Does::Read, Does::Write, Does::Trim][n as usize % 3],
            start_ns: n * 1000,
            latency_ns: n + 7,
            submission_ns: n % 5,
            file: n as u32 * 3,
            offset: n << 40,
            bytes: u32::MAX - n as u32,
            priority: n as u16,
        }
    }

    #[test]
    fn logged_operations_are_read_back() {
        let directory = tempfile::tempdir().unwrap();
        let file = file_in(directory.path()).unwrap();
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "it has no name");
        // More than the buffer holds with very many workers.
        let mut spool = Spool::new(&file, usize::MAX);
        (0..1000).for_each(|n| spool.note(&operation(n)));
        assert!(spool.buffer.capacity() <= 4096);
        drop(spool);
        let operations = Operations::new(1, 2, file);
        for _ in 0..2 {
            let read: Vec<Operation> = operations.read().unwrap().map(Result::unwrap).collect();
            assert_eq!(read, (0..1000).map(operation).collect::<Vec<_>>());
        }
    }

    #[test]
    fn long_submissions_are_cut() {
        let long = Operation { submission_ns: 1 << 40, ..operation(1) };
        assert_eq!(Operation::decoded(&long.encoded()).submission_ns, u64::from(u32::MAX));
    }
}
