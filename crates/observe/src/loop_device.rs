//! Loop devices over our own files: attached with direct I/O to the file below where possible, and detached again. A read-only one
//! detaches itself when its last user is gone, even if the program is killed.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

/// Purpose of a loop device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// A writable disk; stays until detached.
    Written,
    /// Read-only; stays as long as it is open anywhere.
    Read,
}

/// A file attached to a device.
#[derive(Debug)]
pub(crate) struct Attached {
    pub(crate) path: PathBuf,
    /// Keeps the device open, so that a self-detaching one stays.
    _open: File,
    /// Whether it bypasses the page cache of the file system below.
    pub(crate) past_the_cache: bool,
}

/// A file as a read-only block device. It is detached on drop and at the end of the process.
#[derive(Debug)]
pub struct ReadOnlyLoop {
    attached: Attached,
}

impl ReadOnlyLoop {
    /// Attaches a file.
    ///
    /// # Errors
    /// If no loop device is available (that takes root and /dev/loop-control), or the file cannot be opened.
    pub fn over(file: &Path) -> io::Result<Self> {
        Ok(Self { attached: attach(&File::open(file)?, Access::Read)? })
    }

    /// "/dev/loop3".
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.attached.path
    }

    /// "loop3".
    #[must_use]
    pub fn name(&self) -> &str {
        self.attached.path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
    }

    /// Whether the file is read with direct I/O; otherwise repeated reads are served from memory.
    #[must_use]
    pub fn goes_past_the_cache(&self) -> bool {
        self.attached.past_the_cache
    }
}

const LOOP_CTL_GET_FREE: libc::Ioctl = 0x4c82;
const LOOP_CONFIGURE: libc::Ioctl = 0x4c0a;
const LOOP_CLR_FD: libc::Ioctl = 0x4c01;
const LOOP_GET_STATUS64: libc::Ioctl = 0x4c05;
const LO_FLAGS_READ_ONLY: u32 = 1;
const LO_FLAGS_AUTOCLEAR: u32 = 4;
const LO_FLAGS_DIRECT_IO: u32 = 16;

/// `struct loop_info64` of the kernel.
#[repr(C)]
#[derive(Clone, Copy)]
struct LoopInfo {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

/// `struct loop_config` of the kernel.
#[repr(C)]
struct LoopConfig {
    fd: u32,
    block_size: u32,
    info: LoopInfo,
    reserved: [u64; 8],
}

/// Attaches a file to a free loop device, with direct I/O if possible. If another program takes the free device first, tries the next
/// one.
pub(crate) fn attach(image: &File, access: Access) -> io::Result<Attached> {
    let control = OpenOptions::new().read(true).write(true).open("/dev/loop-control")?;
    let always = if access == Access::Read { LO_FLAGS_READ_ONLY | LO_FLAGS_AUTOCLEAR } else { 0 };
    let mut last = io::Error::from_raw_os_error(libc::EBUSY);
    for _ in 0..16 {
        // SAFETY: this ioctl takes no argument.
        let number = unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE) };
        if number < 0 {
            return Err(io::Error::last_os_error());
        }
        let path = PathBuf::from(format!("/dev/loop{number}"));
        let file = OpenOptions::new().read(true).write(access == Access::Written).open(&path)?;
        for flags in [LO_FLAGS_DIRECT_IO, 0] {
            match configure(&file, image, always | flags) {
                Ok(()) => {
                    // The kernel may accept the flag without honouring it.
                    let sysfs = format!("/sys/block/loop{number}/loop/dio");
                    let direct = std::fs::read_to_string(sysfs).map_or(flags != 0, |dio| dio.trim() == "1");
                    return Ok(Attached { path, _open: file, past_the_cache: direct });
                }
                Err(e) if e.raw_os_error() == Some(libc::EINVAL) && flags != 0 => {}
                Err(e) if e.raw_os_error() == Some(libc::EBUSY) => {
                    last = e;
                    break;
                }
                Err(e) => return Err(e),
            }
        }
    }
    Err(last)
}

fn configure(device: &File, image: &File, flags: u32) -> io::Result<()> {
    // SAFETY: a structure of integers, for which all zeros is valid.
    let mut config: LoopConfig = unsafe { std::mem::zeroed() };
    config.fd = image.as_raw_fd().cast_unsigned();
    config.info.flags = flags;
    // SAFETY: `config` is the structure that this ioctl reads, and outlives the call.
    if unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CONFIGURE, &raw const config) } == 0 {
        return Ok(());
    }
    Err(io::Error::last_os_error())
}

/// An open loop device with a backing file. The file's name may change at any time; its device and inode numbers identify it.
#[derive(Debug)]
pub(crate) struct OpenLoop {
    open: File,
    name: OsString,
    device: u64,
    inode: u64,
}

