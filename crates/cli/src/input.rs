//! Files that a command reads because they were named. Nobody else can make it wait for ever: a pipe of another user is not read, and
//! a lease of another program is waited for a short while.

use fathom_state::trust::user;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::fs::File;
use std::io::{Error, ErrorKind, Read as _, Result};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a program may take to give its lease back. A file server needs milliseconds.
const LEASE: Duration = Duration::from_secs(2);

/// Opens a file, a pipe of this user or root, or a device.
pub fn open(path: impl AsRef<Path>) -> Result<File> {
    let file = at_once(path.as_ref())?;
    let about = file.metadata()?;
    let kind = about.file_type();
    if kind.is_file() || kind.is_dir() {
        fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
        return Ok(file);
    }
    if kind.is_fifo() && about.uid() != 0 && about.uid() != user() {
        return Err(Error::other("it is a named pipe of another user"));
    }
    // As anybody opens it: a pipe waits for its writer, a drive for its disc.
    File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

fn at_once(path: &Path) -> Result<File> {
    let until = Instant::now() + LEASE;
    loop {
        match File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path) {
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

/// What a file holds.
pub fn read(path: impl AsRef<Path>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Likewise, as text.
pub fn read_to_string(path: impl AsRef<Path>) -> Result<String> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text)?;
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
    }
}
