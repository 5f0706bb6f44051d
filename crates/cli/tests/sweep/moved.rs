//! The owner of the parent directory renames the one a sweep has made, and replaces it with a link: nothing is mounted,
//! unmounted or removed where the link leads, and what the sweep made is torn down where it is.

use crate::sweep::disk::{can, on_images, started_in};
use crate::sweep::support::{guardian, journals, kill};
use fathom_testkit::dir::names_in;
use fathom_testkit::{Fathom, Running, TestDir};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A directory for images, and another user's beside it that looks like a sweep's.
struct Stand {
    all: TestDir,
    images: PathBuf,
    theirs: PathBuf,
}

impl Stand {
    fn new() -> Self {
        let all = TestDir::new();
        let (images, theirs) = (all.subdir("images"), all.subdir("theirs"));
        fs::create_dir(theirs.join("mnt")).expect("their directory");
        for name in ["image", "mnt/sweep.dat"] {
            fs::write(theirs.join(name), "theirs").expect("their file");
        }
        Self { all, images, theirs }
    }

    /// Where a sweep works.
    fn made(&self) -> PathBuf {
        self.filled().expect("its directory")
    }

    /// It, as soon as there is something in it: an empty one that is touched is not used.
    fn filled(&self) -> Option<PathBuf> {
        let names = names_in(&self.images);
        let made = self.images.join(names.iter().find(|name| name.starts_with(".fathom-sweep-"))?);
        made.join("image").exists().then_some(made)
    }

    /// A link to theirs, to be put in a place.
    fn link(&self) -> PathBuf {
        let link = self.images.join("link");
        symlink(&self.theirs, &link).expect("a link");
        link
    }

    #[track_caller]
    fn expect_theirs_alone(&self, told: &str) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while !self.all.mounts_and_loops().is_empty() {
            assert!(Instant::now() < deadline, "{:?}: {told}", self.all.mounts_and_loops());
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(names_in(&self.theirs), ["image", "mnt"], "{told}");
        for name in ["image", "mnt/sweep.dat"] {
            let text = fs::read_to_string(self.theirs.join(name)).expect("there");
            assert_eq!(text, "theirs", "{name}: {told}");
        }
    }

    /// Nothing but a link is left where images were made.
    #[track_caller]
    fn expect_one_link(&self, images: &Path, told: &str) {
        self.expect_theirs_alone(told);
        let names = names_in(images);
        assert!(names.len() == 1 && images.join(&names[0]).is_symlink(), "{names:?}: {told}");
    }
}

fn exchange(one: &Path, other: &Path) {
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).expect("exchanged");
}

/// Program and guardian are gone at once.
fn killed(mut running: Running) {
    kill(guardian(&mut running));
    running.signal_group(libc::SIGKILL);
    let _ = running.finish();
}

#[test]
fn one_that_is_renamed_again_and_again_leads_nowhere_else() {
    if !can("one_that_is_renamed_again_and_again_leads_nowhere_else") {
        return;
    }
    let (fathom, stand) = (Fathom::new(), Stand::new());
    let link = stand.link();
    let words = on_images(&fathom, &stand.images, "32MiB", &["fs=ext4", "mkfs=-b 1024;-b 2048;-b 4096"]);
    let mut running = fathom.spawn(words);
    running.wait_until("the image", || stand.filled().is_some());
    let (made, is_over) = (stand.made(), AtomicBool::new(false));
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            // Until the sweep has removed its own.
            while !is_over.load(Ordering::Relaxed)
                && renameat_with(CWD, &link, CWD, &made, RenameFlags::EXCHANGE).is_ok()
            {
                std::hint::spin_loop();
            }
        });
        let outcome = running.finish();
        is_over.store(true, Ordering::Relaxed);
        outcome
    });
    // A run whose directory does not answer to its name ends with an error.
    let told = format!("{outcome:?}");
    assert!(outcome.code == Some(0) || told.contains("is no longer on the file system"), "{told}");
    stand.expect_one_link(&stand.images, &told);
    assert!(journals(&fathom).is_empty());
}

#[test]
fn one_that_was_renamed_once_is_taken_down_at_the_end() {
    if !can("one_that_was_renamed_once_is_taken_down_at_the_end") {
        return;
    }
    let (fathom, stand) = (Fathom::new(), Stand::new());
    let running = started_in(&fathom, &stand.images);
    exchange(&stand.link(), &stand.made());
    running.signal_group(libc::SIGINT);
    let outcome = running.finish().expect_code(130);
    stand.expect_one_link(&stand.images, &outcome.stderr);
    assert!(journals(&fathom).is_empty());
}

#[test]
fn one_that_was_renamed_is_taken_down_by_the_next_command() {
    if !can("one_that_was_renamed_is_taken_down_by_the_next_command") {
        return;
    }
    let (fathom, stand) = (Fathom::new(), Stand::new());
    let running = started_in(&fathom, &stand.images);
    exchange(&stand.link(), &stand.made());
    killed(running);
    let next = fathom.run(["list"]).expect_code(0);
    let told = format!("note: removed {}/link", stand.images.display());
    assert!(next.stderr.contains(&told), "{}", next.stderr);
    stand.expect_one_link(&stand.images, &next.stderr);
    assert!(journals(&fathom).is_empty());
}

/// Nothing but the loop device leads to it.
#[test]
fn one_whose_directory_above_was_renamed_is_taken_down_by_the_next_command() {
    if !can("one_whose_directory_above_was_renamed_is_taken_down_by_the_next_command") {
        return;
    }
    let (fathom, stand) = (Fathom::new(), Stand::new());
    killed(started_in(&fathom, &stand.images));
    let moved = stand.all.path().join("moved");
    let made = stand.made();
    fs::rename(&stand.images, &moved).expect("renamed");
    fs::create_dir(&stand.images).expect("another");
    symlink(&stand.theirs, &made).expect("a link");
    let next = fathom.run(["list"]).expect_code(0);
    let told = format!("note: removed {}/.fathom-sweep-", moved.display());
    assert!(next.stderr.contains(&told), "{}", next.stderr);
    stand.expect_one_link(&stand.images, &next.stderr);
    assert_eq!(names_in(&moved), [""; 0]);
    assert!(journals(&fathom).is_empty());
}

#[test]
fn what_cannot_be_taken_down_is_told_and_the_exit_code_says_so() {
    if !can("what_cannot_be_taken_down_is_told_and_the_exit_code_says_so") {
        return;
    }
    let (fathom, stand) = (Fathom::new(), Stand::new());
    let words = on_images(&fathom, &stand.images, "32MiB", &["fs=ext4", "mkfs=-b 1024;-b 4096"]);
    let mut running = fathom.spawn(words);
    running.wait_until("the image", || stand.filled().is_some());
    let made = stand.made();
    fs::write(made.join("more"), "somebody's").expect("a file that the sweep does not know");
    let outcome = running.finish().expect_code(3);
    let told = format!("warning: {} could not be restored", made.display());
    assert!(outcome.stderr.contains(&told), "{}", outcome.stderr);
    assert_eq!(names_in(&made), ["more"]);
    fs::remove_file(made.join("more")).expect("removed");
    let next = fathom.run(["list"]).expect_code(0);
    assert!(next.stderr.contains("note: removed"), "{}", next.stderr);
    assert_eq!(names_in(&stand.images), [""; 0]);
}
