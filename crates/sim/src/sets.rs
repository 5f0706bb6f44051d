//! The file sets of a workload as files of the simulated file system, and what is done with them between phases.

use crate::block::Who;
use crate::cache::Flags;
use crate::files::{FileNumber, Metadata, PAGE, TooLarge};
use crate::machine::Machine;
use fathom_workload::tree::{Layouts, layouts};
use fathom_workload::{Access, Bytes, FileSet, Pick, Program, Sizing, Stream, Workload};
use std::collections::BTreeMap;

/// A set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Set {
    /// Its first file; the others follow.
    pub first: FileNumber,
    /// Bytes that each is to have.
    pub sizes: Vec<u64>,
}

/// All sets, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sets(BTreeMap<String, Set>);

/// Why there are no such files.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SetsError {
    #[error("{0}")]
    Layout(#[from] fathom_workload::tree::SetError),
    #[error("{0}")]
    TooLarge(#[from] TooLarge),
    #[error(
        "the files of the set {set} have {pages} pages of 4 KiB, and the device has room for {room} behind those before"
    )]
    NoRoom { set: String, pages: u64, room: u64 },
}

/// Bytes of each file of a set.
fn sizes(set: &FileSet, drawn: &Layouts) -> Vec<u64> {
    if let Some(tree) = drawn.trees.get(&set.name) {
        return tree.files.iter().map(|f| f.size).collect();
    }
    match set.size {
        Sizing::Fixed(Bytes(bytes)) => vec![bytes; usize::try_from(set.files.count()).unwrap_or(0)],
        Sizing::Variable(_) => drawn.sizes.get(&set.name).cloned().unwrap_or_default(),
    }
}

/// How far the streams of a workload go in the files of a set.
pub(crate) fn reach(workload: &Workload, set: &FileSet) -> u64 {
    let threads = workload.phases.iter().flat_map(|p| &p.groups).flat_map(|g| &g.threads);
    let streams = threads.filter_map(|t| match &t.program {
        Program::Stream(stream) if stream.fileset == set.name && stream.pick != Pick::All => Some(stream),
        _ => None,
    });
    streams.map(|s| end_of(s)).max().unwrap_or(0)
}

fn end_of(stream: &Stream) -> u64 {
    match &stream.access {
        Access::Listed(list) => list.iter().map(|op| op.offset + u64::from(op.bytes)).max().unwrap_or(0),
        _ => stream.length.map_or(0, |l| stream.start.0.saturating_add(l.0)),
    }
}

impl Sets {
    /// Makes the files of all sets.
    /// Their sizes are looked at before they are laid out: the device has so many sectors.
    pub fn make(machine: &Machine, workload: &Workload, capacity_sectors: u64) -> Result<Self, SetsError> {
        let drawn = layouts(workload)?;
        let mut all = BTreeMap::new();
        for set in &workload.filesets {
            let sizes = sizes(set, &drawn);
            let reach = reach(workload, set);
            let lengths: Vec<u64> = sizes.iter().map(|&s| s.max(reach)).collect();
            let mut files = machine.files.borrow_mut();
            let pages = lengths.iter().fold(0_u64, |sum, bytes| sum.saturating_add(bytes.div_ceil(PAGE)));
            let room = capacity_sectors.saturating_sub(files.end_sector()) / (PAGE / 512);
            if pages > room {
                return Err(SetsError::NoRoom { set: set.name.clone(), pages, room });
            }
            let first = files.make(&lengths)?;
            for (file, &bytes) in (first..).zip(&sizes) {
                files.get_mut(file).bytes = bytes;
            }
            all.insert(set.name.clone(), Set { first, sizes });
        }
        machine.cache.borrow_mut().grow(machine.files.borrow().pages());
        Ok(Self(all))
    }

    /// All of them, in the order of their names.
    pub fn all(&self) -> impl Iterator<Item = &Set> {
        self.0.values()
    }

    pub fn get(&self, name: &str) -> Option<&Set> {
        self.0.get(name)
    }
}

impl Set {
    /// Number of files.
    pub fn count(&self) -> u64 {
        self.sizes.len() as u64
    }

    /// Bytes of a file of the set.
    pub fn size(&self, index: u64) -> u64 {
        usize::try_from(index).ok().and_then(|i| self.sizes.get(i)).copied().unwrap_or(0)
    }

    /// The files by their numbers.
    pub fn files(&self) -> std::ops::Range<FileNumber> {
        self.first..self.first + self.sizes.len() as FileNumber
    }
}

impl Machine {
    /// The files have just been written in their order, and the device has all of it: what came last is in memory.
    pub(crate) fn just_written(&self, set: &Set) {
        let mut files = self.files.borrow_mut();
        let mut cache = self.cache.borrow_mut();
        let mut left = cache.capacity();
        // From the end, only as many as fit; then in the order of writing, because the order of leaving follows from it.
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
            // What names them was written with them.
            let named: Vec<usize> = (from..pages)
                .step_by(512)
                .chain(pages.checked_sub(1))
                .filter_map(|p| file.places.indirect_of(p).map(|(n, _)| n))
                .collect();
            named.into_iter().for_each(|n| file.indirect[n] = Metadata::Present);
        }
    }

    /// The files are still to be made: they are empty, and what will name their pages is made with them.
    pub(crate) fn not_there_yet(&self, set: &Set) {
        let mut files = self.files.borrow_mut();
        for number in set.files() {
            let file = files.get_mut(number);
            file.bytes = 0;
            file.indirect.iter_mut().for_each(|block| *block = Metadata::Present);
        }
    }

    /// Drops the pages of a set, written back before.
    pub(crate) async fn evict(&self, set: &Set) {
        for file in set.files() {
            self.write_out(Who::BETWEEN, file, u32::MAX, false).await;
        }
        for file in set.files() {
            self.until_written(Who::BETWEEN, file).await;
            let (first, pages) = {
                let files = self.files.borrow();
                (files.get(file).first_page, files.get(file).pages)
            };
            let mut cache = self.cache.borrow_mut();
            (first..first + pages).for_each(|page| {
                cache.drop_clean(page);
            });
        }
    }

    /// Makes a file empty: what was written to them need not reach the device.
    pub(crate) async fn make_empty(&self, file: FileNumber) {
        self.until_written(Who::BETWEEN, file).await;
        let mut files = self.files.borrow_mut();
        let mut cache = self.cache.borrow_mut();
        let this = files.get_mut(file);
        let pages = this.in_memory();
        (this.bytes, this.reach) = (0, 0);
        this.dirty.clear();
        for page in this.first_page..this.first_page + pages {
            cache.forget_dirt(page);
            cache.drop_clean(page);
        }
        // A file that is made anew has its indirect blocks in memory.
        this.indirect.iter_mut().for_each(|block| *block = Metadata::Present);
    }

    /// Gives the files of a set their full length.
    pub(crate) fn make_full(&self, set: &Set) {
        let mut files = self.files.borrow_mut();
        for (file, &bytes) in set.files().zip(&set.sizes) {
            files.get_mut(file).bytes = bytes;
        }
    }
}
