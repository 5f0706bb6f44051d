//! A file of the tree: kind, attributes, and location of its data. A node is self-contained, without a node table; what it needs of its
//! ancestors (to detect cycles) is a shared chain.

use crate::error::Place;
use crate::format::rock_ridge::Times;
use crate::format::section::Extents;
use crate::format::zisofs::Claim;
use std::sync::Arc;

/// Kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Regular file.
    File,
    /// Directory.
    Directory,
    /// Symbolic link.
    Link,
    /// Character device.
    CharDevice,
    /// Block device.
    BlockDevice,
    /// Named pipe.
    Fifo,
    /// Socket.
    Socket,
}

impl Kind {
    /// From the type bits of a mode; `None` if they are undefined.
    #[must_use]
    pub fn of_mode(mode: u32) -> Option<Self> {
        Some(match mode & 0o170_000 {
            0o100_000 => Self::File,
            0o040_000 => Self::Directory,
            0o120_000 => Self::Link,
            0o020_000 => Self::CharDevice,
            0o060_000 => Self::BlockDevice,
            0o010_000 => Self::Fifo,
            0o140_000 => Self::Socket,
            _ => return None,
        })
    }

    /// The type bits of a mode.
    #[must_use]
    pub fn mode(self) -> u32 {
        match self {
            Self::File => 0o100_000,
            Self::Directory => 0o040_000,
            Self::Link => 0o120_000,
            Self::CharDevice => 0o020_000,
            Self::BlockDevice => 0o060_000,
            Self::Fifo => 0o010_000,
            Self::Socket => 0o140_000,
        }
    }
}

/// Location of the content.
#[derive(Clone, Debug)]
pub(crate) enum Data {
    /// No content: devices and the like.
    None,
    /// Directory records from `lbn` on.
    Directory { lbn: u64, bytes: u64 },
    /// A virtual directory: that of the boot images, or its parent.
    Own { boot: bool },
    /// Uncompressed, in sections.
    Stored(Arc<Extents>),
    /// Compressed, in sections; the claim is absent if only the file's own header marks it as compressed.
    Packed { extents: Arc<Extents>, claim: Option<Claim> },
    /// In the entry itself: the target of a link.
    Target(Arc<[u8]>),
    /// Not available, with the reason.
    Refused { what: &'static str, supported: bool },
}

/// A directory on the path from the root.
#[derive(Debug)]
pub(crate) struct Trail {
    lbn: u64,
    parent: Option<Arc<Trail>>,
}

impl Trail {
    pub(crate) fn new(lbn: u64, parent: Option<Arc<Trail>>) -> Arc<Self> {
        Arc::new(Self { lbn, parent })
    }

    /// Whether a directory is on the path.
    pub(crate) fn holds(&self, lbn: u64) -> bool {
        let mut at = Some(self);
        while let Some(trail) = at {
            if trail.lbn == lbn {
                return true;
            }
            at = trail.parent.as_deref();
        }
        false
    }

    /// Whether two paths have the same directories.
    #[cfg(feature = "mount")]
    pub(crate) fn same(one: Option<&Arc<Self>>, other: Option<&Arc<Self>>) -> bool {
        let mut both = (one, other);
        while let (Some(one), Some(other)) = both {
            if Arc::ptr_eq(one, other) {
                return true;
            }
            if one.lbn != other.lbn {
                return false;
            }
            both = (one.parent.as_ref(), other.parent.as_ref());
        }
        both.0.is_none() && both.1.is_none()
    }
}

impl Drop for Trail {
    /// Iterative: the default drop would recurse once per level, and hostile trees are deep.
    fn drop(&mut self) {
        let mut next = self.parent.take();
        while let Some(trail) = next {
            next = Arc::into_inner(trail).and_then(|mut trail| trail.parent.take());
        }
    }
}

/// A file: everything that `stat` shows, and the location of its content.
#[derive(Clone, Debug)]
pub struct Node {
    pub(crate) kind: Kind,
    pub(crate) permissions: u32,
    pub(crate) links: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) size: u64,
    pub(crate) inode: u64,
    /// As recorded; 0 means none, too.
    pub(crate) serial: Option<u32>,
    pub(crate) device: (u32, u32),
    pub(crate) times: Times,
    pub(crate) record: Place,
    pub(crate) data: Data,
    pub(crate) trail: Option<Arc<Trail>>,
    pub(crate) associated: Option<Arc<Node>>,
}

