//! File sets of a workload as files of the simulated file system, and the operations on them between phases.

use crate::block::Submitter;
use crate::cache::Flags;
use crate::devices::SECTOR_BYTES;
use crate::files::{FileNumber, GrowError, Metadata, PAGE, TooLarge};
use crate::machine::Machine;
use crate::names::{Names, used_by_flows};
use crate::regions::written;
use crate::shared::SharedPaths;
use fathom_workload::ops::generators::Rand48;
use fathom_workload::tree::{Layouts, layouts};
use fathom_workload::{Bytes, FileSet, Files, Sizing, Workload};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Default)]
pub(crate) struct Set {
    /// Its files. Sets used by flows have consecutive numbers.
    pub numbers: Vec<FileNumber>,
    /// Whether other sets name its files, too.
    pub shared: bool,
    /// Size of each file, bytes.
    pub sizes: Vec<u64>,
    /// Names for flows that use the set; `None` if no flow does.
    pub names: Option<Names>,
}

/// All sets, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sets {
    all: BTreeMap<String, Set>,
    /// State of the random variables' streams after sizes and trees were drawn.
    pub streams: BTreeMap<String, Rand48>,
}

/// Why the files cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SetsError {
    #[error("{0}")]
    Layout(#[from] fathom_workload::tree::SetError),
    #[error("{0}")]
    TooLarge(#[from] TooLarge),
    #[error("{0}")]
    Full(#[from] GrowError),
    #[error(
        "the file sets have {files} files and leaf directories; the simulator holds {}: choose fewer",
        MOST_FILES
    )]
    TooMany { files: u64 },
    #[error(
        "the file sets need {data_mib} MiB, but from their start on the device has {room_mib} MiB; choose a larger device or less data"
    )]
    NoRoom { data_mib: u64, room_mib: u64 },
}

/// Limit on files and leaf directories of all sets together; each takes about 300 bytes.
const MOST_FILES: u64 = 1 << 22;

/// Bytes of each file of a set.
fn sizes(set: &FileSet, drawn: &Layouts) -> Vec<u64> {
    if let Some(tree) = drawn.trees.get(&set.name) {
        return tree.files.iter().map(|f| f.size).collect();
    }
    match set.size {
        Sizing::Fixed(Bytes(bytes)) => vec![bytes; usize::try_from(set.files.count()).unwrap_or(0)],
        Sizing::Variable(_) | Sizing::Each(_) => drawn.sizes.get(&set.name).cloned().unwrap_or_default(),
    }
}

