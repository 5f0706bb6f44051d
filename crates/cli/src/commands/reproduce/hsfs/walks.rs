//! Readers that go through files once: dd and cp through one, cpio and tar through the tree of a DVD. The report does
//! not describe that DVD, so the tree is synthetic: as many files and bytes as such a disc has, log-normal sizes, and
//! the number of directory reads that the times before the rework require.

use super::Scale;
use super::reading::{HsfsRead, Reader};
use fathom_isofs::format::section::{Extents, Section};
use fathom_isofs::reader::{Core, Stream};
use fathom_workload::ops::{Place, Sampler, derive_seed};
use fathom_workload::{RandomVariable, Shape};
use std::sync::Arc;

/// Bytes per read call of all these programs.
const CALL_BYTES: u64 = 8192;
const BLOCK: u64 = 2048;

/// A file of one extent.
pub(super) fn file(lbn: u64, bytes: u64) -> Arc<Extents> {
    Arc::new([Section { lbn, bytes, unit: 0, gap: 0 }].into_iter().collect())
}

/// Reads files one after another from start to end.
pub(super) struct Walk<I> {
    files: I,
    /// The open stream, its position, its size.
    open: Option<(Stream, u64, u64)>,
    /// When the last call ended.
    pub ended_ns: u64,
}

impl<I: Iterator<Item = Arc<Extents>>> Walk<I> {
    pub(super) fn new(files: I) -> Self {
        Self { files, open: None, ended_ns: 0 }
    }
}

impl<I: Iterator<Item = Arc<Extents>>> Reader for Walk<I> {
    fn next(&mut self, core: &mut Core) -> Option<HsfsRead> {
        loop {
            let Some((stream, at, size)) = &mut self.open else {
                let file = self.files.next()?;
                self.open = Some((core.open(&file), 0, file.bytes()));
                continue;
            };
            let (stream, offset) = (*stream, *at);
            let bytes = CALL_BYTES.min(*size - offset);
            if bytes == 0 {
                core.close(stream);
                self.open = None;
                continue;
            }
            *at += bytes;
            return Some(HsfsRead { stream, offset, bytes, restarts: false });
        }
    }

    fn done(&mut self, _began_ns: u64, now_ns: u64) {
        self.ended_ns = now_ns;
    }
}

pub(super) struct WalkedTree {
    /// By directory, in walking order.
    directories: Vec<Vec<Arc<Extents>>>,
    /// Where each directory's files begin, which gives the order on the disc.
    places: Vec<u64>,
    /// Blocks at the start of the disc that hold directories.
    metadata_blocks: u64,
}

/// How directories are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Metadata {
    /// N reads of each directory, spread over its files.
    Trips(u64),
    /// All once, in order, before anything else.
    AtMount,
}

/// The order of the walk through directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WalkOrder {
    /// In listing order.
    Listed,
    /// In disc order.
    Disc,
}

/// Separate reads of a directory use separate blocks: what was read before counts as evicted.
const MOST_TRIPS: u64 = 4;
/// Standard deviation of the logarithm of file sizes.
const SIGMA: f64 = 2.2;

impl WalkedTree {
    /// As large as `scale` says. The order of directories on the disc differs from the walking order.
    pub(super) fn new(scale: &Scale) -> Option<Self> {
        let seed = derive_seed(2007, Place::default(), 8);
        let mut draw = Sampler::new(&RandomVariable::new(Shape::LogNormal { mu: 9.0, sigma: SIGMA }), seed)?;
        let raw: Vec<f64> = (0..scale.files).map(|_| draw.draw()).collect();
        let all: f64 = raw.iter().sum();
        let sizes = raw.iter().map(|r| ((r / all * scale.tree_bytes as f64) as u64).max(1));
        let count = scale.directories;
        let mut by_directory: Vec<Vec<u64>> = vec![Vec::new(); count];
        for (at, size) in sizes.enumerate() {
            by_directory[at * count / scale.files].push(size);
        }
        let even = RandomVariable::new(Shape::Uniform { low: 0.0, high: 1.0 });
        let mut keys = Sampler::new(&even, seed + 1)?;
        let mut order: Vec<(f64, usize)> = (0..count).map(|at| (keys.draw(), at)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let metadata_blocks = count as u64 * MOST_TRIPS;
        let mut lbn = FIRST_BLOCK + metadata_blocks;
        let mut directories = vec![Vec::new(); count];
        let mut places = vec![0; count];
        for (_, at) in order {
            places[at] = lbn;
            for &size in &by_directory[at] {
                directories[at].push(file(lbn, size));
                lbn += size.div_ceil(BLOCK);
            }
        }
        Some(Self { directories, places, metadata_blocks })
    }

    /// All extents to read, in order.
    pub(super) fn walk(&self, metadata: Metadata, order: WalkOrder) -> Vec<Arc<Extents>> {
        let mut by_order: Vec<usize> = (0..self.directories.len()).collect();
        if order == WalkOrder::Disc {
            by_order.sort_by_key(|&at| self.places[at]);
        }
        let mut all = Vec::new();
        if metadata == Metadata::AtMount {
            let blocks = self.metadata_blocks / MOST_TRIPS;
            all.push(file(FIRST_BLOCK, blocks * BLOCK));
        }
        for at in by_order {
            let files = &self.directories[at];
            for (number, of) in files.iter().enumerate() {
                if let Metadata::Trips(trips) = metadata {
                    let due = |n: usize| (n as u64 * trips).div_ceil(files.len() as u64);
                    for trip in due(number)..due(number + 1) {
                        all.push(file(FIRST_BLOCK + at as u64 * MOST_TRIPS + trip, BLOCK));
                    }
                }
                all.push(Arc::clone(of));
            }
        }
        all
    }
}

/// First block after the descriptors.
const FIRST_BLOCK: u64 = 19;

#[cfg(test)]
mod tests {
    use super::super::Scale;
    use super::*;

    #[test]
    fn the_tree_has_its_files_and_bytes_and_no_two_lie_in_one_place() {
        let scale = Scale::SMALL;
        let tree = WalkedTree::new(&scale).unwrap();
        let bytes: u64 = tree.directories.iter().flatten().map(|file| file.bytes()).sum();
        assert!(bytes.abs_diff(scale.tree_bytes) < scale.tree_bytes / 100, "{bytes}");
        let mut places: Vec<(u64, u64)> = tree
            .directories
            .iter()
            .flatten()
            .map(|file| (file.first_block().unwrap(), file.bytes().div_ceil(BLOCK)))
            .collect();
        places.sort_unstable();
        assert_eq!(places.len(), scale.files);
        assert!(places.windows(2).all(|two| two[0].0 + two[0].1 == two[1].0), "one behind the other");
    }

    #[test]
    fn trips_are_as_many_as_asked_for() {
        let scale = Scale::SMALL;
        let tree = WalkedTree::new(&scale).unwrap();
        for trips in [1, 4] {
            let walk = tree.walk(Metadata::Trips(trips), WalkOrder::Listed);
            assert_eq!(walk.len() as u64, scale.files as u64 + trips * scale.directories as u64);
            let disc = tree.walk(Metadata::Trips(trips), WalkOrder::Disc);
            assert_eq!(disc.len(), walk.len());
        }
        let data = |walk: Vec<Arc<Extents>>| -> Vec<u64> {
            walk.iter().skip(1).map(|file| file.first_block().unwrap()).collect()
        };
        assert!(data(tree.walk(Metadata::AtMount, WalkOrder::Disc)).is_sorted());
        assert!(!data(tree.walk(Metadata::AtMount, WalkOrder::Listed)).is_sorted());
    }
}
