//! Pages of the measured files that entered and left the page cache, pauses of the measured threads, and syncs of the file system: what
//! `sleeps.bpf.c` counted, read after a phase.

use crate::block::WatchError;
use aya::Ebpf;
use aya::maps::{HashMap, Map, MapData};
use fathom_record::{JournalChanges, PageCacheEvents, PageMoves, Pauses, Programs, Remover};
use std::collections::HashSet;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// As the programs have them: device and inode, and bytes by own threads, by others, and removed.
type FileKey = [u64; 2];
type FilePages = [u64; 3];
/// Name in two words, number of the process, bytes dropped and reclaimed.
type RawRemover = [u64; 5];
/// Name in two words, number of the process, and how often it did something.
type RawProgram = [u64; 4];

/// Key of the measured program among those that changed the file system.
const OURSELVES: u64 = u64::MAX;

/// Files known to the programs from the start; they find the others as pages are brought in.
const MOST_FILES: usize = 4096;

/// The files of a phase as the kernel numbers them.
#[derive(Clone, Debug, Default)]
pub struct Inodes {
    keys: Vec<FileKey>,
    inodes: HashSet<u64>,
    /// The devices of their file systems, also of files that do not exist yet.
    mounts: HashSet<u64>,
    pub(super) devices: bool,
}

impl Inodes {
    /// Files at these paths that exist. `mounted`: number of the file system's device, which `stat` does not show for btrfs.
    #[must_use]
    pub fn of(paths: &[PathBuf], mounted: Option<(u32, u32)>) -> Self {
        let mut all = Self { mounts: mounted.map(of_kernel).into_iter().collect(), ..Self::default() };
        let existing = |path: &PathBuf| path.ancestors().find_map(|p| std::fs::metadata(p).ok());
        all.mounts.extend(paths.iter().filter_map(existing).map(|meta| of_kernel(numbers(meta.dev()))));
        paths.iter().for_each(|path| all.add(path, mounted));
        all
    }

    fn add(&mut self, path: &Path, mounted: Option<(u32, u32)>) {
        let Ok(meta) = std::fs::metadata(path) else { return };
        if meta.file_type().is_block_device() {
            self.devices = true;
            // Its pages belong to an inode that has the device's number.
            self.inodes.insert(of_kernel(numbers(meta.rdev())));
            return;
        }
        self.inodes.insert(meta.ino());
        let own = numbers(meta.dev());
        for device in [Some(own), mounted.filter(|m| *m != own)].into_iter().flatten() {
            if self.keys.len() < MOST_FILES {
                self.keys.push([of_kernel(device), meta.ino()]);
            }
        }
    }

    /// Whether a path leads to one of them.
    pub(super) fn has(&self, path: &Path) -> bool {
        let Ok(meta) = std::fs::metadata(path) else { return false };
        if meta.file_type().is_block_device() {
            return self.devices && self.inodes.contains(&of_kernel(numbers(meta.rdev())));
        }
        self.keys.contains(&[of_kernel(numbers(meta.dev())), meta.ino()])
    }

    /// With the files at these paths that were made since.
    #[must_use]
    pub fn and(mut self, paths: &[PathBuf]) -> Self {
        paths.iter().for_each(|path| self.add(path, None));
        self
    }
}

fn numbers(device: u64) -> (u32, u32) {
    (rustix::fs::major(device), rustix::fs::minor(device))
}

/// A device number as the kernel keeps it.
fn of_kernel((major, minor): (u32, u32)) -> u64 {
    u64::from(major << 20 | minor)
}

/// The programs' tables.
pub(super) struct Pages {
    files: HashMap<MapData, FileKey, FilePages>,
    removers: HashMap<MapData, u64, RawRemover>,
    mounts: HashMap<MapData, u64, u64>,
    syncers: HashMap<MapData, u64, RawProgram>,
    changers: HashMap<MapData, u64, RawProgram>,
}

impl Pages {
    pub(super) fn take(ebpf: &mut Ebpf) -> Result<Self, WatchError> {
        let mut table = |name: &str| -> Result<Map, WatchError> {
            let missing = || WatchError::Programs(format!("the programs have no table `{name}`"));
            ebpf.take_map(name).ok_or_else(missing)
        };
        let failed = |why: aya::maps::MapError| WatchError::Programs(why.to_string());
        Ok(Self {
            files: table("files")?.try_into().map_err(failed)?,
            removers: table("removers")?.try_into().map_err(failed)?,
            mounts: table("mounts")?.try_into().map_err(failed)?,
            syncers: table("syncers")?.try_into().map_err(failed)?,
            changers: table("changers")?.try_into().map_err(failed)?,
        })
    }