impl OpenLoop {
    /// The names of all loop devices whose backing files have, or had when removed, this name.
    pub(crate) fn on_files_named(called: &str) -> Vec<OsString> {
        let blocks = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
        let is_called = |block: &OsString| match file_below(block) {
            Ok((file, _)) => file.file_name().is_some_and(|name| name == called),
            // A name too long to be reported may be any.
            Err(e) => !is_gone(&e),
        };
        blocks.map(|block| block.file_name()).filter(is_called).collect()
    }

    /// Opens one; keep it only briefly, because it cannot be detached while open. `None` if it has no backing file (any more).
    ///
    /// # Errors
    /// If it cannot be examined.
    pub(crate) fn open(name: OsString) -> io::Result<Option<Self>> {
        let unless_gone = |e: io::Error| if is_gone(&e) { Ok(None) } else { Err(e) };
        let open = match File::open(Path::new("/dev").join(&name)) {
            Ok(open) => open,
            Err(e) => return unless_gone(e),
        };
        if !open.metadata()?.file_type().is_block_device() {
            return Ok(None);
        }
        // SAFETY: a structure of integers, for which all zeros is valid.
        let mut info: LoopInfo = unsafe { std::mem::zeroed() };
        // SAFETY: `info` is the structure that this ioctl fills, and outlives the call.
        if unsafe { libc::ioctl(open.as_raw_fd(), LOOP_GET_STATUS64, &raw mut info) } != 0 {
            return unless_gone(io::Error::last_os_error());
        }
        Ok(Some(Self { open, name, device: info.device, inode: info.inode }))
    }

    /// "/dev/loop3".
    pub(crate) fn path(&self) -> PathBuf {
        Path::new("/dev").join(&self.name)
    }

    /// Number of the device that holds its backing file.
    pub(crate) fn device(&self) -> u64 {
        self.device
    }

    /// The backing file's current name, and whether it still exists; `None` if there is no backing file any more.
    ///
    /// # Errors
    /// If the kernel does not report it.
    pub(crate) fn file(&self) -> io::Result<Option<(PathBuf, bool)>> {
        file_below(&self.name).map(Some).or_else(|e| if is_gone(&e) { Ok(None) } else { Err(e) })
    }

    /// Whether its backing file is this open file.
    pub(crate) fn is_on(&self, file: BorrowedFd<'_>) -> bool {
        rustix::fs::fstat(file).is_ok_and(|about| (about.st_dev, about.st_ino) == (self.device, self.inode))
    }

    /// Detaches it. One already detached is no error.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub(crate) fn detach(&self) -> io::Result<()> {
        // SAFETY: this ioctl takes no argument.
        let done = unsafe { libc::ioctl(self.open.as_raw_fd(), LOOP_CLR_FD) };
        let error = io::Error::last_os_error();
        if done == 0 || is_gone(&error) { Ok(()) } else { Err(error) }
    }
}

/// The backing file's current name and whether it still exists; for a removed file, its last name.
fn file_below(name: &OsStr) -> io::Result<(PathBuf, bool)> {
    let text = std::fs::read(Path::new("/sys/block").join(name).join("loop/backing_file"))?;
    let text = text.strip_suffix(b"\n").unwrap_or(&text);
    let removed = text.strip_suffix(b" (deleted)");
    let file = OsStr::from_bytes(removed.unwrap_or(text)).into();
    Ok((file, removed.is_none()))
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENXIO | libc::ENODEV))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt as _;

    #[test]
    fn a_device_that_is_only_read_goes_with_its_last_user() {
        let test = "a_device_that_is_only_read_goes_with_its_last_user";
        if !fathom_testkit::need_root(test) {
            return;
        }
        let dir = fathom_testkit::TestDir::new();
        let path = dir.path().join("image");
        std::fs::write(&path, vec![7; 1 << 20]).expect("a file");
        let Ok(device) = ReadOnlyLoop::over(&path) else {
            return fathom_testkit::skip(test, "no loop device can be had");
        };
        let name = device.name().to_owned();
        let mut first = [0; 4];
        device.attached._open.read_exact_at(&mut first, 4096).expect("readable");
        assert_eq!(first, [7; 4]);
        let backing = format!("/sys/block/{name}/loop/backing_file");
        let ours = || {
            let text = std::fs::read_to_string(&backing).unwrap_or_default();
            Path::new(text.trim()) == path
        };
        // Some kernels let a read-only device be opened for writing, and refuse the write.
        let written = OpenOptions::new()
            .write(true)
            .open(device.path())
            .and_then(|file| file.write_all_at(&[0; 512], 0).and_then(|()| file.sync_all()));
        assert!(ours() && written.is_err(), "{written:?}");
        assert_eq!(std::fs::read(&path).expect("the file"), vec![7; 1 << 20]);
        drop(device);
        // udev may keep it open a little longer.
        let begun = std::time::Instant::now();
        while ours() && begun.elapsed() < std::time::Duration::from_secs(20) {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert!(!ours(), "{name}");
    }
}
