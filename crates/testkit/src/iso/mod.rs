//! ISO 9660 images that no writer makes: small blocks, High Sierra, interleaved files, extended attribute records, associated
//! files, a hundred sections, continuations over many hops, appended sessions. A tree description is turned into bytes and the
//! positions of records and data, so that a test can break exactly one thing ([`hostile`]).
//!
//! It follows ECMA-119 and SUSP, not any particular reader, whose behaviour is under test.

mod boot;
mod data;
mod emit;
pub mod hostile;
mod layout;
pub mod raw;
mod records;
pub mod samples;
pub mod sparse;
pub mod susp;
pub mod valid;

pub use boot::Boot;

use std::collections::BTreeMap;

/// How to write a file or directory.
#[derive(Clone, Debug, Default)]
pub struct Spec {
    /// Contents of the file.
    pub data: Vec<u8>,
    /// Lengths of all sections in bytes; empty for a single one.
    pub sections: Vec<usize>,
    /// Lay the sections out from the last to the first.
    pub scattered: bool,
    /// File unit size and gap in blocks; (0, 0) for none.
    pub interleave: (u8, u8),
    /// Content of an extended attribute record of one block.
    pub xar: Option<Vec<u8>>,
    /// Additional flags, besides the implied ones.
    pub flags: u8,
    /// Content of an associated file to place before it.
    pub associated: Option<Vec<u8>>,
    /// System use entries of its record.
    pub susp: Vec<Vec<u8>>,
    /// Number of continuation areas for the entries; 0: all in the record.
    pub hops: usize,
    /// Path of another entry with the same data: a hard link.
    pub same_as: Option<String>,
    /// Name to record instead of the one derived from the path.
    pub name: Option<Vec<u8>>,
    /// The seven bytes of the recording date.
    pub date: [u8; 7],
}

/// Description of an image to build.
#[derive(Clone, Debug)]
pub struct Builder {
    block: usize,
    high_sierra: bool,
    joliet: Option<u8>,
    enhanced: bool,
    rock_ridge: bool,
    /// Entries of the root's "." record besides SP.
    root_susp: Vec<Vec<u8>>,
    before: Vec<u8>,
    tail_blocks: usize,
    boot: Vec<Boot>,
    udf: bool,
    system_area: Vec<u8>,
    entries: Vec<(String, Spec, bool)>,
}

/// An image and the positions in it.
#[derive(Clone, Debug, Default)]
pub struct Built {
    /// Contents of the image.
    pub bytes: Vec<u8>,
    /// Byte offset of the first record of each path in the primary tree; "x/." is the own record of directory x, "." that of the
    /// root.
    pub records: BTreeMap<String, usize>,
    /// First block of each directory of the primary tree; "" is the root.
    pub directories: BTreeMap<String, u32>,
    /// Byte offset of the data of each file.
    pub data: BTreeMap<String, usize>,
    /// Byte offsets of the continuation areas of each path.
    pub continuations: BTreeMap<String, Vec<usize>>,
    /// Byte offset of the primary descriptor.
    pub descriptor: usize,
    /// Size of a logical block in bytes.
    pub block: usize,
}

impl Built {
    /// Overwrites bytes at an offset.
    pub fn patch(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Overwrites a number recorded in both byte orders.
    pub fn patch_both32(&mut self, at: usize, value: u32) {
        self.patch(at, &both32(value));
    }

    /// Byte offset of a record.
    #[must_use]
    pub fn record(&self, path: &str) -> usize {
        *self.records.get(path).unwrap_or_else(|| panic!("the image has no record {path:?}"))
    }
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// An empty image with 2048-byte blocks.
    #[must_use]
    pub fn new() -> Self {
        Self {
            block: 2048,
            high_sierra: false,
            joliet: None,
            enhanced: false,
            rock_ridge: false,
            root_susp: Vec::new(),
            before: Vec::new(),
            tail_blocks: 0,
            boot: Vec::new(),
            udf: false,
            system_area: Vec::new(),
            entries: Vec::new(),
        }
    }

    /// Logical block size in bytes.
    #[must_use]
    pub fn block(mut self, bytes: usize) -> Self {
        self.block = bytes;
        self
    }

    /// High Sierra instead of ISO 9660.
    #[must_use]
    pub fn high_sierra(mut self) -> Self {
        self.high_sierra = true;
        self
    }

    /// Adds a Joliet tree of this level.
    #[must_use]
    pub fn joliet(mut self, level: u8) -> Self {
        self.joliet = Some(level);
        self
    }

    /// Adds an ISO 9660:1999 tree.
    #[must_use]
    pub fn enhanced(mut self) -> Self {
        self.enhanced = true;
        self
    }

    /// Writes SP and ER into the root's "." record, with this Rock Ridge identifier.
    #[must_use]
    pub fn rock_ridge(mut self, id: &str) -> Self {
        self.rock_ridge = true;
        self.root_susp = vec![susp::sp(0), susp::er(id)];
        self
    }

    /// Replaces the system use entries of the root's "." record.
    #[must_use]
    pub fn root_susp(mut self, entries: Vec<Vec<u8>>) -> Self {
        self.rock_ridge = true;
        self.root_susp = entries;
        self
    }

    /// Appends this as a session to an image: after its last sector, at the next multiple of 16.
    #[must_use]
    pub fn after(mut self, image: Vec<u8>) -> Self {
        self.before = image;
        self
    }

    /// Adds blocks of zeros at the end.
    #[must_use]
    pub fn tail(mut self, blocks: usize) -> Self {
        self.tail_blocks = blocks;
        self
    }

    /// Adds an El Torito catalogue with one image without emulation.
    #[must_use]
    pub fn boot(self, image: &[u8]) -> Self {
        self.boot_image(Boot { platform: 0, media: 0, image: image.to_vec() })
    }

    /// Adds an image to the El Torito catalogue.
    #[must_use]
    pub fn boot_image(mut self, boot: Boot) -> Self {
        self.boot.push(boot);
        self
    }

    /// Adds the UDF recognition area after the descriptors, as in a bridge image.
    #[must_use]
    pub fn udf(mut self) -> Self {
        self.udf = true;
        self
    }

    /// Sets the sixteen sectors before the descriptors: a boot record, partition tables.
    #[must_use]
    pub fn system_area(mut self, bytes: &[u8]) -> Self {
        self.system_area = bytes.to_vec();
        self
    }

    /// Adds a plain file.
    #[must_use]
    pub fn file(self, path: &str, data: &[u8]) -> Self {
        self.add(path, Spec { data: data.to_vec(), ..Spec::default() })
    }

    /// Adds a file as specified, creating its parent directories.
    #[must_use]
    pub fn add(mut self, path: &str, spec: Spec) -> Self {
        self.entries.push((path.to_string(), spec, false));
        self
    }

    /// Adds a directory as specified.
    #[must_use]
    pub fn dir(mut self, path: &str, spec: Spec) -> Self {
        self.entries.push((path.to_string(), spec, true));
        self
    }

    /// Builds the image.
    ///
    /// # Panics
    /// If a record would be longer than 255 bytes.
    #[must_use]
    pub fn build(self) -> Built {
        layout::build(self)
    }
}

/// 32 bits, little-endian and big-endian.
#[must_use]
pub fn both32(value: u32) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&value.to_le_bytes());
    bytes[4..].copy_from_slice(&value.to_be_bytes());
    bytes
}

/// 16 bits, little-endian and big-endian.
#[must_use]
pub fn both16(value: u16) -> [u8; 4] {
    let [a, b] = value.to_le_bytes();
    [a, b, b, a]
}
