//! The reader with its threads: under every policy and with every switch on and off, it reads exactly the image's content, from any
//! offset, by several readers at once; an unreadable part is an error at its byte, with everything around it intact.

use crate::support;
use crate::support::files;
use fathom_isofs::reader::{Chunk, Policy, Reader};
use fathom_isofs::{Error, Image, Node, Options, ReadAt};
use fathom_testkit::iso::samples::every_layout;
use fathom_testkit::iso::valid::noise;
use fathom_testkit::iso::{Builder, Spec, raw};
use proptest::prelude::*;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Files of every layout, one of them with an extended attribute record.
fn image(block: usize) -> Builder {
    let xar = Spec { data: noise(9000), xar: Some(vec![0; 250]), ..Spec::default() };
    every_layout(300_000, block).file("small", b"few bytes").add("xar", xar)
}

/// Every regular file with its content as read directly from the image.
fn contents<S: ReadAt>(image: &Image<S>) -> Vec<(Node, Vec<u8>)> {
    let found = files::contents(image);
    assert_eq!(found.len(), 7);
    found
}

fn policies() -> Vec<Policy> {
    let mut all = vec![Policy::baseline(), Policy::seed(), Policy::modern()];
    for scheduler in ["deadline", "cfq@2.6.10", "as", "kyber", "bfq-lite"] {
        all.push(Policy { scheduler: scheduler.into(), ..Policy::modern() });
    }
    for read_ahead in ["ra24", "ra26-shared", "ra-simplified", "ra-ondemand", "modern"] {
        all.push(Policy { read_ahead: read_ahead.into(), ..Policy::seed() });
    }
    all.push(Policy { cache_bytes: 1 << 20, free_behind: true, ..Policy::modern() });
    all
}

#[test]
fn every_policy_reads_what_the_image_holds() {
    for block in [512, 2048] {
        let bytes = image(block).build().bytes;
        for bytes in [raw::wrap(&bytes, 2352, 1), bytes] {
            let image = Arc::new(Image::open(bytes, &Options::default()).unwrap());
            let files = contents(&image);
            for policy in policies() {
                let reader = Reader::new(Arc::clone(&image), &policy).unwrap();
                for (node, content) in &files {
                    let file = reader.open(node);
                    let mut all: Vec<u8> = Vec::new();
                    let mut piece = vec![0; 10_007];
                    loop {
                        let n = file.read_at(all.len() as u64, &mut piece).unwrap();
                        all.extend(&piece[..n]);
                        if n == 0 {
                            break;
                        }
                    }
                    assert!(&all == content, "blocks of {block}: {policy:?}");
                }
            }
        }
    }
}

/// F7: each switch on and off, with every other.
#[test]
fn every_combination_of_switches() {
    let image = Arc::new(Image::open(image(2048).build().bytes, &Options::default()).unwrap());
    let files = contents(&image);
    for bits in 0..128_u32 {
        let is = |bit: u32| bits >> bit & 1 == 1;
        let policy = Policy {
            scheduler: if is(0) { "clook-hsfs" } else { "none" }.into(),
            coalesce: is(1),
            read_ahead: if is(2) { "hsfs" } else { "none" }.into(),
            chunk: if is(3) { Chunk::Page } else { Chunk::Block },
            per_open: is(4),
            free_behind: is(5),
            isolate: is(6),
            ..Policy::seed()
        };
        let reader = Reader::new(Arc::clone(&image), &policy).unwrap();
        for (node, content) in &files {
            let mut buf = vec![0; content.len() + 1];
            let mut done = 0;
            let file = reader.open(node);
            while done < content.len() {
                done += file.read_at(done as u64, &mut buf[done..]).unwrap();
            }
            assert!(buf[..done] == content[..], "{policy:?}");
        }
    }
}

