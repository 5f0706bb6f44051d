//! A fake kernel whose knobs behave like the real ones: a list rejects values it does not offer, numbers are clamped, changing the
//! scheduler changes nr_requests and the tunables, and setting vm.dirty_bytes or vm.dirty_ratio sets the other to 0.

use super::catalogue::listed;
use super::files::{KnobFiles, lock};
use crate::fake::Fake;
use crate::files::{KernelFiles, MountKey, Space};
use std::cell::{Cell, RefCell};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The kernel, with a disk `sda` mounted at /data.
pub(crate) struct FakeKernel {
    machine: Fake,
    /// Every write, in order.
    pub(crate) written: RefCell<Vec<(String, String)>>,
    /// Whether this user may write.
    pub(crate) allowed: Cell<bool>,
    /// Copies of every lock, like those of a forked child that has not yet called exec.
    forked: RefCell<Vec<File>>,
}

pub(crate) const QUEUE: &str = "/sys/devices/pci/block/sda/queue";

impl FakeKernel {
    pub(crate) fn new() -> Self {
        let file = |name: &str| format!("{QUEUE}/{name}");
        let machine = Fake::new()
            .disk("pci", "sda", (8, 0))
            .file("/proc/self/mountinfo", "30 1 8:0 / /data rw - ext4 /dev/sda rw\n")
            .on_mount("/data", 30, (8, 0))
            .file("/data/here", "")
            .file("/proc/sys/kernel/random/boot_id", "boot-1\n")
            .file("/proc/sys/kernel/hostname", "host\n")
            .file("/proc/sys/vm/dirty_bytes", "0\n")
            .file("/proc/sys/vm/dirty_ratio", "20\n")
            .file(&file("scheduler"), "[none] mq-deadline kyber bfq\n")
            .file(&file("nr_requests"), "128\n")
            .file(&file("read_ahead_kb"), "128\n")
            .file(&file("max_sectors_kb"), "1280\n")
            .file(&file("max_hw_sectors_kb"), "2560\n")
            .file(&file("nomerges"), "0\n")
            .file(&file("wbt_lat_usec"), "2000\n");
        Self { machine, written: RefCell::default(), allowed: Cell::new(true), forked: RefCell::default() }
    }

    pub(crate) fn get(&self, path: &str) -> String {
        self.machine.trimmed(Path::new(path)).unwrap_or_else(|| "(nothing)".into())
    }

    /// Sets a value as another process would.
    pub(crate) fn set(&self, path: &str, value: &str) {
        self.apply(Path::new(path), value).expect("a good value");
    }

    fn put(&self, path: &Path, value: &str) {
        fs::write(self.machine.inside(path), format!("{value}\n")).expect("a file of the fake");
    }

    fn apply(&self, path: &Path, value: &str) -> io::Result<()> {
        let beside = |name: &str| path.with_file_name(name);
        match path.file_name().and_then(|n| n.to_str()).unwrap_or_default() {
            "scheduler" => {
                let all = listed(&self.read(path)?);
                if !all.iter().any(|s| s == value) {
                    return Err(io::Error::from_raw_os_error(libc::EINVAL));
                }
                let shown: Vec<String> =
                    all.iter().map(|s| if s == value { format!("[{s}]") } else { s.clone() }).collect();
                if shown.join(" ") == self.read(path)?.trim() {
                    return Ok(());
                }
                self.put(path, &shown.join(" "));
                self.put(&beside("nr_requests"), if value == "none" { "128" } else { "256" });
                self.put(&beside("wbt_lat_usec"), if value == "bfq" { "0" } else { "2000" });
                let tunables = self.machine.inside(&beside("iosched"));
                let _ = fs::remove_dir_all(&tunables);
                if value == "bfq" {
                    fs::create_dir_all(tunables).expect("a directory");
                    self.put(&beside("iosched/low_latency"), "1");
                }
            }
            "nr_requests" => self.put(path, &value.parse::<u64>().map_or(4, |n| n.max(4)).to_string()),
            "max_sectors_kb" if value.parse::<u64>().is_ok_and(|n| n < 4) => {
                return Err(io::Error::from_raw_os_error(libc::EINVAL));
            }
            name @ ("dirty_bytes" | "dirty_ratio") => {
                if name == "dirty_bytes" && value == "0" {
                    return Err(io::Error::from_raw_os_error(libc::EINVAL));
                }
                self.put(&beside(if name == "dirty_bytes" { "dirty_ratio" } else { "dirty_bytes" }), "0");
                self.put(path, value);
            }
            _ => {
                self.read(path)?;
                self.put(path, value);
            }
        }
        Ok(())
    }
}

impl KnobFiles for FakeKernel {
    fn write(&self, path: &Path, value: &str) -> io::Result<()> {
        self.may_write(path)?;
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        self.written.borrow_mut().push((name, value.into()));
        self.apply(path, value)
    }

    fn may_write(&self, path: &Path) -> io::Result<()> {
        self.read(path)?;
        if self.allowed.get() { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::EACCES)) }
    }

    fn lock(&self, directory: &Path) -> io::Result<Option<File>> {
        let lock = lock(&self.machine.inside(directory))?;
        if let Some(lock) = &lock {
            self.forked.borrow_mut().push(lock.try_clone()?);
        }
        Ok(lock)
    }
}

impl KernelFiles for FakeKernel {
    fn read(&self, path: &Path) -> io::Result<String> {
        self.machine.read(path)
    }
    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        self.machine.read_link(path)
    }
    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.machine.canonical(path)
    }
    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.machine.list(path)
    }
    fn mount_of(&self, path: &Path) -> io::Result<MountKey> {
        self.machine.mount_of(path)
    }
    fn space_of(&self, path: &Path) -> io::Result<Space> {
        self.machine.space_of(path)
    }
    fn size_of(&self, path: &Path) -> io::Result<crate::files::FileSize> {
        self.machine.size_of(path)
    }
}
