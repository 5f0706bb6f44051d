//! Parses directories in advance and caches them within a budget: all of them at mount, read in disc order, if they fit; otherwise the
//! subdirectories of each directory that is listed. Also the order in which entries are shown.

use super::areas::{self, AdvanceReads, ReadBlocks};
use super::table::Listing;
use crate::directory::Entry;
use crate::error::Place;
use crate::image::Image;
use crate::node::{Node, Trail};
use crate::source::ReadAt;
use crate::staged::StagedGuard;
use foldhash::fast::FixedState;
use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of bytes read for the subdirectories of one directory.
const BELOW: u64 = 1 << 20;

/// Longest path table read: no writer makes longer ones.
const LONGEST_TABLE: u64 = 16 << 20;

/// Subdirectories within this distance are read in one piece.
const NEAR: u64 = 32 << 10;

/// Order of a directory's entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DirOrder {
    /// By first data block: reading the files in this order passes over the disc once.
    Lbn,
    /// As in the directory.
    #[default]
    Disk,
    /// By name, byte by byte.
    Name,
}

/// A directory's first block, and the record that led to it.
type Key = (u64, Place);

/// A cached directory.
#[derive(Debug)]
struct One {
    listing: Arc<Listing>,
    /// The path by which it was reached, which is part of its entries: by another path they differ.
    trail: Option<Arc<Trail>>,
    weight: u64,
}

/// The cached directories, oldest first.
#[derive(Debug, Default)]
struct Kept {
    listings: HashMap<Key, One, FixedState>,
    ages: VecDeque<Key>,
    bytes: u64,
}

/// The cache of parsed directories.
#[derive(Debug)]
pub(super) struct Directories {
    order: DirOrder,
    budget: u64,
    kept: Mutex<Kept>,
    /// Not all fit: subdirectories are read when their parent is listed.
    near: AtomicBool,
}

