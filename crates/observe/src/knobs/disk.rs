//! A file system of a chosen kind on a loop device, made for a measurement: a directory `.fathom-sweep-PID-N` with an image and a mount
//! point in it. The journal knows the directory before anything is in it; everything else follows from it, so that it can be
//! taken down after any end: what is mounted at its mount point, the loop devices over its image, the image.

use super::error::KnobError;
use super::journal::{Fact, Journal};
use crate::device::mount;
use crate::files::c_string;
use crate::loop_device::{Access, attach, detach};
use fathom_state::Identity;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// What a disk's directory is called.
const PREFIX: &str = ".fathom-sweep-";
const IMAGE: &str = "image";
const MOUNT_POINT: &str = "mnt";

/// What is wanted.
#[derive(Clone, Debug)]
pub struct DiskPlan {
    /// Directory for the image.
    pub directory: PathBuf,
    /// Size of the image.
    pub bytes: u64,
}

/// A loop device with or without a file system on it.
#[derive(Debug)]
pub struct Disk {
    directory: PathBuf,
    device: PathBuf,
    /// Whether what it moves passes the page cache of the file system its image lies on.
    past_the_cache: bool,
}

/// What is put on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSystem {
    /// "ext4", "xfs", "btrfs", or whatever there is a mkfs for.
    pub kind: String,
    /// Further words for mkfs.
    pub mkfs: Vec<String>,
    /// Mount options, separated by commas; may be empty.
    pub mount: String,
}

impl Disk {
    pub(crate) fn attach(plan: &DiskPlan, journal: &mut Journal) -> Result<Self, KnobError> {
        let above = fs::canonicalize(&plan.directory)
            .map_err(|e| trouble(&plan.directory, "cannot be used for the image", e))?;
        let directory = own_directory(&above)?;
        let identity = Identity::of_ours(&directory)
            .ok_or_else(|| trouble(&directory, "vanished", io::Error::from(io::ErrorKind::NotFound)))?;
        if identity.is_unproven() {
            let _ = fs::remove_dir(&directory);
            let why = io::Error::from(io::ErrorKind::Unsupported);
            return Err(trouble(
                &above,
                "keeps nothing that tells our files from others: choose another directory for the image",
                why,
            ));
        }
        if let Err(e) = journal.note(&[Fact::Disk(directory.clone(), identity)]) {
            // Still empty, and nobody would know of it.
            let _ = fs::remove_dir(&directory);
            return Err(e);
        }
        let mount_point = directory.join(MOUNT_POINT);
        fs::create_dir(&mount_point).map_err(|e| trouble(&mount_point, "could not be made", e))?;
        let image = directory.join(IMAGE);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&image)
            .map_err(|e| trouble(&image, "could not be made", e))?;
        allocate(&file, plan.bytes).map_err(|e| trouble(&image, "could not be given its size", e))?;
        let attached = attach(&file, Access::Written).map_err(|e| KnobError::Disk {
            what: format!(
                "no loop device could be had for {}: it needs root and /dev/loop-control",
                image.display()
            ),
            error: e,
        })?;
        let (device, past_the_cache) = (attached.path, attached.past_the_cache);
        Ok(Self { directory, device, past_the_cache })
    }

    /// "/dev/loop3".
    #[must_use]
    pub fn device(&self) -> &Path {
        &self.device
    }

    /// Where its file system is mounted.
    #[must_use]
    pub fn mount_point(&self) -> PathBuf {
        self.directory.join(MOUNT_POINT)
    }

    /// Whether the loop device goes past the page cache of the file system below.
    #[must_use]
    pub fn goes_past_the_cache(&self) -> bool {
        self.past_the_cache
    }

    /// Makes a new file system on it and mounts it; one that was there before goes.
    ///
    /// # Errors
    /// If mkfs is missing or not content, or the kernel does not mount it.
    pub fn make(&self, wanted: &FileSystem) -> Result<(), KnobError> {
        self.unmount()?;
        let program = mkfs_of(&wanted.kind).ok_or_else(|| KnobError::Tool {
            command: format!("mkfs.{}", wanted.kind),
            said: format!(
                "there is no such program; install it to make a file system of kind {}",
                wanted.kind
            ),
        })?;
        let mut command = Command::new(program);
        command.args(forced(&wanted.kind)).args(&wanted.mkfs).arg(&self.device);
        let words: Vec<String> = std::iter::once(command.get_program())
            .chain(command.get_args())
            .map(|w| w.to_string_lossy().into_owned())
            .collect();
        let failed = |said: String| KnobError::Tool { command: words.join(" "), said };
        let out = command.stdin(Stdio::null()).output().map_err(|e| failed(e.to_string()))?;
        if !out.status.success() {
            let said = String::from_utf8_lossy(&out.stderr);
            let said: Vec<&str> = said.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
            return Err(failed(said.join("; ")));
        }
        self.mount(wanted)
    }

    fn mount(&self, wanted: &FileSystem) -> Result<(), KnobError> {
        let (flags, data) = flags_and_data(&wanted.mount);
        let text = |p: &Path| c_string(p);
        let point = self.mount_point();
        let mounted = (|| {
            let (source, target) = (text(&self.device)?, text(&point)?);
            let (kind, data) = (text(Path::new(&wanted.kind))?, text(Path::new(&data))?);
            // SAFETY: four terminated strings that outlive the call.
            let done = unsafe {
                libc::mount(source.as_ptr(), target.as_ptr(), kind.as_ptr(), flags, data.as_ptr().cast())
            };
            if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
        })();
        mounted.map_err(|error| KnobError::Disk {
            what: format!(
                "{} on {} could not be mounted with the options {:?}",
                wanted.kind,
                self.device.display(),
                wanted.mount
            ),
            error,
        })
    }

    /// Unmounts what is mounted.
    ///
    /// # Errors
    /// If something still uses it.
    pub fn unmount(&self) -> Result<(), KnobError> {
        let point = self.mount_point();
        unmount_all(&point).map_err(|e| trouble(&point, "could not be unmounted", e))
    }
}

