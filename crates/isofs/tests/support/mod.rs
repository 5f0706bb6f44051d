//! Shared by the reader's tests: a source that counts reads and rejects those outside the image, and a function that reads a whole tree.

pub mod files;

use fathom_isofs::{Image, Kind, Node, Options, ReadAt, Step, Walk};
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// An image in memory that checks the bounds of reads.
pub struct Watched {
    bytes: Vec<u8>,
    pub reads: AtomicU64,
    pub read_bytes: AtomicU64,
    pub largest: AtomicU64,
}

impl Watched {
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, reads: 0.into(), read_bytes: 0.into(), largest: 0.into() }
    }
}

impl ReadAt for Watched {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let end = offset.checked_add(buf.len() as u64).expect("a read that ends");
        // Detecting raw sectors is the only step before the size is known: it may read short.
        assert!(
            end <= self.bytes.len() as u64 || buf.len() <= 12,
            "a read outside the image: {offset}+{}",
            buf.len()
        );
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.read_bytes.fetch_add(buf.len() as u64, Ordering::Relaxed);
        self.largest.fetch_max(buf.len() as u64, Ordering::Relaxed);
        self.bytes.read_at(offset, buf)
    }

    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }
}

/// Every path with its kind and its content, target or device.
pub fn tree<S: ReadAt>(image: &Image<S>) -> BTreeMap<String, String> {
    let mut tree = BTreeMap::new();
    let mut walk = Walk::new(image);
    while let Some(step) = walk.step() {
        let (path, shown) = match step {
            Step::File { path, node, .. } => (path, content(image, node)),
            Step::Failed { path, error } => (path, format!("failed: {error}")),
        };
        tree.insert(String::from_utf8_lossy(path).into_owned(), shown);
    }
    tree
}

fn content<S: ReadAt>(image: &Image<S>, node: &Node) -> String {
    match node.kind() {
        Kind::File => match image.read_all(node, 64 << 20) {
            Ok(bytes) if bytes.len() < 100 => String::from_utf8_lossy(&bytes).into_owned(),
            Ok(bytes) => format!("{} bytes, sum {:08x}", bytes.len(), sum(&bytes)),
            Err(error) => format!("error: {error}"),
        },
        Kind::Link => match image.read_link(node) {
            Ok(target) => format!("-> {}", String::from_utf8_lossy(&target)),
            Err(error) => format!("error: {error}"),
        },
        Kind::Directory => "/".into(),
        kind => format!("{kind:?} {:?}", node.device()),
    }
}

/// FNV-1a, sufficient to distinguish contents.
pub fn sum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, &b| (sum ^ u32::from(b)).wrapping_mul(0x0100_0193))
}

/// Opens with the default options.
pub fn open(bytes: Vec<u8>) -> Image<Watched> {
    Image::open(Watched::new(bytes), &Options::default()).expect("an image that can be read")
}