#[test]
fn readers_side_by_side_see_the_same_files() {
    let image = Arc::new(Image::open(image(2048).build().bytes, &Options::default()).unwrap());
    let files = contents(&image);
    for policy in policies() {
        let policy = Policy { cache_bytes: 1 << 20, ..policy };
        let reader = Reader::new(Arc::clone(&image), &policy).unwrap();
        let shared: Vec<_> = files.iter().map(|(node, _)| reader.open(node)).collect();
        std::thread::scope(|scope| {
            for thread in 0..6_u64 {
                let (files, shared) = (&files, &shared);
                scope.spawn(move || {
                    let mut state = thread + 1;
                    let mut buf = vec![0; 40_000];
                    for _ in 0..200 {
                        state = state
                            .wrapping_mul(6_364_136_223_846_793_005)
                            .wrapping_add(1_442_695_040_888_963_407);
                        let file = (state >> 33) as usize % files.len();
                        let content = &files[file].1;
                        let offset = (state >> 13) as usize % (content.len() + 1);
                        let wanted = (state >> 45) as usize % buf.len();
                        let n = shared[file].read_at(offset as u64, &mut buf[..wanted]).unwrap();
                        assert!(n > 0 || wanted == 0 || offset == content.len());
                        assert!(buf[..n] == content[offset..offset + n]);
                    }
                });
            }
        });
    }
}

/// An image with unreadable sectors from `first` to `last`; counts the attempts.
struct Scratched {
    bytes: Vec<u8>,
    bad: std::ops::Range<u64>,
    tries: AtomicU64,
}

impl ReadAt for Scratched {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let end = offset + buf.len() as u64;
        if offset < self.bad.end && end > self.bad.start {
            self.tries.fetch_add(1, Ordering::Relaxed);
            return Err(io::Error::from_raw_os_error(libc_eio()));
        }
        self.bytes.read_at(offset, buf)
    }

    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }
}

fn libc_eio() -> i32 {
    rustix::io::Errno::IO.raw_os_error()
}

fn scratched(bad_at: usize, bad_bytes: u64) -> (Arc<Image<Scratched>>, Node, Vec<u8>) {
    let data = noise(300_000);
    let built = Builder::new().file("file", &data).build();
    let start = built.data["file"] as u64 + bad_at as u64;
    let source = Scratched { bytes: built.bytes, bad: start..start + bad_bytes, tries: 0.into() };
    let image = Arc::new(Image::open(source, &Options::default()).unwrap());
    let node = image.resolve(b"file").unwrap().unwrap();
    (image, node, data)
}

/// S14: bytes before the bad sector are correct, the error occurs at its byte, and nothing of the page is cached.
#[test]
fn a_bad_sector_costs_itself() {
    let (image, node, data) = scratched(100 * 2048, 2048);
    for policy in [Policy::modern(), Policy { chunk: Chunk::Block, ..Policy::modern() }] {
        let reader = Reader::new(Arc::clone(&image), &policy).unwrap();
        let file = reader.open(&node);
        let mut got: Vec<u8> = Vec::new();
        let mut piece = vec![0; 8192];
        let error = loop {
            match file.read_at(got.len() as u64, &mut piece) {
                Ok(n) => got.extend(&piece[..n]),
                Err(error) => break error,
            }
        };
        assert!(
            matches!(&error, Error::Io { source, .. } if source.raw_os_error() == Some(libc_eio())),
            "{error}"
        );
        assert!(got.len() == 100 * 2048 && got == data[..got.len()], "{} bytes", got.len());
        // Everything after it is readable, and the sector is retried when requested again.
        let before = image_tries(&reader);
        assert!(file.read_at(101 * 2048 - 1, &mut piece).is_err());
        assert!(image_tries(&reader) > before);
        assert_eq!(file.read_at(101 * 2048, &mut piece).unwrap(), 8192);
        assert!(piece == data[101 * 2048..][..8192]);
    }
}

fn image_tries(reader: &Reader<Scratched>) -> u64 {
    reader.image().source().tries.load(Ordering::Relaxed)
}

