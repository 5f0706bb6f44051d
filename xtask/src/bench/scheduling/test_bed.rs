//! What these benches record on: a loop device with a file over another one, direct I/O between them, and block events of the upper
//! one written by `fathom trace record`. The lower one can be limited to N requests a second, so that a queue forms above it. All of
//! it is gone when this is dropped.

use super::throttle::Throttle;
use crate::bench::dropin::child;
use crate::bench::files;
use crate::bench::loop_device::{LoopDevice, root};
use crate::bench::loop_disk::{Form, LoopDisk};
use anyhow::{Context as _, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const DISK_BYTES: u64 = 256 << 20;
/// The file that loads work on.
pub const FILE_BYTES: u64 = 192 << 20;
/// Reads, and writes, a second that the lower device gets through.
pub const PER_S: u32 = 400;
const LIMIT: Duration = Duration::from_secs(300);
/// A file system that does nothing by itself meanwhile: no journal, no tables made late, times kept in memory.
const QUIET: Form = Form {
    file_system: "ext4",
    make: &["-O", "^has_journal", "-E", "lazy_itable_init=0"],
    mount: "noatime,lazytime",
};

/// The devices, the upper one first, as they have to go.
pub struct TestBed<'a> {
    upper: LoopDisk,
    throttle: Throttle,
    _lower: LoopDevice,
    _backing: Backing,
    fathom: &'a Path,
    dir: PathBuf,
    pub file: PathBuf,
}

/// The file below everything.
struct Backing(PathBuf);

impl Drop for Backing {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Says that a bench needs root, before anything is built or made.
pub fn need_root(bench: &str) -> Result<()> {
    ensure!(
        root(),
        "`bench {bench}` makes loop devices, limits them by a control group and records block events: it must be started by root"
    );
    Ok(())
}

impl<'a> TestBed<'a> {
    /// Made in a directory, with a file of random bytes on it.
    pub fn made(dir: &Path, fathom: &'a Path) -> Result<Self> {
        let backing = Backing(dir.join("disk"));
        files::allocate(&backing.0, DISK_BYTES)?;
        let mut lower = LoopDevice::over(&backing.0)?;
        // Requests are to be sorted on the upper device only.
        lower.schedule("none")?;
        let throttle = Throttle::on(&lower.number()?, PER_S)?;
        let upper = LoopDisk::on(LoopDevice::over(lower.path())?, dir, &[QUIET])?;
        let file = upper.dir().join("file");
        files::random(&file, FILE_BYTES)?;
        files::evict(&file)?;
        let (dir, _lower, _backing) = (dir.to_owned(), lower, backing);
        Ok(Self { upper, throttle, _lower, _backing, fathom, dir, file })
    }

    /// The device that is recorded.
    pub fn device(&mut self) -> &mut LoopDevice {
        &mut self.upper.device
    }

    /// What was set up, in a sentence.
    pub fn about(&self) -> String {
        let way = |device: &LoopDevice| if device.direct { "direct" } else { "buffered" };
        format!(
            "a file on a loop device ({} I/O to a second one, {} to its file); held back means {PER_S} reads and {PER_S} writes a second on the second one",
            way(&self.upper.device),
            way(&self._lower)
        )
    }

    /// Records what a workload makes the upper device do, with events of queueing if wanted, and held back or not. The trace's file.
    pub fn record(&self, workload: &str, full: bool, held_back: bool) -> Result<PathBuf> {
        let (script, trace) = (self.dir.join("load.toml"), self.dir.join("trace.fbl"));
        std::fs::write(&script, workload)?;
        files::settle(&self.file)?;
        let mut line = if held_back { self.held_back() } else { self.fathom() };
        line.args(["trace", "record", "--force", "--output"]).arg(&trace);
        line.args(full.then_some("--full"));
        line.arg(self.upper.device.path()).arg("--").arg(self.fathom);
        line.args(["--observe", "none", "run"]).arg(&script);
        let ended = child::run(&mut line, LIMIT)?;
        ensure!(ended.output.status.success(), "recording failed: {}", child::printed(&ended));
        Ok(trace)
    }

    /// What fathom prints, as JSON.
    pub fn asked(&self, args: &[&str], trace: &Path) -> Result<serde_json::Value> {
        let mut line = self.fathom();
        line.args(args).arg(trace).arg("--json");
        let ended = child::run(&mut line, LIMIT)?;
        ensure!(ended.output.status.success(), "fathom {}: {}", args.join(" "), child::printed(&ended));
        serde_json::from_slice(&ended.output.stdout).context("fathom printed no JSON")
    }

    fn fathom(&self) -> Command {
        let mut line = Command::new(self.fathom);
        self.surround(&mut line);
        line
    }

    /// A shell that puts itself into the group and becomes the program.
    fn held_back(&self) -> Command {
        let mut line = Command::new("sh");
        line.args(["-c", "echo $$ >\"$0\" && exec \"$@\""]).arg(self.throttle.processes()).arg(self.fathom);
        self.surround(&mut line);
        line
    }

    /// Its own store and journals, away from the user's.
    fn surround(&self, line: &mut Command) {
        line.env("FATHOM_STORE", self.dir.join("store.db")).env("XDG_STATE_HOME", self.dir.join("state"));
        line.current_dir(&self.dir);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stand_is_made_and_leaves_nothing() {
        let test = "a_stand_is_made_and_leaves_nothing";
        if !fathom_testkit::need_root(test) {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let stand = match TestBed::made(dir.path(), Path::new("true")) {
            Ok(stand) => stand,
            Err(error) => return fathom_testkit::skip(test, &format!("no such devices: {error:#}")),
        };
        let group = stand.throttle.processes();
        assert!(group.exists() && stand.file.metadata().unwrap().len() == FILE_BYTES);
        drop(stand);
        assert!(!group.exists() && !dir.path().join("disk").exists());
        // A device that another program has open at this moment (`losetup --list`, udev) goes when that closes it.
        let is_left = || {
            let listed = Command::new("losetup").arg("--list").output().unwrap();
            String::from_utf8_lossy(&listed.stdout).contains(&*dir.path().to_string_lossy())
        };
        let waited = std::time::Instant::now();
        while is_left() {
            assert!(waited.elapsed() < std::time::Duration::from_secs(20), "the loop device is left");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}
