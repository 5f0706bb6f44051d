//! Reading a file through a ring: correct bytes for any requests and any number of threads; ends, errors and short files reported
//! at the right offset; O_DIRECT at any offset; and no buffer lost, whatever a caller does.

use fathom_engine::read_ring::{Event, Geometry, MOST_DEPTH, ReadRing, Wanted};
use fathom_testkit::{TestDir, skip, without_call};
use proptest::prelude::*;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

fn noise(bytes: usize) -> Vec<u8> {
    (0..bytes as u64).map(|n| (n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 37) as u8).collect()
}

const BYTES: usize = 300_001;

fn file(dir: &TestDir) -> PathBuf {
    let path = dir.path().join("file");
    std::fs::write(&path, noise(BYTES)).unwrap();
    path
}

fn geometry(depth: u16, longest: usize) -> Geometry {
    Geometry { depth, longest, unit: 1 }
}

/// A ring over an open file; records the skip where there are none.
fn over(test: &str, file: File, geometry: Geometry) -> Option<ReadRing> {
    match ReadRing::new(file.into(), geometry) {
        Ok(ring) => Some(ring),
        Err(why) => {
            skip(test, &why);
            None
        }
    }
}

/// Result of a round: for each read its bytes as far as they arrived, and the errno.
fn round(ring: &ReadRing, wanted: &[Wanted]) -> Vec<(Vec<u8>, Option<i32>)> {
    let mut buffers: Vec<Vec<u8>> = wanted.iter().map(|one| vec![0xEE; one.bytes]).collect();
    let mut over: Vec<Option<(usize, Option<i32>)>> = vec![None; wanted.len()];
    ring.round(wanted, &mut |event| match event {
        Event::Bytes { read, at, bytes } => {
            assert!(over[read].is_none(), "bytes of a read that is over");
            buffers[read][at..at + bytes.len()].copy_from_slice(bytes);
        }
        Event::Over { read, got, error } => {
            let before = over[read].replace((got, error.and_then(|e| e.raw_os_error())));
            assert!(before.is_none(), "a read is over once");
        }
    });
    let ends = buffers.into_iter().zip(over).map(|(mut bytes, over)| {
        let (got, errno) = over.expect("every read is over");
        bytes.truncate(got);
        (bytes, errno)
    });
    ends.collect()
}

/// Checks that every read returned the file's contents.
fn assert_is_file(ring: &ReadRing, data: &[u8], wanted: &[Wanted]) {
    for (one, (bytes, errno)) in wanted.iter().zip(round(ring, wanted)) {
        let start = usize::try_from(one.offset).unwrap().min(data.len());
        let end = start.saturating_add(one.bytes).min(data.len());
        assert!(errno.is_none() && bytes == data[start..end], "{one:?}: {} bytes, {errno:?}", bytes.len());
    }
}

