//! Streams over all files of a set: one sequence for all workers, with every back-end; periodic syncs; self-checking blocks; a
//! shared rate.

use crate::support::{Bench, KIB, completed, ops};
use fathom_engine::Moments;
use fathom_record::{Interval, OpKind};
use fathom_workload::{
    Access, Amount, Backend, Bytes, Data, Direction, Duration, Gaps, Isolation, MapFlush, Mix, Pace, Pick,
    Rate, Scaled, Sequence, Stop, Stream, SyncCall, SyncEvery, SyncSeries, Timed, Uring, Verify,
};
use std::os::unix::fs::FileExt as _;

const FILE: u64 = 100 * KIB;
const RECORD: u64 = 8 * KIB;

fn pooled(direction: Direction, access: Access, amount: Amount) -> Stream {
    Stream {
        pick: Pick::All,
        sequence: Sequence::Common,
        access,
        amount,
        data: Data::Checksummed { block: Bytes(RECORD) },
        ..Stream::new("f", direction, Bytes(RECORD))
    }
}

#[test]
fn every_backend_does_one_pass_together_and_reads_back_what_it_wrote() {
    let mapped = Backend::Mmap {
        flush: MapFlush::No,
        flush_every: 1,
        populate: false,
        huge_pages: false,
        advice: None,
    };
    let backends = [
        (Backend::Psync(SyncCall::Positioned), 1),
        (Backend::Psync(SyncCall::Streamed), 1),
        (Backend::Stdio { buffer: Bytes(0) }, 1),
        (mapped, 1),
        (Backend::Aio { batch: 0, atomic: false }, 8),
        (Backend::Uring(Uring::default()), 8),
    ];
    for (backend, queue_depth) in backends {
        for isolation in [Isolation::Thread, Isolation::Process] {
            let bench = Bench::new(FILE).workers(3, isolation);
            let aligned = Bench::new(12 * RECORD).workers(3, isolation);
            let with = |s: Stream| Stream { backend, queue_depth, ..s };
            let written = bench.run(with(Stream {
                timed: Timed { fsync: true, ..Timed::default() },
                ..pooled(Direction::Write, Access::Sequential, Amount::Pass)
            }));
            completed(&written);
            // The last record of each file is short.
            assert_eq!(ops(&written, OpKind::Write), 3 * 13, "{backend:?}");
            assert_eq!(written.bytes(), 3 * FILE, "{backend:?}");
            assert_eq!(ops(&written, OpKind::Sync), 3 * 3, "every worker syncs every file");
            for file in 0..3 {
                assert_eq!(std::fs::metadata(bench.path(file)).unwrap().len(), FILE);
            }
            completed(&aligned.run(with(pooled(Direction::Write, Access::Sequential, Amount::Pass))));
            let read = aligned.run(with(Stream {
                verify: Verify::Full,
                ..pooled(Direction::Read, Access::Scaled(Scaled::default()), Amount::Operations(200))
            }));
            completed(&read);
            assert_eq!(read.ops(), 200, "{backend:?}");
        }
    }
}

#[test]
fn a_changed_byte_is_found_and_its_file_named() {
    let bench = Bench::new(FILE).workers(3, Isolation::Thread);
    completed(&bench.run(pooled(Direction::Write, Access::Sequential, Amount::Pass)));
    let file = std::fs::OpenOptions::new().write(true).open(bench.path(2)).unwrap();
    let place = 3 * RECORD + 5;
    let mut byte = [0];
    std::fs::File::open(bench.path(2)).unwrap().read_exact_at(&mut byte, place).unwrap();
    file.write_all_at(&[byte[0] ^ 1], place).unwrap();
    let read = bench.run(Stream {
        verify: Verify::Full,
        ..pooled(Direction::Read, Access::Sequential, Amount::Passes(2))
    });
    let error = read.error().expect("the byte is found");
    assert_eq!((error.call.as_str(), error.offset), ("verify", Some(3 * RECORD)));
    assert_eq!(error.path, bench.path(2).display().to_string());
    assert!(error.compared.is_some_and(|(calculated, stored)| calculated != stored));
}

