//! Files and mounts shared with other tests in the same process. When another thread starts a child, the child holds all open
//! descriptors of the process from fork to exec. So the kernel may report a file just written or a mount just read as busy.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Copies a program for execution. A separate process does it, as the kernel refuses to run a program that is open for writing.
pub fn install(from: &Path, to: &Path) {
    let done = Command::new("install").args(["-m", "755"]).arg(from).arg(to).status();
    assert!(
        done.is_ok_and(|status| status.success()),
        "{} could not be put to {}",
        from.display(),
        to.display()
    );
}

/// Creates an executable script.
pub fn script(path: &Path, text: &str) {
    let draft = path.with_extension("draft");
    std::fs::write(&draft, text).unwrap_or_else(|e| panic!("{}: {e}", draft.display()));
    install(&draft, path);
}

/// Unmounts with umount(8) once the mount is unused; returns whether that succeeded within a minute.
#[must_use]
pub fn unmount(on: &Path) -> bool {
    let limit = Instant::now() + Duration::from_secs(60);
    loop {
        let Ok(out) = Command::new("umount").arg(on).env("LC_ALL", "C").output() else { return false };
        let busy = String::from_utf8_lossy(&out.stderr).contains("busy");
        if out.status.success() || !busy || Instant::now() > limit {
            return out.status.success();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LoopFs, TestDir};

    #[test]
    fn a_script_runs_at_once() {
        let dir = TestDir::new();
        let path = dir.path().join("say");
        script(&path, "#!/bin/sh\necho said\n");
        assert_eq!(Command::new(&path).output().unwrap().stdout, b"said\n");
    }

    #[test]
    fn a_busy_mount_is_unmounted_when_it_is_free() {
        let Some(fs) = LoopFs::ext4("a_busy_mount_is_unmounted_when_it_is_free").mebibytes(8).mount() else {
            return;
        };
        let open = std::fs::File::create(fs.path().join("file")).unwrap();
        std::thread::scope(|scope| {
            let unmounted = scope.spawn(|| unmount(fs.path()));
            std::thread::sleep(Duration::from_millis(100));
            assert!(!unmounted.is_finished(), "a file is open");
            drop(open);
            assert!(unmounted.join().unwrap());
        });
        assert!(!unmount(Path::new("/no/such/mount")));
    }
}
