//! Prefetches small files: a program that opens a directory's files in the order listed will open the next ones, too. Reading them
//! together costs one seek instead of one each.

use super::table::Listing;
use crate::node::{Kind, Node};
use foldhash::fast::FixedState;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Maximum number of directories tracked at once.
const MOST_DIRECTORIES: usize = 4096;

/// Maximum number of files considered after an opened one. Their bytes are limited, but empty files have none.
const MOST_FILES: usize = 64;

/// The entry of each directory that was opened last.
#[derive(Debug)]
pub(super) struct Prefetch {
    most: u64,
    last: Mutex<HashMap<u64, usize, FixedState>>,
}

impl Prefetch {
    /// With 0 bytes nothing is prefetched.
    pub(super) fn new(most: u64) -> Self {
        Self { most, last: Mutex::default() }
    }

    /// Maximum number of bytes prefetched at once.
    pub(super) fn most(&self) -> u64 {
        self.most
    }

    /// The files after an opened one, if it was in sequence: no file is between it and the last one opened.
    pub(super) fn behind<'l>(&self, parent: u64, listing: &'l Listing, opened: &Node) -> Vec<&'l Node> {
        if self.most == 0 {
            return Vec::new();
        }
        let Some(at) = listing.place_of(opened.record()) else { return Vec::new() };
        let before = {
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            if last.len() >= MOST_DIRECTORIES && !last.contains_key(&parent) {
                last.clear();
            }
            last.insert(parent, at)
        };
        let first = before.map_or(0, |before| before + 1);
        let is_file = |node: &&Node| node.kind() == Kind::File && node.size() > 0;
        let nodes = |entries: std::ops::Range<usize>| {
            let entries = listing.entries.get(entries).into_iter().flatten();
            entries.map(|entry| &entry.node).filter(is_file)
        };
        if first > at || nodes(first..at).next().is_some() {
            return Vec::new();
        }
        nodes(at + 1..listing.entries.len()).take(MOST_FILES).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Image;
    use crate::options::Options;
    use fathom_testkit::iso::{Builder, Spec};

    #[test]
    fn the_next_files_follow_only_who_goes_on() {
        let builder = Builder::new().file("a", b"1").dir("b", Spec::default()).file("c", b"2");
        let built = builder.file("d", b"").file("e", b"3").file("f", b"4").build();
        let image = Image::open(built.bytes, &Options::default()).unwrap();
        let listing = Listing::new(image.read_dir(image.root()).unwrap().entries);
        let following = Prefetch::new(1000);
        let opens = |name: &[u8]| {
            let behind = following.behind(1, &listing, listing.find(name).unwrap());
            let name = |node: &&Node| listing.entries[listing.place_of(node.record()).unwrap()].name.clone();
            behind.iter().map(name).collect::<Vec<_>>().concat()
        };
        assert_eq!(opens(b"a"), b"cef", "a directory and an empty file are no content");
        assert_eq!(opens(b"c"), b"ef");
        assert_eq!(opens(b"f"), b"", "one was passed over");
        assert_eq!(opens(b"f"), b"", "the same again");
        assert_eq!(opens(b"a"), b"", "back");
        assert_eq!(opens(b"c"), b"ef", "and on");
        assert!(Prefetch::new(0).behind(1, &listing, listing.find(b"a").unwrap()).is_empty());
    }
}
