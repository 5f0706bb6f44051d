//! Holes and unwritten extents in the range that a phase will read. Reading them costs no device access (a direct random read of
//! a sparse file ran 50 times as fast as of a written one), so in our own files they are filled with the data that laying out
//! would have written. The caller finds them: the engine lists the regions it will read, and gets the ranges to fill.

use super::owned::open_for_data;
use super::sets::Sets;
use super::writing::Writer;
use crate::layout::{files_of, instances, region_of, sets_of_flows};
use crate::{Engine, EngineError, Ledger};
use fathom_workload::{Access, Act, Data, FileSet, ListedOp, Phase, Pick, Program, Stream, Verify, Workload};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

impl Engine {
    /// The parts of files that a phase will read, as (path, first byte, length), without duplicates.
    #[must_use]
    pub fn regions_read(&self, workload: &Workload, phase: &Phase) -> Vec<(PathBuf, u64, u64)> {
        let Ok(sets) = self.sets(workload) else { return Vec::new() };
        regions_of(workload, &sets, phase, crate::files::reads, &[Act::Read, Act::ReadWholeFile])
    }

    /// The same for writes. A file that is truncated on opening has length 0.
    #[must_use]
    pub fn regions_written(&self, workload: &Workload, phase: &Phase) -> Vec<(PathBuf, u64, u64)> {
        let Ok(sets) = self.sets(workload) else { return Vec::new() };
        let regions = |truncate: bool, acts: &[Act]| {
            let wanted = |s: &Stream| crate::files::writes(s) && s.open.truncate == truncate;
            regions_of(workload, &sets, phase, wanted, acts)
        };
        let mut written = regions(false, &[Act::Write, Act::AsyncWrite]);
        let emptied = regions(true, &[]);
        written.extend(emptied.into_iter().map(|(path, start, _)| (path, start, 0)));
        written
    }

    /// Fills ranges of files, given as (path, first byte, length), with the data of their file set, and writes them back. Returns
    /// the number of bytes. Files that are not ours are left alone; a signal ends it early.
    ///
    /// # Errors
    /// If one of our files cannot be written.
    pub fn fill(&mut self, workload: &Workload, ranges: &[(PathBuf, u64, u64)]) -> Result<u64, EngineError> {
        let mut of_path: BTreeMap<&Path, Vec<(u64, u64)>> = BTreeMap::new();
        for (path, start, length) in ranges {
            of_path.entry(path).or_default().push((*start, *length));
        }
        let mut filled = 0;
        let sets = self.sets(workload)?;
        for set in &workload.filesets {
            for (number, path) in sets.paths(set).enumerate() {
                let Some(ranges) = of_path.get(path.as_path()) else { continue };
                let file = Filling { workload, set, number: number as u32, path: &path };
                filled += file.fill(ranges, self.ledger())?;
                // A path may be in several sets.
                of_path.remove(path.as_path());
            }
        }
        Ok(filled)
    }
}

/// The regions of a phase's matching streams, and the existing files that its flows use in this manner.
fn regions_of(
    workload: &Workload,
    sets: &Sets,
    phase: &Phase,
    wanted: impl Fn(&Stream) -> bool,
    acts: &[Act],
) -> Vec<(PathBuf, u64, u64)> {
    let mut regions = Vec::new();
    let mut index = 0;
    for group in &phase.groups {
        for (thread, _) in instances(group) {
            if let Program::Stream(stream) = &thread.program
                && stream.backend.moves_data()
                && wanted(stream)
                && let Some(set) = workload.fileset(&stream.fileset)
            {
                for file in files_of(workload, stream, index) {
                    let Some(path) = sets.path(set, file) else { continue };
                    let bytes = sets.size(set, file);
                    regions
                        .extend(parts(stream, (file, bytes)).into_iter().map(|p| (path.clone(), p.0, p.1)));
                }
            }
            index += 1;
        }
    }
    for set in sets_of_flows(workload, phase, |act| acts.contains(&act)) {
        let there = (0..set.files.count()).filter(|i| sets.exists(set, *i));
        let region = |i| Some((sets.path(set, i)?, 0, sets.size(set, i)));
        regions.extend(there.filter_map(region).filter(|r| r.0.exists()));
    }
    regions.sort_unstable();
    regions.dedup();
    regions
}

