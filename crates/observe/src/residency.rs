//! How much of a file is in the page cache, and verified eviction.
//!
//! Uses `cachestat` (Linux 6.5), which counts cached, dirty and write-back pages in one call. Older kernels have only `mincore` over a
//! mapping, which reports only cached pages, and truthfully only for files that we own or may write; others are not queried. On an
//! overlay, cachestat counts the overlay's own mapping, which is always empty: the pages belong to the file in the layer below. That file
//! is queried if visible; otherwise mincore, because a mapping does lead to it. A query costs one open and two or three calls per file
//! and disturbs nothing: no page is touched.

use crate::cache::overlay;
use crate::files::c_string;
use fathom_record::Residency;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Why residency is unknown, or a file could not be evicted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResidencyError {
    /// The file could not be opened or examined.
    #[error("{} could not be examined: {source}", path.display())]
    File {
        /// Its path.
        path: PathBuf,
        /// The error of the system call.
        source: io::Error,
    },
    /// Not a regular file: a directory, a device, a pipe.
    #[error("{} is no regular file, and only the cached pages of those are counted", path.display())]
    NotRegular {
        /// Its path.
        path: PathBuf,
    },
    /// Neither call is available for the file.
    #[error("the kernel does not tell which pages of {} are cached: cachestat (Linux 6.5) answers {source} there, and mincore tells the truth only about files that we own or may write", path.display())]
    NotTold {
        /// Its path.
        path: PathBuf,
        /// The error of cachestat.
        source: io::Error,
    },
    /// Dirty pages could not be written, or pages not dropped.
    #[error("the pages of {} could not be dropped from the cache: {call} answers {source}", path.display())]
    Evict {
        /// Its path.
        path: PathBuf,
        /// The failed call.
        call: &'static str,
        /// The error of the call.
        source: io::Error,
    },
}

/// Total residency of the files; `None` where the kernel does not report it. [`measure`] also returns the reason.
#[must_use]
pub fn of(paths: &[PathBuf]) -> Option<Residency> {
    measure(paths).ok()
}

/// Total residency of the files. Empty and missing files count 0 pages. Where only mincore is available, dirty and write-back pages are
/// unknown and count 0.
pub fn measure(paths: &[PathBuf]) -> Result<Residency, ResidencyError> {
    let mut all = Residency::default();
    for path in paths {
        let one = of_file(path)?;
        all.total_pages += one.total_pages;
        all.cached_pages += one.cached_pages;
        all.dirty_pages += one.dirty_pages;
        all.writeback_pages += one.writeback_pages;
    }
    Ok(all)
}

