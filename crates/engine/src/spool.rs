//! Every operation of a stream, written down one by one while it runs, for as long as it runs: into a file that has no name, by way of a
//! buffer of the worker's own, so that memory stays bounded. Whoever asked reads it when the run is over.
//!
//! Cost: the loops that have rare features (`hot::rare`) run, and 40 bytes an operation are copied; when the buffer is full, one write
//! of it comes between two operations.

use crate::EngineError;
use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// What an operation did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// It read.
    Read,
    /// It wrote.
    Write,
    /// It gave a range back.
    Trim,
}

/// One operation that was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What it did.
    pub does: Does,
    /// When it began, ns after counting did.
    pub start_ns: u64,
    /// How long it took.
    pub latency_ns: u64,
    /// How much of that passed before it was given to the kernel; 0 where one operation follows the other.
    pub submission_ns: u64,
    /// Which of the files of its worker.
    pub file: u32,
    /// First byte in the file.
    pub offset: u64,
    /// Bytes.
    pub bytes: u32,
    /// I/O priority, class in the bits above the 13th; 0: that of its thread.
    pub priority: u16,
}

/// Bytes of an operation in the file.
const ENTRY: usize = 40;
/// The highest bits of a start say that it is a write, or a trim: 2^62 ns are 146 years.
const WRITE: u64 = 1 << 63;
const TRIM: u64 = 1 << 62;
/// A latency has the lower 48 bits of its word, which are three days; the priority has the others.
const LATENCY: u64 = (1 << 48) - 1;
/// All buffers of a phase together.
const ALL_BUFFERS: usize = 64 << 20;
/// The buffer of one worker: large enough that a write of it is rare, and no larger than what many workers can have.
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

/// The operations of one worker of one phase.
#[derive(Debug)]
pub struct Operations {
    /// Number of the phase.
    pub phase: u32,
    /// Number of the worker.
    pub worker: u32,
    file: File,
}

impl Operations {
    pub(crate) fn new(phase: u32, worker: u32, file: File) -> Self {
        Self { phase, worker, file }
    }

    /// Reads them from the first one on, in the order in which they ended. One reader at a time.
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
                // A worker that was killed may have left half an entry.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => None,
                Err(error) => Some(Err(error)),
            }
        }))
    }
}

/// A file without a name in a directory.
pub(crate) fn file_in(directory: &Path) -> Result<File, EngineError> {
    let path = directory.join(format!(".fathom-operations-{}", std::process::id()));
    let failed = |error| EngineError::File { what: "create", path: path.clone(), error };
    let file =
        File::options().read(true).write(true).create_new(true).mode(0o600).open(&path).map_err(failed)?;
    std::fs::remove_file(&path).map_err(failed)?;
    Ok(file)
}

/// What a worker writes its operations into.
pub(crate) struct Spool {
    /// None after a write has failed: what comes then is not kept, and the reader misses it.
    file: Option<File>,
    buffer: Vec<u8>,
    /// Bytes at which the buffer is written.
    full: usize,
}

impl Spool {
    /// For one of so many workers.
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
    fn what_was_noted_is_read_again() {
        let directory = tempfile::tempdir().unwrap();
        let file = file_in(directory.path()).unwrap();
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "it has no name");
        // More than the buffer of one of very many workers holds.
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
