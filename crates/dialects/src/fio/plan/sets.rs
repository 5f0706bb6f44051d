//! The file sets of a job: files that all have one size are one set; several files of a clone are a set of their own, which clones share that share them all. Time and memory
//! are linear in the number of clones.

use super::Job;
use super::calls::names_directories;
use fathom_workload::{Bytes, Data, Existing, FileSet, Files, Pick, Share, Sizing, Stream};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

/// The sets of one job.
#[derive(Debug, Default)]
pub(super) struct Sets {
    sets: Vec<Set>,
    /// For each clone its set, and the file in it.
    of_clone: Vec<(usize, u32)>,
}

#[derive(Debug)]
struct Set {
    name: String,
    size: Sizing,
    paths: Vec<PathBuf>,
}

/// Names of sets that are taken, each with how often it was wanted.
pub(super) type Taken = BTreeMap<String, u32>;

impl Sets {
    /// Those of a job, under names that no other has.
    pub fn of(job: &Job, taken: &mut Taken) -> Self {
        let mut sets = if job.stream.pick == Pick::All { Self::of_each(job) } else { Self::by_size(job) };
        let several = sets.sets.len() > 1;
        for (number, set) in sets.sets.iter_mut().enumerate() {
            let wanted = if several { format!("{}.{number}", job.name) } else { job.name.clone() };
            set.name = unique(wanted, taken);
        }
        sets
    }

    /// A set for each clone, but for those that share all of theirs.
    fn of_each(job: &Job) -> Self {
        let mut made = Self::default();
        let mut known: HashMap<(&Vec<PathBuf>, &Vec<u64>), usize> = HashMap::new();
        for (paths, sizes) in job.files.iter().zip(&job.sizes) {
            let set = *known.entry((paths, sizes)).or_insert_with(|| {
                let first = sizes.first().copied().unwrap_or(0);
                let size = if sizes.iter().all(|bytes| *bytes == first) {
                    Sizing::Fixed(Bytes(first))
                } else {
                    Sizing::Each(sizes.iter().map(|bytes| Bytes(*bytes)).collect())
                };
                made.sets.push(Set { name: String::new(), size, paths: paths.clone() });
                made.sets.len() - 1
            });
            made.of_clone.push((set, 0));
        }
        made
    }

    fn by_size(job: &Job) -> Self {
        // Clones that share a file each ask for a part of it: it must hold them all.
        let mut largest: HashMap<&PathBuf, u64> = HashMap::new();
        for (path, part) in job.files.iter().flatten().zip(&job.parts) {
            let bytes = largest.entry(path).or_default();
            *bytes = part.file.max(*bytes);
        }
        let mut made = Self::default();
        let mut of_size: HashMap<u64, usize> = HashMap::new();
        let mut places: HashMap<&PathBuf, (usize, u32)> = HashMap::new();
        for path in job.files.iter().flatten() {
            let file = largest.get(path).copied().unwrap_or_default();
            let place = *places.entry(path).or_insert_with(|| {
                let set = *of_size.entry(file).or_insert_with(|| {
                    made.sets.push(Set {
                        name: String::new(),
                        size: Sizing::Fixed(Bytes(file)),
                        paths: Vec::new(),
                    });
                    made.sets.len() - 1
                });
                made.sets[set].paths.push(path.clone());
                (set, u32::try_from(made.sets[set].paths.len() - 1).unwrap_or(u32::MAX))
            });
            made.of_clone.push(place);
        }
        made
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.sets.iter().map(|set| &set.name)
    }

    /// Sends the stream of a clone to its file.
    pub fn place(&self, clone: u32, stream: &mut Stream) {
        let Some((set, file)) = self.of_clone.get(clone as usize) else { return };
        stream.fileset.clone_from(&self.sets[*set].name);
        if stream.pick != Pick::All {
            stream.pick = Pick::One(*file);
        }
    }

    /// As the workload has them.
    pub fn described(&self, job: &Job) -> impl Iterator<Item = FileSet> {
        self.sets.iter().map(move |set| FileSet {
            foreign_writable: job.ready.foreign,
            keep: job.ready.keep,
            // Of directories as fio lays them out; those of dircreate nobody could enter.
            mode: if names_directories(&job.settings) { 0o700 } else { 0o644 },
            make_directories: true,
            ..listed(set.name.clone(), set.paths.clone(), set.size.clone())
        })
    }
}

/// Files by their names, which stay.
fn listed(name: String, paths: Vec<PathBuf>, size: Sizing) -> FileSet {
    FileSet {
        name,
        files: Files::List(paths),
        size,
        existing: Existing::Reuse,
        foreign_writable: false,
        keep: true,
        mode: 0o644,
        // Whatever a job checks was written by a job: a file that is lost or cut short fails the check.
        data: Data::Unique,
        preallocated_percent: 100,
        share: Share::ReadWrite,
        trust_sizes: false,
        leave_dirty: false,
        prepare_record: FileSet::PREPARE_RECORD,
        make_directories: false,
    }
}

/// That of a job's donor, which its stream is told of.
pub(super) fn of_donor(job: &mut Job, taken: &mut Taken) -> Option<FileSet> {
    let donor = job.donor.as_ref()?;
    let name = unique(format!("{}, donor", job.name), taken);
    job.stream.donor = Some(fathom_workload::Donor { fileset: name.clone(), each: donor.each });
    // It stays whatever becomes of the job's files, as in fio.
    Some(FileSet {
        foreign_writable: donor.foreign,
        ..listed(name, vec![donor.path.clone()], Sizing::Fixed(Bytes(donor.bytes)))
    })
}

/// `name`, or with a number behind it.
fn unique(name: String, taken: &mut Taken) -> String {
    let times = taken.entry(name.clone()).or_default();
    *times += 1;
    if *times == 1 {
        return name;
    }
    let numbered = format!("{name} ({times})");
    unique(numbered, taken)
}