/// Writes a file's dirty pages back, drops its pages from the page cache, and returns the remaining residency; 0 cached pages proves the
/// eviction. Pages that a process has mapped or locked stay.
pub fn evict(path: &Path) -> Result<Residency, ResidencyError> {
    let file = open(path)?;
    let failed = |call| ResidencyError::Evict { path: path.into(), call, source: io::Error::last_os_error() };
    // The advice has no effect on dirty pages, so write them first.
    // SAFETY: the descriptor is open for the whole call.
    if unsafe { libc::fdatasync(file.as_raw_fd()) } != 0 {
        return Err(failed("fdatasync"));
    }
    let mut left = Residency::default();
    // Pages in a CPU's private batch are skipped; the attempt itself flushes the batches, so a second one finds them.
    for _ in 0..3 {
        // SAFETY: the descriptor is open; the call takes no pointer.
        let refused = unsafe { libc::posix_fadvise64(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
        if refused != 0 {
            let source = io::Error::from_raw_os_error(refused);
            return Err(ResidencyError::Evict { path: path.into(), call: "posix_fadvise", source });
        }
        left = of_open(path, &file)?;
        if left.cached_pages == 0 {
            break;
        }
    }
    Ok(left)
}

fn of_file(path: &Path) -> Result<Residency, ResidencyError> {
    match open(path) {
        Ok(file) => of_open(path, &file),
        Err(ResidencyError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            Ok(Residency::default())
        }
        Err(e) => Err(e),
    }
}

/// Opens a regular file. Not by the standard library's call, because opening a pipe must not block.
fn open(path: &Path) -> Result<File, ResidencyError> {
    let failed = |source| ResidencyError::File { path: path.into(), source };
    let c_path = c_string(path).map_err(failed)?;
    let flags = libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NONBLOCK | libc::O_NOCTTY;
    // SAFETY: a NUL-terminated string that outlives the call.
    let descriptor = unsafe { libc::open(c_path.as_ptr(), flags) };
    if descriptor < 0 {
        return Err(failed(io::Error::last_os_error()));
    }
    // SAFETY: the descriptor was just opened and has no other owner.
    let file = unsafe { File::from_raw_fd(descriptor) };
    if file.metadata().map_err(failed)?.is_file() {
        Ok(file)
    } else {
        Err(ResidencyError::NotRegular { path: path.into() })
    }
}

fn of_open(path: &Path, file: &File) -> Result<Residency, ResidencyError> {
    let metadata = file.metadata().map_err(|source| ResidencyError::File { path: path.into(), source })?;
    let total_pages = metadata.len().div_ceil(page_bytes());
    if total_pages == 0 {
        return Ok(Residency::default());
    }
    let mut residency = match cachestat_of_pages(file, WHOLE) {
        Ok(residency) => residency,
        Err(source) if may_ask_mincore(path, &metadata) => {
            let cached = mincore(file, metadata.len())
                .map_err(|_| ResidencyError::NotTold { path: path.into(), source })?;
            Residency { cached_pages: cached, ..Residency::default() }
        }
        Err(source) => return Err(ResidencyError::NotTold { path: path.into(), source }),
    };
    residency.total_pages = total_pages;
    // A large folio may extend beyond the end of the file.
    residency.cached_pages = residency.cached_pages.min(total_pages);
    residency.dirty_pages = residency.dirty_pages.min(total_pages);
    residency.writeback_pages = residency.writeback_pages.min(total_pages);
    Ok(residency)
}

pub(crate) fn page_bytes() -> u64 {
    // SAFETY: the call takes a constant and has no side effect.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(size).ok().filter(|&n| n > 0).unwrap_or(4096)
}

/// Number of the system call, the same on every architecture (as for all calls from 424 on).
const SYS_CACHESTAT: libc::c_long = 451;

/// The queried part of the file; a length of 0 means up to its end.
#[repr(C)]
struct CachestatRange {
    off: u64,
    len: u64,
}

const WHOLE: CachestatRange = CachestatRange { off: 0, len: 0 };

/// The kernel's answer, in pages.
#[repr(C)]
#[derive(Default)]
struct Cachestat {
    nr_cache: u64,
    nr_dirty: u64,
    nr_writeback: u64,
    nr_evicted: u64,
    nr_recently_evicted: u64,
}

/// Whether the kernel reports no dirty or write-back pages in a part of the file. If it does not report them (on an overlay, before Linux
/// 6.5), the answer is false, so that possible data is left alone.
pub(crate) fn is_clean(file: &File, start: u64, length: u64) -> bool {
    let residency = cachestat_of_pages(file, CachestatRange { off: start, len: length });
    residency.is_ok_and(|r| r.dirty_pages == 0 && r.writeback_pages == 0)
}

/// cachestat of the file whose mapping holds the pages: on an overlay, the layer's file if it is visible.
fn cachestat_of_pages(file: &File, range: CachestatRange) -> io::Result<Residency> {
    if !on_overlay(file) {
        return cachestat(file, range);
    }
    let name = format!("/proc/self/fd/{}", file.as_raw_fd());
    let layer = std::fs::read_link(name).ok().and_then(|path| overlay::layer_file(&path));
    layer.map_or(Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)), |layer| cachestat(&layer, range))
}

/// Whether the kernel reports dirty pages of these files, judged by the first existing one: mincore does not.
#[must_use]
pub fn tells_dirty(paths: &[PathBuf]) -> bool {
    let file = paths.iter().find_map(|path| open(path).ok());
    file.is_none_or(|file| cachestat_of_pages(&file, WHOLE).is_ok())
}

