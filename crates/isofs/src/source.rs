//! Sources of an image: anything that reads bytes at a position and knows its size. Files, block devices and memory are implemented here;
//! a scheduled, cached device is another implementation.

use std::fs::File;
use std::io::{self, IoSliceMut, Seek, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileExt, FileTypeExt as _};
use std::sync::Arc;

/// Positioned reads; shared between threads.
pub trait ReadAt: Send + Sync {
    /// Reads at most `buf.len()` bytes at `offset`; fewer only at the end.
    ///
    /// # Errors
    /// The medium's error.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize>;

    /// Size in bytes. Reads never go beyond it.
    fn size(&self) -> u64;

    /// Fills buffers one after the other from `offset` on, in as few reads as possible. Returns the number of valid bytes from the start,
    /// and the error if it was not the end.
    fn read_parts(&self, offset: u64, parts: &mut [Vec<u8>]) -> (u64, Option<io::Error>) {
        let mut done = 0;
        for part in parts {
            match self.read_at(offset.saturating_add(done), part) {
                Ok(n) => {
                    done += n as u64;
                    if n < part.len() {
                        break;
                    }
                }
                Err(error) => return (done, Some(error)),
            }
        }
        (done, None)
    }

    /// Number of concurrent reads of [`ReadAt::read_round`]; 1 if they are only sequential, so that callers should use several threads
    /// instead.
    fn at_once(&self) -> usize {
        1
    }

    /// Carries out several reads, each as [`ReadAt::read_parts`] would; in this order if they cannot run concurrently. Returns each one
    /// exactly once, in any order, with its number of valid bytes and its error.
    fn read_round(&self, reads: Vec<SourceRead>, done: &mut dyn FnMut(SourceRead, u64, Option<io::Error>)) {
        one_by_one(self, reads, done);
    }
}

/// Carries out several reads sequentially.
pub(crate) fn one_by_one<S: ReadAt + ?Sized>(
    source: &S,
    reads: Vec<SourceRead>,
    done: &mut dyn FnMut(SourceRead, u64, Option<io::Error>),
) {
    for mut read in reads {
        let (got, error) = source.read_parts(read.offset, &mut read.parts);
        done(read, got, error);
    }
}

/// One of several reads submitted together.
#[derive(Debug)]
pub struct SourceRead {
    /// Identifies the read for the caller.
    pub number: usize,
    /// First byte.
    pub offset: u64,
    /// Consecutive destination buffers.
    pub parts: Vec<Vec<u8>>,
}

impl ReadAt for [u8] {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.len());
        let rest = &self[start..];
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        Ok(n)
    }

    fn size(&self) -> u64 {
        u64::try_from(self.len()).unwrap_or(u64::MAX)
    }
}

impl ReadAt for Vec<u8> {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.as_slice().read_at(offset, buf)
    }

    fn size(&self) -> u64 {
        self.as_slice().size()
    }
}

/// A pointer to a source is a source.
macro_rules! forwarded {
    ($($pointer:ty),*) => {$(
        impl<T: ReadAt + ?Sized> ReadAt for $pointer {
            fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
                (**self).read_at(offset, buf)
            }

            fn size(&self) -> u64 {
                (**self).size()
            }

            fn read_parts(&self, offset: u64, parts: &mut [Vec<u8>]) -> (u64, Option<io::Error>) {
                (**self).read_parts(offset, parts)
            }

            fn at_once(&self) -> usize {
                (**self).at_once()
            }

            fn read_round(
                &self,
                reads: Vec<SourceRead>,
                done: &mut dyn FnMut(SourceRead, u64, Option<io::Error>),
            ) {
                (**self).read_round(reads, done);
            }
        }
    )*};
}

forwarded!(&T, Box<T>, Arc<T>);

/// Maximum number of buffers of one vectored read (IOV_MAX).
const MOST_PARTS: usize = 1024;

