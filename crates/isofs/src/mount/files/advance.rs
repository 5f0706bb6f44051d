//! Reads of a mount for directories, on demand and in advance, and for small files after an opened one; and whether we or the kernel
//! cache content.

use super::super::areas::{AdvanceReads, ReadBlocks};
use super::super::attributes::errno_of;
use super::super::table::Listing;
use super::Files;
use crate::error::Result;
use crate::node::Node;
use crate::source::ReadAt;
use fuser::{Errno, FopenFlags};
use std::sync::Arc;

impl<S: ReadAt + 'static> Files<S> {
    /// Reads all directories in advance, if enabled.
    pub(in crate::mount) fn read_directories(&self) {
        let counts =
            self.directories.at_mount(self.reader.image(), &|byte: u64, buf: &mut [u8]| self.area(byte, buf));
        self.count(counts);
    }

    /// A directory's entries, read once while the kernel knows it.
    pub(super) fn listing(&self, number: u64) -> std::result::Result<Arc<Listing>, Errno> {
        if let Some(listing) = self.table.listing(number) {
            return Ok(listing);
        }
        let node = self.table.node(number).ok_or(Errno::ENOENT)?;
        if !node.is_directory() {
            return Err(Errno::ENOTDIR);
        }
        let image = self.reader.image();
        let read: ReadBlocks<'_> = &|byte: u64, buf: &mut [u8]| self.area(byte, buf);
        let listing = match self.directories.get(&node) {
            Some(listing) => listing,
            None => {
                // Only our elevator has a class for directories.
                let _held = self.own_cache.then(|| self.directories.own_area(image, read, &node));
                let directory = image.read_dir(&node).map_err(|error| errno_of(&error))?;
                Arc::new(self.directories.listing(directory.entries))
            }
        };
        let listing = self.table.keep(number, listing);
        self.count(self.directories.below(image, read, &listing));
        Ok(listing)
    }

    /// Reads directory bytes with metadata priority, where the reader schedules requests.
    pub(super) fn area(&self, byte: u64, buf: &mut [u8]) -> Result<()> {
        let disc = &self.reader.image().disc;
        if self.own_cache {
            self.reader.read_metadata(byte / u64::from(disc.block()), buf)
        } else {
            disc.read(byte, buf)
        }
    }

    pub(super) fn count(&self, counts: AdvanceReads) {
        if counts != AdvanceReads::default() {
            self.reader.count_directories(counts.reads, counts.bytes, counts.directories);
        }
    }

    /// Called when a file is opened; may read the next ones in advance.
    pub(super) fn read_following(&self, number: u64, node: &Node) {
        if self.following.most() == 0 {
            return;
        }
        let parent = self.table.parent(number);
        let Some(listing) = self.table.listing(parent) else { return };
        let files = self.following.behind(parent, &listing, node);
        if !files.is_empty() {
            self.reader.prefetch(files, self.following.most());
        }
    }
}

/// Who caches a file's content, never both. With our cache, or for partial reads, the kernel must pass on every read.
pub(super) fn kept_by(own_cache: bool, in_part: bool) -> FopenFlags {
    if own_cache || in_part { FopenFlags::FOPEN_DIRECT_IO } else { FopenFlags::FOPEN_KEEP_CACHE }
}

#[cfg(test)]
mod tests {
    use super::super::super::table::ROOT;
    use super::super::super::{Cache, DirOrder, Mounting};
    use super::*;
    use crate::image::Image;
    use crate::options::Options;
    use crate::reader::{Policy, Reader};
    use fathom_testkit::iso::{Builder, Spec};

    /// The file system without a kernel.
    fn files(bytes: Vec<u8>, cache: Cache, metadata: u64) -> Files<Vec<u8>> {
        let image = Image::open(bytes, &Options::default()).unwrap();
        let how = Mounting {
            name: "test".into(),
            cache,
            workers: 1,
            others: false,
            look: false,
            order: DirOrder::Disk,
            metadata,
            small_files: 0,
        };
        let files = Files::new(Reader::new(image.into(), &Policy::modern()).unwrap(), &how);
        files.read_directories();
        files
    }

