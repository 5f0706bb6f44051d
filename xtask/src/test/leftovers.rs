//! What a run of the tests leaves on the machine: processes, mounts, loop devices, control groups, trace instances, directories. Tests take
//! down what they put up, also when they panic; a test that is killed cannot. So the run before this one is cleared away at the start, and at
//! the end anything of this one is named, counted as a failure, and removed.
//!
//! A run is known by the file that [`ENV`] names to every test and to whatever a test starts: the run that owns it holds a lock on it, so a
//! file that can be locked belongs to a run that is gone. Directories of tests bear the same mark in their names.

use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Names the file that skips are appended to; `fathom_testkit::skip` reads it, and `fathom_testkit::TestDir` names its directories by it.
pub(super) const ENV: &str = "FATHOM_TEST_SKIPS";

/// How these files are named: `fathom-suite-XXXXXX`.
const PREFIX: &str = "fathom-suite-";

/// How long what is about to go may take: the kernel detaches a loop device when its last user is gone.
const PATIENCE: Duration = Duration::from_secs(20);

/// This run of the tests. The file vanishes with it.
pub(super) struct Suite {
    file: tempfile::NamedTempFile,
    /// What was there before, of any owner.
    before: BTreeSet<Left>,
}

/// Something that a test may leave.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Left {
    Process { pid: i32, command: String },
    Mount(PathBuf),
    Loop { device: PathBuf, image: PathBuf },
    Group(PathBuf),
    Instance(PathBuf),
    Directory(PathBuf),
}

impl Suite {
    /// Clears away what killed runs left, and begins one.
    pub(super) fn begin() -> Result<Self> {
        let dir = std::env::temp_dir();
        for file in dead_suites(&dir) {
            remove(&left_by(&file));
            let _ = fs::remove_file(&file);
        }
        remove(&orphans());
        // Another run that began between the two calls took it for a dead one's and has removed it.
        let file = loop {
            let file =
                tempfile::Builder::new().prefix(PREFIX).tempfile_in(&dir).context("no file for skips")?;
            if lock(file.as_file()) && file.path().exists() {
                break file;
            }
        };
        Ok(Self { file, before: orphans() })
    }

    /// What every test is to find in its environment.
    pub(super) fn environment(&self) -> (&str, &OsStr) {
        (ENV, self.file.path().as_os_str())
    }

    /// The lines that tests which skipped themselves have written.
    pub(super) fn skips(&self) -> Result<String> {
        fs::read_to_string(self.file.path()).context("the list of skipped tests")
    }

    /// Whether nothing is left; what is left is named and removed.
    pub(super) fn end(&self) -> bool {
        let began = Instant::now();
        let mut left = self.left();
        while !left.is_empty() && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(50));
            left = self.left();
        }
        for thing in &left {
            eprintln!("left behind by a test: {thing}");
        }
        remove(&left);
        left.is_empty()
    }

    fn left(&self) -> BTreeSet<Left> {
        let mut left = left_by(self.file.path());
        left.extend(orphans().difference(&self.before).cloned());
        left
    }
}

impl std::fmt::Display for Left {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Process { pid, command } => write!(f, "process {pid}: {command}"),
            Self::Mount(point) => write!(f, "mount {}", point.display()),
            Self::Loop { device, image } => {
                write!(f, "loop device {} of {}", device.display(), image.display())
            }
            Self::Group(dir) => write!(f, "control group {}", dir.display()),
            Self::Instance(dir) => write!(f, "trace instance {}", dir.display()),
            Self::Directory(dir) => write!(f, "directory {}", dir.display()),
        }
    }
}

/// Files of this user's runs that are gone.
fn dead_suites(dir: &Path) -> Vec<PathBuf> {
    let ours = entries(dir).into_iter().filter(|path| name(path).starts_with(PREFIX) && is_mine(path));
    ours.filter(|path| File::open(path).is_ok_and(|file| lock(&file))).collect()
}

/// Whether an exclusive lock could be had at once.
fn lock(file: &File) -> bool {
    file.try_lock().is_ok()
}

/// Whether it belongs to this user, and is no link to something that others may have put there.
fn is_mine(path: &Path) -> bool {
    // SAFETY: geteuid has no preconditions and cannot fail.
    let me = unsafe { libc::geteuid() };
    fs::symlink_metadata(path).is_ok_and(|about| about.uid() == me && !about.is_symlink())
}

/// What bears the mark of the run with this file.
fn left_by(file: &Path) -> BTreeSet<Left> {
    let mark = format!("fathom-test-{}-", name(file).trim_start_matches(PREFIX));
    let marked =
        |path: &Path| path.components().any(|part| part.as_os_str().as_bytes().starts_with(mark.as_bytes()));
    let mut left: BTreeSet<Left> = processes(file).collect();
    left.extend(mounts().into_iter().filter(|point| marked(point)).map(Left::Mount));
    left.extend(
        loops().filter(|(_, image)| marked(image)).map(|(device, image)| Left::Loop { device, image }),
    );
    let chosen = std::env::var_os("FATHOM_TEST_DIR").map(PathBuf::from);
    let places = [Some(std::env::temp_dir()), Some("/var/tmp".into()), chosen].into_iter().flatten();
    let places: BTreeSet<_> = places.filter_map(|dir| dir.canonicalize().ok()).collect();
    left.extend(
        places
            .iter()
            .flat_map(|dir| entries(dir))
            .filter(|dir| marked(dir) && is_mine(dir))
            .map(Left::Directory),
    );
    left
}

