//! Input files named on the command line. Another user cannot make fathom hang: it refuses a pipe of another user (root
//! excepted), and it waits only briefly for another program's lease.

use crate::output::is_our_link;
use fathom_state::trust::user;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::fs::{File, Metadata};
use std::io::{Error, ErrorKind, Read as _, Result};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::{Duration, Instant};

/// f_type of procfs.
const PROC: i64 = 0x9fa0;
/// File systems whose files may be endless, or change when read: also sysfs, tracefs and debugfs.
const OF_THE_KERNEL: [i64; 4] = [PROC, 0x6265_6572, 0x7472_6163, 0x6462_6720];

/// How long another program may take to release its lease; a file server needs milliseconds.
const LEASE: Duration = Duration::from_secs(2);

/// Opens a file, a pipe of this user or root, or a block device. A link that other users can change is followed only to
/// plain files.
pub fn open(path: impl AsRef<Path>) -> Result<File> {
    let path = path.as_ref();
    let (file, is_bent) = match at_once(path, false, libc::O_NOFOLLOW) {
        Err(e) if e.raw_os_error() == Some(libc::ELOOP) => (at_once(path, false, 0)?, !is_our_link(path)),
        opened => (opened?, false),
    };
    let about = file.metadata()?;
    let kind = about.file_type();
    let of = rustix::fs::fstatfs(&file)?.f_type;
    if is_bent && (!kind.is_file() || OF_THE_KERNEL.contains(&of)) {
        return Err(Error::other(
            "it is a symbolic link that other users can change, and leads to no plain file",
        ));
    }
    if kind.is_file() || kind.is_dir() {
        // The kernel may provide such data without end.
        if of != PROC {
            fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
        }
        return Ok(file);
    }
    if kind.is_fifo() {
        if about.uid() != 0 && about.uid() != user() {
            return Err(Error::other("it is a named pipe of another user"));
        }
        wait_for_writer(&file)?;
        fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
        return Ok(file);
    }
    if kind.is_char_device() && !is_stdin(&about) && !is_null(&about) {
        return Err(Error::other("it is a device, and a file or a pipe is expected"));
    }
    // Opened without O_NONBLOCK, so that a drive waits for its disc.
    File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Without a writer, reading a pipe gives end-of-file.
fn wait_for_writer(pipe: &File) -> Result<()> {
    let mut asked = libc::pollfd { fd: pipe.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one open descriptor, in a structure that lives through the call.
    if unsafe { libc::poll(&raw mut asked, 1, -1) } < 0 { Err(Error::last_os_error()) } else { Ok(()) }
}

fn is_stdin(about: &Metadata) -> bool {
    rustix::fs::fstat(std::io::stdin()).is_ok_and(|stdin| stdin.st_rdev == about.rdev())
}

fn is_null(about: &Metadata) -> bool {
    std::fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == about.rdev())
}

fn at_once(path: &Path, write: bool, flags: i32) -> Result<File> {
    let mut how = File::options();
    how.read(true).write(write).custom_flags(flags | libc::O_NONBLOCK | libc::O_NOCTTY);
    let until = Instant::now() + LEASE;
    loop {
        match how.open(path) {
            Err(e) if e.kind() == ErrorKind::WouldBlock && Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock => {
                return Err(Error::other("another program holds a lease on it"));
            }
            opened => return opened,
        }
    }
}

/// Opens and closes a file to check access and type.
pub fn look(path: &Path, write: bool) -> Result<Metadata> {
    at_once(path, write, 0)?.metadata()
}

pub fn read(path: impl AsRef<Path>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub fn read_to_string(path: impl AsRef<Path>) -> Result<String> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text).map_err(|e| match e.kind() {
        ErrorKind::InvalidData => Error::new(ErrorKind::InvalidData, "it is not text (UTF-8)"),
        _ => e,
    })?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, Mode};
    use std::fs;
    use std::io::Write as _;

    #[test]
    fn a_file_is_read_and_a_pipe_waits_for_its_writer() {
        let dir = tempfile::tempdir().expect("a directory");
        let (file, pipe) = (dir.path().join("file"), dir.path().join("pipe"));
        fs::write(&file, "text").expect("written");
        assert_eq!(read_to_string(&file).expect("read"), "text");
        rustix::fs::mkfifoat(CWD, &pipe, Mode::from_raw_mode(0o600)).expect("a pipe");
        let written = pipe.clone();
        let writer = std::thread::spawn(move || {
            let mut pipe = File::options().write(true).open(written).expect("opened");
            pipe.write_all(b"through a pipe").expect("written");
        });
        assert_eq!(read(&pipe).expect("read"), b"through a pipe");
        writer.join().expect("a writer");
    }

    #[test]
    fn a_pipe_whose_writer_has_gone_is_read_to_its_end() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("pipe");
        rustix::fs::mkfifoat(CWD, &path, Mode::from_raw_mode(0o600)).expect("a pipe");
        let pipe = at_once(&path, false, 0).expect("opened");
        drop(File::options().write(true).open(&path).expect("a writer"));
        wait_for_writer(&pipe).expect("it has been there");
    }

    #[test]
    fn a_pipe_of_somebody_else_is_not_waited_for() {
        if user() != 0 {
            return;
        }
        let dir = tempfile::tempdir().expect("a directory");
        let pipe = dir.path().join("pipe");
        rustix::fs::mkfifoat(CWD, &pipe, Mode::from_raw_mode(0o666)).expect("a pipe");
        std::os::unix::fs::chown(&pipe, Some(65534), None).expect("given away");
        let refused = open(&pipe).expect_err("not read").to_string();
        assert!(refused.contains("named pipe of another user"), "{refused}");
        let theirs = dir.path().join("theirs");
        std::fs::create_dir(&theirs).expect("a directory");
        let link = theirs.join("link");
        std::os::unix::fs::symlink("/sys/kernel/mm", &link).expect("a link");
        assert!(open(&link).is_ok());
        std::os::unix::fs::chown(&theirs, Some(65534), None).expect("given away");
        assert!(open(&link).expect_err("theirs").to_string().contains("no plain file"));
    }
}
