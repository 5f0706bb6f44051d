//! Whether the file system of a path answers. One whose server is gone may let whoever looks wait for ever, and nothing ends a process that waits
//! so; therefore a child looks, and is left to itself if it does not come back.

use crate::files::c_string;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long it may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// The kernel itself says that a connection is broken.
const AT_ONCE: Duration = Duration::from_millis(300);

/// Whether it can be told at once what lies at a path, be it nothing.
#[must_use]
pub fn answers(path: &Path) -> bool {
    asked(path, PATIENCE, |path| {
        let mut about = std::mem::MaybeUninit::uninit();
        // SAFETY: the path is terminated, and there is room for a stat.
        unsafe { libc::lstat(path, about.as_mut_ptr()) };
        0
    })
    .is_some()
}

/// Whether a path lies on a mount whose server is known to be gone: the kernel has broken the connection.
#[must_use]
pub fn is_cut_off(path: &Path) -> bool {
    let told = asked(path, AT_ONCE, |path| {
        // Of all that can be asked, this is never answered from the kernel's memory.
        let mut about = std::mem::MaybeUninit::uninit();
        // SAFETY: the path is terminated, and there is room for a statfs.
        let failed = unsafe { libc::statfs(path, about.as_mut_ptr()) } != 0;
        // SAFETY: errno of this thread.
        i32::from(failed && unsafe { *libc::__errno_location() } == libc::ENOTCONN)
    });
    told == Some(1)
}

/// What a child says of a path, or `None` if it says nothing in time. `look` makes system calls and nothing else.
fn asked(path: &Path, patience: Duration, look: fn(*const libc::c_char) -> i32) -> Option<i32> {
    let Ok(path) = c_string(path) else { return Some(0) };
    // SAFETY: between fork and _exit the child makes system calls with memory that is there; it allocates nothing and takes no lock.
    let child = unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::_exit(look(path.as_ptr()));
        }
        child
    };
    if child < 0 {
        return Some(0);
    }
    let end = Instant::now() + patience;
    let mut pause = Duration::from_micros(100);
    while Instant::now() < end {
        let mut status = 0;
        // SAFETY: it asks for the child that was just made, and writes into the status.
        match unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } {
            0 => std::thread::sleep(pause),
            ended => return Some(if ended == child { libc::WEXITSTATUS(status) } else { 0 }),
        }
        pause = (pause * 2).min(Duration::from_millis(50));
    }
    // SAFETY: a signal to a child of ours that was not waited for.
    unsafe { libc::kill(child, libc::SIGKILL) };
    None
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
        assert!(!answers(&dead.path().join("file")) && !is_cut_off(dead.path()));
        assert!(!is_cut_off(Path::new("/")));
    }
}