/// Alignment of memory, offsets and lengths for O_DIRECT: no device has larger sectors.
const ALIGNMENT: usize = 4096;

/// A file or a block device. If opened with O_DIRECT, it is read in aligned pieces through a bounce buffer, so that any byte range can be
/// read.
#[derive(Debug)]
pub struct FileSource {
    file: File,
    size: u64,
    direct: bool,
    /// Alignment of offsets and lengths for O_DIRECT: one sector for a block device and no more, so that its requests are the ones the
    /// policy made.
    unit: usize,
}

impl FileSource {
    /// Takes an open file; its size is the position of its end, which also works for block devices.
    ///
    /// # Errors
    /// If it cannot be sought in (a pipe).
    pub fn new(mut file: File) -> io::Result<Self> {
        let size = file.seek(SeekFrom::End(0))?;
        let direct = rustix::fs::fcntl_getfl(&file)?.contains(rustix::fs::OFlags::DIRECT);
        let sector = match file.metadata()?.file_type().is_block_device() {
            true => rustix::fs::ioctl_blksszget(&file).ok().and_then(|bytes| usize::try_from(bytes).ok()),
            false => None,
        };
        let unit = sector.filter(|&bytes| bytes.is_power_of_two()).unwrap_or(ALIGNMENT);
        Ok(Self { file, size, direct, unit })
    }

    /// Alignment of offsets, lengths and memory for reads of its descriptor: 1, unless opened with O_DIRECT.
    #[must_use]
    pub fn unit(&self) -> usize {
        if self.direct { self.unit } else { 1 }
    }

    /// Fills a buffer as far as the file reaches; returns how far it got and the error that stopped it.
    fn fill(&self, offset: u64, buf: &mut [u8]) -> (usize, Option<io::Error>) {
        let mut done = 0;
        while done < buf.len() {
            let Some(at) = offset.checked_add(done as u64) else {
                return (done, Some(io::ErrorKind::InvalidInput.into()));
            };
            match self.file.read_at(&mut buf[done..], at) {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return (done, Some(e)),
            }
            // An unaligned length is the end of the file; an unaligned offset may not be read.
            if self.direct && !done.is_multiple_of(self.unit) {
                break;
            }
        }
        (done, None)
    }

    /// Reads `bytes` bytes through an aligned buffer, and passes on the valid ones.
    fn fill_aligned(
        &self,
        offset: u64,
        bytes: usize,
        take: impl FnOnce(&[u8]),
    ) -> (usize, Option<io::Error>) {
        let before = usize::try_from(offset % self.unit as u64).unwrap_or(0);
        let length = (before + bytes).next_multiple_of(self.unit);
        let mut buffer = vec![0; length + ALIGNMENT];
        let start = buffer.as_ptr().align_offset(ALIGNMENT);
        let Some(aligned) = buffer.get_mut(start..start + length) else {
            return (0, Some(io::ErrorKind::OutOfMemory.into()));
        };
        let (got, error) = self.fill(offset - before as u64, aligned);
        let came = got.saturating_sub(before).min(bytes);
        take(aligned.get(before..before + came).unwrap_or_default());
        (came, if came < bytes { error } else { None })
    }
}

