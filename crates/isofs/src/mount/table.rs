//! The files known to the kernel, by inode number. The image's numbers are used where they are unique, so that they are the same on the
//! next mount and hard links share one. On a collision (a hostile image, or a directory reached by a second path) the file gets a number
//! derived from its path, above all others. The file looked up first keeps the image's number; anything better would take a walk through
//! the whole image.

use crate::directory::Entry;
use crate::error::Place;
use crate::node::Node;
use foldhash::fast::FixedState;
use foldhash::quality::FixedState as Mixed;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The root's number in the FUSE protocol.
pub(super) const ROOT: u64 = 1;

/// Numbers from here on are derived from paths.
const MADE: u64 = 1 << 63;

/// A directory's entries, with an index by name.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) entries: Vec<Entry>,
    /// Indices in the order of names.
    by_name: Vec<u32>,
    /// Indices in record order, built on first use.
    by_record: OnceLock<Vec<u32>>,
}

/// Estimated memory of an entry besides its name: its sections.
const SECTIONS_BYTES: usize = 128;

impl Listing {
    pub(super) fn new(entries: Vec<Entry>) -> Self {
        let mut by_name: Vec<u32> = (0..u32::try_from(entries.len()).unwrap_or(u32::MAX)).collect();
        by_name.sort_unstable_by(|&a, &b| entries[a as usize].name.cmp(&entries[b as usize].name));
        Self { entries, by_name, by_record: OnceLock::new() }
    }

    /// Estimated memory in bytes.
    pub(super) fn weight(&self) -> u64 {
        let names: usize = self.entries.iter().map(|entry| entry.name.len()).sum();
        let targets: usize = self.entries.iter().map(|entry| entry.node.target_bytes()).sum();
        (self.entries.len() * (size_of::<Entry>() + SECTIONS_BYTES) + names + targets) as u64
    }

    /// Index of the entry with this record.
    pub(super) fn place_of(&self, record: Place) -> Option<usize> {
        let record_of = |&at: &u32| self.entries[at as usize].node.record();
        let by_record = self.by_record.get_or_init(|| {
            let mut indices = self.by_name.clone();
            indices.sort_unstable_by_key(record_of);
            indices
        });
        let found = by_record.binary_search_by_key(&record, record_of).ok()?;
        Some(by_record[found] as usize)
    }

    pub(super) fn find(&self, name: &[u8]) -> Option<&Node> {
        let found = self.by_name.binary_search_by(|&at| self.entries[at as usize].name.as_slice().cmp(name));
        found.ok().map(|at| &self.entries[self.by_name[at] as usize].node)
    }
}

/// A file known to the kernel.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) node: Arc<Node>,
    pub(super) parent: u64,
    /// Lookup count of the FUSE protocol.
    lookups: u64,
    listing: Option<Arc<Listing>>,
}

/// All known files.
#[derive(Debug)]
pub(super) struct Table {
    known: Mutex<HashMap<u64, Known, FixedState>>,
}

