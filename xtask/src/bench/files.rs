//! The files the contenders work on: random data, an unwritten one, one in the page cache. They lie in the bench's own directory;
//! a peer that needs a specific name gets a hard link, so that all read the same pages of the same file.

use anyhow::{Context as _, Result, ensure};
use std::fs::File;
use std::io::Read as _;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

/// What a case works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Random data, only read.
    Data,
    /// Large enough for one pass of about half a second. IOzone's own data if IOzone is there, because it checks what it reads.
    Pass,
    /// Random data, written by the contenders, a quarter of the size.
    Scratch,
    /// Allocated and never written: direct reads of it meet the whole path but no device.
    Unwritten,
}

/// The files made so far.
pub struct Files {
    dir: PathBuf,
    data_bytes: u64,
    iozone: Option<PathBuf>,
}

impl Files {
    pub fn new(dir: &Path, file_mib: u64, iozone: Option<&Path>) -> Self {
        Self { dir: dir.to_owned(), data_bytes: file_mib << 20, iozone: iozone.map(Path::to_owned) }
    }

    /// The file and its size; made when it is first asked for.
    pub fn get(&self, kind: Kind) -> Result<(PathBuf, u64)> {
        let (name, bytes) = match kind {
            Kind::Data => ("data", self.data_bytes),
            Kind::Pass => ("pass", self.data_bytes * 4),
            Kind::Scratch => ("scratch", self.data_bytes / 4),
            Kind::Unwritten => ("unwritten", self.data_bytes),
        };
        let path = self.dir.join(name);
        if !path.exists() {
            let made = match (kind, &self.iozone) {
                (Kind::Unwritten, _) => allocate(&path, bytes),
                (Kind::Pass, Some(iozone)) => super::peers::iozone::write(iozone, &path, bytes),
                _ => random(&path, bytes),
            };
            made.with_context(|| {
                format!("the file {} of {} MiB could not be made", path.display(), bytes >> 20)
            })?;
        }
        Ok((path, bytes))
    }
}

/// Writes a file of random bytes and makes it durable.
pub fn random(path: &Path, bytes: u64) -> Result<()> {
    let mut random = File::open("/dev/urandom")?.take(bytes);
    let mut file = File::create(path)?;
    std::io::copy(&mut random, &mut file)?;
    file.sync_all()?;
    Ok(())
}

/// A file whose blocks are reserved and were never written.
pub fn allocate(path: &Path, bytes: u64) -> Result<()> {
    let file = File::create(path)?;
    // SAFETY: the descriptor is open; no memory is handed over.
    let failed = unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, bytes as libc::off_t) };
    ensure!(failed == 0, "fallocate: {}", std::io::Error::last_os_error());
    file.sync_all()?;
    Ok(())
}

/// Another name for a file.
pub fn link(from: &Path, to: &Path) -> Result<()> {
    if let Some(dir) = to.parent() {
        std::fs::create_dir_all(dir)?;
    }
    if to.exists() {
        std::fs::remove_file(to)?;
    }
    Ok(std::fs::hard_link(from, to)?)
}

/// Writes a file's dirty pages back, so that one contender's do not burden the next.
pub fn settle(path: &Path) -> Result<()> {
    Ok(File::open(path)?.sync_all()?)
}

/// Puts the whole file into the page cache, and says which share of it lay there before.
pub fn warm(path: &Path) -> Result<f64> {
    let before = Mapping::of(path)?.resident_share()?;
    if before < 1.0 {
        std::io::copy(&mut File::open(path)?, &mut std::io::sink())?;
    }
    Ok(before)
}

/// Writes back and drops what the page cache holds of a file.
pub fn evict(path: &Path) -> Result<()> {
    let file = File::open(path)?;
    file.sync_all()?;
    // SAFETY: the descriptor is open; no memory is handed over.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
    Ok(())
}

/// A file mapped to be looked at or locked; it is not read through the mapping.
pub struct Mapping {
    base: *mut libc::c_void,
    length: usize,
}

impl Mapping {
    pub fn of(path: &Path) -> Result<Self> {
        let file = File::open(path)?;
        let length = file.metadata()?.len() as usize;
        // SAFETY: a new read-only mapping, unmapped when this is dropped.
        let base = unsafe {
            libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        ensure!(
            base != libc::MAP_FAILED,
            "{} cannot be mapped: {}",
            path.display(),
            std::io::Error::last_os_error()
        );
        Ok(Self { base, length })
    }

    /// Locks the file's pages in the page cache until this is dropped: some kernels evict pages nobody has mapped, and then a
    /// "cached" read is a device read. Whether it worked; it needs the right to lock that much memory.
    pub fn lock(&self) -> bool {
        // SAFETY: the range is this mapping.
        unsafe { libc::mlock(self.base, self.length) == 0 }
    }

    /// Share of the pages that lie in the page cache.
    pub fn resident_share(&self) -> Result<f64> {
        let mut pages = vec![0u8; self.length.div_ceil(4096)];
        // SAFETY: the range is this mapping, and there is a byte for each of its pages (of 4 KiB at least).
        let failed = unsafe { libc::mincore(self.base, self.length, pages.as_mut_ptr()) };
        ensure!(failed == 0, "mincore: {}", std::io::Error::last_os_error());
        Ok(pages.iter().filter(|page| **page & 1 == 1).count() as f64 / pages.len() as f64)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped in `of` with this length, and nothing points into it.
        unsafe { libc::munmap(self.base, self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_made_once_with_the_size_of_their_kind() {
        let dir = tempfile::tempdir().unwrap();
        let files = Files::new(dir.path(), 4, None);
        for (kind, mib) in [(Kind::Data, 4), (Kind::Scratch, 1), (Kind::Pass, 16)] {
            let (path, bytes) = files.get(kind).unwrap();
            assert_eq!((bytes, path.metadata().unwrap().len()), (mib << 20, mib << 20));
            let made = path.metadata().unwrap().modified().unwrap();
            assert_eq!(files.get(kind).unwrap().0.metadata().unwrap().modified().unwrap(), made);
        }
    }

    #[test]
    fn a_warmed_file_is_resident_and_has_other_names() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        random(&path, 1 << 20).unwrap();
        warm(&path).unwrap();
        assert_eq!(Mapping::of(&path).unwrap().resident_share().unwrap(), 1.0);
        let other = dir.path().join("below/b");
        link(&path, &other).unwrap();
        link(&path, &other).unwrap();
        assert_eq!(std::fs::read(path).unwrap(), std::fs::read(other).unwrap());
    }
}
