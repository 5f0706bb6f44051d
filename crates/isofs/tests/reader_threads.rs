//! The reader's threads: without read-ahead the caller does all reads, blocked helpers do not block other readers, and a thread that
//! frees memory exists only while it is needed.

use fathom_isofs::reader::{Policy, Reader};
use fathom_isofs::{Image, Node, Options, ReadAt};
use fathom_testkit::iso::Builder;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// Name of helper threads.
const HELPER: &str = "read-ahead";

/// An image on which helpers block while enabled; counts their reads.
struct Stalling {
    bytes: Vec<u8>,
    stalled: Mutex<bool>,
    released: Condvar,
    helpers: AtomicUsize,
}

impl ReadAt for Stalling {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        if std::thread::current().name() == Some(HELPER) {
            self.helpers.fetch_add(1, Ordering::SeqCst);
            let mut stalled = self.stalled.lock().unwrap();
            while *stalled {
                stalled = self.released.wait(stalled).unwrap();
            }
        }
        self.bytes.read_at(offset, buf)
    }

    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }
}

const FILES: usize = 12;
const FILE_BYTES: usize = 1 << 20;

fn content(number: usize) -> Vec<u8> {
    (0..FILE_BYTES).map(|n| (n / 2048 * 7 + n + number * 31) as u8).collect()
}

fn image(stalled: bool) -> (Arc<Image<Stalling>>, Vec<Node>) {
    let mut builder = Builder::new();
    for number in 0..FILES {
        builder = builder.file(&format!("f{number:02}"), &content(number));
    }
    let (stalled, released, helpers) = (Mutex::new(stalled), Condvar::new(), AtomicUsize::new(0));
    let source = Stalling { bytes: builder.build().bytes, stalled, released, helpers };
    let image = Arc::new(Image::open(source, &Options::default()).unwrap());
    let nodes = image.read_dir(image.root()).unwrap().entries.into_iter().map(|entry| entry.node).collect();
    (image, nodes)
}

fn helpers(reader: &Reader<Stalling>) -> usize {
    reader.image().source().helpers.load(Ordering::SeqCst)
}

fn read_all(reader: &Reader<Stalling>, node: &Node) -> Vec<u8> {
    let file = reader.open(node);
    let (mut all, mut piece) = (Vec::new(), vec![0; 16 << 10]);
    loop {
        match file.read_at(all.len() as u64, &mut piece).unwrap() {
            0 => return all,
            n => all.extend_from_slice(&piece[..n]),
        }
    }
}

