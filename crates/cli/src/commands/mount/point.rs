//! The mount point: checked before mounting, looked up in the kernel's mount table, and freed again. Accessing the
//! mount point of a dead mount fails rather than hangs; while ours is up, only the mount table is read.

use crate::exit::Usage;
use crate::output;
use fathom_isofs::mount::{On, SOURCE};
use fathom_observe::device::mount::{Mount, parse};
use fathom_observe::responsive::is_cut_off;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::ffi::{CString, OsStr, OsString};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

/// Types of our mounts in the mount table: root's own, and fusermount3's.
const KINDS: [&str; 2] = ["fuse", "fuse.fathom"];

/// Unmount helpers for ordinary users, newest first.
const HELPERS: [&str; 2] = ["fusermount3", "fusermount"];

/// Checks that an ordinary user has a mount helper, before there is anything to undo.
pub fn helper_there() -> Result<(), Usage> {
    if rustix::process::geteuid().is_root() || std::env::var_os("FUSERMOUNT_PATH").is_some() {
        return Ok(());
    }
    let mut path = std::env::var_os("PATH").unwrap_or_default();
    path.push(":/sbin:/bin");
    find_helper(&path).map(drop).ok_or_else(|| {
        Usage("an ordinary user needs the program fusermount3 (package fuse3) to mount, and it is not installed".into())
    })
}

fn find_helper(path: &OsStr) -> Option<PathBuf> {
    HELPERS
        .iter()
        .find_map(|helper| std::env::split_paths(path).map(|dir| dir.join(helper)).find(|at| at.is_file()))
}

/// A free directory to mount on. Held by descriptor, so renames do not matter.
pub struct Point {
    open: OwnedFd,
}

impl Point {
    /// Opens the directory of that name. A link is followed if this user or root owns it.
    pub fn ready(on: &Path) -> Result<Self, Usage> {
        // A trailing slash would follow a link.
        let name: PathBuf = on.components().collect();
        let how = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = match rustix::fs::open(&name, how | OFlags::NOFOLLOW, Mode::empty()) {
            Err(Errno::NOTDIR | Errno::LOOP) if output::is_our_link(&name) => {
                rustix::fs::open(&name, how, Mode::empty())
            }
            opened => opened,
        };
        let open = open.map_err(|e| {
            let why = match e {
                Errno::NOTDIR | Errno::LOOP if name.is_symlink() => {
                    "a symbolic link that other users can change; name the directory that it leads to"
                        .to_owned()
                }
                Errno::NOTDIR => "not a directory; an image is mounted on one".to_owned(),
                e => format!("{}; an image is mounted on a directory that exists", io::Error::from(e)),
            };
            Usage(format!("{}: {why}", on.display()))
        })?;
        let point = Self { open };
        if point.mount().is_some_and(|mount| mount.source.starts_with(SOURCE)) {
            return Err(Usage(format!("{}: an image is mounted here; unmount it first", on.display())));
        }
        // It could not be found in the mount table, which is text.
        if point.name().to_str().is_none() {
            return Err(Usage(format!("{}: a directory whose full name is UTF-8 is expected", on.display())));
        }
        Ok(point)
    }

    /// The mount target for the library.
    pub fn on<'a>(&'a self, name: &'a Path) -> On<'a> {
        On { name, open: self.open.as_fd() }
    }

    /// Its current full name.
    pub fn name(&self) -> PathBuf {
        rustix::fs::readlink(in_proc(&self.open), Vec::new())
            .map(|name| PathBuf::from(OsString::from_vec(name.into_bytes())))
            .unwrap_or_default()
    }

    /// The topmost mount on it.
    fn mount(&self) -> Option<Mount> {
        let name = self.name();
        mounts().into_iter().rfind(|mount| Path::new(&mount.mount_point) == name)
    }

    /// The mount on it now.
    pub fn which(&self) -> Option<MountId> {
        self.mount().map(|mount| MountId::of(&mount))
    }
}

