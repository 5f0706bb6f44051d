//! What a mount reads of directories, when it is asked and before, and small files behind one that is opened. And who keeps what is read.

use super::super::areas::{Read, Told};
use super::super::attributes::errno_of;
use super::super::table::Listing;
use super::Files;
use crate::error::Result;
use crate::node::Node;
use crate::source::ReadAt;
use fuser::{Errno, FopenFlags};
use std::sync::Arc;

impl<S: ReadAt + 'static> Files<S> {
    /// All directories in advance, if that is asked for.
    pub(in crate::mount) fn read_directories(&self) {
        let told =
            self.directories.at_mount(self.reader.image(), &|byte: u64, buf: &mut [u8]| self.area(byte, buf));
        self.count(told);
    }

    /// A directory's entries, read once as long as the kernel knows it.
    pub(super) fn listing(&self, number: u64) -> std::result::Result<Arc<Listing>, Errno> {
        if let Some(listing) = self.table.listing(number) {
            return Ok(listing);
        }
        let node = self.table.node(number).ok_or(Errno::ENOENT)?;
        if !node.is_directory() {
            return Err(Errno::ENOTDIR);
        }
        let image = self.reader.image();
        let read: Read<'_> = &|byte: u64, buf: &mut [u8]| self.area(byte, buf);
        let listing = match self.directories.get(&node) {
            Some(listing) => listing,
            None => {
                // Directories are a class of their own for our elevator only.
                let _held = self.own_cache.then(|| self.directories.own_area(image, read, &node));
                let directory = image.read_dir(&node).map_err(|error| errno_of(&error))?;
                Arc::new(self.directories.listing(directory.entries))
            }
        };
        let listing = self.table.keep(number, listing);
        self.count(self.directories.below(image, read, &listing));
        Ok(listing)
    }

    /// Bytes of directories: in their class among what others read, where the reader decides who is next.
    pub(super) fn area(&self, byte: u64, buf: &mut [u8]) -> Result<()> {
        let disc = &self.reader.image().disc;
        if self.own_cache {
            self.reader.read_metadata(byte / u64::from(disc.block()), buf)
        } else {
            disc.read(byte, buf)
        }
    }

    pub(super) fn count(&self, told: Told) {
        if told != Told::default() {
            self.reader.count_directories(told.reads, told.bytes, told.directories);
        }
    }

    /// A file is opened: perhaps the next ones are read in advance.
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

/// Who keeps a file's content: never both. Where our cache does, and where a file is read in part, the kernel is told to pass every read on.
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

    /// What a mount would serve, without a kernel that asks.
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

    /// Looks one name up, as the kernel does, and opens the directory that it is.
    fn into_directory(files: &Files<Vec<u8>>, parent: u64, name: &[u8]) -> Option<u64> {
        let listing = files.listing(parent).ok()?;
        let number = files.table.enter(parent, name, listing.find(name)?);
        files.listing(number).ok().map(|_| number)
    }

    /// Goes down by these names; how many levels deep that came.
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

    /// A directory is in itself whichever way led to it, and however much of it was kept on another.
    #[test]
    fn no_ring_is_gone_round_twice() {
        // Too little for all, so that what is near is read and kept.
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

    /// Where not all fit: each directory that is looked into brings those in it, also where it was brought itself.
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

    /// M8: who has a cache of his own reads every directory in its class, whatever is kept of them.
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

    /// M11: contents are kept once.
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