impl Directories {
    /// A budget of 0 disables caching.
    pub(super) fn new(order: DirOrder, budget: u64) -> Self {
        Self { order, budget, kept: Mutex::default(), near: AtomicBool::new(false) }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The entries in the order shown.
    pub(super) fn listing(&self, mut entries: Vec<Entry>) -> Listing {
        match self.order {
            DirOrder::Disk => {}
            DirOrder::Lbn => entries.sort_by_key(|entry| first_block(&entry.node)),
            DirOrder::Name => entries.sort_by(|one, other| one.name.cmp(&other.name)),
        }
        Listing::new(entries)
    }

    /// A directory parsed in advance, if it was reached by the same path: loops are detected by the path.
    pub(super) fn get(&self, node: &Node) -> Option<Arc<Listing>> {
        if self.budget == 0 {
            return None;
        }
        let kept = self.lock();
        let one = kept.listings.get(&key(node)?)?;
        Trail::same(one.trail.as_ref(), node.trail.as_ref()).then(|| Arc::clone(&one.listing))
    }

    /// Reads all directories if they fit.
    pub(super) fn at_mount<S: ReadAt>(&self, image: &Image<S>, read: ReadBlocks<'_>) -> AdvanceReads {
        let mut counts = AdvanceReads::default();
        if self.budget > 0 && !self.take_all(image, read, &mut counts) {
            self.near.store(true, Ordering::Release);
        }
        counts
    }

    /// Returns false if not all fit, or all are known already.
    fn take_all<S: ReadAt>(&self, image: &Image<S>, read: ReadBlocks<'_>, counts: &mut AdvanceReads) -> bool {
        let Some(starts) = areas::starts(image, read, self.budget.min(LONGEST_TABLE), counts) else {
            return false;
        };
        let guessed = areas::guessed(&starts);
        if areas::total(&guessed) > self.budget {
            return false;
        }
        let mut held = image.disc.staged.hold();
        areas::stage(image, &guessed, read, &mut held, counts);
        let missing = areas::missing(image, &starts);
        if areas::total(&guessed).saturating_add(areas::total(&missing)) > self.budget {
            return false;
        }
        areas::stage(image, &missing, read, &mut held, counts);
        let mut left = VecDeque::from([image.root().clone()]);
        let mut seen = HashSet::new();
        while let Some(node) = left.pop_front() {
            let first_time = node.directory_block().is_some_and(|block| seen.insert(block));
            let Some(directory) = first_time.then(|| image.read_dir(&node).ok()).flatten() else { continue };
            // Cached before its subdirectories are read, which ends with the budget, too.
            let Some(listing) = self.keep(&node, self.listing(directory.entries), false) else {
                return false;
            };
            let inner = listing.entries.iter().map(|entry| &entry.node).filter(|node| node.is_directory());
            left.extend(inner.cloned());
            counts.directories += 1;
        }
        true
    }

    /// Stages the bytes of a directory about to be parsed, read with metadata priority.
    pub(super) fn own_area<'i, S: ReadAt>(
        &self,
        image: &'i Image<S>,
        read: ReadBlocks<'_>,
        node: &Node,
    ) -> Option<StagedGuard<'i>> {
        let block = node.directory_block().filter(|_| node.size() <= BELOW)?;
        let start = image.disc.byte_of(block)?;
        let mut held = image.disc.staged.hold();
        let range = start..start.saturating_add(node.size());
        areas::stage(image, std::slice::from_ref(&range), read, &mut held, &mut AdvanceReads::default());
        Some(held)
    }

    /// If not all fit: reads the subdirectories of a listed directory.
    pub(super) fn below<S: ReadAt>(
        &self,
        image: &Image<S>,
        read: ReadBlocks<'_>,
        listing: &Listing,
    ) -> AdvanceReads {
        let mut counts = AdvanceReads::default();
        if !self.near.load(Ordering::Acquire) {
            return counts;
        }
        // Virtual directories without blocks are created on demand.
        let area = |node: &Node| {
            let start = image.disc.byte_of(node.directory_block()?)?;
            Some(start..start.saturating_add(node.size()))
        };
        let nodes = listing.entries.iter().map(|entry| &entry.node);
        let missing = nodes.filter(|node| node.is_directory() && self.get(node).is_none());
        let mut inner: Vec<(&Node, Range<u64>)> =
            missing.filter_map(|node| Some((node, area(node)?))).collect();
        inner.sort_by_key(|(_, range)| range.start);
        let mut left = BELOW.min(self.budget);
        let fits = |(node, _): &&(&Node, Range<u64>)| {
            let rest = left.checked_sub(node.size());
            left = rest.unwrap_or(left);
            rest.is_some()
        };
        let fitting = inner.iter().take_while(fits).count();
        inner.truncate(fitting);
        let ranges = inner.iter().map(|(_, range)| range.clone()).collect();
        let mut held = image.disc.staged.hold();
        areas::stage(image, &areas::joined(ranges, NEAR), read, &mut held, &mut counts);
        for (node, _) in inner {
            // Errors are reported when the directory itself is listed.
            let Ok(directory) = image.read_dir(node) else { continue };
            let kept = self.keep(node, self.listing(directory.entries), true);
            counts.directories += u64::from(kept.is_some());
        }
        counts
    }

    /// Caches a directory if it fits; with `instead`, evicts the oldest ones.
    fn keep(&self, node: &Node, listing: Listing, instead: bool) -> Option<Arc<Listing>> {
        let weight = listing.weight();
        let key = key(node).filter(|_| weight <= self.budget)?;
        let mut kept = self.lock();
        while kept.bytes + weight > self.budget {
            let oldest = if instead { kept.ages.pop_front()? } else { return None };
            let gone = kept.listings.remove(&oldest).map_or(0, |one| one.weight);
            kept.bytes -= gone;
        }
        let listing = Arc::new(listing);
        let one = One { listing: Arc::clone(&listing), trail: node.trail.clone(), weight };
        match kept.listings.insert(key, one) {
            None => kept.ages.push_back(key),
            Some(before) => kept.bytes -= before.weight,
        }
        kept.bytes += weight;
        Some(listing)
    }
}

fn key(node: &Node) -> Option<Key> {
    Some((node.directory_block()?, node.record()))
}

/// First block of a file's content or of a directory; files without content sort first.
fn first_block(node: &Node) -> Option<u64> {
    node.extents().map_or_else(|| node.directory_block(), |extents| extents.first_block())
}

#[cfg(test)]
#[path = "directories_tests.rs"]
mod tests;