/// Waits until a condition holds; returns whether it did in time.
fn within(seconds: u64, holds: impl Fn() -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < end {
        if holds() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    holds()
}

/// S12: without read-ahead only the caller reads.
#[test]
fn who_reads_alone_is_helped_by_nobody() {
    let (image, nodes) = image(false);
    for policy in [Policy::baseline(), Policy::seed(), Policy::modern()] {
        let policy = Policy { read_ahead: "none".into(), ..policy };
        let reader = Reader::new(Arc::clone(&image), &policy).unwrap();
        assert!(read_all(&reader, &nodes[3]) == content(3));
        assert_eq!(helpers(&reader), 0, "{policy:?}");
    }
}

/// S12: all helpers block, and a reader of other pages continues.
#[test]
fn hanging_helpers_keep_no_other_reader_up() {
    let (image, nodes) = image(true);
    // The cache is small so that repeated reads call helpers again: on a busy machine the first round may end before both have started.
    let policy = Policy { workers: 2, cache_bytes: 2 << 20, ..Policy::modern() };
    let reader = Reader::new(image, &policy).unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    std::thread::scope(|scope| {
        let streams: Vec<_> = (1..FILES)
            .map(|number| {
                let (reader, node) = (&reader, &nodes[number]);
                scope.spawn(move || {
                    while helpers(reader) < 2 && Instant::now() < until {
                        assert!(read_all(reader, node) == content(number));
                    }
                })
            })
            .collect();
        let hang = within(20, || helpers(&reader) == 2);
        // At random positions, so that none of it is read ahead.
        let expected = content(0);
        let file = reader.open(&nodes[0]);
        let mut right = true;
        for n in 0..40_usize {
            let at = (n * 37 % 64) * 16_384;
            let mut buf = [0; 2048];
            if hang {
                right &=
                    file.read_at(at as u64, &mut buf).unwrap() == 2048 && buf[..] == expected[at..at + 2048];
            }
        }
        let source = reader.image().source();
        *source.stalled.lock().unwrap() = false;
        source.released.notify_all();
        streams.into_iter().for_each(|stream| stream.join().unwrap());
        assert!(hang, "both helpers were called");
        assert!(right);
    });
}

/// The cache is freed after the idle time without open files and reads, and not before.
#[test]
fn memory_is_given_back_when_it_is_quiet() {
    let (image, nodes) = image(false);
    let quiet = Reader::new(Arc::clone(&image), &Policy { idle_s: 1, ..Policy::modern() }).unwrap();
    let never = Reader::new(image, &Policy { idle_s: 0, ..Policy::modern() }).unwrap();
    for reader in [&quiet, &never] {
        assert!(read_all(reader, &nodes[0]) == content(0));
        assert!(reader.counters().cache_bytes >= FILE_BYTES as u64);
    }
    assert!(within(20, || quiet.counters().cache_bytes == 0));
    let counters = quiet.counters();
    assert!(counters.pages_given_back >= FILE_BYTES as u64 / 4096, "{counters:?}");
    assert!(never.counters().cache_bytes >= FILE_BYTES as u64);
    // It is read again from the image.
    assert!(read_all(&quiet, &nodes[0]) == content(0));
    assert!(quiet.counters().cache_bytes >= FILE_BYTES as u64);
}

/// Memory without an open file is freed, too: directories and prefetched files, including those that arrive after the check.
#[test]
fn what_was_read_without_an_open_file_is_given_back() {
    let (image, nodes) = image(true);
    let policy = Policy { idle_s: 1, workers: 1, ..Policy::modern() };
    let reader = Reader::new(Arc::clone(&image), &policy).unwrap();
    let mut root = vec![0; 2048];
    reader.read_metadata(image.root().directory_block().unwrap(), &mut root).unwrap();
    assert!(reader.counters().cache_bytes > 0);
    assert!(within(20, || reader.counters().cache_bytes == 0), "directories");
    reader.prefetch(&nodes[..1], 2 * FILE_BYTES as u64);
    let hangs = within(20, || helpers(&reader) == 1);
    // During this check nothing in flight can be freed.
    std::thread::sleep(Duration::from_millis(2500));
    let on_its_way = reader.counters().cache_bytes;
    let source = image.source();
    *source.stalled.lock().unwrap() = false;
    source.released.notify_all();
    assert!(hangs && on_its_way == FILE_BYTES as u64, "{on_its_way}");
    assert!(within(20, || reader.counters().cache_bytes == 0), "a file in advance");
}

/// Nothing is freed while a file is open, even if another one was closed.
#[test]
fn memory_is_kept_while_a_file_is_open() {
    let (image, nodes) = image(false);
    let reader = Reader::new(image, &Policy { idle_s: 1, ..Policy::modern() }).unwrap();
    assert!(read_all(&reader, &nodes[0]) == content(0));
    let file = reader.open(&nodes[1]);
    assert_eq!(file.read_at(0, &mut [0; 4096]).unwrap(), 4096);
    std::thread::sleep(Duration::from_millis(2500));
    let counters = reader.counters();
    assert!(counters.cache_bytes > FILE_BYTES as u64 && counters.pages_given_back == 0, "{counters:?}");
    drop(file);
    assert!(within(20, || reader.counters().cache_bytes == 0));
}

/// Directories read through the reader equal those of the image, and are included in the request counters.
#[test]
fn directories_can_be_read_among_the_rest() {
    let (image, _) = image(false);
    let reader = Reader::new(Arc::clone(&image), &Policy::modern()).unwrap();
    let block = image.root().directory_block().unwrap();
    let mut bytes = vec![0; 2048];
    reader.read_metadata(block, &mut bytes).unwrap();
    let start = block as usize * 2048;
    assert!(bytes == image.source().bytes[start..start + 2048]);
    assert!(reader.counters().requests > 0);
    assert!(reader.read_metadata(1 << 30, &mut bytes).is_err(), "beyond the end");
}
