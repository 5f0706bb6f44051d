//! What a mount reads before it is asked: directories, and small files behind one that is opened. And who keeps what is read.

use super::super::areas::Told;
use super::Files;
use crate::error::Result;
use crate::node::Node;
use crate::source::ReadAt;
use fuser::FopenFlags;

impl<S: ReadAt + 'static> Files<S> {
    /// All directories in advance, if that is asked for.
    pub(in crate::mount) fn read_directories(&self) {
        let told =
            self.directories.at_mount(self.reader.image(), &|byte: u64, buf: &mut [u8]| self.area(byte, buf));
        self.count(told);
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
    use super::*;

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