/// A path to an open file that no rename can redirect.
fn in_proc(file: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Detaches mounts of this user whose process and guard were killed; returns their mount points.
pub fn take_down_left_behind() -> Vec<String> {
    let me = rustix::process::geteuid().as_raw().to_string();
    // The kernel itself records the mount's owner.
    let is_ours = |mount: &Mount| {
        KINDS.contains(&mount.kind.as_str())
            && mount.source.starts_with(SOURCE)
            && mount.option("user_id") == Some(&me)
    };
    let is_down =
        |mount: &Mount| is_cut_off(Path::new(&mount.mount_point)) && MountId::of(mount).unmount().is_ok();
    let left = mounts().into_iter().filter(|mount| is_ours(mount) && is_down(mount));
    left.map(|mount| mount.mount_point).collect()
}

fn mounts() -> Vec<Mount> {
    let table = fs::read("/proc/self/mountinfo").unwrap_or_default();
    parse(&String::from_utf8_lossy(&table))
}

/// Identifies a mount by the kernel's mount number and its device number. Either may be reused, both hardly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MountId {
    pub mount: u64,
    pub device: (u32, u32),
}

impl MountId {
    fn of(mount: &Mount) -> Self {
        Self { mount: mount.id, device: mount.device }
    }

    /// Its current place in the tree; `None` if it is gone.
    fn place(self) -> Option<PathBuf> {
        let mount = mounts().into_iter().find(|mount| Self::of(mount) == self)?;
        Some(PathBuf::from(mount.mount_point))
    }

    pub fn is_up(self) -> bool {
        self.place().is_some()
    }

    /// Detaches it; open files stay until closed. Leaves alone a mount on top of it by another user, and anything its
    /// name leads to by now.
    pub fn unmount(self) -> io::Result<()> {
        let place = self.place().ok_or(io::ErrorKind::NotFound)?;
        let how = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let root = rustix::fs::open(&place, how, Mode::empty())?;
        // Does not ask the file system itself: its server may be gone.
        let about = fs::read_to_string(format!("/proc/self/fdinfo/{}", root.as_raw_fd()))?;
        let id = about.lines().find_map(|line| line.strip_prefix("mnt_id:")?.trim().parse().ok());
        if id != Some(self.mount) {
            return Err(io::Error::other("something else is mounted there now"));
        }
        unmount(&in_proc(&root), &place)
    }
}

/// Sets the kernel's read-ahead in KiB; a file system itself can request at most 128. Only root may; otherwise nothing
/// changes.
pub fn read_ahead(ours: MountId, kib: u32) {
    let (major, minor) = ours.device;
    let _ = fs::write(format!("/sys/class/bdi/{major}:{minor}/read_ahead_kb"), kib.to_string());
}

/// Unmounts the directory open as `root`; an ordinary user unmounts by name.
fn unmount(root: &str, on: &Path) -> io::Result<()> {
    let root = CString::new(root).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: `root` is a terminated string that outlives the call.
    if unsafe { libc::umount2(root.as_ptr(), libc::MNT_DETACH) } == 0 {
        return Ok(());
    }
    let refused = io::Error::last_os_error();
    if refused.raw_os_error() != Some(libc::EPERM) {
        return Err(refused);
    }
    for helper in HELPERS {
        let mut command = Command::new(helper);
        command.args(["-u", "-q", "-z", "--"]).arg(on);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if command.status().is_ok_and(|status| status.success()) {
            return Ok(());
        }
    }
    Err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let refused = |path: &Path| Point::ready(path).err().unwrap().0;
        assert!(refused(&file).contains("not a directory"));
        assert!(refused(&dir.path().join("none")).contains("a directory that exists"));
        let ready = Point::ready(&dir.path().join(".")).ok().unwrap();
        assert_eq!(ready.name(), dir.path().canonicalize().unwrap());
    }

    #[test]
    fn the_program_that_mounts_for_ordinary_users_is_looked_for() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(find_helper(dir.path().as_os_str()), None);
        for helper in ["fusermount", "fusermount3"] {
            fs::write(dir.path().join(helper), "").unwrap();
            assert_eq!(find_helper(dir.path().as_os_str()), Some(dir.path().join(helper)), "the newest");
        }
    }

    #[test]
    fn the_kernels_table_is_asked() {
        let proc = Point::ready(Path::new("/proc")).ok().unwrap();
        assert!(proc.which().unwrap().is_up());
        let nowhere = MountId { mount: 0, device: (0, 0) };
        assert!(!nowhere.is_up() && nowhere.unmount().is_err());
    }
}
