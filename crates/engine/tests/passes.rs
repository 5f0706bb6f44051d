//! Eviction of a file's cached pages between two passes of a stream.

use crate::support::{Bench, KIB, completed, ops};
use fathom_record::OpKind;
use fathom_workload::{
    Access, Advice, Amount, Backend, Bytes, Direction, Isolation, MapFlush, Open, Pick, Stream, SyncCall,
    Turns, Uring,
};
use rustix::fd::AsFd as _;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::fs::File;
use std::path::Path;

const RECORD: u64 = 8 * KIB;
const RECORDS: u64 = 12;
const FILE: u64 = RECORDS * RECORD;

/// KiB of a file in the page cache.
fn cached_kib(path: &Path) -> u64 {
    let file = File::options().read(true).write(true).open(path).unwrap();
    let length = file.metadata().unwrap().len() as usize;
    let mut pages = vec![0u8; length.div_ceil(4096)];
    // SAFETY: a new mapping of a file of this length at an address of the kernel's choice; mincore fills a byte for each of its pages.
    unsafe {
        let base =
            mmap(std::ptr::null_mut(), length, ProtFlags::READ, MapFlags::SHARED, file.as_fd(), 0).unwrap();
        assert_eq!(libc::mincore(base, length, pages.as_mut_ptr()), 0);
        munmap(base, length).unwrap();
    }
    4 * pages.iter().filter(|page| **page & 1 == 1).count() as u64
}

fn stream(amount: Amount) -> Stream {
    Stream {
        evict_passes: true,
        access: Access::Permuted,
        amount,
        // No readahead.
        open: Open { advice: Advice::Random, ..Open::default() },
        ..Stream::new("f", Direction::Read, Bytes(RECORD))
    }
}

/// Written files with clean pages.
fn bench(files: u32) -> Option<Bench> {
    let bench = Bench::new(FILE).workers(files, Isolation::Thread);
    if bench.in_memory() {
        fathom_testkit::skip("passes", "the test directory is in memory");
        return None;
    }
    completed(&bench.run(Stream { sync_after: true, ..Stream::new("f", Direction::Write, Bytes(RECORD)) }));
    Some(bench)
}

#[test]
fn every_backend_begins_a_pass_with_nothing_in_memory() {
    let Some(bench) = bench(1) else { return };
    let mapped = Backend::Mmap {
        flush: MapFlush::No,
        flush_every: 1,
        populate: false,
        huge_pages: false,
        advice: Some(1),
    };
    for (backend, queue_depth) in [
        (Backend::Psync(SyncCall::Positioned), 1),
        (mapped, 1),
        (Backend::Aio { batch: 0, atomic: false }, 8),
        (Backend::Uring(Uring::default()), 8),
        (Backend::Posix, 8),
    ] {
        let with = |amount| Stream { backend, queue_depth, ..stream(amount) };
        let read = bench.run(with(Amount::Pass));
        assert_eq!(ops(&read, OpKind::Read), RECORDS, "{backend:?}");
        assert_eq!(cached_kib(&bench.path(0)), FILE / KIB, "{backend:?}: there is no second pass");
        let read = bench.run(with(Amount::Operations(2 * RECORDS + 1)));
        completed(&read);
        assert_eq!(ops(&read, OpKind::Read), 2 * RECORDS + 1, "{backend:?}: only reads are counted");
        assert_eq!(cached_kib(&bench.path(0)), RECORD / KIB, "{backend:?}");
    }
}

#[test]
fn all_files_that_take_turns_are_dropped() {
    let Some(bench) = bench(3) else { return };
    let turns = Stream {
        pick: Pick::All,
        turns: Some(Turns::default()),
        ..stream(Amount::Operations(3 * RECORDS + 1))
    };
    // There is a file for each worker.
    let idle = Stream { backend: Backend::Null, ..Stream::new("f", Direction::Read, Bytes(RECORD)) };
    let read = bench.run_all(vec![turns, idle.clone(), idle]);
    completed(&read);
    let cached: u64 = (0..3).map(|file| cached_kib(&bench.path(file))).sum();
    assert_eq!(cached, RECORD / KIB);
}
