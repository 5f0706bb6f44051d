//! An image that takes several reads at once: reads in rounds equal single reads, with the same counters and a bad sector at the same
//! byte; rounds follow the elevator's order, and a reader waits only for its own pages.

use crate::support::files;
use fathom_isofs::reader::{Chunk, Counters, Policy, Reader};
use fathom_isofs::{Error, Image, Node, Options, ReadAt, SourceRead};
use fathom_testkit::iso::samples::every_layout;
use fathom_testkit::iso::valid::noise;
use fathom_testkit::iso::{Builder, raw};
use proptest::prelude::*;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// An image that takes several reads at once, returns them in reverse order, and has unreadable bytes.
struct Several {
    bytes: Vec<u8>,
    bad: Range<u64>,
    at_once: usize,
    /// First bytes of the reads of each round.
    rounds: Mutex<Vec<Vec<u64>>>,
}

impl ReadAt for Several {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let end = offset + buf.len() as u64;
        if offset < self.bad.end && end > self.bad.start {
            return Err(io::Error::from_raw_os_error(EIO));
        }
        self.bytes.read_at(offset, buf)
    }

    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn at_once(&self) -> usize {
        self.at_once
    }

    fn read_round(&self, reads: Vec<SourceRead>, done: &mut dyn FnMut(SourceRead, u64, Option<io::Error>)) {
        assert!((1..=self.at_once).contains(&reads.len()), "{} reads", reads.len());
        self.rounds.lock().unwrap().push(reads.iter().map(|read| read.offset).collect());
        for mut read in reads.into_iter().rev() {
            let (got, error) = self.read_parts(read.offset, &mut read.parts);
            done(read, got, error);
        }
    }
}

/// "Input/output error".
const EIO: i32 = 5;

fn several(bytes: Vec<u8>, at_once: usize) -> Several {
    Several { bytes, bad: 0..0, at_once, rounds: Mutex::default() }
}

fn image() -> Vec<u8> {
    every_layout(300_000, 2048).build().bytes
}

/// Every regular file with its content as read directly from the image.
fn contents<S: ReadAt>(image: &Image<S>) -> Vec<(Node, Vec<u8>)> {
    let found = files::contents(image);
    assert_eq!(found.len(), 5);
    found
}

fn bundles() -> [Policy; 4] {
    let modern = Policy::modern();
    let small = Policy { cache_bytes: 1 << 20, free_behind: true, ..modern.clone() };
    [Policy::baseline(), Policy::seed(), modern, small]
}

/// The counters that do not depend on timing.
fn figures(counters: Counters) -> Counters {
    let still = Counters::default();
    let Counters { queued, queued_longest, served, served_longest, deepest, expired, .. } = still;
    Counters { queued, queued_longest, served, served_longest, deepest, expired, ..counters }
}

