//! How an image is read: one call per read (pread, preadv), or an io_uring ring that takes several reads at once. The
//! options alone decide: a ring that cannot be set up is an error. Crate engine has the ring, crate isofs the reader;
//! they meet here.

use crate::exit::Usage;
use clap::ValueEnum;
use fathom_engine::read_ring::{Event, Geometry, MOST_DEPTH, ReadRing, Wanted};
use fathom_isofs::reader::{Medium, Policy};
use fathom_isofs::{FileSource, ReadAt, SourceRead};
use serde_json::json;
use std::io;
use std::os::fd::AsFd as _;

/// Longest read of a mount that leaves caching to the kernel.
const MOUNT_READ: u32 = 1 << 20;

/// `--backend`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// A call for each read; several at once take as many threads
    #[default]
    Pread,
    /// A ring with registered buffers: up to 32 reads at once, of a disc in a drive 1, or --depth
    #[value(name = "io_uring")]
    IoUring,
}

impl Backend {
    /// Name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pread => "pread",
            Self::IoUring => "io_uring",
        }
    }

    /// Adapts a policy to the back-end: with a ring, the queue depth is limited to that of the modern policy. Older
    /// policies set no limit, since their reading threads did.
    pub fn held(self, policy: Policy, medium: Medium) -> Policy {
        match self {
            Self::Pread => policy,
            Self::IoUring => Policy { depth: policy.depth.min(Policy::modern_on(medium).depth), ..policy },
        }
    }

    pub fn of(self, file: FileSource, policy: &Policy) -> Result<ImageFile, Usage> {
        if self == Self::Pread {
            return Ok(ImageFile::Pread(file));
        }
        let geometry = Geometry {
            depth: u16::try_from(policy.depth).unwrap_or(u16::MAX).clamp(1, MOST_DEPTH),
            longest: usize::try_from(policy.max_transfer.max(MOUNT_READ)).unwrap_or(usize::MAX),
            unit: file.unit(),
        };
        let descriptor = file.as_fd().try_clone_to_owned();
        let ring = descriptor.map_err(|e| e.to_string()).and_then(|fd| ReadRing::new(fd, geometry));
        let ring = ring.map_err(|why| Usage(format!("--backend io_uring: {why} (--backend pread)")))?;
        Ok(ImageFile::Ring { file, ring: Box::new(ring) })
    }
}

/// An image file and its back-end.
#[derive(Debug)]
pub enum ImageFile {
    Pread(FileSource),
    /// A ring over the same file.
    Ring {
        /// For the size and alignment.
        file: FileSource,
        ring: Box<ReadRing>,
    },
}

impl ImageFile {
    fn file(&self) -> &FileSource {
        match self {
            Self::Pread(file) | Self::Ring { file, .. } => file,
        }
    }

    /// The back-end and its counters, as JSON.
    pub fn report(&self) -> serde_json::Value {
        let (backend, ring) = match self {
            Self::Pread(_) => (Backend::Pread, serde_json::Value::Null),
            Self::Ring { ring, .. } => {
                let counts = ring.counts();
                let ring_json = json!({
                    "depth": ring.geometry().depth,
                    "buffer_bytes": ring.buffer_bytes(),
                    "submissions": counts.submissions,
                    "reads": counts.reads,
                    "reads_again": counts.again,
                    "in_flight_most": counts.deepest,
                });
                (Backend::IoUring, ring_json)
            }
        };
        json!({"name": backend.name(), "direct": self.file().unit() > 1, "ring": ring})
    }
}

impl ReadAt for ImageFile {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Pread(file) => file.read_at(offset, buf),
            Self::Ring { ring, .. } => {
                let (got, error) = ring.read(offset, buf);
                error.map_or(Ok(got), Err)
            }
        }
    }

    fn size(&self) -> u64 {
        self.file().size()
    }

    fn read_parts(&self, offset: u64, parts: &mut [Vec<u8>]) -> (u64, Option<io::Error>) {
        let ring = match self {
            Self::Pread(file) => return file.read_parts(offset, parts),
            Self::Ring { ring, .. } => ring,
        };
        let mut came = (0, None);
        ring.round(&[Wanted { offset, bytes: bytes_of(parts) }], &mut |event| match event {
            Event::Bytes { at, bytes, .. } => scatter(parts, at, bytes),
            Event::Over { got, error, .. } => came = (got as u64, error),
        });
        came
    }

    fn at_once(&self) -> usize {
        match self {
            Self::Pread(file) => file.at_once(),
            Self::Ring { ring, .. } => ring.geometry().depth.into(),
        }
    }

    fn read_round(&self, reads: Vec<SourceRead>, done: &mut dyn FnMut(SourceRead, u64, Option<io::Error>)) {
        let ring = match self {
            Self::Pread(file) => return file.read_round(reads, done),
            Self::Ring { ring, .. } => ring,
        };
        let wanted = |read: &SourceRead| Wanted { offset: read.offset, bytes: bytes_of(&read.parts) };
        let wanted: Vec<Wanted> = reads.iter().map(wanted).collect();
        let mut reads: Vec<Option<SourceRead>> = reads.into_iter().map(Some).collect();
        ring.round(&wanted, &mut |event| match event {
            Event::Bytes { read, at, bytes } => {
                if let Some(Some(read)) = reads.get_mut(read) {
                    scatter(&mut read.parts, at, bytes);
                }
            }
            Event::Over { read, got, error } => {
                if let Some(read) = reads.get_mut(read).and_then(Option::take) {
                    done(read, got as u64, error);
                }
            }
        });
    }
}

fn bytes_of(parts: &[Vec<u8>]) -> usize {
    parts.iter().map(Vec::len).sum()
}

/// Copies bytes to offset `at` of a sequence of buffers.
fn scatter(parts: &mut [Vec<u8>], mut at: usize, mut bytes: &[u8]) {
    for part in parts {
        if bytes.is_empty() {
            break;
        }
        if at >= part.len() {
            at -= part.len();
            continue;
        }
        let (here, rest) = bytes.split_at((part.len() - at).min(bytes.len()));
        part[at..at + here.len()].copy_from_slice(here);
        bytes = rest;
        at = 0;
    }
}

#[cfg(test)]
mod tests;
