//! The directory an image is mounted on: looked at before, named in the kernel's table, and freed again. Looking at a directory that a dead
//! mount stands on does not hang, it fails; only the kernel's table is asked while ours is up.

use crate::exit::Usage;
use fathom_isofs::mount::SOURCE;
use fathom_observe::answers::is_cut_off;
use fathom_observe::device::mount::{Mount, parse};
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

/// The type of our mounts in the kernel's table: root's own, and those that fusermount3 makes.
const KINDS: [&str; 2] = ["fuse", "fuse.fathom"];

/// The programs that unmount for an ordinary user, newest first.
const HELPERS: [&str; 2] = ["fusermount3", "fusermount"];

/// That an ordinary user has the program that mounts for him: it is asked for before there is anything to take down again.
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

/// The directory by its full name, free to be mounted on.
pub fn ready(on: &Path) -> Result<PathBuf, Usage> {
    let full = fs::canonicalize(on).map_err(|e| {
        Usage(format!("{}: {e}; an image is mounted on a directory that exists", on.display()))
    })?;
    if mount_on(&full).is_some_and(|mount| mount.source.starts_with(SOURCE)) {
        return Err(Usage(format!("{}: an image is mounted here; unmount it first", on.display())));
    }
    if !full.is_dir() {
        return Err(Usage(format!("{}: not a directory; an image is mounted on one", on.display())));
    }
    Ok(full)
}

/// Takes down what mounts of this user left that were killed with their guards; each mount point.
pub fn take_down_left_behind() -> Vec<String> {
    let me = rustix::process::geteuid().as_raw().to_string();
    // The kernel itself writes whose mount it is.
    let is_ours = |mount: &Mount| {
        KINDS.contains(&mount.kind.as_str())
            && mount.source.starts_with(SOURCE)
            && mount.option("user_id") == Some(&me)
    };
    let is_down = |mount: &Mount| {
        let (on, ours) = (Path::new(&mount.mount_point), Which { mount: mount.id, device: mount.device });
        // Somebody may have mounted something over it.
        which(on) == Some(ours) && is_cut_off(on) && unmount_this(on, Some(ours)).is_ok()
    };
    let left = mounts().into_iter().filter(|mount| is_ours(mount) && is_down(mount));
    left.map(|mount| mount.mount_point).collect()
}

/// What is mounted on a directory, the last if there are several.
fn mount_on(on: &Path) -> Option<Mount> {
    let name = on.to_string_lossy();
    mounts().into_iter().rfind(|mount| mount.mount_point == name)
}

fn mounts() -> Vec<Mount> {
    let table = fs::read("/proc/self/mountinfo").unwrap_or_default();
    parse(&String::from_utf8_lossy(&table))
}

/// Which mount it is: the kernel's number of it, and that of its file system. Either may be used again, hardly both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Which {
    pub mount: u64,
    pub device: (u32, u32),
}

/// The mount that stands on a directory now.
pub fn which(on: &Path) -> Option<Which> {
    mount_on(on).map(|mount| Which { mount: mount.id, device: mount.device })
}

/// Has the kernel ask for so many KiB at once when it reads ahead: 128 is all that a file system may ask for itself. Only root may, and
/// without it everything is as before.
pub fn read_ahead(ours: Which, kib: u32) {
    let (major, minor) = ours.device;
    let _ = fs::write(format!("/sys/class/bdi/{major}:{minor}/read_ahead_kb"), kib.to_string());
}

/// Takes a mount out of the tree, if it is the one that stands there: what somebody has mounted over it since is not ours.
pub fn unmount_this(on: &Path, ours: Option<Which>) -> io::Result<()> {
    if ours.is_none() || which(on) != ours {
        return Err(io::Error::other("something else is mounted there now"));
    }
    unmount(on)
}

/// Takes what is mounted out of the tree at once; files that are open stay until they are closed.
pub fn unmount(on: &Path) -> io::Result<()> {
    let name = CString::new(on.as_os_str().as_bytes()).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: `name` is a terminated string that outlives the call.
    if unsafe { libc::umount2(name.as_ptr(), libc::MNT_DETACH) } == 0 {
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
        assert!(ready(&file).unwrap_err().0.contains("not a directory"));
        assert!(ready(&dir.path().join("none")).unwrap_err().0.contains("a directory that exists"));
        assert_eq!(ready(&dir.path().join(".")).unwrap(), dir.path().canonicalize().unwrap());
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
        assert!(which(Path::new("/proc")).is_some());
        assert_eq!(which(Path::new("/no/such/mount")), None);
        let other = Some(Which { mount: 0, device: (0, 0) });
        assert!(unmount_this(Path::new("/proc"), other).is_err());
    }
}