impl AsFd for FileSource {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl ReadAt for FileSource {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let (done, error) = if self.direct {
            let bytes = buf.len();
            self.fill_aligned(offset, bytes, |came| buf[..came.len()].copy_from_slice(came))
        } else {
            self.fill(offset, buf)
        };
        error.map_or(Ok(done), Err)
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn read_parts(&self, offset: u64, parts: &mut [Vec<u8>]) -> (u64, Option<io::Error>) {
        if self.direct {
            let bytes = parts.iter().map(Vec::len).sum();
            let (came, error) = self.fill_aligned(offset, bytes, |mut came| {
                for part in parts {
                    let (here, rest) = came.split_at(part.len().min(came.len()));
                    part[..here.len()].copy_from_slice(here);
                    came = rest;
                }
            });
            return (came as u64, error);
        }
        let mut done = 0;
        for some in parts.chunks_mut(MOST_PARTS) {
            let wanted: u64 = some.iter().map(|part| part.len() as u64).sum();
            let mut slices: Vec<IoSliceMut<'_>> = some.iter_mut().map(|part| IoSliceMut::new(part)).collect();
            let mut left = slices.as_mut_slice();
            let mut got = 0;
            while got < wanted {
                match rustix::io::preadv(&self.file, left, offset.saturating_add(done + got)) {
                    Ok(0) => return (done + got, None),
                    Ok(n) => {
                        got += n as u64;
                        IoSliceMut::advance_slices(&mut left, n);
                    }
                    Err(rustix::io::Errno::INTR) => {}
                    Err(error) => return (done + got, Some(error.into())),
                }
            }
            done += got;
        }
        (done, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_ends_where_it_ends() {
        let mut buf = [9; 4];
        assert_eq!(vec![1u8, 2, 3].read_at(1, &mut buf).unwrap(), 2);
        assert_eq!(buf, [2, 3, 9, 9]);
        assert_eq!(vec![1u8].read_at(u64::MAX, &mut buf).unwrap(), 0);
    }

    #[test]
    fn a_file_is_read_at_its_place() {
        let dir = fathom_testkit::TestDir::new();
        let path = dir.path().join("x");
        std::fs::write(&path, b"abcdef").unwrap();
        let source = FileSource::new(File::open(path).unwrap()).unwrap();
        let mut buf = [0; 4];
        assert_eq!((source.size(), source.read_at(4, &mut buf).unwrap()), (6, 2));
        assert_eq!(&buf[..2], b"ef");
        let mut parts = vec![vec![0; 2], vec![0; 1], vec![0; 5]];
        assert!(matches!(source.read_parts(1, &mut parts), (5, None)));
        assert_eq!(parts, [b"bc".to_vec(), b"d".to_vec(), b"ef\0\0\0".to_vec()]);
        let mut parts = vec![vec![0; 2], vec![0; 2]];
        assert!(matches!(b"xyz".to_vec().read_parts(0, &mut parts), (3, None)));
        assert_eq!(parts, [b"xy".to_vec(), b"z\0".to_vec()]);
    }

    /// Any range of a file of any length, bypassing the cache; on a memory file system O_DIRECT is refused or has no effect.
    #[test]
    fn a_file_is_read_past_the_cache() {
        use std::os::unix::fs::OpenOptionsExt;
        let dir = fathom_testkit::TestDir::new();
        let path = dir.path().join("x");
        let data: Vec<u8> = (0..20_001_u32).map(|n| (n % 251) as u8).collect();
        std::fs::write(&path, &data).unwrap();
        let flags = i32::try_from(rustix::fs::OFlags::DIRECT.bits()).unwrap();
        let Ok(file) = File::options().read(true).custom_flags(flags).open(&path) else {
            fathom_testkit::skip(
                "a_file_is_read_past_the_cache",
                "the test directory's file system has no O_DIRECT",
            );
            return;
        };
        let source = FileSource::new(file).unwrap();
        for (offset, bytes) in
            [(0, 4096), (1, 1), (4095, 8194), (511, 512), (19_000, 5000), (20_001, 1), (30_000, 9)]
        {
            let expected = data.get(offset..).unwrap_or_default();
            let expected = &expected[..expected.len().min(bytes)];
            let mut buf = vec![0; bytes];
            assert_eq!(source.read_at(offset as u64, &mut buf).unwrap(), expected.len(), "{offset}+{bytes}");
            assert_eq!(&buf[..expected.len()], expected);
            let mut parts = vec![vec![0; bytes / 2], vec![0; bytes - bytes / 2]];
            let (came, error) = source.read_parts(offset as u64, &mut parts);
            assert!(error.is_none() && came == expected.len() as u64);
            assert_eq!(&parts.concat()[..expected.len()], expected);
        }
    }
}
