//! Checks whether the file system of a path responds. If its server is gone, a system call on the path may block for ever, and not even a
//! signal ends the process. So a child process makes the call and is abandoned if it does not return.

use crate::files::c_string;
use std::path::Path;
use std::time::{Duration, Instant};

/// Time limit for the child.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time limit where the kernel itself already knows that the connection is broken.
const AT_ONCE: Duration = Duration::from_millis(300);

/// Whether a `stat` of the path returns in time, even if only to say that nothing is there.
#[must_use]
pub fn is_responsive(path: &Path) -> bool {
    asked(path, PATIENCE, |path| {
        let mut about = std::mem::MaybeUninit::uninit();
        // SAFETY: the path is NUL-terminated, and the buffer holds a stat.
        unsafe { libc::lstat(path, about.as_mut_ptr()) };
        0
    })
    .is_some()
}

/// Whether a path lies on a mount whose connection to its server the kernel has given up.
#[must_use]
pub fn is_cut_off(path: &Path) -> bool {
    let answer = asked(path, AT_ONCE, |path| {
        // statfs is the one call that is never answered from the kernel's caches.
        let mut about = std::mem::MaybeUninit::uninit();
        // SAFETY: the path is NUL-terminated, and the buffer holds a statfs.
        let failed = unsafe { libc::statfs(path, about.as_mut_ptr()) } != 0;
        // SAFETY: errno of this thread.
        i32::from(failed && unsafe { *libc::__errno_location() } == libc::ENOTCONN)
    });
    answer == Some(1)
}

/// The exit status of a child that runs `look`, or `None` if it does not end in time. `look` may only make system calls.
fn asked(path: &Path, patience: Duration, look: fn(*const libc::c_char) -> i32) -> Option<i32> {
    let Ok(path) = c_string(path) else { return Some(0) };
    // SAFETY: between fork and _exit the child only makes system calls on memory that exists; it neither allocates nor takes a lock.
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
        // SAFETY: waits for the child just made and writes only to `status`.
        match unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } {
            0 => std::thread::sleep(pause),
            ended => return Some(if ended == child { libc::WEXITSTATUS(status) } else { 0 }),
        }
        pause = (pause * 2).min(Duration::from_millis(50));
    }
    // SAFETY: signals our own child, which has not been waited for.
    unsafe { libc::kill(child, libc::SIGKILL) };
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn existing_and_missing_paths_respond_a_dead_mount_does_not() {
        assert!(is_responsive(Path::new("/")) && is_responsive(Path::new("/nowhere/at/all")));
        let Some(dead) =
            fathom_testkit::DeadMount::mount("existing_and_missing_paths_respond_a_dead_mount_does_not")
        else {
            return;
        };
        assert!(!is_responsive(&dead.path().join("file")) && !is_cut_off(dead.path()));
        assert!(!is_cut_off(Path::new("/")));
    }
}