/// An overlay's type number in statfs.
const OVERLAYFS_SUPER_MAGIC: u64 = 0x794c_7630;

fn on_overlay(file: &File) -> bool {
    let mut about = MaybeUninit::<libc::statfs64>::uninit();
    // SAFETY: the descriptor is open, and the buffer has the structure's size and outlives the call.
    if unsafe { libc::fstatfs64(file.as_raw_fd(), about.as_mut_ptr()) } != 0 {
        return false;
    }
    // SAFETY: the call succeeded, so it has filled the structure.
    let about = unsafe { about.assume_init() };
    // The type of the field differs between architectures; the number fits all of them.
    about.f_type as u64 == OVERLAYFS_SUPER_MAGIC
}

/// Cached pages of a file; `None` where the kernel does not report them. Unlike [`of`], no page is looked at one by one.
pub(crate) fn cached_pages(path: &Path) -> Option<u64> {
    Some(cachestat_of_pages(&open(path).ok()?, WHOLE).ok()?.cached_pages)
}

fn cachestat(file: &File, range: CachestatRange) -> io::Result<Residency> {
    let mut answer = Cachestat::default();
    // SAFETY: the descriptor is open, both structures have the kernel's layout and outlive the call, flags are 0.
    let done =
        unsafe { libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), &raw const range, &raw mut answer, 0u32) };
    if done != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Residency {
        total_pages: 0,
        cached_pages: answer.nr_cache,
        dirty_pages: answer.nr_dirty,
        writeback_pages: answer.nr_writeback,
    })
}

/// Whether mincore reports the truth about this file.
fn may_ask_mincore(path: &Path, metadata: &std::fs::Metadata) -> bool {
    // SAFETY: the call takes no arguments and cannot fail.
    let us = unsafe { libc::geteuid() };
    if us == 0 || metadata.uid() == us {
        return true;
    }
    let Ok(c_path) = c_string(path) else { return false };
    // SAFETY: a NUL-terminated string that outlives the call.
    unsafe { libc::faccessat(libc::AT_FDCWD, c_path.as_ptr(), libc::W_OK, libc::AT_EACCESS) == 0 }
}

/// Bytes mapped at a time: the result takes one byte per page, 256 KiB for this size.
const WINDOW_BYTES: u64 = 1 << 30;

/// Cached pages of the first `length` bytes.
fn mincore(file: &File, length: u64) -> io::Result<u64> {
    let mut cached = 0;
    let mut from = 0;
    while from < length {
        let part = (length - from).min(WINDOW_BYTES);
        cached += mincore_window(file, from, part)?;
        from += part;
    }
    Ok(cached)
}

