//! Files of a set that take turns: every back-end works on all of them, each in its own sequence.

use crate::support::{Bench, KIB, completed, ops};
use fathom_record::OpKind;
use fathom_workload::{
    Access, Amount, Backend, Bytes, Data, Direction, Isolation, MapFlush, Pick, Stream, SyncCall, SyncEvery,
    Turns, Uring,
};

const RECORD: u64 = 8 * KIB;
const FILE: u64 = 12 * RECORD;

fn turns(direction: Direction, access: Access) -> Stream {
    Stream {
        pick: Pick::All,
        turns: Some(Turns::default()),
        access,
        data: Data::Byte(0x5a),
        ..Stream::new("f", direction, Bytes(RECORD))
    }
}

#[test]
fn every_backend_writes_and_reads_all_files() {
    let mapped = Backend::Mmap {
        flush: MapFlush::No,
        flush_every: 1,
        populate: false,
        huge_pages: false,
        advice: None,
    };
    for (backend, queue_depth) in [
        (Backend::Null, 1),
        (Backend::Null, 8),
        (Backend::Psync(SyncCall::Positioned), 1),
        (Backend::Psync(SyncCall::Streamed), 1),
        (mapped, 1),
        (Backend::Aio { batch: 0, atomic: false }, 8),
        (Backend::Uring(Uring::default()), 8),
        (Backend::Posix, 8),
        (Backend::Splice, 1),
    ] {
        // Three files, on which each of three workers works in its own order.
        let bench = Bench::new(FILE).workers(3, Isolation::Thread);
        let with = |s: Stream| Stream { backend, queue_depth, ..s };
        let written = bench.run(with(turns(Direction::Write, Access::Permuted)));
        completed(&written);
        assert_eq!(ops(&written, OpKind::Write), 3 * 3 * 12, "{backend:?}");
        if !backend.moves_data() {
            continue;
        }
        for file in 0..3 {
            let bytes = std::fs::read(bench.path(file)).unwrap();
            assert!(bytes == vec![0x5a; FILE as usize], "{backend:?}, file {file}");
        }
        let read =
            bench.run(with(Stream { amount: Amount::Passes(2), ..turns(Direction::Read, Access::Permuted) }));
        completed(&read);
        assert_eq!(ops(&read, OpKind::Read), 2 * 3 * 3 * 12, "{backend:?}");
    }
}

#[test]
fn a_part_of_every_file_is_worked_on() {
    let bench = Bench::new(FILE).workers(2, Isolation::Thread);
    let written = bench.run(Stream {
        start: Bytes(RECORD),
        length: Some(Bytes(4 * RECORD)),
        sync_every: Some(SyncEvery { writes: 2, between: true, ..SyncEvery::default() }),
        ..turns(Direction::Write, Access::Sequential)
    });
    completed(&written);
    assert_eq!((ops(&written, OpKind::Write), ops(&written, OpKind::Sync)), (2 * 2 * 4, 2 * 3));
}
