//! A temporary file system on a loop device: a directory `.fathom-sweep-PID-N` with an image and a mount point in it. The journal records
//! the directory before anything is created in it, and everything else can be found from it. So it can be removed after any kind of exit:
//! the mounts on its mount point, the loop devices over its image, the image.

use super::error::KnobError;
use super::journal::{Fact, Journal};
use super::own_directory::{OwnDirectory, name_of, way};
use crate::files::{KernelFiles as _, Live, c_string};
use crate::loop_device::{Access, OpenLoop, attach};
use fathom_state::{IMAGE_DIRECTORY, Identity, here};
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

pub(crate) const IMAGE: &str = "image";
const MOUNT_POINT: &str = "mnt";

/// Location and size of the image.
#[derive(Clone, Debug)]
pub struct DiskPlan {
    /// Directory for the image.
    pub directory: PathBuf,
    /// Size of the image.
    pub bytes: u64,
}

/// A loop device, with or without a file system on it.
#[derive(Debug)]
pub struct Disk {
    directory: Arc<OwnDirectory>,
    device: PathBuf,
    /// Whether it bypasses the page cache of the file system that holds its image.
    past_the_cache: bool,
}

/// The file system to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSystem {
    /// "ext4", "xfs", "btrfs", or any other with a mkfs.
    pub kind: String,
    /// Extra arguments of mkfs.
    pub mkfs: Vec<String>,
    /// Mount options, separated by commas; may be empty.
    pub mount: String,
}