/// Control groups and trace instances of processes of fathom that are gone: `fathom-PID`, `fathom-PID-START-N`.
fn orphans() -> BTreeSet<Left> {
    let orphaned = |dir: &Path| {
        let name = name(dir);
        let pid = name.strip_prefix("fathom-").and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
        pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists())
    };
    let mut found = BTreeSet::new();
    for tracing in ["/sys/kernel/tracing/instances", "/sys/kernel/debug/tracing/instances"] {
        found.extend(entries(Path::new(tracing)).into_iter().filter(|dir| orphaned(dir)).map(Left::Instance));
    }
    let mut open = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(dir) = open.pop() {
        for below in entries(&dir).into_iter().filter(|path| path.is_dir() && !path.is_symlink()) {
            if orphaned(&below) {
                found.insert(Left::Group(below));
            } else {
                open.push(below);
            }
        }
    }
    found
}

/// Processes that were started by the run with this file, or by what it started.
fn processes(file: &Path) -> impl Iterator<Item = Left> {
    let mark = [ENV.as_bytes(), b"=", file.as_os_str().as_bytes()].concat();
    entries(Path::new("/proc")).into_iter().filter_map(move |dir| {
        let pid = name(&dir).parse().ok()?;
        let environment = fs::read(dir.join("environ")).ok()?;
        environment.split(|&byte| byte == 0).any(|variable| variable == mark).then_some(())?;
        let command = fs::read(dir.join("cmdline")).unwrap_or_default();
        Some(Left::Process { pid, command: String::from_utf8_lossy(&command).replace('\0', " ") })
    })
}

/// Mount points, the latest first.
fn mounts() -> Vec<PathBuf> {
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let points = table.lines().filter_map(|line| line.split(' ').nth(4));
    let mut points: Vec<_> = points.map(|point| PathBuf::from(point.replace("\\040", " "))).collect();
    points.reverse();
    points
}

/// Loop devices and the files below them.
fn loops() -> impl Iterator<Item = (PathBuf, PathBuf)> {
    entries(Path::new("/sys/block")).into_iter().filter_map(|block| {
        let image = fs::read_to_string(block.join("loop/backing_file")).ok()?;
        Some((Path::new("/dev").join(block.file_name()?), PathBuf::from(image.trim_end())))
    })
}

/// Removes all of it: first who may hold it, then what stands on something else. What cannot be removed is found again by the next run.
fn remove(left: &BTreeSet<Left>) {
    for thing in left {
        match thing {
            // SAFETY: kill takes two integers; the process was found by the mark of a run.
            Left::Process { pid, .. } => drop(unsafe { libc::kill(*pid, libc::SIGKILL) }),
            Left::Mount(point) => quietly("umount", &["--lazy".as_ref(), point.as_os_str()]),
            Left::Loop { device, .. } => quietly("losetup", &["--detach".as_ref(), device.as_os_str()]),
            Left::Group(dir) | Left::Instance(dir) => drop(fs::remove_dir(dir)),
            Left::Directory(dir) => {
                if !mounts().iter().any(|point| point.starts_with(dir)) {
                    drop(fs::remove_dir_all(dir));
                }
            }
        }
    }
}

fn quietly(program: &str, args: &[&OsStr]) {
    let _ = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(dir)
        .map(|all| all.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeper(suite: &Path) -> std::process::Child {
        Command::new("sleep").arg("600").env(ENV, suite).stdin(Stdio::null()).spawn().unwrap()
    }

    /// A separate run beside the one that runs this test.
    fn suite() -> tempfile::NamedTempFile {
        let file = tempfile::Builder::new().prefix(PREFIX).tempfile().unwrap();
        assert!(lock(file.as_file()));
        file
    }

    #[test]
    fn a_process_of_this_run_is_found_by_its_mark_and_ended() {
        let suite = suite();
        let mut child = sleeper(suite.path());
        let pid = child.id() as i32;
        // Between fork and exec it is still a copy of this test.
        let deadline = Instant::now() + Duration::from_secs(60);
        let left = loop {
            let left: BTreeSet<_> = processes(suite.path()).collect();
            if left.iter().any(|l| matches!(l, Left::Process { pid: p, command } if *p == pid && command.starts_with("sleep "))) {
                break left;
            }
            assert!(Instant::now() < deadline, "{left:?}");
        };
        remove(&left);
        assert!(!child.wait().unwrap().success());
        assert_eq!(processes(suite.path()).count(), 0);
    }

    #[test]
    fn a_directory_of_this_run_is_found_by_its_name() {
        let suite = suite();
        let mark = name(suite.path()).replace(PREFIX, "fathom-test-");
        let dir = std::env::temp_dir().canonicalize().unwrap().join(format!("{mark}-x"));
        fs::create_dir(&dir).unwrap();
        let left = left_by(suite.path());
        assert_eq!(left, BTreeSet::from([Left::Directory(dir.clone())]));
        remove(&left);
        assert!(!dir.exists());
    }

    #[test]
    fn a_link_is_not_a_run() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc/passwd", dir.path().join("fathom-suite-link")).unwrap();
        assert!(dead_suites(dir.path()).is_empty());
    }

    #[test]
    fn a_run_is_dead_once_its_file_is_unlocked() {
        let dir = tempfile::tempdir().unwrap();
        let file = tempfile::Builder::new().prefix(PREFIX).tempfile_in(dir.path()).unwrap();
        assert!(lock(file.as_file()));
        assert!(dead_suites(dir.path()).is_empty());
        let (file, path) = file.keep().unwrap();
        // Closing it is not enough here: a child that another test forks shares the lock until its exec.
        file.unlock().unwrap();
        assert_eq!(dead_suites(dir.path()), [path]);
    }
}
