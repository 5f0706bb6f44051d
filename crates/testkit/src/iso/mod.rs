//! ISO 9660 images that no writer makes: small blocks, High Sierra, interleaved files, extended attribute records, associated files, a
//! hundred sections, continuations over many hops, appended sessions. A tree is described, bytes come out, and with them the places of
//! records and data, so that a test can break exactly one thing ([`hostile`]).
//!
//! It follows ECMA-119 and SUSP, not any reader: what a reader makes of it is what the tests are about.

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

/// How a file or directory is to be written.
#[derive(Clone, Debug, Default)]
pub struct Spec {
    /// Content.
    pub data: Vec<u8>,
    /// Lengths of all sections; empty for one.
    pub sections: Vec<usize>,
    /// Lay the sections out from the last to the first.
    pub scattered: bool,
    /// File unit size and gap in blocks; (0, 0) for none.
    pub interleave: (u8, u8),
    /// Content of an extended attribute record of one block.
    pub xar: Option<Vec<u8>>,
    /// Flags to set besides those that follow from the rest.
    pub flags: u8,
    /// Content of an associated file to put before it.
    pub associated: Option<Vec<u8>>,
    /// System use entries of its record.
    pub susp: Vec<Vec<u8>>,
    /// Over how many continuation areas the entries are spread; 0 for all in the record.
    pub hops: usize,
    /// The path of an entry whose data are this one's, too: a hard link.
    pub same_as: Option<String>,
    /// Name to record instead of the one made from the path.
    pub name: Option<Vec<u8>>,
    /// The seven bytes of the date.
    pub date: [u8; 7],
}

/// What is to be written.
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

/// An image and the places in it.
#[derive(Clone, Debug, Default)]
pub struct Built {
    /// The image.
    pub bytes: Vec<u8>,
    /// Byte of the first record of each path in the primary tree; "x/." is the own record of directory x, "." that of the root.
    pub records: BTreeMap<String, usize>,
    /// First block of each directory of the primary tree; "" is the root.
    pub directories: BTreeMap<String, u32>,
    /// Byte at which the data of each file start.
    pub data: BTreeMap<String, usize>,
    /// Bytes at which the continuation areas of each path start.
    pub continuations: BTreeMap<String, Vec<usize>>,
    /// Byte of the primary descriptor.
    pub descriptor: usize,
    /// Bytes of a logical block.
    pub block: usize,
}

impl Built {
    /// Overwrites bytes.
    pub fn patch(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Overwrites a number that is recorded both ways.
    pub fn patch_both32(&mut self, at: usize, value: u32) {
        self.patch(at, &both32(value));
    }

    /// Byte of a record.
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
    /// A plain image of 2048-byte blocks with nothing in it.
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

    /// Writes SP and ER into the root's "." record, with an identifier of Rock Ridge.
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

    /// Makes this a session after an image: behind its last sector, at the next multiple of 16.
    #[must_use]
    pub fn after(mut self, image: Vec<u8>) -> Self {
        self.before = image;
        self
    }

    /// Blocks of zeros at the end.
    #[must_use]
    pub fn tail(mut self, blocks: usize) -> Self {
        self.tail_blocks = blocks;
        self
    }

    /// An El Torito catalogue with one image of no emulation.
    #[must_use]
    pub fn boot(self, image: &[u8]) -> Self {
        self.boot_image(Boot { platform: 0, media: 0, image: image.to_vec() })
    }

    /// One more image in the El Torito catalogue.
    #[must_use]
    pub fn boot_image(mut self, boot: Boot) -> Self {
        self.boot.push(boot);
        self
    }

    /// The recognition area of UDF behind the descriptors, as a bridge has it.
    #[must_use]
    pub fn udf(mut self) -> Self {
        self.udf = true;
        self
    }

    /// What stands in the sixteen sectors before the descriptors: a boot record, partition tables.
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

    /// Adds a file as specified; directories on its way are made.
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

    /// Writes the image.
    ///
    /// # Panics
    /// If a record would be longer than 255 bytes: the test asked for too much in one.
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
