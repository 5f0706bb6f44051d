//! What the dialect needs to know about this machine: environment, files, sizes.

use crate::{consent, input};
use fathom_dialects::fio::{FoundPath, World};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

pub fn world() -> World<'static> {
    World {
        variable: &variable,
        read: &read,
        trace: &trace,
        find: &find,
        allowed: &consent::is_in_the_environment,
        blank: &consent::is_blank_device,
        device: &device,
        list: &list,
        page_bytes: rustix::param::page_size() as u64,
        memory_mib: memory_mib(),
        cpus: std::thread::available_parallelism().map_or(1, |n| n.get() as u64),
        clock_seed: clock_seed(),
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

/// Job files are hand-written text; anything longer (/dev/zero, a disk) is not one.
const LARGEST_JOB_FILE: u64 = 16 << 20;

/// A trace is read entirely before the start; its operations take about three times the memory of its lines.
const LARGEST_TRACE: u64 = 1 << 30;

pub(super) fn read(path: &Path) -> Result<Vec<u8>, String> {
    bounded(path, LARGEST_JOB_FILE)?
        .ok_or_else(|| format!("it is larger than {} MiB, and no job file", LARGEST_JOB_FILE >> 20))
}

pub(super) fn trace(path: &Path) -> Result<Vec<u8>, String> {
    bounded(path, LARGEST_TRACE)?.ok_or_else(|| {
        format!(
            "it is larger than {} MiB; a part of it can be replayed, or fathom sim replay has all",
            LARGEST_TRACE >> 20
        )
    })
}

/// A file's content; none if it is larger than `most`.
fn bounded(path: &Path, most: u64) -> Result<Option<Vec<u8>>, String> {
    let mut bytes = Vec::new();
    let all = if path == Path::new("-") {
        std::io::stdin().take(most + 1).read_to_end(&mut bytes)
    } else {
        input::open(path).and_then(|file| file.take(most + 1).read_to_end(&mut bytes))
    };
    let length = all.map_err(|e| e.to_string())? as u64;
    Ok((length <= most).then_some(bytes))
}

pub(super) fn find(path: &Path) -> Option<FoundPath> {
    let about = path.metadata().ok()?;
    if !about.file_type().is_block_device() {
        let bottomless = fathom_engine::is_bottomless(&about);
        return Some(FoundPath { bytes: about.len(), device: false, bottomless });
    }
    let bytes = File::open(path).and_then(|mut device| device.seek(SeekFrom::End(0))).unwrap_or(0);
    Some(FoundPath { bytes, device: true, bottomless: false })
}

/// The kernel's name of a device number.
fn device(major: u32, minor: u32) -> Option<PathBuf> {
    let uevent = std::fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/uevent")).ok()?;
    let name = uevent.lines().find_map(|line| line.strip_prefix("DEVNAME="))?;
    Some(Path::new("/dev").join(name))
}

/// A directory with more files was not meant.
const MOST_FILES: usize = 1 << 20;

/// Regular files below a directory, sorted by name; links are not followed.
pub(super) fn list(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(directory) = waiting.pop() {
        let failed = |e: std::io::Error| format!("{} cannot be read: {e}", directory.display());
        for entry in std::fs::read_dir(&directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() {
                waiting.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path());
            }
            if found.len() > MOST_FILES {
                return Err(format!("there are more than {MOST_FILES} files in it"));
            }
        }
    }
    found.sort();
    Ok(found)
}

fn memory_mib() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = text.lines().find_map(|l| l.strip_prefix("MemTotal:"));
    total.and_then(|l| l.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

/// A different seed every time.
pub fn clock_seed() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(1, |d| d.as_nanos() as u64)
}
