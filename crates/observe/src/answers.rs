//! Whether the file system of a path answers. One whose server is gone may let whoever looks wait for ever, and nothing ends a process that waits
//! so; therefore a child looks, and is left to itself if it does not come back.

use crate::files::c_string;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long it may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whether it can be told at once what lies at a path, be it nothing.
#[must_use]
pub fn answers(path: &Path) -> bool {
    let Ok(path) = c_string(path) else { return true };
    // SAFETY: between fork and _exit the child makes one system call with memory that is there; it allocates nothing and takes no lock.
    let child = unsafe {
        let child = libc::fork();
        if child == 0 {
            let mut about: libc::stat = std::mem::zeroed();
            libc::lstat(path.as_ptr(), &raw mut about);
            libc::_exit(0);
        }
        child
    };
    if child < 0 {
        return true;
    }
    let end = Instant::now() + PATIENCE;
    let mut pause = Duration::from_micros(100);
    while Instant::now() < end {
        // SAFETY: it asks for the child that was just made, and takes no pointer.
        if unsafe { libc::waitpid(child, std::ptr::null_mut(), libc::WNOHANG) } != 0 {
            return true;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
    // SAFETY: a signal to a child of ours that was not waited for.
    unsafe { libc::kill(child, libc::SIGKILL) };
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_and_what_is_not_answers_and_a_dead_mount_does_not() {
        assert!(answers(Path::new("/")) && answers(Path::new("/nowhere/at/all")));
        let Some(dead) = fathom_testkit::DeadMount::mount(
            "what_is_there_and_what_is_not_answers_and_a_dead_mount_does_not",
        ) else {
            return;
        };
        assert!(!answers(&dead.path().join("file")));
    }
}