impl Table {
    pub(super) fn new(root: &Node) -> Self {
        let mut known = HashMap::with_hasher(FixedState::default());
        let root = Known { node: Arc::new(root.clone()), parent: ROOT, lookups: 1, listing: None };
        known.insert(ROOT, root);
        Self { known: Mutex::new(known) }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Known, FixedState>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    pub(super) fn node(&self, number: u64) -> Option<Arc<Node>> {
        self.lock().get(&number).map(|known| Arc::clone(&known.node))
    }

    pub(super) fn parent(&self, number: u64) -> u64 {
        self.lock().get(&number).map_or(ROOT, |known| known.parent)
    }

    pub(super) fn listing(&self, number: u64) -> Option<Arc<Listing>> {
        self.lock().get(&number)?.listing.clone()
    }

    /// Caches a listing as long as the kernel knows the directory; if two were made concurrently, the first stays.
    pub(super) fn keep(&self, number: u64, listing: Arc<Listing>) -> Arc<Listing> {
        let mut known = self.lock();
        match known.get_mut(&number) {
            Some(directory) => Arc::clone(directory.listing.get_or_insert(listing)),
            None => listing,
        }
    }

    /// The number of a directory's entry about to be passed to the kernel; increments its lookup count.
    pub(super) fn enter(&self, parent: u64, name: &[u8], node: &Node) -> u64 {
        let mut known = self.lock();
        let mut number = node.inode();
        if number <= ROOT || number >= MADE {
            number = made(parent, name);
        }
        loop {
            match known.get_mut(&number) {
                None => break,
                Some(there) if same(there, parent, node) => {
                    there.lookups += 1;
                    return number;
                }
                // The image's number is taken by another file. Numbers derived from paths can collide, too.
                Some(_) if number < MADE => number = made(parent, name),
                Some(_) => number = MADE | number.wrapping_add(1),
            }
        }
        let entry = Known { node: Arc::new(node.clone()), parent, lookups: 1, listing: None };
        known.insert(number, entry);
        number
    }

    /// Lowers a file's lookup count by `times`; the root stays.
    pub(super) fn forget(&self, number: u64, times: u64) {
        let mut known = self.lock();
        let Some(there) = known.get_mut(&number).filter(|_| number != ROOT) else { return };
        there.lookups = there.lookups.saturating_sub(times);
        if there.lookups == 0 {
            known.remove(&number);
        }
    }
}

/// Whether a known file is the same as an entry's: directories by position and parent (the kernel allows each directory only one parent),
/// others by record or content.
fn same(there: &Known, parent: u64, node: &Node) -> bool {
    let other = &there.node;
    if other.kind() != node.kind() {
        return false;
    }
    if node.is_directory() {
        return there.parent == parent && other.record() == node.record();
    }
    if other.record() == node.record() {
        return true;
    }
    // Writers that store equal content once do not make hard links: those have all attributes in common.
    other.is_same_file(node)
}

/// Derives a number from a path, the same on every mount.
fn made(parent: u64, name: &[u8]) -> u64 {
    let mut hash = Mixed::default().build_hasher();
    hash.write_u64(parent);
    hash.write(name);
    hash.finish() | MADE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Image;
    use crate::options::Options;
    use fathom_testkit::iso::{Builder, Spec, susp};

    fn image(serials: [u32; 2]) -> Image<Vec<u8>> {
        let [a, b] = serials.map(|serial| Spec {
            data: vec![serial as u8; 10],
            susp: vec![susp::px(0o100_644, 1, 0, 0, Some(serial))],
            ..Spec::default()
        });
        let built =
            Builder::new().rock_ridge("RRIP_1991A").add("a", a).add("b", b).dir("d", Spec::default()).build();
        Image::open(built.bytes, &Options::default()).unwrap()
    }

    #[test]
    fn files_with_equal_numbers_are_distinguished() {
        for serials in [[5, 6], [1, 2]] {
            let image = image(serials);
            let entries = image.read_dir(image.root()).unwrap().entries;
            let table = Table::new(image.root());
            let enter = || entries.iter().map(|e| table.enter(ROOT, &e.name, &e.node)).collect::<Vec<_>>();
            let numbers = enter();
            let mut distinct = numbers.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), 3, "{numbers:?}");
            assert!(!numbers.contains(&ROOT) && enter() == numbers, "the same again");
            let again = Table::new(image.root());
            let there: Vec<u64> = entries.iter().map(|e| again.enter(ROOT, &e.name, &e.node)).collect();
            assert_eq!(there, numbers, "on another mount, too");
        }
    }

    #[test]
    fn a_link_weighs_what_its_target_takes() {
        let link = |bytes: usize| {
            let target = vec![b't'; bytes];
            let susp = vec![susp::px(0o120_777, 1, 0, 0, None), susp::sl(0, &[(0, target.as_slice())])];
            let built = Builder::new().rock_ridge("RRIP_1991A").add("l", Spec { susp, ..Spec::default() });
            let image = Image::open(built.build().bytes, &Options::default()).unwrap();
            Listing::new(image.read_dir(image.root()).unwrap().entries).weight()
        };
        assert_eq!(link(120) - link(20), 100);
    }

    #[test]
    fn a_directory_in_two_places_has_two_numbers() {
        let image = image([5, 6]);
        let directory =
            image.read_dir(image.root()).unwrap().entries.into_iter().find(|e| e.node.is_directory());
        let node = directory.unwrap().node;
        let table = Table::new(image.root());
        let (first, second) = (table.enter(ROOT, b"d", &node), table.enter(77, b"d", &node));
        assert!(first != second && table.parent(second) == 77);
    }

    #[test]
    fn what_the_kernel_forgot_is_forgotten() {
        let image = image([5, 6]);
        let entries = image.read_dir(image.root()).unwrap().entries;
        let table = Table::new(image.root());
        let number = table.enter(ROOT, b"a", &entries[0].node);
        table.enter(ROOT, b"a", &entries[0].node);
        table.keep(number, Arc::new(Listing::new(entries)));
        table.forget(number, 1);
        assert!(table.node(number).is_some() && table.listing(number).unwrap().find(b"b").is_none());
        table.forget(number, 1);
        table.forget(ROOT, 1);
        table.forget(99, 1);
        assert!(table.node(number).is_none() && table.len() == 1);
    }
}