/// First byte and length of every part of a file that a stream may access.
fn parts(stream: &Stream, (file, file_bytes): (u64, u64)) -> Vec<(u64, u64)> {
    if let Access::Listed(list) = &stream.access {
        // With several files, each operation names its file.
        let here = |op: &&ListedOp| stream.pick != Pick::All || u64::from(op.file) == file;
        return merged(&list.iter().filter(here).copied().collect::<Vec<ListedOp>>());
    }
    let region = region_of(stream, file_bytes);
    vec![(region.start, region.length)]
}

/// Merges listed operations into the ranges of the file that they cover.
fn merged(list: &[ListedOp]) -> Vec<(u64, u64)> {
    let mut spans: Vec<(u64, u64)> = list.iter().map(|op| (op.offset, u64::from(op.bytes))).collect();
    spans.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (start, length) in spans {
        match merged.last_mut() {
            Some(last) if start <= last.0 + last.1 => last.1 = last.1.max(start + length - last.0),
            _ => merged.push((start, length)),
        }
    }
    merged
}

/// A file to fill.
struct Filling<'a> {
    workload: &'a Workload,
    set: &'a FileSet,
    number: u32,
    path: &'a Path,
}

impl Filling<'_> {
    fn fill(&self, ranges: &[(u64, u64)], ledger: &Ledger) -> Result<u64, EngineError> {
        if !ledger.owns(self.path) {
            return Ok(0);
        }
        let failed = |e: std::io::Error| EngineError::file("fill the holes of", self.path, e);
        let file = open_for_data(self.path).map_err(failed)?;
        let (data, from) = self.data();
        let mut writer = Writer::beginning_at(self.workload, self.set, data, from)?;
        let end = file.metadata().map_err(failed)?.len();
        let filled = AtomicU64::new(0);
        for &(start, length) in ranges {
            let to = start.saturating_add(length).min(end);
            writer.write(&file, self.number, start.min(to)..to, &filled).map_err(failed)?;
        }
        file.sync_all().map_err(|e| EngineError::file("write back", self.path, e))?;
        Ok(filled.into_inner())
    }

    /// The data of the file, and where its blocks begin: those of a stream that verifies its reads, else those that laying out
    /// would write.
    fn data(&self) -> (Data, u64) {
        let mut streams = self.workload.phases.iter().flat_map(|p| &p.groups).flat_map(|g| &g.threads);
        let checked = streams.find_map(|t| match &t.program {
            Program::Stream(s) if s.fileset == self.set.name && s.verify != Verify::No => {
                Some((s.data.clone(), s.start.0))
            }
            _ => None,
        });
        checked.unwrap_or_else(|| (self.set.data.clone(), 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_covers_the_files_it_names() {
        let op = |file, offset| ListedOp { file, offset, bytes: 4, ..ListedOp::default() };
        let access = Access::Listed(vec![op(0, 0), op(1, 100), op(0, 4)]);
        let direction = fathom_workload::Direction::Read;
        let one = Stream { access, ..Stream::new("f", direction, fathom_workload::Bytes(4)) };
        assert_eq!(parts(&one, (5, 200)), [(0, 8), (100, 4)], "one file, whichever it is");
        let all = Stream { pick: Pick::All, ..one };
        assert_eq!(parts(&all, (0, 8)), [(0, 8)]);
        assert_eq!(parts(&all, (1, 104)), [(100, 4)]);
    }

    #[test]
    fn listed_operations_cover_the_parts_they_touch() {
        let op = |(offset, bytes)| ListedOp { offset, bytes, ..ListedOp::default() };
        let of = |list: &[(u64, u32)]| merged(&list.iter().copied().map(op).collect::<Vec<_>>());
        assert_eq!(of(&[]), []);
        assert_eq!(of(&[(8, 4), (0, 4), (4, 4)]), [(0, 12)]);
        assert_eq!(of(&[(0, 100), (10, 5), (200, 1), (100, 1)]), [(0, 101), (200, 1)]);
    }
}
