//! Evicts files from the page cache before a phase and verifies it: file by file, or the whole machine's cache if the user asked for it.
//!
//! 1. Each file is written back and dropped with posix_fadvise, and cachestat (or mincore) counts the pages left. No other files are
//!    touched, and an ordinary user may do no more than this.
//! 2. If the files lie on a loop device that uses the page cache, its backing file is dropped in the same way: otherwise "cold" reads
//!    would be served from there.
//! 3. If pages are left or cannot be counted, and only if the user asked for the whole machine: sync, then 1 into
//!    /proc/sys/vm/drop_caches. That empties the cache of every program on the machine.
//!
//! Mapped or locked pages always stay, and in memory file systems the cache is the file. Both are reported.

use super::backing_files;
use crate::device::DeviceStack;
use crate::residency::{self, ResidencyError};
use fathom_record::{Cold, ColdStep, Residency};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How much may be evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The files that the phase reads, and the files that back their devices.
    Files,
    /// The whole machine's cache, if dropping the files was not enough.
    Machine,
}

impl Reach {
    /// Its name in records.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Machine => "machine",
        }
    }
}

/// Delay before a retry: pages under write-back or in use survive the first attempt.
const MOMENT: Duration = Duration::from_millis(100);

/// Evicts the files; reports the steps taken and their result. Files that do not exist (yet) have nothing to evict.
#[must_use]
pub fn make(paths: &[PathBuf], stack: &DeviceStack, reach: Reach) -> Cold {
    let there: Vec<PathBuf> = paths.iter().filter(|p| p.exists()).cloned().collect();
    let mut cold = Cold { files: there.len() as u64, ..Cold::default() };
    let found = residency::measure(&there);
    cold.steps.push(step("found", &found, None));
    if found.as_ref().is_ok_and(|r| r.cached_pages > 0) || found.is_err() {
        let (mut left, mut failed) = drop_each(&there);
        if left.as_ref().is_ok_and(|r| r.cached_pages > 0) {
            std::thread::sleep(MOMENT);
            (left, failed) = drop_each(&there);
        }
        cold.steps.push(step("fadvise", &left, failed));
    }
    let below = backing_files(stack);
    if !below.is_empty() && !there.is_empty() {
        let (left, failed) = drop_each(&below);
        let ours = cold.steps.last().cloned().unwrap_or_default();
        let kept = left.as_ref().map_or(0, |r| r.cached_pages);
        let failed =
            failed.or_else(|| (kept > 0).then(|| format!("{kept} pages of the file below stay cached")));
        // Only the measured files are verified; what is left below is reported separately.
        cold.steps.push(ColdStep { how: "fadvise below".into(), failed, ..ours });
    }
    if !cold.proved() && !there.is_empty() && reach == Reach::Machine {
        let failed = drop_caches().err().map(|e| format!("/proc/sys/vm/drop_caches answers {e}"));
        cold.steps.push(step("drop_caches", &residency::measure(&there), failed));
    }
    cold.sentence = sentence(&cold, stack, reach);
    cold
}

fn step(how: &str, left: &Result<Residency, ResidencyError>, failed: Option<String>) -> ColdStep {
    let counted = left.as_ref().ok();
    ColdStep {
        how: how.into(),
        cached_pages: counted.map(|r| r.cached_pages),
        total_pages: counted.map_or(0, |r| r.total_pages),
        failed: failed.or_else(|| left.as_ref().err().map(ToString::to_string)),
    }
}

/// Drops each file; returns the residency of all of them and the first failure.
fn drop_each(paths: &[PathBuf]) -> (Result<Residency, ResidencyError>, Option<String>) {
    let failures = paths.iter().filter_map(|p| residency::evict(p).err());
    let first = failures.map(|e| e.to_string()).next();
    (residency::measure(paths), first)
}

/// Drops the clean pages of the whole machine. Dirty ones would stay, so they are written back first.
fn drop_caches() -> std::io::Result<()> {
    const PAGES: &str = "1";
    // SAFETY: the call takes no arguments and cannot fail.
    unsafe { libc::sync() };
    std::fs::write(Path::new("/proc/sys/vm/drop_caches"), PAGES)
}

