//! Connects to the kernel: root mounts on an open directory, other users through fusermount3 on a name.

use super::{Mounting, SOURCE};
use fuser::{Config, Filesystem, MountOption, Session, SessionACL};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::MountFlags;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::Path;

/// The mount point.
#[derive(Clone, Copy, Debug)]
pub struct On<'a> {
    /// For fusermount3, which accesses it with the user's rights.
    pub name: &'a Path,
    /// For root: the name may lead elsewhere by now.
    pub open: BorrowedFd<'a>,
}

pub(super) fn session<F: Filesystem>(files: F, on: On<'_>, how: &Mounting) -> io::Result<Session<F>> {
    // A comma or backslash would end the name or escape what follows.
    let source = SOURCE.to_string() + &how.name.replace([',', '\\'], "_");
    let mut config = Config::default();
    config.acl = if how.others { SessionACL::All } else { SessionACL::Owner };
    config.n_threads = Some(how.workers.max(1));
    config.clone_fd = true;
    if rustix::process::geteuid().is_root() {
        match mounted(on.open, &source, how.others) {
            Ok(connection) => return Session::from_fd(files, connection, config.acl, config),
            // Root in a container, where the helper may have more rights.
            Err(Errno::PERM) => {}
            Err(e) => return Err(e.into()),
        }
    }
    config.mount_options = vec![
        MountOption::RO,
        MountOption::NoSuid,
        MountOption::NoDev,
        MountOption::DefaultPermissions,
        MountOption::FSName(source),
        MountOption::Subtype("fathom".into()),
    ];
    Session::new(files, on.name, &config)
}

fn mounted(on: BorrowedFd<'_>, source: &str, others: bool) -> Result<OwnedFd, Errno> {
    let connection = rustix::fs::open("/dev/fuse", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    let (user, group) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    let others = if others { ",allow_other" } else { "" };
    let options = format!(
        "fd={},rootmode=40000,user_id={user},group_id={group},default_permissions{others}",
        connection.as_fd().as_raw_fd()
    );
    let options = CString::new(options).map_err(|_| Errno::INVAL)?;
    let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    let target = format!("/proc/self/fd/{}", on.as_raw_fd());
    rustix::mount::mount(source, target, "fuse", flags, Some(options.as_c_str()))?;
    Ok(connection)
}