/// Random calls by one reader without helpers: their results and the counters.
fn played<S: ReadAt + 'static>(
    source: S,
    policy: &Policy,
    calls: &[(usize, u64, usize)],
) -> (Vec<Vec<u8>>, Counters) {
    let image = Arc::new(Image::open(source, &Options::default()).unwrap());
    let files = contents(&image);
    let reader = Reader::new(image, &Policy { workers: 0, ..policy.clone() }).unwrap();
    let open: Vec<_> = files.iter().map(|(node, _)| reader.open(node)).collect();
    let mut came = Vec::new();
    for &(file, offset, bytes) in calls {
        let mut buf = vec![0; bytes];
        let n = open[file].read_at(offset, &mut buf).unwrap();
        buf.truncate(n);
        let content = &files[file].1;
        let from = (offset as usize).min(content.len());
        assert!(
            buf == content[from..(from + bytes).min(content.len())],
            "file {file}, {bytes} bytes at {offset}"
        );
        came.push(buf);
    }
    (came, figures(reader.counters()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn the_same_bytes_and_the_same_figures(
        calls in prop::collection::vec((0..5usize, 0..320_000u64, 0..70_000usize), 1..30),
        which in 0..4usize,
        at_once in 2..40usize,
    ) {
        let policy = &bundles()[which];
        let one_by_one = played(image(), policy, &calls);
        let in_rounds = played(several(image(), at_once), policy, &calls);
        prop_assert!(one_by_one == in_rounds, "{:?}\n{:?}", one_by_one.1, in_rounds.1);
    }
}

#[test]
fn readers_side_by_side_see_the_same_files() {
    for bytes in [raw::wrap(&image(), 2352, 1), image()] {
        for policy in bundles() {
            let image = Arc::new(Image::open(several(bytes.clone(), 4), &Options::default()).unwrap());
            let files = contents(&image);
            let reader = Reader::new(image, &policy).unwrap();
            let shared: Vec<_> = files.iter().map(|(node, _)| reader.open(node)).collect();
            std::thread::scope(|scope| {
                for thread in 0..6_usize {
                    let (files, shared) = (&files, &shared);
                    scope.spawn(move || {
                        let mut buf = vec![0; 40_000];
                        for n in 0..100_usize {
                            let file = (thread + n * 7) % files.len();
                            let content = &files[file].1;
                            let offset = (n * 12_345 + thread * 7777) % (content.len() + 1);
                            let got = shared[file].read_at(offset as u64, &mut buf).unwrap();
                            assert!(got > 0 || offset == content.len());
                            assert!(buf[..got] == content[offset..offset + got]);
                        }
                    });
                }
            });
        }
    }
}

/// S14 and M10: other reads in a round with a bad sector succeed.
#[test]
fn a_bad_sector_costs_itself() {
    let data = noise(300_000);
    let built = Builder::new().file("file", &data).build();
    let start = built.data["file"] as u64 + 100 * 2048;
    for policy in [Policy::modern(), Policy { chunk: Chunk::Block, coalesce: false, ..Policy::modern() }] {
        let source = Several { bad: start..start + 2048, ..several(built.bytes.clone(), 8) };
        let image = Arc::new(Image::open(source, &Options::default()).unwrap());
        let node = image.resolve(b"file").unwrap().unwrap();
        let reader = Reader::new(image, &policy).unwrap();
        let file = reader.open(&node);
        let mut got: Vec<u8> = Vec::new();
        let mut piece = vec![0; 8192];
        let error = loop {
            match file.read_at(got.len() as u64, &mut piece) {
                Ok(n) => got.extend(&piece[..n]),
                Err(error) => break error,
            }
        };
        assert!(matches!(&error, Error::Io { source, .. } if source.raw_os_error() == Some(EIO)), "{error}");
        assert!(got.len() == 100 * 2048 && got == data[..got.len()], "{} bytes", got.len());
        assert_eq!(file.read_at(101 * 2048, &mut piece).unwrap(), 8192);
        assert!(piece == data[101 * 2048..][..8192]);
    }
}

/// A page of two unmerged blocks is a round of two reads, in order. Read-ahead is not part of it.
#[test]
fn a_reader_hands_over_what_its_page_wants_and_no_more() {
    let built = Builder::new().file("file", &noise(65_536)).build();
    let first = built.data["file"] as u64;
    let open = |policy: &Policy| {
        let image = Arc::new(Image::open(several(built.bytes.clone(), 32), &Options::default()).unwrap());
        let node = image.resolve(b"file").unwrap().unwrap();
        (Reader::new(Arc::clone(&image), policy).unwrap(), node)
    };
    let (reader, node) = open(&Policy::baseline());
    reader.open(&node).read_at(0, &mut [0; 8192]).unwrap();
    let rounds = reader.image().source().rounds.lock().unwrap().clone();
    assert_eq!(rounds, [[first, first + 2048], [first + 4096, first + 6144]]);
    assert_eq!(reader.counters().deepest, 2);
    // Four readers of the same elevator without helpers: the first one submits its own requests.
    let alone = Policy { coalesce: false, workers: 0, read_ahead: "modern,max=8".into(), ..Policy::modern() };
    let (reader, node) = open(&alone);
    reader.open(&node).read_at(0, &mut [0; 4096]).unwrap();
    let rounds = reader.image().source().rounds.lock().unwrap().clone();
    assert_eq!(rounds, [[first]], "the pages that were asked for in advance stay with the elevator");
    let counters = reader.counters();
    assert!(counters.pages_read + counters.pages_ahead > 1, "{counters:?}");
}

/// An image whose reads from one byte on block until released.
struct Hanging {
    several: Several,
    byte: u64,
    hangs: Mutex<Option<bool>>,
    changed: Condvar,
}

impl ReadAt for Hanging {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.several.read_at(offset, buf)
    }

    fn size(&self) -> u64 {
        self.several.size()
    }

    fn at_once(&self) -> usize {
        self.several.at_once
    }

    fn read_round(&self, reads: Vec<SourceRead>, done: &mut dyn FnMut(SourceRead, u64, Option<io::Error>)) {
        if reads.iter().any(|read| read.offset == self.byte) {
            let mut hangs = self.hangs.lock().unwrap();
            *hangs = Some(true);
            while *hangs == Some(true) {
                hangs = self.changed.wait(hangs).unwrap();
            }
        }
        self.several.read_round(reads, done);
    }
}

/// Waits until a condition holds; returns whether it did in time.
fn within_a_minute(holds: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while !holds() {
        if begun.elapsed().as_secs() >= 60 {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

/// A caller whose page is at the device takes other requests one at a time, and checks for its page in between.
#[test]
fn a_page_with_the_device_is_waited_for_without_a_round_of_others() {
    let built = Builder::new().file("a", &noise(4096)).file("b", &noise(65_536)).build();
    let byte = built.data["a"] as u64;
    let source =
        Hanging { several: several(built.bytes, 8), byte, hangs: Mutex::new(None), changed: Condvar::new() };
    let image = Arc::new(Image::open(source, &Options::default()).unwrap());
    let [a, b] = ["a", "b"].map(|name| image.resolve(name.as_bytes()).unwrap().unwrap());
    let policy = Policy { coalesce: false, workers: 0, ..Policy::modern() };
    let reader = Reader::new(Arc::clone(&image), &policy).unwrap();
    let source = image.source();
    let rounds = || source.several.rounds.lock().unwrap().clone();
    let read = || assert_eq!(reader.open(&a).read_at(0, &mut [0; 4096]).unwrap(), 4096);
    std::thread::scope(|scope| {
        scope.spawn(read);
        let hung = within_a_minute(|| source.hangs.lock().unwrap().is_some());
        reader.prefetch([&b], 65_536);
        scope.spawn(read);
        let others = within_a_minute(|| rounds().iter().map(Vec::len).sum::<usize>() == 16);
        *source.hangs.lock().unwrap() = Some(false);
        source.changed.notify_all();
        assert!(hung && others, "what is not held up is read meanwhile");
    });
    assert!(rounds().iter().all(|round| round.len() == 1), "{:?}", rounds());
}

/// S12: helpers reserve a quarter of the slots for waiting callers.
#[test]
fn helpers_leave_room() {
    let built = Builder::new().file("file", &noise(500_000)).build();
    let image = Arc::new(Image::open(several(built.bytes, 8), &Options::default()).unwrap());
    let node = image.resolve(b"file").unwrap().unwrap();
    let policy = Policy { coalesce: false, workers: 1, depth: 8, ..Policy::modern() };
    let reader = Reader::new(image, &policy).unwrap();
    reader.prefetch([&node], 500_000);
    let rounds = || reader.image().source().rounds.lock().unwrap().clone();
    let pages = 500_000_usize.div_ceil(4096);
    assert!(within_a_minute(|| rounds().iter().map(Vec::len).sum::<usize>() == pages), "{:?}", rounds());
    assert_eq!(rounds().iter().map(Vec::len).max(), Some(6), "{:?}", rounds());
    assert_eq!(reader.counters().deepest, 6);
}

/// Helpers submit several read-ahead requests at once.
#[test]
fn helpers_hand_over_as_many_as_are_taken() {
    let built = Builder::new().file("file", &noise(2_000_000)).build();
    let image = Arc::new(Image::open(several(built.bytes, 8), &Options::default()).unwrap());
    let node = image.resolve(b"file").unwrap().unwrap();
    let policy = Policy { coalesce: false, workers: 1, ..Policy::modern() };
    let reader = Reader::new(image, &policy).unwrap();
    let file = reader.open(&node);
    assert_eq!(file.read_at(0, &mut vec![0; 65_536]).unwrap(), 65_536);
    let rounds = || reader.image().source().rounds.lock().unwrap().clone();
    assert!(within_a_minute(|| rounds().iter().any(|round| round.len() > 1)), "{:?}", rounds());
    assert!(rounds().iter().all(|round| round.is_sorted()), "in the order of the sweep: {:?}", rounds());
}