fn sentence(cold: &Cold, stack: &DeviceStack, reach: Reach) -> String {
    let files = if cold.files == 1 { "1 file".to_string() } else { format!("{} files", cold.files) };
    if cold.files == 0 {
        return "There was no file yet that could be cold.".into();
    }
    let first = cold.steps.first().and_then(|s| s.cached_pages);
    let last = cold.steps.iter().rev().find(|s| s.cached_pages.is_some());
    let done: Vec<&str> = cold.steps.iter().skip(1).map(|s| s.how.as_str()).collect();
    let by = if done.is_empty() { String::new() } else { format!(" ({})", done.join(", ")) };
    let why = cold.steps.iter().filter_map(|s| s.failed.as_deref()).next_back();
    match last.and_then(|s| Some((s.cached_pages?, s.total_pages))) {
        Some((0, total)) => {
            let was = match first {
                Some(0) | None => "nothing of it was cached".to_string(),
                Some(n) => format!("{n} pages were cached"),
            };
            let but = why.map_or(String::new(), |w| format!("; but {w}"));
            let unseen = matches!(stack.method.as_str(), "none" | "mountstats" | "fuse-server");
            let unseen = if unseen { "; the layer below is not known, and may cache them" } else { "" };
            format!("Cold: {files} of {total} pages, {was}, 0 are left{by}{but}{unseen}.")
        }
        Some((left, total)) => {
            let why = match (stack.method.as_str(), why) {
                ("memory", _) => {
                    "their file system is memory, so there is nothing to drop them to".to_string()
                }
                (_, Some(why)) => why.to_string(),
                (_, None) => "another program has them mapped or locked, or reads them".to_string(),
            };
            let further = match reach {
                Reach::Files if stack.method != "memory" => {
                    "; --cold=machine drops the whole machine's cache, where that is allowed"
                }
                _ => "",
            };
            format!("Not cold: {left} of {total} pages of {files} stay in memory{by}: {why}{further}.")
        }
        None => {
            let why = why.unwrap_or("the kernel does not tell");
            let are = if cold.files == 1 { "is" } else { "are" };
            format!("Whether {files} {are} cold is not known{by}: {why}.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::stack_of;
    use fathom_testkit::{LoopFs, TestDir, TmpFs, skip};

    #[test]
    fn a_cached_file_becomes_cold_with_proof() {
        let dir = TestDir::new();
        let path = dir.path().join("file");
        std::fs::write(&path, vec![7; 1 << 20]).expect("writes");
        let stack = stack_of(dir.path());
        if dir.in_memory() || residency::measure(std::slice::from_ref(&path)).is_err() {
            return skip(
                "a_cached_file_becomes_cold_with_proof",
                "needs a real file system that reports its cache",
            );
        }
        let missing = dir.path().join("missing");
        let cold = make(&[path, missing], &stack, Reach::Files);
        assert!(cold.proved(), "{cold:?}");
        assert_eq!((cold.files, cold.steps[0].how.as_str()), (1, "found"));
        assert!(cold.sentence.starts_with("Cold: 1 file of 256 pages"), "{}", cold.sentence);
        assert!(cold.steps.iter().all(|s| s.how != "drop_caches"), "never unasked: {cold:?}");
    }

    #[test]
    fn what_lies_in_memory_cannot_be_cold_and_says_so() {
        let Some(fs) = TmpFs::mount("what_lies_in_memory_cannot_be_cold_and_says_so", 8 << 20) else {
            return;
        };
        let path = fs.path().join("file");
        std::fs::write(&path, vec![7; 1 << 20]).expect("writes");
        let cold = make(&[path], &stack_of(fs.path()), Reach::Files);
        assert!(!cold.proved());
        assert!(cold.sentence.contains("their file system is memory"), "{}", cold.sentence);
    }

    #[test]
    fn the_image_below_a_loop_device_is_dropped_too() {
        let test = "the_image_below_a_loop_device_is_dropped_too";
        if TestDir::new().in_memory() {
            return skip(test, "needs a directory on a real file system");
        }
        let Some(fs) = LoopFs::ext4(test).mebibytes(32).mount() else { return };
        let path = fs.path().join("file");
        std::fs::write(&path, vec![7; 8 << 20]).expect("writes");
        let stack = stack_of(fs.path());
        let image = backing_files(&stack);
        assert_eq!(image.len(), 1, "{stack:?}");
        let cold = make(&[path], &stack, Reach::Files);
        assert!(cold.proved() && cold.steps.iter().any(|s| s.how == "fadvise below"), "{cold:?}");
        let left = residency::of(&image).and_then(|r| r.cached_share()).expect("reported");
        // The mounted file system itself may hold a block or two of it.
        assert!(left < 0.2, "{left} of the image is still cached");
    }

    #[test]
    fn absent_and_unreported_have_different_words() {
        let stack = DeviceStack { method: "none".into(), ..DeviceStack::default() };
        let cold = make(&["/nowhere/at/all".into()], &stack, Reach::Machine);
        assert_eq!(cold.sentence, "There was no file yet that could be cold.");
        let blind = Cold {
            files: 1,
            steps: vec![ColdStep {
                how: "found".into(),
                failed: Some("it is a pipe".into()),
                ..ColdStep::default()
            }],
            ..Cold::default()
        };
        assert_eq!(
            sentence(&blind, &stack, Reach::Files),
            "Whether 1 file is cold is not known: it is a pipe."
        );
        let steps = vec![ColdStep { how: "fadvise".into(), cached_pages: Some(0), ..ColdStep::default() }];
        let gone = Cold { files: 1, steps, ..Cold::default() };
        assert!(sentence(&gone, &stack, Reach::Files).contains("the layer below is not known"));
        assert!(!sentence(&gone, &DeviceStack::default(), Reach::Files).contains("below"));
        let left = |reach| {
            let steps =
                vec![ColdStep { how: "fadvise".into(), cached_pages: Some(3), total_pages: 9, failed: None }];
            sentence(&Cold { files: 2, steps, ..Cold::default() }, &stack, reach)
        };
        assert!(
            left(Reach::Files).contains("3 of 9 pages of 2 files stay")
                && left(Reach::Files).contains("--cold=machine")
        );
        assert!(!left(Reach::Machine).contains("--cold=machine"));
    }
}