impl Disk {
    /// Its directory is in `held` as soon as the journal records it, whatever happens next.
    pub(crate) fn attach(
        plan: &DiskPlan,
        journal: &mut Journal,
        held: &mut Vec<Arc<OwnDirectory>>,
    ) -> Result<Self, KnobError> {
        let (directory, path) = own_directory(&plan.directory)?;
        let identity = match Identity::of_new(directory.as_fd()) {
            Ok(identity) if !identity.is_unproven() => identity,
            unproven => {
                let _ = directory.remove();
                let why = unproven.err().unwrap_or(Errno::OPNOTSUPP);
                let what =
                    "keeps nothing that tells our files from others: choose another directory for the image";
                return Err(trouble(&plan.directory, what, why.into()));
            }
        };
        if let Err(e) = journal.note(&[Fact::Disk(path.clone(), identity)]) {
            // Still empty, and not yet in the journal.
            let _ = directory.remove();
            return Err(e);
        }
        let directory = Arc::new(directory);
        held.push(Arc::clone(&directory));
        let image = path.join(IMAGE);
        let file = filled(&directory).map_err(|e| trouble(&image, "could not be made", e))?;
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

    /// A path to the mount point, valid as long as this value lives, and only in this process.
    #[must_use]
    pub fn mount_point(&self) -> PathBuf {
        self.directory.path_to(MOUNT_POINT)
    }

    /// Whether the loop device bypasses the page cache of the file system below.
    #[must_use]
    pub fn goes_past_the_cache(&self) -> bool {
        self.past_the_cache
    }

    /// Creates a new file system, replacing an earlier one, and mounts it.
    ///
    /// # Errors
    /// If mkfs is missing or fails, or the mount fails.
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
        let mounted = (|| {
            let gone = || io::Error::from(io::ErrorKind::NotFound);
            let point = self.directory.look(MOUNT_POINT).ok_or_else(gone)?;
            let (source, target) = (text(&self.device)?, text(&way(point.as_fd()))?);
            let (kind, data) = (text(Path::new(&wanted.kind))?, text(Path::new(&data))?);
            // SAFETY: four NUL-terminated strings that outlive the call.
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

    /// Unmounts the file system.
    ///
    /// # Errors
    /// If it is still in use.
    pub fn unmount(&self) -> Result<(), KnobError> {
        unmount_all(&self.directory).map_err(|e| trouble(&self.device, "could not be unmounted", e))
    }
}

/// Whether there is a mkfs for a kind of file system.
#[must_use]
pub fn can_make(kind: &str) -> bool {
    mkfs_of(kind).is_some()
}

/// Removes a disk by its directory: mounts, loop devices over the image, files. Missing parts are no error.
pub(crate) fn take_down(directory: &OwnDirectory) -> io::Result<()> {
    unmount_all(directory)?;
    let (image, name) = (directory.look(IMAGE), directory.name());
    for device in OpenLoop::on_files_named(IMAGE) {
        let Some(device) = OpenLoop::open(device)? else { continue };
        let is_its = match &image {
            Some(image) => device.is_on(image.as_fd()),
            // The image was removed underneath it: only its name is left to compare.
            None => device.file()?.is_some_and(|(file, _)| file.parent() == name.as_deref().ok()),
        };
        if is_its {
            device.detach()?;
        }
    }
    gone(rustix::fs::unlinkat(directory, IMAGE, AtFlags::empty()))?;
    gone(rustix::fs::unlinkat(directory, MOUNT_POINT, AtFlags::REMOVEDIR))?;
    directory.remove()
}

fn gone(removed: Result<(), Errno>) -> io::Result<()> {
    removed.or_else(|e| if e == Errno::NOENT { Ok(()) } else { Err(e.into()) })
}

fn trouble(path: &Path, what: &str, error: io::Error) -> KnobError {
    KnobError::Disk { what: format!("{} {what}", path.display()), error }
}

/// A new directory that only we can enter, so its content is ours; with its current name, which may change at any time.
fn own_directory(above: &Path) -> Result<(OwnDirectory, PathBuf), KnobError> {
    let how = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let unusable = |e: io::Error| trouble(above, "cannot be used for the image", e);
    let open = rustix::fs::openat(CWD, here(above), how, Mode::empty()).map_err(|e| unusable(e.into()))?;
    let path = name_of(open.as_fd()).map_err(unusable)?;
    let mut number = 0u32;
    loop {
        let name = format!("{IMAGE_DIRECTORY}{}-{number}", std::process::id());
        match OwnDirectory::make(open.as_fd(), &name) {
            Ok(made) => return Ok((made, path.join(name))),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && number < 1000 => number += 1,
            Err(e) => return Err(trouble(&path.join(name), "could not be made for the image", e)),
        }
    }
}

/// Creates the mount point and the image; returns the image.
fn filled(directory: &OwnDirectory) -> io::Result<File> {
    rustix::fs::mkdirat(directory, MOUNT_POINT, Mode::RWXU)?;
    let how = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(directory, IMAGE, how, Mode::RUSR | Mode::WUSR)?.into())
}

/// Allocates the blocks if the file system can, so that it does not run full later; else sparse.
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

/// Unmounts everything on the mount point. Waits up to a second for open files, then detaches lazily.
fn unmount_all(directory: &OwnDirectory) -> io::Result<()> {
    let target = c_string(&directory.path_to(MOUNT_POINT))?;
    while is_mounted(directory) {
        let unmount = |flags| {
            // SAFETY: a NUL-terminated string that outlives the call.
            if unsafe { libc::umount2(target.as_ptr(), flags | libc::UMOUNT_NOFOLLOW) } == 0 {
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

/// Whether something is mounted on the mount point.
fn is_mounted(directory: &OwnDirectory) -> bool {
    match Live.mount_of(&directory.path_to(MOUNT_POINT)) {
        Ok(point) => Live.mount_of(&directory.path_to(".")).is_ok_and(|own| own != point),
        Err(e) => e.kind() != io::ErrorKind::NotFound,
    }
}

fn mkfs_of(kind: &str) -> Option<PathBuf> {
    if kind.is_empty() || !kind.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    let name = format!("mkfs.{kind}");
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Ordinary users' PATH lacks the directories of these programs.
    let more = ["/sbin", "/usr/sbin"].map(PathBuf::from);
    std::env::split_paths(&path).chain(more).map(|d| d.join(&name)).find(|p| p.is_file())
}

/// The device still holds the previous cell's file system: without these options mkfs asks or refuses.
fn forced(kind: &str) -> &'static [&'static str] {
    match kind {
        "ext2" | "ext3" | "ext4" => &["-q", "-F"],
        "xfs" | "btrfs" => &["-q", "-f"],
        "f2fs" => &["-f"],
        _ => &[],
    }
}

/// Splits mount options into flags of the system call and data for the file system.
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
    use std::fs;
    use std::os::fd::OwnedFd;

    #[test]
    fn mount_flags_and_file_system_options_are_separate() {
        let (flags, data) = flags_and_data("noatime,data=writeback,lazytime,commit=5");
        assert_eq!((flags, data.as_str()), (libc::MS_NOATIME | libc::MS_LAZYTIME, "data=writeback,commit=5"));
        assert_eq!(flags_and_data(""), (0, String::new()));
    }

    #[test]
    fn nonsense_is_no_program() {
        assert!(!can_make("") && !can_make("../x") && !can_make("nosuchfilesystem"));
    }

    fn opened(path: &Path) -> OwnedFd {
        let how = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::openat(CWD, path, how, Mode::empty()).expect("a directory")
    }

    #[test]
    fn taking_down_a_missing_disk_is_no_error() {
        let dir = tempfile::tempdir().expect("a directory");
        let directory = OwnDirectory::make(opened(dir.path()).as_fd(), "own").expect("made");
        drop(filled(&directory).expect("filled"));
        fs::rename(dir.path().join("own"), dir.path().join("other")).expect("renamed");
        fs::create_dir(dir.path().join("own")).expect("another");
        for _ in 0..2 {
            take_down(&directory).expect("taken down");
            let left: Vec<_> = fs::read_dir(dir.path()).expect("read").flatten().collect();
            assert_eq!(left.iter().map(|e| e.file_name()).collect::<Vec<_>>(), ["own"]);
        }
    }
}