/// Whether there is a mkfs for a kind of file system.
#[must_use]
pub fn can_make(kind: &str) -> bool {
    mkfs_of(kind).is_some()
}

/// Takes a disk down by its directory: whatever is mounted there, the loop devices over the image, the files. What is not there is no
/// error.
pub(crate) fn take_down(directory: &Path) -> io::Result<()> {
    let (image, point) = (directory.join(IMAGE), directory.join(MOUNT_POINT));
    unmount_all(&point)?;
    for device in loops_over(&image) {
        detach(&device)?;
    }
    gone(fs::remove_file(&image))?;
    gone(fs::remove_dir(&point))?;
    gone(fs::remove_dir(directory))
}

fn gone(removed: io::Result<()>) -> io::Result<()> {
    removed.or_else(|e| if e.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(e) })
}

fn trouble(path: &Path, what: &str, error: io::Error) -> KnobError {
    KnobError::Disk { what: format!("{} {what}", path.display()), error }
}

/// A new directory that only we can enter: what is in it is ours.
fn own_directory(above: &Path) -> Result<PathBuf, KnobError> {
    let mut number = 0u32;
    loop {
        let path = above.join(format!("{PREFIX}{}-{number}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && number < 1000 => number += 1,
            Err(e) => return Err(trouble(&path, "could not be made for the image", e)),
        }
    }
}

/// Reserved where the file system can, so that it does not run full in the middle; else sparse.
fn allocate(file: &File, bytes: u64) -> io::Result<()> {
    let length = libc::off_t::try_from(bytes).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    // SAFETY: plain integers and an open descriptor.
    if unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, length) } == 0 {
        return Ok(());
    }
    match io::Error::last_os_error() {
        e if e.raw_os_error() == Some(libc::EOPNOTSUPP) => file.set_len(bytes),
        e => Err(e),
    }
}

