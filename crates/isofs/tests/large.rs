//! Files of more than 4 and 8 GiB in sparse images: sizes, and the bytes where 32-bit arithmetic would fail, through the image itself and
//! through the reader under each policy.

use fathom_isofs::reader::{Policy, Reader};
use fathom_isofs::{FileSource, Image, Options, check};
use fathom_testkit::TestDir;
use fathom_testkit::iso::sparse::{self, SMALL, Sparse};
use std::fs::File;
use std::sync::Arc;

/// Empty bytes before and after a piece.
const MARGIN: u64 = 5000;

/// Fills `buf` as far as the file reaches.
fn fill(mut read: impl FnMut(u64, &mut [u8]) -> usize, at: u64, buf: &mut [u8]) -> usize {
    let mut done = 0;
    while done < buf.len() {
        let n = read(at + done as u64, &mut buf[done..]);
        if n == 0 {
            break;
        }
        done += n;
    }
    done
}

/// Asserts every piece with its margins.
fn compare(sparse: &Sparse, how: &str, mut read: impl FnMut(u64, &mut [u8]) -> usize) {
    for (at, piece) in &sparse.pieces {
        let from = at.saturating_sub(MARGIN);
        let mut buf = vec![1; piece.len() + 2 * MARGIN as usize];
        let n = fill(&mut read, from, &mut buf);
        assert!(buf[..n] == sparse.expected(from, buf.len())[..], "{}, {how}: around {at}", sparse.name);
    }
}

#[test]
fn files_of_more_than_four_and_eight_gib_are_read() {
    for sparse in sparse::all() {
        let dir = TestDir::new();
        let path = dir.path().join("large.iso");
        sparse.write(&path).unwrap();
        let source = FileSource::new(File::open(&path).unwrap()).unwrap();
        let image = Arc::new(Image::open(source, &Options::default()).unwrap());
        assert_eq!(check::check(&image).findings.list(), [], "{}", sparse.name);
        let node = image.resolve(b"large").unwrap().unwrap();
        assert_eq!(node.size(), sparse.size);
        let small = image.resolve(b"small").unwrap().unwrap();
        assert_eq!(image.read_all(&small, 100).unwrap(), SMALL);
        compare(&sparse, "the image", |at, buf| image.read_at(&node, at, buf).unwrap());
        for policy in [Policy::baseline(), Policy::seed(), Policy::modern()] {
            let file = Reader::new(Arc::clone(&image), &policy).unwrap().open(&node);
            compare(&sparse, &format!("{policy:?}"), |at, buf| file.read_at(at, buf).unwrap());
        }
    }
}
