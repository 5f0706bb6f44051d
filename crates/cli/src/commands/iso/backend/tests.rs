//! Both back-ends over the same file return the same bytes and counters, for images of every layout, under every
//! policy, at random offsets, with O_DIRECT, and where the file ends before the image does.

use super::*;
use fathom_isofs::reader::{Chunk, Counters, Reader};
use fathom_isofs::{Error, Image, Kind, Node, Options, Step, Walk};
use fathom_testkit::iso::samples::every_layout;
use fathom_testkit::iso::valid::noise;
use fathom_testkit::iso::{Builder, Spec, raw};
use fathom_testkit::{TestDir, skip};
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files of every layout, one with extents larger than a batch.
fn builder(block: usize) -> Builder {
    let sections = Spec {
        data: noise(200_000),
        sections: vec![1000, 500, 7, 130_000, 68_493],
        scattered: true,
        ..Spec::default()
    };
    every_layout(500_000, block).add("sections", sections)
}

fn image(block: usize) -> Vec<u8> {
    builder(block).build().bytes
}

fn written(dir: &TestDir, bytes: &[u8]) -> PathBuf {
    let path = dir.path().join("disc.iso");
    std::fs::write(&path, bytes).unwrap();
    path
}

fn opened(path: &Path, flags: i32, backend: Backend, policy: &Policy) -> Result<Image<ImageFile>, String> {
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(|e| e.to_string())?;
    let file = FileSource::new(file).map_err(|e| e.to_string())?;
    let file = backend.of(file, policy).map_err(|Usage(why)| why)?;
    Image::open(file, &Options::default()).map_err(|e| e.to_string())
}

/// The image through both; records a skip if a back-end is unavailable.
fn through_both(test: &str, path: &Path, flags: i32, policy: &Policy) -> Option<[Image<ImageFile>; 2]> {
    let both = [Backend::Pread, Backend::IoUring].map(|backend| opened(path, flags, backend, policy));
    match both {
        [Ok(pread), Ok(ring)] => Some([pread, ring]),
        [Err(why), _] | [_, Err(why)] => {
            skip(test, &why);
            None
        }
    }
}

fn files(image: &Image<ImageFile>) -> Vec<Node> {
    let mut found = Vec::new();
    let mut walk = Walk::new(image);
    while let Some(step) = walk.step() {
        let Step::File { node, .. } = step else { panic!("{step:?}") };
        if node.kind() == Kind::File {
            found.push(node.clone());
        }
    }
    assert_eq!(found.len(), 6);
    found
}

/// Without read-ahead threads, so that counters do not depend on timing.
fn policies() -> Vec<Policy> {
    let mut all =
        vec![Policy::baseline(), Policy::seed(), Policy::modern(), Policy::modern_on(Medium::Optical)];
    all.push(Policy { chunk: Chunk::Block, coalesce: false, ..Policy::modern() });
    all.push(Policy { max_transfer: 4 << 20, ..Policy::modern() });
    let held = |policy| Policy { workers: 0, ..Backend::IoUring.held(policy, Medium::Other) };
    all.into_iter().map(held).collect()
}

/// The counters that do not depend on timing.
fn figures(counters: Counters) -> Counters {
    let Counters { queued, queued_longest, served, served_longest, deepest, expired, .. } =
        Counters::default();
    Counters { queued, queued_longest, served, served_longest, deepest, expired, ..counters }
}

/// Result of a call: bytes, or the error text.
type Call = Result<Vec<u8>, String>;

/// Random reads from all files; returns each result and the counters.
fn played(image: Image<ImageFile>, policy: &Policy, seed: u64) -> (Vec<Call>, Counters) {
    let image = Arc::new(image);
    let reader = Reader::new(Arc::clone(&image), policy).unwrap();
    let open: Vec<_> = files(&image).iter().map(|node| reader.open(node)).collect();
    let (mut state, mut calls) = (seed, Vec::new());
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for _ in 0..60 {
        let file = &open[random(open.len() as u64) as usize];
        let mut offset = random(file.node().size() + 1000);
        let bytes = [100, 8192, 70_000, 400_000][random(4) as usize];
        // Some continue sequentially.
        for _ in 0..1 + random(4) {
            let mut buf = vec![0; bytes];
            let came = file.read_at(offset, &mut buf);
            offset += bytes as u64;
            calls.push(came.map_err(|e| e.to_string()).map(|n| {
                buf.truncate(n);
                buf
            }));
        }
    }
    (calls, figures(reader.counters()))
}

/// Asserts equal results; the ring had at most this many reads in flight.
fn assert_the_same(test: &str, path: &Path, flags: i32) {
    for (seed, policy) in policies().into_iter().enumerate() {
        let Some(images) = through_both(test, path, flags, &policy) else { return };
        let expected = if flags & libc::O_DIRECT == 0 { (false, 1) } else { (true, 4096) };
        let report = images[1].source().report();
        assert_eq!(
            (report["name"].as_str(), report["direct"].as_bool()),
            (Some("io_uring"), Some(expected.0))
        );
        assert_eq!(images[1].source().file().unit(), expected.1);
        let [pread, ring] = images.map(|image| played(image, &policy, seed as u64));
        for (n, (one, other)) in pread.0.iter().zip(&ring.0).enumerate() {
            assert!(one == other, "call {n} under {policy:?}");
        }
        assert_eq!(pread.1, ring.1, "{policy:?}");
    }
}

#[test]
fn the_same_bytes_and_figures_for_images_of_every_layout() {
    let dir = TestDir::new();
    for bytes in [image(2048), image(512), raw::wrap(&image(2048), 2352, 1)] {
        let path = written(&dir, &bytes);
        assert_the_same("the_same_bytes_and_figures_for_images_of_every_layout", &path, 0);
    }
}

