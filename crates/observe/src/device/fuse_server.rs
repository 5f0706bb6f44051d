//! The program that serves a FUSE file system: what it reads from storage is what its files cost.

use crate::files::KernelFiles;
use std::path::Path;

/// A program that serves a FUSE file system from this machine's storage or memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FuseServer {
    /// Its process.
    pub process: u32,
    /// Its name.
    pub name: String,
}

/// The only process that has the connection of this number open (the minor number of the file system). `None` if several have, if it is
/// not visible, or if the process has sockets: what it serves may then come from another machine. The kernel shows the connection since
/// Linux 6.13.
pub(super) fn find(files: &dyn KernelFiles, connection: u32) -> Option<FuseServer> {
    let shown = format!("fuse_connection:\t{connection}");
    let serves = |process: u32| {
        let names =
            |part: &str| files.list(Path::new(&format!("/proc/{process}/{part}"))).unwrap_or_default();
        let target = |fd: &str| files.read_link(Path::new(&format!("/proc/{process}/fd/{fd}"))).ok();
        let is_it = |fd: &String| {
            target(fd).is_some_and(|t| t == Path::new("/dev/fuse"))
                && files
                    .read(Path::new(&format!("/proc/{process}/fdinfo/{fd}")))
                    .is_ok_and(|info| info.lines().any(|line| line.trim_end() == shown))
        };
        let fds = names("fd");
        let local =
            || !fds.iter().any(|fd| target(fd).is_some_and(|t| t.to_string_lossy().starts_with("socket:")));
        fds.iter().any(is_it).then(local)
    };
    let processes = files.list(Path::new("/proc")).ok()?;
    let mut found =
        processes.iter().filter_map(|name| name.parse::<u32>().ok()).filter_map(|p| Some((p, serves(p)?)));
    let (process, local) = found.next()?;
    if !local || found.next().is_some() {
        return None;
    }
    let name = files.trimmed(Path::new(&format!("/proc/{process}/comm")))?;
    Some(FuseServer { process, name })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    fn machine() -> Fake {
        Fake::new()
            .file("/proc/7/comm", "bash\n")
            .link("/proc/7/fd/0", "/dev/tty1")
            .file("/proc/30/comm", "bindfs\n")
            .link("/proc/30/fd/0", "/dev/null")
            .link("/proc/30/fd/4", "/dev/fuse")
            .file("/proc/30/fdinfo/4", "pos:\t0\nflags:\t0100002\nfuse_connection:\t40\n")
    }

    #[test]
    fn it_is_the_only_process_that_has_the_connection() {
        let server = FuseServer { process: 30, name: "bindfs".into() };
        assert_eq!(find(&machine(), 40), Some(server));
        assert_eq!(find(&machine(), 4), None, "another file system's");
        let two =
            machine().link("/proc/31/fd/4", "/dev/fuse").file("/proc/31/fdinfo/4", "fuse_connection:\t40\n");
        assert_eq!(find(&two, 40), None, "either may read");
        let remote = machine().link("/proc/30/fd/5", "socket:[4242]");
        assert_eq!(find(&remote, 40), None, "another machine may serve the files");
    }
}
