//! Trims on real files: the result with every back-end, how they are counted, and what they cannot be combined with.

use crate::support::{Bench, KIB, only};
use fathom_engine::Does as Did;
use fathom_record::{Ending, OpKind};
use fathom_workload::{
    Access, Amount, Backend, Bytes, Data, Direction, Does, ListedOp, MapFlush, Mix, Stream, SyncCall, Uring,
    Verify,
};

const SIZE: u64 = 64 * KIB;

fn backends() -> Vec<(Backend, u32)> {
    let plain = Uring {
        batch: 1,
        registered_file: false,
        registered_buffers: Some(false),
        deferred: false,
        submission_polling: false,
        submission_cpu: None,
        async_every: 0,
        completion_polling: false,
        atomic: false,
    };
    vec![
        (Backend::Psync(SyncCall::Positioned), 1),
        (
            Backend::Mmap {
                flush: MapFlush::No,
                flush_every: 1,
                populate: false,
                huge_pages: false,
                advice: None,
            },
            1,
        ),
        (Backend::Aio { batch: 1, atomic: false }, 1),
        (Backend::Aio { batch: 3, atomic: false }, 8),
        (Backend::Uring(plain), 4),
        (Backend::Uring(Uring { registered_file: true, batch: 0, ..plain }), 16),
    ]
}

fn counted(r: &fathom_record::Repetition, op: OpKind) -> (u64, u64) {
    only(r).stats.iter().find(|s| s.op == op).map_or((0, 0), |s| (s.ops, s.bytes))
}

#[test]
fn every_backend_trims_what_it_wrote() {
    for (backend, queue_depth) in backends() {
        let bench = Bench::new(SIZE);
        let stream = |direction, amount| Stream {
            backend,
            queue_depth,
            amount,
            data: Data::Byte(7),
            ..Stream::new("f", direction, Bytes(4 * KIB))
        };
        bench.run(stream(Direction::Write, Amount::Pass));
        let r = bench.run(stream(Direction::Trim, Amount::Operations(4)));
        assert_eq!(only(&r).ending, Ending::Completed, "{backend:?}");
        assert_eq!(counted(&r, OpKind::Trim), (4, 16 * KIB), "{backend:?}");
        assert_eq!((only(&r).ops, only(&r).bytes), (4, 16 * KIB), "{backend:?}");
        let left = std::fs::read(bench.file()).unwrap();
        assert_eq!(left.len() as u64, SIZE, "{backend:?}");
        let trimmed = |at: usize| (at as u64) < 16 * KIB;
        assert!(left.iter().enumerate().all(|(at, b)| *b == if trimmed(at) { 0 } else { 7 }), "{backend:?}");
    }
}

#[test]
fn a_trimmed_record_is_written_again() {
    for (backend, queue_depth) in backends() {
        let bench = Bench::new(SIZE);
        let r = bench.run(Stream {
            backend,
            queue_depth,
            access: Access::Permuted,
            data: Data::Byte(7),
            ..Stream::new("f", Direction::TrimWrite, Bytes(4 * KIB))
        });
        assert_eq!((counted(&r, OpKind::Trim), counted(&r, OpKind::Write)), ((16, SIZE), (16, SIZE)));
        assert_eq!(std::fs::read(bench.file()).unwrap(), vec![7; SIZE as usize], "{backend:?}");
    }
}

#[test]
fn a_list_trims_where_it_says() {
    let bench = Bench::new(SIZE);
    let write = Stream { data: Data::Byte(7), ..Stream::new("f", Direction::Write, Bytes(4 * KIB)) };
    bench.run(write.clone());
    let op = |does, offset| ListedOp { does: Some(does), offset, bytes: 4096, ..ListedOp::default() };
    let list = vec![op(Does::Read, 0), op(Does::Trim, 8192), op(Does::Write, 8192), op(Does::Trim, 0)];
    let (r, noted) = bench.run_spooled(Stream {
        direction: Direction::Mix(Mix::ReadPercent(50)),
        access: Access::Listed(list),
        log_operations: true,
        ..write
    });
    assert_eq!(counted(&r, OpKind::Trim), (2, 8192));
    let does: Vec<_> = noted[0].iter().map(|o| (o.does, o.offset)).collect();
    assert_eq!(does, [(Did::Read, 0), (Did::Trim, 8192), (Did::Write, 8192), (Did::Trim, 0)]);
    let left = std::fs::read(bench.file()).unwrap();
    assert!(left.iter().enumerate().all(|(at, b)| (*b == 0) == (at < 4096)));
}

#[test]
fn a_trim_of_a_list_may_be_larger_than_memory_for_it() {
    let bench = Bench::new(SIZE);
    let write = Stream { data: Data::Byte(7), ..Stream::new("f", Direction::Write, Bytes(4 * KIB)) };
    bench.run(write.clone());
    let op = |does, bytes| ListedOp { does: Some(does), bytes, ..ListedOp::default() };
    let list = vec![op(Does::Trim, 3 << 30), op(Does::Write, 4096)];
    let r = bench.run(Stream {
        direction: Direction::Mix(Mix::ReadPercent(50)),
        access: Access::Listed(list),
        ..write
    });
    assert_eq!((counted(&r, OpKind::Trim), counted(&r, OpKind::Write)), ((1, 3 << 30), (1, 4096)));
    let left = std::fs::read(bench.file()).unwrap();
    assert!(left.len() as u64 == SIZE && left.iter().enumerate().all(|(at, b)| (*b == 0) == (at >= 4096)));
}

#[test]
fn options_that_exclude_trims_are_refused() {
    let bench = Bench::new(SIZE);
    let trim = || Stream::new("f", Direction::Trim, Bytes(4 * KIB));
    let verified = Stream { verify: Verify::Full, data: Data::Positioned { tag: 1 }, ..trim() };
    let buffered = Stream { backend: Backend::Stdio { buffer: Bytes(0) }, ..trim() };
    let reader = ListedOp { does: Some(Does::Trim), bytes: 512, ..ListedOp::default() };
    let listed =
        Stream { access: Access::Listed(vec![reader]), ..Stream::new("f", Direction::Read, Bytes(4 * KIB)) };
    for (stream, words) in
        [(verified, "cannot be verified"), (buffered, "stdio"), (listed, "does not fit the direction")]
    {
        let said = bench.unsupported(stream).expect(words);
        assert!(said.contains(words), "{said}");
    }
}