impl Sets {
    /// Makes the files of all sets in `room_sectors` of the device. A workload that does not fit is refused before memory is allocated.
    pub fn make(machine: &Machine, workload: &Workload, room_sectors: u64) -> Result<Self, SetsError> {
        let entries = |s: &FileSet| match &s.files {
            Files::Tree(tree) => tree.entries.saturating_add(tree.leaf_directories),
            files => files.count(),
        };
        let files = workload.filesets.iter().fold(0u64, |sum, s| sum.saturating_add(entries(s)));
        if files > MOST_FILES {
            return Err(SetsError::TooMany { files });
        }
        let drawn = layouts(workload)?;
        let by_flows = used_by_flows(workload);
        let shared = SharedPaths::of(workload, by_flows.clone());
        let own = workload.filesets.iter().filter(|s| shared.listed(s).is_empty());
        let own = own.flat_map(|s| sizes(s, &drawn));
        let bytes = own.chain(shared.all().map(|f| f.bytes)).fold(0, u64::saturating_add);
        if bytes / SECTOR_BYTES > room_sectors {
            let mib = |bytes: u64| bytes >> 20;
            return Err(SetsError::NoRoom {
                data_mib: mib(bytes),
                room_mib: mib(room_sectors * SECTOR_BYTES),
            });
        }
        let mut all = BTreeMap::new();
        let mut made: BTreeMap<&Path, FileNumber> = BTreeMap::new();
        for set in &workload.filesets {
            let sizes = sizes(set, &drawn);
            let own = written(workload, set);
            let listed = shared.listed(set);
            let is_there = |n: usize| listed.get(n).is_some_and(|path| made.contains_key(path.as_path()));
            // For a file named by several sets: the union of what they want.
            let wanted = |n: usize| match listed.get(n).and_then(|path| shared.named(path)) {
                Some(named) => named.written.together_with(named.bytes),
                None => own.together_with(sizes[n]),
            };
            let lengths: Vec<u64> = (0..sizes.len()).filter(|&n| !is_there(n)).map(|n| wanted(n).0).collect();
            let mut files = machine.files.borrow_mut();
            let mut next = files.make(&lengths)?;
            let mut numbers = Vec::with_capacity(sizes.len());
            for (n, &bytes) in sizes.iter().enumerate() {
                let path = listed.get(n).map(PathBuf::as_path);
                if let Some(&there) = path.and_then(|path| made.get(path)) {
                    numbers.push(there);
                    continue;
                }
                // The range before these regions is a hole.
                for apart in wanted(n).1 {
                    files.allocate(next, pages_of(apart)?)?;
                }
                let file = files.get_mut(next);
                file.bytes = bytes;
                file.is_written_up_to(bytes);
                made.extend(path.map(|path| (path, next)));
                numbers.push(next);
                next += 1;
            }
            let shared = listed.iter().any(|path| shared.named(path).is_some_and(|named| named.sets > 1));
            all.insert(set.name.clone(), Set { numbers, shared, sizes, names: None });
        }
        // After all files, so that their layout is the same as without names.
        for set in workload.filesets.iter().filter(|s| by_flows.contains(s.name.as_str())) {
            if let Some(made) = all.get_mut(&set.name) {
                made.names = Some(Names::make(machine, set, drawn.trees.get(&set.name), made.first()));
            }
        }
        machine.cache.borrow_mut().grow(machine.files.borrow().pages());
        Ok(Self { all, streams: drawn.streams })
    }

    /// All sets in order of their names.
    pub fn all(&self) -> impl Iterator<Item = &Set> {
        self.all.values()
    }

    pub fn get(&self, name: &str) -> Option<&Set> {
        self.all.get(name)
    }
}

/// The pages that contain a byte range.
fn pages_of(bytes: &Range<u64>) -> Result<Range<u32>, GrowError> {
    let page = |page: u64| u32::try_from(page).map_err(|_| GrowError::Numbers);
    Ok(page(bytes.start / PAGE)?..page(bytes.end.div_ceil(PAGE))?)
}

impl Set {
    /// Number of files.
    pub fn count(&self) -> u64 {
        self.sizes.len() as u64
    }

    /// Size of a file of the set, bytes.
    pub fn size(&self, index: u64) -> u64 {
        usize::try_from(index).ok().and_then(|i| self.sizes.get(i)).copied().unwrap_or(0)
    }

    /// The file numbers.
    pub fn files(&self) -> impl DoubleEndedIterator<Item = FileNumber> + '_ {
        self.numbers.iter().copied()
    }

    /// One file, as a slice.
    pub fn one(&self, index: u64) -> Option<&[FileNumber]> {
        let index = usize::try_from(index).ok()?;
        self.numbers.get(index).map(std::slice::from_ref)
    }

    /// Its first file; file 0 if it has none.
    pub fn first(&self) -> FileNumber {
        self.numbers.first().copied().unwrap_or(0)
    }
}

impl Machine {
    /// The files have just been written in order and are all on the device: the last written are in memory.
    pub(crate) fn just_written(&self, set: &Set) {
        let mut files = self.files.borrow_mut();
        let mut cache = self.cache.borrow_mut();
        let mut left = cache.capacity();
        // From the end, only as many as fit; then in write order, because the eviction order follows from it.
        let mut kept: Vec<(FileNumber, u32)> = Vec::new();
        for number in set.files().rev() {
            if left == 0 {
                break;
            }
            let pages = files.get(number).pages_of_data();
            let here = (pages as usize).min(left) as u32;
            left -= here as usize;
            kept.push((number, pages - here));
        }
        for &(number, from) in kept.iter().rev() {
            let file = files.get_mut(number);
            let pages = file.pages_of_data();
            for page in from..pages {
                let page = file.page(page);
                if cache.flags(page).is_none() {
                    cache.insert(page, Flags::READY, 0);
                }
            }
            // The indirect blocks were written with the pages.
            let named: Vec<usize> = (from..pages)
                .step_by(512)
                .chain(pages.checked_sub(1))
                .filter_map(|p| file.places.indirect_of(p).map(|(n, _)| n))
                .collect();
            named.into_iter().for_each(|n| file.indirect[n] = Metadata::Present);
        }
    }

