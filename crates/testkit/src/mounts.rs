//! Mounting and unmounting for the test file systems. Reads the kernel's mount table and loop devices; everything is identified
//! by a path below a test directory, so the user's own mounts are never affected.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::ptr;
use std::time::Duration;

/// Mounts `source` of type `kind` at `target`.
pub(crate) fn mount(
    source: &Path,
    target: &Path,
    kind: &str,
    flags: libc::c_ulong,
    data: &str,
) -> io::Result<()> {
    let (source, target) = (text(source.as_os_str().as_bytes())?, text(target.as_os_str().as_bytes())?);
    let (kind, data) = (text(kind.as_bytes())?, text(data.as_bytes())?);
    // SAFETY: all four are terminated strings that outlive the call.
    let done = unsafe {
        libc::mount(
            source.as_ptr(),
            target.as_ptr(),
            kind.as_ptr(),
            flags as libc::c_ulong,
            data.as_ptr().cast(),
        )
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Changes the flags of a mount, e.g. to read-only.
pub(crate) fn remount(target: &Path, flags: libc::c_ulong) -> io::Result<()> {
    let target = text(target.as_os_str().as_bytes())?;
    let flags = libc::MS_REMOUNT | flags;
    // SAFETY: `target` is a terminated string; the other pointers may be null for a remount.
    let done = unsafe { libc::mount(ptr::null(), target.as_ptr(), ptr::null(), flags, ptr::null()) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Unmounts. Waits up to a second for open files, then detaches lazily.
pub(crate) fn unmount(target: &Path) -> io::Result<()> {
    for _ in 0..20 {
        match umount2(target, 0) {
            Err(e) if e.raw_os_error() == Some(libc::EBUSY) => std::thread::sleep(Duration::from_millis(50)),
            other => return other,
        }
    }
    unmount_lazily(target)
}

/// Detaches a mount even if files on it are open.
pub(crate) fn unmount_lazily(target: &Path) -> io::Result<()> {
    umount2(target, libc::MNT_DETACH)
}

/// Unmounts FUSE by force; waiting processes get an error.
pub(crate) fn unmount_by_force(target: &Path) -> io::Result<()> {
    umount2(target, libc::MNT_FORCE).or_else(|_| unmount_lazily(target))
}

fn umount2(target: &Path, flags: i32) -> io::Result<()> {
    let target = text(target.as_os_str().as_bytes())?;
    // SAFETY: `target` is a terminated string that outlives the call.
    let done = unsafe { libc::umount2(target.as_ptr(), flags) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn text(bytes: &[u8]) -> io::Result<CString> {
    CString::new(bytes).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))
}

/// Mount points at or below `dir`, deepest (latest) first. Empty if the table cannot be read.
pub(crate) fn mounts_below(dir: &Path) -> Vec<PathBuf> {
    let table = fs::read("/proc/self/mountinfo").unwrap_or_default();
    let mut points: Vec<PathBuf> =
        table.split(|&b| b == b'\n').filter_map(mount_point).filter(|point| point.starts_with(dir)).collect();
    points.reverse();
    points
}

/// The fifth field of a line of mountinfo, with the kernel's octal escapes resolved.
fn mount_point(line: &[u8]) -> Option<PathBuf> {
    let field = line.split(|&b| b == b' ').nth(4)?;
    let mut name = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, tail)) = rest.split_first() {
        let escape = (byte == b'\\').then(|| tail.get(..3)).flatten();
        let value = escape.and_then(|d| u8::from_str_radix(std::str::from_utf8(d).ok()?, 8).ok());
        name.push(value.unwrap_or(byte));
        rest = if value.is_some() { &tail[3..] } else { tail };
    }
    Some(PathBuf::from(std::ffi::OsString::from_vec(name)))
}

/// Loop devices whose image is below `dir`.
pub(crate) fn loops_below(dir: &Path) -> Vec<PathBuf> {
    let Ok(blocks) = fs::read_dir("/sys/block") else { return Vec::new() };
    let backed_from_dir = |block: &Path| {
        let image = fs::read(block.join("loop/backing_file")).unwrap_or_default();
        Path::new(std::ffi::OsStr::from_bytes(&image)).starts_with(dir)
    };
    blocks
        .filter_map(Result::ok)
        .filter(|block| backed_from_dir(&block.path()))
        .map(|block| Path::new("/dev").join(block.file_name()))
        .collect()
}

/// Detaches a loop device. If it is in use, the kernel does so after the last close.
pub(crate) fn detach(device: &Path) {
    if let Some(losetup) = crate::find_tool("losetup") {
        let _ = Command::new(losetup)
            .arg("--detach")
            .arg(device)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
}

/// Unmounts and detaches everything below `dir`. Failures show in the result of [`mounts_below`].
pub(crate) fn release_all_below(dir: &Path) {
    for point in mounts_below(dir) {
        let _ = unmount(&point);
    }
    for device in loops_below(dir) {
        detach(&device);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::time::Instant;

    /// Another program that scans all loop devices may briefly hold ours open; the kernel detaches it then.
    pub(crate) fn assert_detached(dir: &Path) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !loops_below(dir).is_empty() {
            assert!(Instant::now() < deadline, "a loop device on {} is still attached", dir.display());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn mount_points_are_read_with_their_escapes() {
        let line = b"36 35 98:0 /m /tmp/a\\040b\\134c rw,noatime master:1 - ext3 /dev/root rw";
        assert_eq!(mount_point(line), Some(PathBuf::from("/tmp/a b\\c")));
        assert_eq!(mount_point(b"36 35"), None);
    }

    #[test]
    fn the_root_is_a_mount() {
        assert!(mounts_below(Path::new("/")).contains(&PathBuf::from("/")));
        assert!(mounts_below(Path::new("/no/such/place")).is_empty());
    }
}