    /// Forgets what was counted, and counts these files from now on.
    pub(super) fn follow(&mut self, inodes: &Inodes) {
        super::empty(&mut self.files);
        super::empty(&mut self.mounts);
        for key in &inodes.keys {
            let _ = self.files.insert(key, [0; 3], 0);
        }
        for device in &inodes.mounts {
            let _ = self.mounts.insert(device, 1, 0);
        }
        self.forget_programs();
    }

    /// Forgets what was counted of the files that it counts.
    pub(super) fn restart(&mut self) {
        let known: Vec<FileKey> = self.files.keys().filter_map(Result::ok).collect();
        for key in known {
            let _ = self.files.insert(key, [0; 3], 0);
        }
        self.forget_programs();
    }

    fn forget_programs(&mut self) {
        super::empty(&mut self.removers);
        super::empty(&mut self.syncers);
        super::empty(&mut self.changers);
    }

    /// What was counted. `has_events`: whether this kernel has events of pages.
    pub(super) fn read(&self, has_events: bool) -> PageCounts {
        PageCounts {
            files: self.files.iter().filter_map(Result::ok).map(|(key, bytes)| (key[1], bytes)).collect(),
            removers: self.removers.iter().filter_map(Result::ok).map(|(_, raw)| remover(&raw)).collect(),
            has_events,
            uncounted: 0,
            pauses: None,
            syncers: None,
            journal: None,
        }
    }

    /// The programs that synced.
    pub(super) fn syncers(&self) -> Vec<Programs> {
        by_name(self.syncers.iter().filter_map(Result::ok).map(|(_, raw)| raw))
    }

    /// The changes through the journal.
    pub(super) fn journal(&self) -> Option<JournalChanges> {
        let all = || self.changers.iter().filter_map(Result::ok);
        let own = all().find(|(key, _)| *key == OURSELVES).map_or(0, |(_, raw)| raw[3]);
        let others = by_name(all().filter(|(key, _)| *key != OURSELVES).map(|(_, raw)| raw));
        (own > 0 || !others.is_empty()).then_some(JournalChanges { own, others })
    }
}

fn by_name(all: impl Iterator<Item = RawProgram>) -> Vec<Programs> {
    let mut found: Vec<Programs> = Vec::new();
    for raw in all {
        let name = super::name_of([raw[0], raw[1]]);
        let at = found.iter().position(|s| s.name == name).unwrap_or(found.len());
        if at == found.len() {
            found.push(Programs { name, ..Programs::default() });
        }
        found[at].processes.push(raw[2] as u32);
        found[at].times += raw[3];
    }
    found.iter_mut().for_each(|programs| programs.processes.sort_unstable());
    found.sort_by(|a, b| b.times.cmp(&a.times).then_with(|| a.name.cmp(&b.name)));
    found
}

fn remover(raw: &RawRemover) -> Remover {
    Remover {
        name: super::name_of([raw[0], raw[1]]),
        process: raw[2] as u32,
        dropped_bytes: raw[3],
        reclaimed_bytes: raw[4],
    }
}

/// What the programs counted in a phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageCounts {
    /// Inode, and bytes as the programs have them.
    files: Vec<(u64, FilePages)>,
    removers: Vec<Remover>,
    has_events: bool,
    pub(super) uncounted: u64,
    pub(super) pauses: Option<Pauses>,
    pub(super) syncers: Option<Vec<Programs>>,
    pub(super) journal: Option<JournalChanges>,
}

impl PageCounts {
    /// The events of these files.
    #[must_use]
    pub fn of_files(mut self, inodes: &Inodes) -> PageCacheEvents {
        let (pauses, syncers, journal) = (self.pauses, self.syncers, self.journal);
        // The code of programs and the file system's own data enter the cache, too.
        let ours = self.files.iter().filter(|(inode, _)| inodes.inodes.contains(inode));
        let [own_bytes, others_bytes, removed_bytes] =
            ours.fold([0; 3], |sum: FilePages, (_, bytes)| std::array::from_fn(|n| sum[n] + bytes[n]));
        self.removers.sort_by_key(|r| std::cmp::Reverse(r.dropped_bytes + r.reclaimed_bytes));
        let moves = PageMoves {
            own_bytes,
            others_bytes,
            removed_bytes,
            removers: self.removers,
            uncounted: self.uncounted,
        };
        PageCacheEvents { pages: self.has_events.then_some(moves), pauses, syncers, journal }
    }
}