    /// Whether another set has already made the files of this set at their full length.
    pub(crate) fn made_by_others(&self, set: &Set) -> bool {
        let files = self.files.borrow();
        set.shared && set.files().zip(&set.sizes).all(|(file, &bytes)| files.get(file).bytes >= bytes)
    }

    /// The files are yet to be made: they are empty, and their indirect blocks will be created with them.
    pub(crate) fn clear_until_made(&self, set: &Set) {
        let mut files = self.files.borrow_mut();
        for number in set.files() {
            let file = files.get_mut(number);
            file.bytes = 0;
            file.is_written_up_to(0);
            file.exists = false;
            file.indirect.iter_mut().for_each(|block| *block = Metadata::Present);
        }
    }

    /// Drops the pages of a set after writing them back.
    pub(crate) async fn evict(&self, set: &Set) {
        for file in set.files() {
            self.write_out(Submitter::BETWEEN, file, u32::MAX, false).await;
        }
        for file in set.files() {
            self.until_written(Submitter::BETWEEN, file).await;
            let files = self.files.borrow();
            let this = files.get(file);
            let mut cache = self.cache.borrow_mut();
            (0..this.pages).for_each(|page| {
                cache.drop_clean(this.page(page));
            });
        }
    }

    /// Drops the clean pages of a byte range of a file.
    pub(crate) fn evict_range(&self, file: FileNumber, offset: u64, bytes: u64) {
        let files = self.files.borrow();
        let this = files.get(file);
        let mut cache = self.cache.borrow_mut();
        // Partial pages are kept: the rest of the page may be wanted.
        let whole = offset.div_ceil(PAGE)..offset.saturating_add(bytes) / PAGE;
        for page in whole.start..whole.end.min(this.pages.into()) {
            cache.drop_clean(this.page(page as u32));
        }
    }

    /// Truncates a file to zero; its dirty data need not reach the device.
    pub(crate) async fn make_empty(&self, file: FileNumber) {
        self.until_written(Submitter::BETWEEN, file).await;
        let mut files = self.files.borrow_mut();
        let mut cache = self.cache.borrow_mut();
        let this = files.get_mut(file);
        let pages = this.in_memory();
        (this.bytes, this.reach) = (0, 0);
        this.is_written_up_to(0);
        this.dirty.clear();
        for page in (0..pages).map(|page| this.page(page)) {
            cache.forget_dirt(page);
            cache.drop_clean(page);
        }
        // A newly created file has its indirect blocks in memory.
        this.indirect.iter_mut().for_each(|block| *block = Metadata::Present);
    }

    /// Recreates or removes the files of a set used by flows.
    pub(crate) fn names_begin(&self, set: &Set, made: bool) {
        let Some(names) = &set.names else { return };
        let mut files = self.files.borrow_mut();
        for (file, &existing) in set.files().zip(&names.existing) {
            files.get_mut(file).exists = made && existing;
        }
        names.begin(&files);
    }

    /// Removes the files of a set that must not exist at first: flows created them.
    pub(crate) async fn remove_the_others(&self, set: &Set) {
        let Some(names) = &set.names else { return };
        for (file, _) in set.files().zip(&names.existing).filter(|(_, existing)| !**existing) {
            self.make_empty(file).await;
        }
    }

    /// Gives the files of a set that exist their full length.
    pub(crate) fn make_full(&self, set: &Set) {
        let mut files = self.files.borrow_mut();
        for (n, (file, &bytes)) in set.files().zip(&set.sizes).enumerate() {
            let file = files.get_mut(file);
            file.exists = set.names.as_ref().is_none_or(|names| names.existing[n]);
            // A file that another set made longer keeps its length.
            let bytes = if set.shared { bytes.max(file.bytes) } else { bytes };
            file.bytes = if file.exists { bytes } else { 0 };
            file.is_written_up_to(file.bytes);
        }
        if let Some(names) = &set.names {
            names.begin(&files);
        }
    }
}