fn mincore_window(file: &File, from: u64, length: u64) -> io::Result<u64> {
    let too_far = |_| io::Error::from(io::ErrorKind::InvalidInput);
    let bytes = usize::try_from(length).map_err(too_far)?;
    let offset = libc::off64_t::try_from(from).map_err(too_far)?;
    let pages = usize::try_from(length.div_ceil(page_bytes())).map_err(too_far)?;
    let mut answer = vec![0u8; pages];
    // SAFETY: a new mapping at an address of the kernel's choice; it replaces none of our mappings and is never accessed.
    let map = unsafe {
        libc::mmap64(std::ptr::null_mut(), bytes, libc::PROT_NONE, libc::MAP_SHARED, file.as_raw_fd(), offset)
    };
    if map == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the mapping has `bytes` bytes, and the buffer one byte for each of its pages.
    let done = unsafe { libc::mincore(map, bytes, answer.as_mut_ptr()) };
    let result = if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) };
    // SAFETY: exactly the mapping made above, which has no other user.
    unsafe { libc::munmap(map, bytes) };
    result.map(|()| answer.iter().filter(|&&page| page & 1 == 1).count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file_of(bytes: usize) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("file");
        std::fs::write(&path, vec![7; bytes]).expect("writes");
        (dir, path)
    }

    #[test]
    fn an_empty_or_missing_file_has_no_pages() {
        let (dir, path) = file_of(0);
        let missing = dir.path().join("missing");
        assert_eq!(of(&[path, missing]), Some(Residency::default()));
        assert_eq!(of(&[]), Some(Residency::default()));
    }

    #[test]
    fn what_is_no_file_is_refused() {
        let (dir, _) = file_of(0);
        assert!(matches!(measure(&[dir.path().to_path_buf()]), Err(ResidencyError::NotRegular { .. })));
        assert!(of(&["/dev/null".into()]).is_none());
    }

    #[test]
    fn a_file_just_written_is_cached_and_can_be_dropped() {
        let (_dir, path) = file_of(10 * 4096 + 1);
        let before = match measure(std::slice::from_ref(&path)) {
            Ok(before) => before,
            Err(e) => {
                println!("skipped a_file_just_written_is_cached_and_can_be_dropped: {e}");
                return;
            }
        };
        assert_eq!(before.total_pages, (10 * 4096 + 1u64).div_ceil(page_bytes()));
        assert!(before.cached_pages <= before.total_pages);
        let left = evict(&path).expect("drops");
        assert_eq!(left.dirty_pages, 0, "fdatasync cleans");
        if crate::device::stack_of(&path).method == "memory" {
            // In a tmpfs the page cache is the file.
            assert_eq!(left.cached_pages, left.total_pages);
        } else if before.cached_pages > 0 {
            assert!(left.cached_pages < before.cached_pages, "{before:?} then {left:?}");
        }
    }

    #[test]
    fn both_ways_of_asking_agree() {
        let (_dir, path) = file_of(64 * 4096);
        let file = open(&path).expect("opens");
        let by_mapping = mincore(&file, 64 * 4096).expect("mincore is as old as Linux");
        assert!(by_mapping <= 64);
        match cachestat(&file, WHOLE) {
            // Reclaim may evict pages between the two queries.
            Ok(by_call) => assert!(
                by_call.cached_pages.abs_diff(by_mapping) <= 16,
                "{} {by_mapping}",
                by_call.cached_pages
            ),
            Err(e) => println!("skipped half of both_ways_of_asking_agree: cachestat answers {e}"),
        }
    }

    /// An overlay over two directories below a test directory, which unmounts it.
    fn overlay(test: &str) -> Option<(fathom_testkit::TestDir, PathBuf)> {
        let dir = fathom_testkit::TestDir::new();
        let [lower, upper, work, merged] = ["lower", "upper", "work", "merged"].map(|name| dir.subdir(name));
        let layers =
            format!("lowerdir={},upperdir={},workdir={}", lower.display(), upper.display(), work.display());
        let (target, layers) =
            (c_string(&merged).expect("a path"), c_string(Path::new(&layers)).expect("text"));
        let kind = c"overlay".as_ptr();
        // SAFETY: all strings are NUL-terminated and outlive the call.
        let done = unsafe { libc::mount(kind, target.as_ptr(), kind, 0, layers.as_ptr().cast()) };
        if done != 0 {
            let why = format!("an overlay could not be mounted: {}", io::Error::last_os_error());
            fathom_testkit::skip(test, &why);
            return None;
        }
        Some((dir, merged))
    }

    #[test]
    fn files_of_an_overlay_show_the_pages_of_their_layer() {
        let Some((_dir, merged)) = overlay("files_of_an_overlay_show_the_pages_of_their_layer") else {
            return;
        };
        let path = merged.join("file");
        std::fs::write(&path, vec![7; 64 * 4096]).expect("writes");
        let file = open(&path).expect("opens");
        assert!(on_overlay(&file));
        let found = measure(std::slice::from_ref(&path)).expect("mincore is as old as Linux");
        // Reclaim may evict some; the overlay's own mapping would have none at all.
        assert!(found.cached_pages >= found.total_pages / 2, "{found:?}");
        if tells_dirty(std::slice::from_ref(&path)) {
            assert!(found.dirty_pages > 0, "just written: {found:?}");
        }
        assert!(!is_clean(&file, 0, 64 * 4096), "dirty, or nobody tells: either way it is not called clean");
    }

    #[test]
    fn other_files_lie_on_no_overlay() {
        let file = open(Path::new("/proc/self/status")).expect("opens");
        assert!(!on_overlay(&file));
    }
}