#[test]
fn a_mix_follows_what_all_have_completed_and_series_sync_every_file() {
    let series = SyncSeries { requests: 50, counted: true, ..SyncSeries::default() };
    let bench = Bench::new(12 * RECORD).workers(4, Isolation::Process);
    completed(&bench.run(pooled(Direction::Write, Access::Sequential, Amount::Pass)));
    let done = bench.run(Stream {
        sync_series: Some(series),
        timed: Timed { fsync: true, ..Timed::default() },
        exclusive: true,
        verify: Verify::Full,
        ..pooled(
            Direction::Mix(Mix::ReadsPerWrite(1.5)),
            Access::Scaled(Scaled::default()),
            Amount::Operations(540),
        )
    });
    completed(&done);
    // 50 and 4, ten times.
    assert_eq!((done.ops(), ops(&done, OpKind::Sync)), (500, 40));
    assert_eq!(ops(&done, OpKind::FinalSync), 4 * 4);
    let (reads, writes) = (ops(&done, OpKind::Read), ops(&done, OpKind::Write));
    // With four in flight the ratio is approximate.
    assert!(reads.abs_diff(300) <= 8, "{reads} reads, {writes} writes");
}

#[test]
fn a_sync_inside_the_write_is_part_of_it() {
    let bench = Bench::new(FILE).workers(2, Isolation::Thread);
    let done = bench.run(Stream {
        sync_every: Some(SyncEvery { writes: 1, data_only: true, inside: true, between: false, range: None }),
        ..pooled(Direction::Write, Access::Sequential, Amount::Operations(20))
    });
    completed(&done);
    assert_eq!((done.ops(), ops(&done, OpKind::Sync)), (20, 0));
}

#[test]
fn a_common_rate_is_that_of_all_workers() {
    let bench = Bench::new(FILE)
        .workers(4, Isolation::Thread)
        .stop(Stop { time: Some(Duration(300_000_000)), ..Stop::default() });
    completed(&Bench::run(&bench, pooled(Direction::Write, Access::Sequential, Amount::Pass)));
    let rate =
        Rate { operations_per_s: 1000.0, arrivals: Gaps::Even, per: fathom_workload::Bytes(0), common: true };
    let done = bench.run(Stream {
        pace: Pace { rate: Some(rate), ..Pace::default() },
        ..pooled(Direction::Read, Access::Scaled(Scaled::default()), Amount::Endless)
    });
    // The schedule is the limit, however busy the machine is; a separate one per worker would allow four times as many.
    assert!(done.ops() <= 310, "{}", done.ops());
    assert_eq!(ops(&done, OpKind::Response), done.ops());
}

#[test]
fn every_interval_is_reported_while_the_phase_runs() {
    #[derive(Default)]
    struct Told(Vec<Interval>);
    impl Moments for Told {
        fn interval(&mut self, interval: &Interval) {
            self.0.push(interval.clone());
        }
    }
    let bench = Bench::new(FILE)
        .workers(2, Isolation::Thread)
        .interval(Duration(20_000_000))
        .stop(Stop { time: Some(Duration(200_000_000)), ..Stop::default() });
    completed(&Bench::run(&bench, pooled(Direction::Write, Access::Sequential, Amount::Pass)));
    let mut told = Told::default();
    let done = bench
        .run_telling(pooled(Direction::Read, Access::Scaled(Scaled::default()), Amount::Endless), &mut told);
    assert!(!told.0.is_empty());
    // An interval reported early may have been merged with a short last one in the record.
    assert_eq!(told.0[0], done.intervals[0]);
    let moved: u64 = done.intervals.iter().flat_map(|i| &i.moved).map(|(_, bytes)| bytes).sum();
    assert_eq!(moved, done.bytes());
}