/// A21: without isolation, reads before the error succeed, and a failed read never returns other bytes.
#[test]
fn without_isolation_nothing_wrong_is_read_either() {
    for bad_at in [0, 2048, 10 * 2048, 55 * 2048] {
        let (image, node, data) = scratched(bad_at, 2048);
        for policy in [Policy::baseline(), Policy::seed()] {
            let reader = Reader::new(Arc::clone(&image), &policy).unwrap();
            let file = reader.open(&node);
            let mut piece = vec![0; 5000];
            let mut missed = 0;
            for offset in (0..data.len()).step_by(5000) {
                match file.read_at(offset as u64, &mut piece) {
                    Ok(n) => {
                        assert!(piece[..n] == data[offset..offset + n], "{bad_at} {offset}");
                        missed += usize::from(n < piece.len());
                    }
                    Err(_) => missed += 1,
                }
            }
            assert!((1..=5).contains(&missed), "{missed} calls were cut short, bad at {bad_at}");
        }
    }
}

#[test]
fn a_file_beyond_the_image_is_read_up_to_its_last_byte() {
    let data = noise(20_000);
    let mut built = Builder::new().file("file", &data).build();
    let end = built.data["file"] + 12_345;
    built.bytes.truncate(end);
    let image = Arc::new(Image::open(built.bytes, &Options::default()).unwrap());
    let node = image.resolve(b"file").unwrap().unwrap();
    for policy in policies() {
        let reader = Reader::new(Arc::clone(&image), &policy).unwrap();
        let file = reader.open(&node);
        let mut buf = vec![0; 20_000];
        assert_eq!(file.read_at(0, &mut buf).unwrap(), 12_345);
        assert!(buf[..12_345] == data[..12_345]);
        assert!(matches!(file.read_at(12_345, &mut buf), Err(Error::Data { .. })));
    }
}

/// S12: without read-ahead no thread is started.
#[test]
fn who_reads_alone_does_the_work_alone() {
    let image = Arc::new(Image::open(image(2048).build().bytes, &Options::default()).unwrap());
    let (node, _) = contents(&image).into_iter().find(|(node, _)| node.size() == 300_000).unwrap();
    let policy = Policy { read_ahead: "none".into(), ..Policy::modern() };
    let reader = Reader::new(image, &policy).unwrap();
    let file = reader.open(&node);
    let mut buf = vec![0; 300_000];
    assert_eq!(file.read_at(0, &mut buf).unwrap(), 300_000);
    assert_eq!(reader.counters().deepest, 1);
}

#[test]
fn what_is_no_file_says_so() {
    let image = Arc::new(support::open(image(2048).build().bytes));
    let reader = Reader::new(Arc::clone(&image), &Policy::modern()).unwrap();
    let root = reader.open(image.root());
    assert!(matches!(root.read_at(0, &mut [0; 10]), Err(Error::Kind { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn any_calls_in_any_order(
        calls in prop::collection::vec((0..7usize, 0..320_000u64, 0..70_000usize), 1..40),
        which in 0..13usize,
        small in any::<bool>(),
    ) {
        let image = Arc::new(Image::open(image(1024).build().bytes, &Options::default()).unwrap());
        let files = contents(&image);
        let mut policy = policies().swap_remove(which);
        if small {
            policy.cache_bytes = 1 << 20;
        }
        let reader = Reader::new(Arc::clone(&image), &policy).unwrap();
        let open: Vec<_> = files.iter().map(|(node, _)| reader.open(node)).collect();
        for (file, offset, bytes) in calls {
            let mut buf = vec![0; bytes];
            let n = open[file].read_at(offset, &mut buf).unwrap();
            let content = &files[file].1;
            let from = (offset as usize).min(content.len());
            let to = (from + bytes).min(content.len());
            prop_assert!(buf[..n] == content[from..from + n]);
            prop_assert!(n == to - from, "{n} of {} bytes", to - from);
        }
    }
}
