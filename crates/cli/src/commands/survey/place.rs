//! Where a survey works and how large its files are: its own directory, sized by the free space and a short trial, or a
//! block device that is only read.

use super::effort::{Effort, EffortChoice};
use super::{KIB, MIB};
use crate::exit::Usage;
use fathom_engine::{Engine, Ledger};
use fathom_workload::Duration;
use rustix::fs::IFlags;
use std::fs::File;
use std::io::{Seek as _, SeekFrom};
use std::os::unix::fs::{FileExt as _, FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

pub enum SurveySubject {
    /// Our directory below the user's.
    Directory { own: PathBuf },
    /// A block device, never written to.
    Device { path: PathBuf, bytes: u64 },
}

/// Asynchronous interfaces.
#[derive(Clone, Copy)]
pub enum Async {
    Uring,
    Aio,
}

pub struct SurveyPlace {
    pub subject: SurveySubject,
    /// Largest file except for the long write; on a device, the part held in memory.
    pub largest: u64,
    /// File of the long write.
    pub sustained: u64,
    /// Number of entries of the tree: files and free slots.
    pub small_files: u64,
    /// Whether it supports O_DIRECT.
    pub direct: bool,
    pub several: Option<Async>,
    /// The reason for the sizes, in a sentence.
    pub sized_by: String,
    rates: Rates,
}

/// Result of a short trial.
#[derive(Clone, Copy)]
struct Rates {
    bytes_per_s: f64,
    syncs_per_s: f64,
}

/// Minimum of the largest file.
const LEAST: u64 = 64 * KIB;
/// An alignment that every O_DIRECT accepts.
const PAGE: usize = 4096;

impl SurveyPlace {
    /// Examines the target, and creates our directory if it is one.
    pub fn of(target: &Path, effort: Effort, engine: &mut Engine) -> anyhow::Result<Self> {
        let about = target.metadata();
        if about.as_ref().is_ok_and(|m| m.file_type().is_block_device()) {
            return Ok(Self::device(target, effort)?);
        }
        if !about.is_ok_and(|m| m.is_dir()) {
            let message = "is not a directory; name one on the storage to be measured, or a block device";
            return Err(Usage(format!("{} {message}", target.display())).into());
        }
        let environment = fathom_observe::environment::capture(target);
        if environment["filesystem"]["total_bytes"].as_u64() == Some(0) {
            let kind = environment["filesystem"]["type"].as_str().unwrap_or("a file system");
            return Err(Usage(format!(
                "{} is on {kind}, which does not report how much space it has; name a directory on the storage to be measured",
                target.display()
            ))
            .into());
        }
        let free = environment["filesystem"]["free_bytes"].as_u64().unwrap_or(u64::MAX);
        let room = rounded(free / 20);
        if room < LEAST {
            return Err(Usage(format!(
                "only {} are free below {}; a survey needs 2 MiB at least",
                fathom_record::origin::bytes_words(free),
                target.display()
            ))
            .into());
        }
        let own = target.join(format!(".fathom-survey-{}", std::process::id()));
        engine.ledger().create_directory(&own)?;
        spread_inodes(&own);
        let direct = takes_direct(&own, engine.ledger());
        let rates = try_out(&own, room.min(4 * MIB), engine.ledger());
        let in_memory = fathom_observe::device::stack_of(target).devices.is_empty();
        let (wanted, seconds) = match effort.wish {
            EffortChoice::Quick => (32 * MIB, 0.25),
            EffortChoice::Ordinary => (128 * MIB, 1.0),
            EffortChoice::Thorough => (1024 * MIB, 5.0),
        };
        let by_rate = ((rates.bytes_per_s * seconds) as u64).max(MIB);
        let largest = step(wanted.min(room).min(by_rate));
        let long = match effort.wish {
            EffortChoice::Quick => 256 * MIB,
            EffortChoice::Ordinary => 1024 * MIB,
            EffortChoice::Thorough => 32 * 1024 * MIB,
        };
        let sustained = if in_memory { largest } else { step(free / 8).min(long).max(largest) };
        Ok(Self {
            largest,
            sustained,
            small_files: (free / 40 / (8 * KIB)).min(small_files(effort.wish, rates)),
            direct,
            several: None,
            sized_by: format!(
                "Sized by {} of free space and a try before it: {}/s written, {:.0} writes a second that were synced one by one.",
                fathom_record::origin::bytes_words(free),
                fathom_record::origin::bytes_words(rates.bytes_per_s as u64),
                rates.syncs_per_s
            ),
            subject: SurveySubject::Directory { own },
            rates,
        })
    }

    fn device(path: &Path, effort: Effort) -> Result<Self, Usage> {
        let failed = |e: std::io::Error| Usage(format!("{} cannot be read: {e}", path.display()));
        let mut file = File::open(path).map_err(failed)?;
        let bytes = file.seek(SeekFrom::End(0)).map_err(failed)? / PAGE as u64 * PAGE as u64;
        if bytes < MIB {
            return Err(Usage(format!(
                "{} has {bytes} bytes; a survey needs 1 MiB at least",
                path.display()
            )));
        }
        let wanted = if effort.wish == EffortChoice::Quick { 32 * MIB } else { 256 * MIB };
        Ok(Self {
            largest: wanted.min(rounded(bytes)),
            sustained: 0,
            small_files: 0,
            direct: reads_direct(path),
            several: None,
            sized_by: "A device: it is only read.".into(),
            subject: SurveySubject::Device { path: path.to_owned(), bytes },
            rates: Rates { bytes_per_s: 1e9, syncs_per_s: 1e5 },
        })
    }

    /// Size of the file read at random.
    pub fn read_bytes(&self) -> u64 {
        match self.subject {
            SurveySubject::Device { bytes, .. } => bytes,
            SurveySubject::Directory { .. } => self.largest,
        }
    }

    /// Size of the file that is overwritten, and read from memory.
    pub fn written(&self) -> u64 {
        (self.largest / 2).max(LEAST).min(self.largest)
    }

    /// Largest file created for a surface cell.
    pub fn made_anew(&self) -> u64 {
        (self.largest / 4).max(LEAST).min(self.largest)
    }

    /// Size of one committer's file.
    pub fn committed(&self) -> u64 {
        (self.largest / 128).clamp(4 * KIB, MIB)
    }

    /// Size of the file that stays in memory: too large for CPU caches, and read in no time.
    pub fn cached(&self) -> u64 {
        self.largest.min(64 * MIB)
    }

    /// Size of each stream's file: all together are written within a phase.
    pub fn each_stream(&self, streams: u32) -> u64 {
        let by_rate = self.rates.bytes_per_s * 0.5 / f64::from(streams.max(1));
        step((self.largest / 8).min((by_rate as u64).max(MIB)).max(16 * KIB))
    }

    /// Estimated time to write this much.
    pub fn takes_ns(&self, bytes: u64) -> u64 {
        (bytes as f64 / self.rates.bytes_per_s * 1e9) as u64
    }

    /// Random writes that reach the device in about that time.
    pub fn writes_in(&self, time: Duration) -> u64 {
        ((self.rates.syncs_per_s * 4.0 * time.0 as f64 / 1e9) as u64).max(64)
    }
}

/// As many as can be prepared quickly even if each is synced.
fn small_files(wish: EffortChoice, rates: Rates) -> u64 {
    let (wanted, seconds) = match wish {
        EffortChoice::Quick => (200, 0.2),
        EffortChoice::Ordinary => (1000, 1.0),
        EffortChoice::Thorough => (4000, 5.0),
    };
    ((rates.syncs_per_s * seconds) as u64).clamp(40, wanted)
}

fn rounded(bytes: u64) -> u64 {
    bytes / LEAST * LEAST
}

/// Rounds down to a power of two. A trial varies from run to run; coarse sizes mostly do not, and only cells of equal
/// size are comparable.
fn step(bytes: u64) -> u64 {
    bytes.checked_ilog2().map_or(0, |power| 1 << power)
}

/// Lets ext4 put the trees of this directory far from each other. Without a journal, each create would else search past the inodes that
/// the last survey freed here, for minutes, and take ten times as long. Other file systems refuse the attribute.
fn spread_inodes(own: &Path) {
    let set = |directory: &File| {
        let flags = rustix::fs::ioctl_getflags(directory)?;
        rustix::fs::ioctl_setflags(directory, flags | IFlags::TOPDIR)
    };
    if let Ok(directory) = File::open(own) {
        let _ = set(&directory);
    }
}

/// Whether a file in this directory can be read with O_DIRECT: a successful open does not prove it everywhere.
fn takes_direct(own: &Path, ledger: &mut Ledger) -> bool {
    let path = own.join("probe");
    let Ok(file) = ledger.create(&path, 0o600) else { return false };
    let written = file.write_all_at(&[1; 2 * PAGE], 0).and_then(|()| file.sync_all()).is_ok();
    let works = written && reads_direct(&path);
    // If it cannot be removed now, it is removed at the end.
    let _ = ledger.remove(&path);
    works
}

fn reads_direct(path: &Path) -> bool {
    let Ok(file) = std::fs::OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(path) else {
        return false;
    };
    let mut buffer = vec![0u8; 2 * PAGE];
    let from = buffer.as_ptr().align_offset(PAGE);
    buffer.get_mut(from..from + PAGE).is_some_and(|page| file.read_at(page, 0).is_ok_and(|n| n == PAGE))
}

/// Measures the approximate speed in a tenth of a second or two. It only sizes the survey and is not a result.
fn try_out(own: &Path, bytes: u64, ledger: &mut Ledger) -> Rates {
    let path = own.join("probe");
    let unknown = Rates { bytes_per_s: 50e6, syncs_per_s: 100.0 };
    let Ok(file) = ledger.create(&path, 0o600) else { return unknown };
    let data = vec![0x5au8; 64 * KIB as usize];
    let started = Instant::now();
    let mut at = 0;
    while at < bytes && file.write_all_at(&data, at).is_ok() {
        at += data.len() as u64;
    }
    let _ = file.sync_all();
    let bytes_per_s = at as f64 / started.elapsed().as_secs_f64().max(1e-6);
    let started = Instant::now();
    let mut syncs = 0u32;
    while started.elapsed().as_millis() < 50 && syncs < 1000 {
        let place = u64::from(syncs).wrapping_mul(7919) % (bytes / PAGE as u64).max(1) * PAGE as u64;
        if data.get(..PAGE).is_none_or(|page| file.write_all_at(page, place).is_err())
            || file.sync_data().is_err()
        {
            break;
        }
        syncs += 1;
    }
    let syncs_per_s = f64::from(syncs.max(1)) / started.elapsed().as_secs_f64().max(1e-6);
    let _ = ledger.remove(&path);
    Rates { bytes_per_s, syncs_per_s }
}

#[cfg(test)]
impl SurveyPlace {
    /// A place without a trial.
    pub fn for_test(direct: bool, largest: u64, device: bool) -> Self {
        let subject = if device {
            SurveySubject::Device { path: "/dev/x".into(), bytes: largest * 8 }
        } else {
            SurveySubject::Directory { own: "/d".into() }
        };
        Self {
            subject,
            largest,
            sustained: largest,
            small_files: 20.max(largest / (64 * KIB)),
            direct,
            several: Some(Async::Uring),
            sized_by: String::new(),
            rates: Rates { bytes_per_s: 1e9, syncs_per_s: 1e4 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_tries_of_one_place_give_the_same_sizes() {
        assert_eq!(step(0), 0);
        assert_eq!(step(LEAST), LEAST);
        assert_eq!(step(91 * MIB + 333), 64 * MIB);
        let at = |bytes_per_s: f64| {
            let rates = Rates { bytes_per_s, syncs_per_s: 1e4 };
            SurveyPlace { rates, ..SurveyPlace::for_test(true, 64 * MIB, false) }.each_stream(4)
        };
        assert_eq!((at(90e6), at(110e6)), (8 * MIB, 8 * MIB));
        assert_eq!(at(1e9), 8 * MIB);
    }
}