fn loops_over(image: &Path) -> Vec<PathBuf> {
    let over = |block: &Path| {
        let text = fs::read_to_string(block.join("loop/backing_file")).unwrap_or_default();
        Path::new(text.trim_end().trim_end_matches(" (deleted)")) == image
    };
    let blocks = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    blocks.filter(|b| over(&b.path())).map(|b| Path::new("/dev").join(b.file_name())).collect()
}

/// Unmounts everything at a point. Who still has a file open there is waited for a second; then the mount leaves the tree, and the kernel
/// finishes when the last one is gone.
fn unmount_all(point: &Path) -> io::Result<()> {
    while is_mounted(point) {
        let target = c_string(point)?;
        let unmount = |flags| {
            // SAFETY: a terminated string that outlives the call.
            if unsafe { libc::umount2(target.as_ptr(), flags) } == 0 {
                Ok(())
            } else {
                Err(io::Error::last_os_error())
            }
        };
        let busy = |e: &io::Error| e.raw_os_error() == Some(libc::EBUSY);
        let mut outcome = unmount(0);
        for _ in 0..20 {
            if !outcome.as_ref().is_err_and(busy) {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
            outcome = unmount(0);
        }
        outcome.or_else(|e| if busy(&e) { unmount(libc::MNT_DETACH) } else { Err(e) })?;
    }
    Ok(())
}

fn is_mounted(point: &Path) -> bool {
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    mount::parse(&table).iter().any(|m| Path::new(&m.mount_point) == point)
}

fn mkfs_of(kind: &str) -> Option<PathBuf> {
    if kind.is_empty() || !kind.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    let name = format!("mkfs.{kind}");
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Ordinary users' paths lack where these programs are.
    let more = ["/sbin", "/usr/sbin"].map(PathBuf::from);
    std::env::split_paths(&path).chain(more).map(|d| d.join(&name)).find(|p| p.is_file())
}

/// The device holds the file system of the cell before: without these mkfs asks or refuses.
fn forced(kind: &str) -> &'static [&'static str] {
    match kind {
        "ext2" | "ext3" | "ext4" => &["-q", "-F"],
        "xfs" | "btrfs" => &["-q", "-f"],
        "f2fs" => &["-f"],
        _ => &[],
    }
}

/// Options that are flags of the system call, and the rest for the file system.
fn flags_and_data(options: &str) -> (libc::c_ulong, String) {
    let (mut flags, mut data) = (0, Vec::new());
    for option in options.split(',').filter(|o| !o.is_empty()) {
        flags |= match option {
            "noatime" => libc::MS_NOATIME,
            "relatime" => libc::MS_RELATIME,
            "strictatime" => libc::MS_STRICTATIME,
            "nodiratime" => libc::MS_NODIRATIME,
            "lazytime" => libc::MS_LAZYTIME,
            "sync" => libc::MS_SYNCHRONOUS,
            "dirsync" => libc::MS_DIRSYNC,
            "nosuid" => libc::MS_NOSUID,
            "nodev" => libc::MS_NODEV,
            "noexec" => libc::MS_NOEXEC,
            "rw" | "defaults" => 0,
            other => {
                data.push(other);
                0
            }
        };
    }
    (flags, data.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_told_from_the_file_systems_own_options() {
        let (flags, data) = flags_and_data("noatime,data=writeback,lazytime,commit=5");
        assert_eq!((flags, data.as_str()), (libc::MS_NOATIME | libc::MS_LAZYTIME, "data=writeback,commit=5"));
        assert_eq!(flags_and_data(""), (0, String::new()));
    }

    #[test]
    fn nonsense_is_no_program() {
        assert!(!can_make("") && !can_make("../x") && !can_make("nosuchfilesystem"));
    }

    #[test]
    fn taking_down_what_is_not_there_is_no_error() {
        let dir = tempfile::tempdir().expect("a directory");
        take_down(&dir.path().join("never")).expect("nothing to do");
    }
}