impl Node {
    /// Kind of file.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether it is a directory.
    #[must_use]
    pub fn is_directory(&self) -> bool {
        self.kind == Kind::Directory
    }

    /// Mode with type bits.
    #[must_use]
    pub fn mode(&self) -> u32 {
        self.kind.mode() | self.permissions
    }

    /// Number of links; 1 for directories where the disc does not record it, which tools interpret as unknown.
    #[must_use]
    pub fn links(&self) -> u32 {
        self.links
    }

    /// Owner.
    #[must_use]
    pub fn uid(&self) -> u32 {
        self.uid
    }

    /// Group.
    #[must_use]
    pub fn gid(&self) -> u32 {
        self.gid
    }

    /// Size in bytes: of the decompressed content, a link's target, or a directory's records.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Inode number, the same each time the image is opened; hard links share one.
    #[must_use]
    pub fn inode(&self) -> u64 {
        self.inode
    }

    /// Major and minor number of a device.
    #[must_use]
    pub fn device(&self) -> (u32, u32) {
        self.device
    }

    /// Dates.
    #[must_use]
    pub fn times(&self) -> &Times {
        &self.times
    }

    /// The directory record it was read from (of several, the first).
    #[must_use]
    pub fn record(&self) -> Place {
        self.record
    }

    /// The associated file (flag 4) that preceded it: resource data.
    #[must_use]
    pub fn associated(&self) -> Option<&Node> {
        self.associated.as_deref()
    }

    /// Sections of a regular file, in order; compressed ones hold zisofs blocks.
    #[must_use]
    pub fn extents(&self) -> Option<&Extents> {
        match &self.data {
            Data::Stored(extents) | Data::Packed { extents, .. } => Some(extents),
            _ => None,
        }
    }

    /// First block of a directory's records, its identity.
    #[must_use]
    pub fn directory_block(&self) -> Option<u64> {
        match self.data {
            Data::Directory { lbn, .. } => Some(lbn),
            _ => None,
        }
    }

    /// Whether the content is compressed (zisofs).
    #[must_use]
    pub fn is_packed(&self) -> bool {
        matches!(self.data, Data::Packed { .. })
    }

    /// Bytes of memory that the target of a link takes.
    #[cfg(feature = "mount")]
    pub(crate) fn target_bytes(&self) -> usize {
        if let Data::Target(target) = &self.data { target.len() } else { 0 }
    }

    /// Whether two entries are one regular file with two names: the same bytes of the image and the same attributes. Inode numbers do not
    /// suffice: some images have the same one for files with different content.
    #[must_use]
    pub fn is_same_file(&self, other: &Self) -> bool {
        let alike = (self.mode(), self.uid, self.gid) == (other.mode(), other.uid, other.gid)
            && (self.size, self.is_packed()) == (other.size, other.is_packed())
            && self.times == other.times;
        alike && self.extents().zip(other.extents()).is_some_and(|(one, two)| one == two)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trail_of_a_million_is_dropped_without_recursion() {
        let mut trail = None;
        for lbn in 0..1_000_000 {
            trail = Some(Trail::new(lbn, trail));
        }
        let trail = trail.unwrap();
        assert!(trail.holds(0) && !trail.holds(1_000_000));
    }

    #[cfg(feature = "mount")]
    #[test]
    fn ways_are_the_same_directory_by_directory() {
        let way = |lbns: &[u64]| lbns.iter().fold(None, |way, &lbn| Some(Trail::new(lbn, way)));
        let same = |one: &[u64], other: &[u64]| Trail::same(way(one).as_ref(), way(other).as_ref());
        assert!(same(&[], &[]) && same(&[1, 2, 3], &[1, 2, 3]));
        assert!(!same(&[1, 2, 3], &[1, 2]) && !same(&[1, 2, 3], &[2, 3]) && !same(&[1, 2], &[1, 3]));
        assert!(!same(&[], &[1]));
        let shared = way(&[1, 2]);
        assert!(Trail::same(shared.as_ref(), shared.as_ref()));
    }

    #[test]
    fn kinds_and_modes_go_both_ways() {
        for mode in [0o100_644, 0o040_755, 0o120_777, 0o020_600, 0o060_600, 0o010_600, 0o140_600] {
            assert_eq!(Kind::of_mode(mode).unwrap().mode(), mode & 0o170_000);
        }
        assert_eq!(Kind::of_mode(0o644), None);
    }
}
