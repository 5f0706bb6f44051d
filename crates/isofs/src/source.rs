//! What an image is read from: anything that gives bytes at a position and knows its size. Files, block devices and memory here;
//! a scheduled, cached device is one more implementation.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// Positioned reads; shared between threads.
pub trait ReadAt: Send + Sync {
    /// Reads at most `buf.len()` bytes at `offset`; fewer only at the end.
    ///
    /// # Errors
    /// What the medium says.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize>;

    /// Size in bytes. Nothing is asked for beyond it.
    fn size(&self) -> u64;
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

impl<T: ReadAt + ?Sized> ReadAt for &T {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        (**self).read_at(offset, buf)
    }

    fn size(&self) -> u64 {
        (**self).size()
    }
}

impl<T: ReadAt + ?Sized> ReadAt for Box<T> {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        (**self).read_at(offset, buf)
    }

    fn size(&self) -> u64 {
        (**self).size()
    }
}

impl<T: ReadAt + ?Sized> ReadAt for Arc<T> {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        (**self).read_at(offset, buf)
    }

    fn size(&self) -> u64 {
        (**self).size()
    }
}

/// A file or a block device.
#[derive(Debug)]
pub struct FileSource {
    file: File,
    size: u64,
}

impl FileSource {
    /// Takes an open file; its size is where its end is, which also holds for block devices.
    ///
    /// # Errors
    /// If it cannot be sought in (a pipe).
    pub fn new(mut file: File) -> io::Result<Self> {
        let size = file.seek(SeekFrom::End(0))?;
        Ok(Self { file, size })
    }
}

impl ReadAt for FileSource {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < buf.len() {
            let at = offset.checked_add(u64::try_from(done).unwrap_or(u64::MAX));
            let at = at.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
            match self.file.read_at(&mut buf[done..], at) {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(done)
    }

    fn size(&self) -> u64 {
        self.size
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
    }
}
