//! A mark on kept files that fathom created. It travels with the file, so that users without this state directory (another user,
//! a container, a program without a home) recognise it, too. It ends with the next change by another program, because it contains
//! the size and the time of the last change.

use rustix::fd::{AsRawFd as _, BorrowedFd};
use rustix::fs::XattrFlags;
use rustix::io::Errno;

const NAME: &str = "user.fathom.kept";
/// Upper limit of a version, a size and a time.
const LONGEST: usize = 64;

/// Marks one of our files in its current state. Does nothing where extended attributes are not supported.
pub fn set(file: BorrowedFd<'_>) {
    if let Ok(mark) = mark(file)
        && !is_set(file)
    {
        let _ = rustix::fs::setxattr(way(file), NAME, mark.as_bytes(), XattrFlags::empty());
    }
}

/// Whether a file has a mark and is unchanged since it was set.
#[must_use]
pub fn is_set(file: BorrowedFd<'_>) -> bool {
    let mut found = [0u8; LONGEST];
    let length = rustix::fs::getxattr(way(file), NAME, &mut found[..]);
    length.is_ok_and(|length| mark(file).is_ok_and(|mark| found.get(..length) == Some(mark.as_bytes())))
}

fn mark(file: BorrowedFd<'_>) -> Result<String, Errno> {
    let about = rustix::fs::fstat(file)?;
    Ok(format!("1 {} {}.{:09}", about.st_size, about.st_mtime, about.st_mtime_nsec))
}

/// Path for attribute access, which an O_PATH descriptor does not allow.
fn way(file: BorrowedFd<'_>) -> String {
    format!("/proc/thread-self/fd/{}", file.as_raw_fd())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fd::AsFd as _;
    use std::fs::File;
    use std::io::Write as _;
    use std::time::{Duration, SystemTime};

    #[test]
    fn it_ends_with_the_next_change() {
        let dir = tempfile::tempdir().unwrap();
        let mut file = File::create(dir.path().join("f")).unwrap();
        file.write_all(b"ours").unwrap();
        assert!(!is_set(file.as_fd()));
        set(file.as_fd());
        if !is_set(file.as_fd()) {
            return fathom_testkit::skip("it_ends_with_the_next_change", "no extended attributes here");
        }
        file.write_all(b"theirs").unwrap();
        assert!(!is_set(file.as_fd()), "another size");
        set(file.as_fd());
        assert!(is_set(file.as_fd()));
        file.set_modified(SystemTime::now() + Duration::from_secs(1)).unwrap();
        assert!(!is_set(file.as_fd()), "another time");
    }
}