/// O_DIRECT: neither the image size nor the offsets are aligned.
#[test]
fn the_same_past_the_page_cache() {
    let dir = TestDir::new();
    let mut bytes = image(2048);
    bytes.extend([0; 1000]);
    let path = written(&dir, &bytes);
    assert_the_same("the_same_past_the_page_cache", &path, libc::O_DIRECT);
}

/// A file truncated after it was opened: the same errors at the same bytes, after the same data.
#[test]
fn the_same_errors_where_the_file_ends() {
    let test = "the_same_errors_where_the_file_ends";
    let dir = TestDir::new();
    let built = builder(2048).build();
    let end = built.data["plain"] + 123_456;
    for (seed, policy) in policies().into_iter().enumerate() {
        for flags in [0, libc::O_DIRECT] {
            let path = written(&dir, &built.bytes);
            let Some(images) = through_both(test, &path, flags, &policy) else { return };
            let nodes = images
                .each_ref()
                .map(|image| files(image).into_iter().find(|node| node.size() == 500_000).unwrap());
            OpenOptions::new().write(true).open(&path).unwrap().set_len(end as u64).unwrap();
            for (image, node) in images.into_iter().zip(nodes) {
                let reader = Reader::new(Arc::new(image), &policy).unwrap();
                let file = reader.open(&node);
                let mut got: Vec<u8> = Vec::new();
                let mut piece = vec![0; 20_000 + seed];
                let error = loop {
                    match file.read_at(got.len() as u64, &mut piece) {
                        Ok(n) => got.extend(&piece[..n]),
                        Err(error) => break error,
                    }
                };
                let about = format!("{policy:?}, flags {flags:#x}, {} bytes", got.len());
                let is_io = |source: &io::Error| source.raw_os_error() == Some(libc::EIO);
                assert!(matches!(&error, Error::Io { source, .. } if is_io(source)), "{error}: {about}");
                // With isolation all whole blocks arrive, without it at least the preceding pages.
                assert!(got.len() <= 123_456 && got == noise(500_000)[..got.len()], "{about}");
                assert!(!policy.isolate || got.len() >= 123_456 - 2048, "{about}");
            }
        }
    }
}

/// Several readers share one ring with helper threads, as in a mount.
#[test]
fn readers_side_by_side_share_a_ring() {
    let dir = TestDir::new();
    let path = written(&dir, &image(2048));
    for policy in [Policy::modern(), Policy { depth: 2, ..Policy::seed() }] {
        let Some([pread, ring]) = through_both("readers_side_by_side_share_a_ring", &path, 0, &policy) else {
            return;
        };
        let contents: Vec<Vec<u8>> =
            files(&pread).iter().map(|node| pread.read_all(node, 1 << 20).unwrap()).collect();
        let ring = Arc::new(ring);
        let reader = Reader::new(Arc::clone(&ring), &policy).unwrap();
        let open: Vec<_> = files(&ring).iter().map(|node| reader.open(node)).collect();
        std::thread::scope(|scope| {
            for thread in 0..6_usize {
                let (open, contents) = (&open, &contents);
                scope.spawn(move || {
                    let mut buf = vec![0; 60_000];
                    for n in 0..80_usize {
                        let (file, content) = (&open[(n + thread) % 5], &contents[(n + thread) % 5]);
                        let offset = (n * 12_345 + thread * 7777) % (content.len() + 1);
                        let got = file.read_at(offset as u64, &mut buf).unwrap();
                        assert!(got > 0 || offset == content.len());
                        assert!(buf[..got] == content[offset..offset + got]);
                    }
                });
            }
        });
        let report = ring.source().report();
        let most = report["ring"]["in_flight_most"].as_u64().unwrap();
        assert!((1..=u64::from(policy.depth)).contains(&most), "{report}");
    }
}

#[test]
fn bytes_find_their_place_in_buffers_that_follow_one_another() {
    let whole: Vec<u8> = (0..20).collect();
    for at in 0..20 {
        for end in at..=20 {
            let mut parts = vec![vec![99; 3], vec![], vec![99; 10], vec![99; 7]];
            scatter(&mut parts, at, &whole[at..end]);
            let mut expected = vec![99; 20];
            expected[at..end].copy_from_slice(&whole[at..end]);
            assert_eq!(parts.concat(), expected, "{at}..{end}");
        }
    }
    let mut short = vec![vec![0; 2]];
    scatter(&mut short, 1, &[7, 8, 9]);
    assert_eq!(short, [[0, 7]], "what has no place is left out");
}

#[test]
fn a_ring_is_as_deep_as_the_medium_bears() {
    let depth = |policy, medium| Backend::IoUring.held(policy, medium).depth;
    for policy in [Policy::baseline(), Policy::seed(), Policy::modern()] {
        assert_eq!((depth(policy.clone(), Medium::Optical), depth(policy.clone(), Medium::Other)), (1, 32));
        assert_eq!(Backend::Pread.held(policy.clone(), Medium::Optical), policy);
    }
    assert_eq!(depth(Policy { depth: 4, ..Policy::modern() }, Medium::Other), 4);
}

#[test]
fn no_ring_is_an_error_and_no_other_back_end() {
    let dir = TestDir::new();
    let path = written(&dir, &image(2048));
    fathom_testkit::without_call("no_ring_is_an_error", libc::SYS_io_uring_setup, libc::ENOSYS, || {
        let policy = Policy::modern();
        let why = opened(&path, 0, Backend::IoUring, &policy).unwrap_err();
        assert!(why.starts_with("--backend io_uring: this kernel has no io_uring"), "{why}");
        assert!(why.ends_with("(--backend pread)"), "{why}");
        opened(&path, 0, Backend::Pread, &policy).unwrap();
    });
}