    /// Looks up a name like the kernel, and opens it as a directory.
    fn into_directory(files: &Files<Vec<u8>>, parent: u64, name: &[u8]) -> Option<u64> {
        let listing = files.listing(parent).ok()?;
        let number = files.table.enter(parent, name, listing.find(name)?);
        files.listing(number).ok().map(|_| number)
    }

    /// Descends along these names; returns the number of levels reached.
    fn way_down(files: &Files<Vec<u8>>, names: impl IntoIterator<Item = &'static str>) -> usize {
        let mut at = ROOT;
        let enter = |name: &str| {
            at = into_directory(files, at, name.as_bytes())?;
            Some(())
        };
        names.into_iter().map_while(enter).count()
    }

    /// a/b/c/d/a, where the last one is the first again; b and d are entries of other directories, too.
    fn ring() -> Vec<u8> {
        let mut builder = Builder::new().dir("u", Spec::default()).dir("v", Spec::default());
        for path in ["u/a", "u/a/b", "u/a/b/c", "u/a/b/c/d", "u/a/b/c/d/a", "v/c"] {
            builder = builder.dir(path, Spec::default());
        }
        let mut built = builder.build();
        for (record, to) in [("u/a/b/c/d/a", "u/a"), ("v/c", "u/a/b/c")] {
            let block = built.directories[to];
            built.patch_both32(built.record(record) + 2, block);
        }
        built.bytes
    }

    /// Directory cycles are detected whatever the path, and whatever was cached on another path.
    #[test]
    fn no_ring_is_gone_round_twice() {
        // Too small for all directories, so that subdirectories are read and cached by level.
        for metadata in [0, 12 << 10, 64 << 20] {
            let files = files(ring(), Cache::Own, metadata);
            assert_eq!(way_down(&files, ["u", "a", "b", "c", "d"]), 5);
            assert_eq!(way_down(&files, ["v", "c", "d", "a", "b"]), 5);
            let round = || ["a", "b", "c", "d"].into_iter().cycle();
            let deep = way_down(&files, ["u"].into_iter().chain(round()).take(50));
            assert_eq!(deep, 5, "{metadata}");
            let deep = way_down(&files, ["v", "c", "d"].into_iter().chain(round()).take(50));
            assert_eq!(deep, 5, "{metadata}");
        }
    }

    /// If not all fit, listing a directory reads its subdirectories, even if it was itself read that way.
    #[test]
    fn directories_are_read_level_by_level() {
        let mut builder = Builder::new();
        for depth in 1..=6 {
            builder = builder.dir(&["a"; 6][..depth].join("/"), Spec::default());
        }
        for n in 0..20 {
            builder = builder.dir(&format!("e{n:02}"), Spec::default());
        }
        let files = files(builder.build().bytes, Cache::Kernel, 20 << 10);
        let mut at = ROOT;
        for depth in 0..5 {
            let listing = files.listing(at).unwrap();
            let inner = listing.find(b"a").unwrap();
            assert!(files.directories.get(inner).is_some(), "level {depth}");
            at = files.table.enter(at, b"a", inner);
        }
    }

    /// M8: with our own cache, every directory is read with metadata priority, whatever is cached.
    #[test]
    fn directories_are_read_through_a_cache_of_our_own() {
        let bytes = || Builder::new().file("d/f", b"1").build().bytes;
        for (cache, pages) in [(Cache::Own, 2), (Cache::Kernel, 0)] {
            let files = files(bytes(), cache, 0);
            assert_eq!(way_down(&files, ["d"]), 1);
            let counters = files.reader.counters();
            assert_eq!((counters.pages_read, counters.directories), (pages, 0), "{cache:?}");
        }
    }

    /// M11: content is cached only once.
    #[test]
    fn a_file_is_kept_by_the_kernel_or_by_us() {
        for (own_cache, in_part) in [(true, true), (true, false), (false, true), (false, false)] {
            let flags = kept_by(own_cache, in_part);
            let kernel = flags.contains(FopenFlags::FOPEN_KEEP_CACHE);
            assert_ne!(kernel, flags.contains(FopenFlags::FOPEN_DIRECT_IO));
            assert!(!(kernel && own_cache));
        }
    }
}
