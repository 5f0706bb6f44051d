//! The file sets of a job: single files of equal size form one set; several files of a clone are a separate set, shared by clones
//! that use the same files. Time and memory are linear in the number of clones.

use super::Job;
use super::calls::names_directories;
use fathom_workload::{Bytes, Data, Existing, FileSet, Files, Pick, Share, Sizing, Stream};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

#[derive(Debug, Default)]
pub(super) struct Sets {
    sets: Vec<Set>,
    /// By clone: its set, and the index of its file in it.
    of_clone: Vec<(usize, u32)>,
}

#[derive(Debug)]
struct Set {
    name: String,
    size: Sizing,
    paths: Vec<PathBuf>,
}

/// Set names in use, with the number of requests for each.
pub(super) type Taken = BTreeMap<String, u32>;

impl Sets {
    /// The sets of a job, with unique names.
    pub fn of(job: &Job, taken: &mut Taken) -> Self {
        let mut sets = if job.stream.pick == Pick::All { Self::of_each(job) } else { Self::by_size(job) };
        let several = sets.sets.len() > 1;
        for (number, set) in sets.sets.iter_mut().enumerate() {
            let wanted = if several { format!("{}.{number}", job.name) } else { job.name.clone() };
            set.name = unique(wanted, taken);
        }
        sets
    }

    /// One set per clone, shared if all files are shared.
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
        // Clones that share a file each need a part of it: it must hold all parts.
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

    /// Assigns the stream of a clone to its file.
    pub fn place(&self, clone: u32, stream: &mut Stream) {
        let Some((set, file)) = self.of_clone.get(clone as usize) else { return };
        stream.fileset.clone_from(&self.sets[*set].name);
        if stream.pick != Pick::All {
            stream.pick = Pick::One(*file);
        }
    }

    /// The sets as workload descriptions.
    pub fn described(&self, job: &Job) -> impl Iterator<Item = FileSet> {
        self.sets.iter().map(move |set| FileSet {
            may_modify: job.ready.foreign,
            keep: job.ready.keep,
            // Directories get the mode that fio lays them out with; those of dircreate could not be entered.
            mode: if names_directories(&job.settings) { 0o700 } else { 0o644 },
            make_directories: true,
            ..listed(set.name.clone(), set.paths.clone(), set.size.clone())
        })
    }
}

/// Files by name, which are kept.
fn listed(name: String, paths: Vec<PathBuf>, size: Sizing) -> FileSet {
    FileSet {
        name,
        files: Files::List(paths),
        size,
        existing: Existing::Reuse,
        may_modify: false,
        keep: true,
        mode: 0o644,
        // A job verifies only data written by a job, so files that are lost or truncated fail the check.
        data: Data::Unique,
        preallocated_percent: 100,
        share: Share::ReadWrite,
        trust_sizes: false,
        leave_dirty: false,
        prepare_record: FileSet::PREPARE_RECORD,
        make_directories: false,
    }
}

/// The set of a job's donor, which is also recorded in its stream.
pub(super) fn of_donor(job: &mut Job, taken: &mut Taken) -> Option<FileSet> {
    let donor = job.donor.as_ref()?;
    let name = unique(format!("{}, donor", job.name), taken);
    job.stream.donor = Some(fathom_workload::Donor { fileset: name.clone(), each: donor.each });
    // The donor is kept whatever happens to the job's files, as in fio.
    Some(FileSet {
        may_modify: donor.foreign,
        ..listed(name, vec![donor.path.clone()], Sizing::Fixed(Bytes(donor.bytes)))
    })
}

/// `name`, with a number appended if it is taken.
fn unique(name: String, taken: &mut Taken) -> String {
    let times = taken.entry(name.clone()).or_default();
    *times += 1;
    if *times == 1 {
        return name;
    }
    let numbered = format!("{name} ({times})");
    unique(numbered, taken)
}