fn any_round() -> impl Strategy<Value = Vec<Wanted>> {
    let one = (0..BYTES as u64 + 10_000, prop_oneof![0..5000usize, 0..100_000usize]);
    prop::collection::vec(one.prop_map(|(offset, bytes)| Wanted { offset, bytes }), 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn any_rounds_give_what_the_file_holds(
        rounds in prop::collection::vec(any_round(), 1..4),
        depth in prop_oneof![Just(1u16), Just(3), Just(32)],
        longest in prop_oneof![Just(1usize), Just(10_000), Just(1 << 20)],
    ) {
        let dir = TestDir::new();
        let file = File::open(file(&dir)).unwrap();
        let Some(ring) = over("any_rounds_give_what_the_file_holds", file, geometry(depth, longest)) else {
            return Ok(());
        };
        let data = noise(BYTES);
        for wanted in rounds {
            assert_is_file(&ring, &data, &wanted);
        }
        prop_assert!(ring.counts().deepest <= u32::from(depth));
    }
}

/// A file opened with O_DIRECT; `None`, with the skip recorded, where its file system does not support it.
fn direct(test: &str, path: &Path) -> Option<File> {
    match OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(path) {
        Ok(file) => Some(file),
        Err(e) => {
            skip(test, &format!("no O_DIRECT here: {e}"));
            None
        }
    }
}

/// Any byte can be requested, though the kernel only gets whole sectors at aligned addresses.
#[test]
fn past_the_page_cache_any_place_can_be_read() {
    let test = "past_the_page_cache_any_place_can_be_read";
    let dir = TestDir::new();
    let path = file(&dir);
    let data = noise(BYTES);
    for depth in [1, 8] {
        let Some(file) = direct(test, &path) else { return };
        let how = Geometry { depth, longest: 20_000, unit: 4096 };
        let Some(ring) = over(test, file, how) else { return };
        let mut wanted = Vec::new();
        for offset in [0, 1, 511, 512, 4095, 4096, 5000, 123_457, 299_999, 300_000, 300_001, 400_000] {
            for bytes in [0, 1, 4095, 4096, 8193, 100_000] {
                wanted.push(Wanted { offset, bytes });
            }
        }
        assert_is_file(&ring, &data, &wanted);
        assert_eq!(ring.counts().again, 0, "the end of the file is not asked for twice");
    }
}

/// More threads than buffers, with rounds of more reads than buffers: each gets its own bytes, and none waits forever.
#[test]
fn threads_share_a_ring() {
    let dir = TestDir::new();
    let file = File::open(file(&dir)).unwrap();
    let Some(ring) = over("threads_share_a_ring", file, geometry(3, 8192)) else { return };
    let data = noise(BYTES);
    std::thread::scope(|scope| {
        for thread in 0..8_u64 {
            let (ring, data) = (&ring, &data);
            scope.spawn(move || {
                let mut state = thread;
                for _ in 0..60 {
                    let wanted: Vec<Wanted> = (0..thread % 5 + 1)
                        .map(|_| {
                            state = state
                                .wrapping_mul(6_364_136_223_846_793_005)
                                .wrapping_add(1_442_695_040_888_963_407);
                            Wanted {
                                offset: (state >> 33) % BYTES as u64,
                                bytes: (state >> 20) as usize % 40_000,
                            }
                        })
                        .collect();
                    assert_is_file(ring, data, &wanted);
                }
            });
        }
    });
    let counts = ring.counts();
    assert!(
        counts.deepest <= 3 && counts.submissions > 0 && counts.reads >= counts.submissions,
        "{counts:?}"
    );
}

/// A descriptor without read permission: each read fails at its first byte, and nothing after that is requested.
#[test]
fn an_unreadable_range_is_an_error_at_its_first_byte() {
    let dir = TestDir::new();
    let unreadable = OpenOptions::new().write(true).open(file(&dir)).unwrap();
    let test = "an_unreadable_range_is_an_error_at_its_first_byte";
    let Some(ring) = over(test, unreadable, geometry(1, 4096)) else { return };
    for times in 1..=3 {
        let wanted = [Wanted { offset: 0, bytes: 50_000 }, Wanted { offset: 9, bytes: 10 }];
        for (bytes, errno) in round(&ring, &wanted) {
            assert_eq!((bytes.len(), errno), (0, Some(libc::EBADF)));
        }
        assert_eq!(ring.counts().reads, 2 * times, "nothing is asked for behind an error");
    }
    let (got, error) = ring.read(5, &mut [0; 10]);
    assert_eq!((got, error.and_then(|e| e.raw_os_error())), (0, Some(libc::EBADF)));
}

/// One read that the kernel refuses, among others, which succeed.
#[test]
fn an_error_is_reported_for_the_read_that_had_it() {
    let dir = TestDir::new();
    let opened = File::open(file(&dir)).unwrap();
    let Some(ring) = over("an_error_is_reported_for_the_read_that_had_it", opened, geometry(4, 4096)) else {
        return;
    };
    let data = noise(BYTES);
    let good = Wanted { offset: 5, bytes: 30_000 };
    // An invalid offset: negative as a signed number.
    let bad = Wanted { offset: 1 << 63, bytes: 9000 };
    let came = round(&ring, &[good, bad, good]);
    for (bytes, errno) in [&came[0], &came[2]] {
        assert!(errno.is_none() && bytes[..] == data[5..30_005]);
    }
    assert_eq!((came[1].0.len(), came[1].1), (0, Some(libc::EINVAL)));
}

/// A file truncated after it was opened.
#[test]
fn a_file_that_became_short_ends_where_it_ends() {
    let dir = TestDir::new();
    let path = file(&dir);
    let opened = File::open(&path).unwrap();
    let Some(ring) = over("a_file_that_became_short_ends_where_it_ends", opened, geometry(4, 8192)) else {
        return;
    };
    OpenOptions::new().write(true).open(&path).unwrap().set_len(100_100).unwrap();
    let data = &noise(BYTES)[..100_100];
    let wanted = [
        Wanted { offset: 90_000, bytes: 50_000 },
        Wanted { offset: 0, bytes: 10_000 },
        Wanted { offset: 100_100, bytes: 5 },
    ];
    assert_is_file(&ring, data, &wanted);
}

/// A caller that panics during a round leaves nothing in flight and no buffer lost.
#[test]
fn a_caller_that_panics_loses_no_buffer() {
    let dir = TestDir::new();
    let file = File::open(file(&dir)).unwrap();
    let Some(ring) = over("a_caller_that_panics_loses_no_buffer", file, geometry(2, 4096)) else { return };
    let data = noise(BYTES);
    let wanted: Vec<Wanted> = (0..10).map(|n| Wanted { offset: n * 4096, bytes: 4096 }).collect();
    for after in 0..6 {
        let mut told = 0;
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            ring.round(&wanted, &mut |_| {
                assert!(told < after, "on purpose");
                told += 1;
            });
        }));
        assert!(panicked.is_err());
        assert_is_file(&ring, &data, &wanted);
    }
}

#[test]
fn a_round_of_nothing_is_over() {
    let dir = TestDir::new();
    let file = File::open(file(&dir)).unwrap();
    let Some(ring) = over("a_round_of_nothing_is_over", file, geometry(2, 4096)) else { return };
    assert!(round(&ring, &[]).is_empty());
    let nothing = Wanted { offset: u64::MAX, bytes: 0 };
    let came = round(&ring, &[nothing, nothing]);
    assert!(came.len() == 2 && came.iter().all(|(bytes, errno)| bytes.is_empty() && errno.is_none()));
    assert_eq!((ring.counts().reads, ring.counts().submissions), (0, 0));
}

#[test]
fn a_ring_that_cannot_be_is_refused_in_a_sentence() {
    let dir = TestDir::new();
    let path = file(&dir);
    let refused = |how: Geometry| ReadRing::new(File::open(&path).unwrap().into(), how).unwrap_err();
    for how in [
        geometry(0, 4096),
        geometry(MOST_DEPTH + 1, 4096),
        Geometry { unit: 3, ..geometry(1, 4096) },
        Geometry { unit: 8192, ..geometry(1, 4096) },
    ] {
        assert!(refused(how).contains("no ring has"), "{how:?}");
    }
    for (errno, said) in [(libc::EPERM, "io_uring is "), (libc::ENOSYS, "has no io_uring")] {
        without_call("a_ring_that_cannot_be_is_refused", libc::SYS_io_uring_setup, errno, || {
            let why = refused(geometry(1, 4096));
            assert!(why.contains(said) && why.ends_with("read without it"), "{why}");
        });
    }
}
