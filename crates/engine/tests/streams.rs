//! Effects of streams on real files: every back-end, order and data rule, read back and counted.

use crate::support::{Bench, KIB, MIB, only};
use fathom_record::{Ending, OpKind};
use fathom_workload::{
    Access, Amount, Backend, Burst, Bytes, Data, Direction, Does, Duration, ListedOp, Lock, MapFlush, Mix,
    Open, OpenSync, Pace, Pvsync2, Rate, Record, Stream, SyncCall, SyncEvery, Think, Timed, Uring, Verify,
};

const PLAIN: Uring = Uring {
    batch: 0,
    registered_file: false,
    registered_buffers: Some(false),
    deferred: false,
    submission_polling: false,
    submission_cpu: None,
    async_every: 0,
    completion_polling: false,
    atomic: false,
};

const NO_FLAGS: Pvsync2 = Pvsync2 {
    high_priority: false,
    high_priority_percent: None,
    dsync: false,
    sync: false,
    nowait: false,
    uncached: false,
    atomic: false,
};

/// Back-ends with the queue depth to try them at.
const BACKENDS: [(Backend, u32); 18] = [
    (Backend::Psync(SyncCall::Streamed), 1),
    (Backend::Psync(SyncCall::Positioned), 1),
    (Backend::Pvsync2(NO_FLAGS), 1),
    (Backend::Pvsync2(Pvsync2 { dsync: true, sync: true, ..NO_FLAGS }), 1),
    (Backend::Stdio { buffer: Bytes(0) }, 1),
    (Backend::Stdio { buffer: Bytes(3 * KIB) }, 1),
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
    (
        Backend::Mmap {
            flush: MapFlush::Sync,
            flush_every: 1,
            populate: false,
            huge_pages: false,
            advice: Some(2),
        },
        1,
    ),
    (
        Backend::Mmap {
            flush: MapFlush::Sync,
            flush_every: 3,
            populate: true,
            huge_pages: false,
            advice: None,
        },
        1,
    ),
    (
        Backend::Mmap {
            flush: MapFlush::Async,
            flush_every: 100,
            populate: true,
            huge_pages: false,
            advice: Some(4),
        },
        1,
    ),
    (Backend::Aio { batch: 0, atomic: false }, 1),
    (Backend::Aio { batch: 3, atomic: false }, 8),
    (Backend::Uring(PLAIN), 1),
    (Backend::Uring(Uring { batch: 5, ..PLAIN }), 16),
    (Backend::Uring(Uring { async_every: 3, ..PLAIN }), 16),
    (
        Backend::Uring(Uring {
            registered_file: true,
            registered_buffers: Some(true),
            deferred: true,
            ..PLAIN
        }),
        32,
    ),
    (Backend::Uring(Uring { registered_file: true, deferred: true, ..PLAIN }), 7),
    (Backend::Uring(Uring { submission_polling: true, registered_file: true, ..PLAIN }), 4),
];

#[test]
fn every_backend_reads_back_what_it_wrote() {
    for (backend, queue_depth) in BACKENDS {
        if matches!(backend, Backend::Uring(o) if o.submission_polling)
            && std::thread::available_parallelism().unwrap().get() < 2
        {
            fathom_testkit::skip("every_backend (submission polling)", "one CPU");
            continue;
        }
        let bench = Bench::new(MIB);
        for direction in [Direction::Write, Direction::Read] {
            let r = bench.run(Stream {
                backend,
                queue_depth,
                data: Data::Positioned { tag: 7 },
                verify: Verify::Full,
                ..Stream::new("f", direction, Bytes(16 * KIB))
            });
            assert_eq!(only(&r).ending, Ending::Completed, "{backend:?} {direction:?}");
            assert_eq!((only(&r).ops, only(&r).bytes), (64, MIB), "{backend:?} {direction:?}");
        }
        assert_eq!(bench.file().metadata().unwrap().len(), MIB);
    }
}

#[test]
fn every_order_reaches_every_byte_it_should() {
    for access in
        [Access::Sequential, Access::Backward, Access::Permuted, Access::Shuffled { key: vec![1, 2, 3] }]
    {
        let bench = Bench::new(256 * KIB);
        bench.run(Stream {
            access,
            data: Data::Byte(0x5a),
            ..Stream::new("f", Direction::Write, Bytes(4 * KIB))
        });
        assert_eq!(std::fs::read(bench.file()).unwrap(), vec![0x5a; 256 * KIB as usize]);
    }
}

#[test]
fn a_rewritten_record_is_always_the_same() {
    let bench = Bench::new(64 * KIB);
    bench.run(Stream {
        access: Access::Same(0),
        data: Data::Byte(1),
        ..Stream::new("f", Direction::Write, Bytes(4 * KIB))
    });
    assert_eq!(std::fs::read(bench.file()).unwrap(), vec![1; 4096]);
}

#[test]
fn a_wrong_byte_is_found_and_named() {
    let bench = Bench::new(64 * KIB);
    let stream = |direction| Stream {
        data: Data::Positioned { tag: 1 },
        verify: Verify::Full,
        ..Stream::new("f", direction, Bytes(4 * KIB))
    };
    bench.run(stream(Direction::Write));
    let mut bytes = std::fs::read(bench.file()).unwrap();
    bytes[9999] ^= 0xff;
    std::fs::write(bench.file(), bytes).unwrap();
    let r = bench.run(stream(Direction::Read));
    let Ending::Failed(e) = &only(&r).ending else { panic!("not noticed: {:?}", only(&r).ending) };
    assert_eq!((e.call.as_str(), e.offset, e.after_ops), ("verify", Some(9999), 2));
}

#[test]
fn a_file_that_ends_early_is_an_error_that_keeps_the_figures() {
    let bench = Bench::new(64 * KIB);
    std::fs::write(bench.file(), vec![0; 10 * KIB as usize]).unwrap();
    for backend in [Backend::default(), Backend::Stdio { buffer: Bytes(0) }] {
        let r = bench.run(Stream { backend, ..Stream::new("f", Direction::Read, Bytes(4 * KIB)) });
        let Ending::Failed(e) = &only(&r).ending else { panic!("not noticed") };
        assert!(e.message.contains("ends too early"), "{}", e.message);
        assert_eq!(only(&r).ops, 2);
    }
}

#[test]
fn the_clock_includes_the_steps_that_the_model_puts_inside() {
    let bench = Bench::new(8 * MIB);
    let run = |timed: Timed, sync_after| {
        let r =
            bench.run(Stream { timed, sync_after, ..Stream::new("f", Direction::Write, Bytes(64 * KIB)) });
        (only(&r).elapsed_ns, only(&r).marks)
    };
    let (elapsed, marks) = run(Timed::default(), true);
    assert_eq!(elapsed, marks.last_op_ns);
    assert!(marks.fsync_ns >= marks.last_op_ns && marks.close_ns >= marks.fsync_ns);
    let (elapsed, marks) = run(Timed { fsync: true, ..Timed::default() }, false);
    assert!(elapsed >= marks.fsync_ns && marks.fsync_ns > marks.last_op_ns && elapsed <= marks.close_ns);
    let (elapsed, marks) = run(Timed { fsync: true, close: true, open: true, syncfs: false }, false);
    assert!(elapsed >= marks.close_ns);
    let (_, marks) = run(Timed::default(), false);
    assert_eq!(marks.fsync_ns, 0, "nobody asked for an fsync");
}

#[test]
fn every_operation_is_in_the_histogram() {
    let bench = Bench::new(MIB);
    let r = bench.run(Stream {
        sync_every: Some(SyncEvery { writes: 10, data_only: true, ..SyncEvery::default() }),
        ..Stream::new("f", Direction::Write, Bytes(4 * KIB))
    });
    assert_eq!(r.latency(OpKind::Write).count(), 256);
    assert_eq!(r.latency(OpKind::Sync).count(), 25);
    assert_eq!(r.latency(OpKind::Open).count(), 1);
    assert_eq!(r.latency(OpKind::Close).count(), 1);
    assert!(r.latency(OpKind::Write).sum_ns() <= u128::from(only(&r).elapsed_ns));
}

#[test]
fn an_operation_log_has_every_operation_in_order() {
    let bench = Bench::new(40 * KIB);
    let r = bench.run(Stream {
        access: Access::Backward,
        log_operations: true,
        ..Stream::new("f", Direction::Write, Bytes(4 * KIB))
    });
    let offsets: Vec<u64> = only(&r).op_log.iter().map(|e| e.offset / 4096).collect();
    assert_eq!(offsets, [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
    assert!(only(&r).op_log.iter().all(|e| e.bytes == 4096));
}

#[test]
fn a_list_of_operations_is_executed_as_written() {
    let bench = Bench::new(64 * KIB);
    let op = |offset, bytes| ListedOp { offset, bytes, ..ListedOp::default() };
    let r = bench.run(Stream {
        access: Access::Listed(vec![op(8192, 100), op(0, 4096), op(20000, 1)]),
        data: Data::Byte(9),
        ..Stream::new("f", Direction::Write, Bytes(1))
    });
    assert_eq!((only(&r).ops, only(&r).bytes), (3, 4197));
    let bytes = std::fs::read(bench.file()).unwrap();
    assert_eq!(bytes.len(), 20001);
    assert_eq!(bytes.iter().filter(|&&b| b == 9).count(), 4197);
}

#[test]
fn a_list_may_give_the_kind_and_time_of_its_operations() {
    use fathom_record::OpKind::{Read, Response, Sync, Write};
    let bench = Bench::new(64 * KIB);
    let op = |does, offset, bytes, due_ms: u64| ListedOp {
        does: Some(does),
        offset,
        bytes,
        due: Some(Duration(due_ms * 1_000_000)),
        ..ListedOp::default()
    };
    let list = vec![
        op(Does::Write, 4096, 4096, 0),
        op(Does::Sync, 0, 0, 20),
        op(Does::Read, 0, 512, 60),
        op(Does::Write, 512, 512, 60),
    ];
    for backend in [Backend::default(), Backend::Uring(fathom_workload::Uring::default())] {
        let r = bench.run(Stream {
            access: Access::Listed(list.clone()),
            backend,
            log_operations: true,
            ..Stream::new("f", Direction::Mix(Mix::ReadPercent(50)), Bytes(4096))
        });
        let log = &only(&r).op_log;
        let places: Vec<(u64, u32)> = log.iter().map(|e| (e.offset, e.bytes)).collect();
        assert_eq!(places, [(4096, 4096), (0, 512), (512, 512)], "{backend:?}");
        assert!(log[0].start_ns < log[1].start_ns && log[1].start_ns >= 60_000_000, "{log:?}");
        let count = |kind| only(&r).stats.iter().find(|s| s.op == kind).map_or(0, |s| s.latency.count());
        assert_eq!([Read, Write, Sync, Response].map(count), [1, 2, 1, 3]);
    }
}

#[test]
fn record_sizes_may_vary() {
    let bench = Bench::new(MIB);
    for record in [
        Record::Between { min: Bytes(512), max: Bytes(8192) },
        Record::Split(vec![(Bytes(4096), 60.0), (Bytes(65536), 40.0)]),
    ] {
        let r = bench.run(Stream { record, ..Stream::new("f", Direction::Write, Bytes(1)) });
        assert!(only(&r).bytes >= MIB, "{}", only(&r).bytes);
    }
}

#[test]
fn a_mix_reads_and_writes() {
    let bench = Bench::new(MIB);
    bench.run(Stream::new("f", Direction::Write, Bytes(64 * KIB)));
    let r = bench.run(Stream {
        access: Access::Uniform,
        amount: Amount::Operations(1000),
        ..Stream::new("f", Direction::Mix(Mix::ReadPercent(70)), Bytes(4 * KIB))
    });
    let (reads, writes) = (r.latency(OpKind::Read).count(), r.latency(OpKind::Write).count());
    assert_eq!(reads + writes, 1000);
    assert!((620..780).contains(&reads), "{reads} reads");
}

#[test]
fn the_null_backend_touches_no_file() {
    let bench = Bench::new(MIB);
    let r = bench.run(Stream { backend: Backend::Null, ..Stream::new("f", Direction::Read, Bytes(4 * KIB)) });
    assert_eq!(only(&r).ops, 256);
    assert!(!bench.file().exists());
}

#[test]
fn thinking_is_left_out_of_the_clock_unless_it_counts() {
    let bench = Bench::new(40 * KIB);
    let run = |counted| {
        let think = Some(Think { time: Duration(1_000_000), counted, ..Think::default() });
        let r = bench.run(Stream {
            pace: Pace { think, ..Pace::default() },
            ..Stream::new("f", Direction::Write, Bytes(4 * KIB))
        });
        (only(&r).elapsed_ns, only(&r).marks.last_op_ns)
    };
    let (elapsed, whole) = run(false);
    assert!(whole >= 10_000_000 && whole - elapsed >= 10_000_000, "{elapsed} of {whole}");
    let (elapsed, _) = run(true);
    assert!(elapsed >= 10_000_000);
}

#[test]
fn a_rate_is_not_exceeded() {
    let bench = Bench::new(80 * KIB);
    let r = bench.run(Stream {
        pace: Pace {
            rate: Some(Rate {
                operations_per_s: 1000.0,
                arrivals: fathom_workload::Gaps::Even,
                per: fathom_workload::Bytes(0),
                common: false,
            }),
            ..Pace::default()
        },
        ..Stream::new("f", Direction::Write, Bytes(4 * KIB))
    });
    assert!(only(&r).elapsed_ns >= 19 * 1_000_000, "20 operations took {} ns", only(&r).elapsed_ns);
}

#[test]
fn with_a_rate_the_response_is_counted_from_when_an_operation_was_due() {
    let bench = Bench::new(80 * KIB);
    let rate = Some(Rate {
        operations_per_s: 1e6,
        arrivals: fathom_workload::Gaps::Even,
        per: fathom_workload::Bytes(0),
        common: false,
    });
    let r = bench.run(Stream {
        pace: Pace { rate, ..Pace::default() },
        open: Open { sync: OpenSync::Dsync, ..Open::default() },
        ..Stream::new("f", Direction::Write, Bytes(4 * KIB))
    });
    // No storage does a million durable writes a second: each operation is later than the one before, but its service time is not
    // longer.
    let (service, response) = (r.latency(OpKind::Write), r.latency(OpKind::Response));
    assert_eq!((service.count(), response.count()), (20, 20));
    assert!(
        response.max_ns() >= service.sum_ns() as u64 / 2,
        "{} of {}",
        response.max_ns(),
        service.sum_ns()
    );
    let r = bench.run(Stream::new("f", Direction::Write, Bytes(4 * KIB)));
    assert_eq!(r.latency(OpKind::Response).count(), 0, "without a rate there is no intended start");
}

#[test]
fn bursts_pause_outside_the_clock() {
    let bench = Bench::new(64 * KIB);
    let burst = Some(Burst { bytes: Bytes(32 * KIB), pause: Duration(20_000_000) });
    let r = bench.run(Stream {
        pace: Pace { burst, ..Pace::default() },
        ..Stream::new("f", Direction::Write, Bytes(4 * KIB))
    });
    let w = only(&r);
    assert!(w.marks.last_op_ns - w.elapsed_ns >= 20_000_000, "{w:?}");
}

#[test]
fn rare_features_do_their_work_together() {
    let bench = Bench::new(128 * KIB);
    let stream = |direction| Stream {
        purge: Bytes(MIB),
        lock: Lock::Record,
        buffer_area: Bytes(64 * KIB),
        disturb_every: 10,
        data: Data::Marked { byte: 0x20, stride: Bytes(4096), length: Bytes(8) },
        verify: Verify::Marks,
        ..Stream::new("f", direction, Bytes(4 * KIB))
    };
    for direction in [Direction::Write, Direction::Read] {
        let r = bench.run(stream(direction));
        assert_eq!((&only(&r).ending, only(&r).ops), (&Ending::Completed, 32));
    }
    let r = bench.run(Stream { lock: Lock::File, ..Stream::new("f", Direction::Read, Bytes(4 * KIB)) });
    assert_eq!(only(&r).ending, Ending::Completed);
}

#[test]
fn direct_and_synchronous_opens_work_where_the_file_system_takes_them() {
    let bench = Bench::new(64 * KIB);
    if bench.in_memory() {
        return fathom_testkit::skip("direct_and_synchronous_opens", "the test directory is in memory");
    }
    for sync in [OpenSync::No, OpenSync::Sync, OpenSync::Dsync, OpenSync::Rsync] {
        for direct in [false, true] {
            let open = Open { direct, sync, ..Open::default() };
            for direction in [Direction::Write, Direction::Read] {
                let r = bench.run(Stream { open, ..Stream::new("f", direction, Bytes(4 * KIB)) });
                assert_eq!(only(&r).ending, Ending::Completed, "{open:?} {direction:?}");
            }
        }
    }
}

#[test]
fn a_warmed_record_is_not_counted() {
    let bench = Bench::new(64 * KIB);
    bench.run(Stream::new("f", Direction::Write, Bytes(4 * KIB)));
    let r = bench.run(Stream {
        warm_first_record: true,
        sync_before: true,
        ..Stream::new("f", Direction::Read, Bytes(4 * KIB))
    });
    assert_eq!(only(&r).ops, 16);
}

#[test]
fn several_in_flight_do_every_operation_once() {
    for (backend, queue_depth) in [
        (Backend::Null, 32),
        (Backend::Aio { batch: 0, atomic: false }, 8),
        (Backend::Uring(Uring::default()), 64),
    ] {
        let bench = Bench::new(MIB);
        bench.run(Stream::new("f", Direction::Write, Bytes(64 * KIB)));
        let r = bench.run(Stream {
            backend,
            queue_depth,
            access: Access::Permuted,
            amount: Amount::Passes(3),
            log_operations: true,
            ..Stream::new("f", Direction::Read, Bytes(4 * KIB))
        });
        assert_eq!((only(&r).ops, only(&r).bytes), (768, 3 * MIB), "{backend:?}");
        let mut offsets: Vec<u64> = only(&r).op_log.iter().map(|e| e.offset).collect();
        offsets.sort_unstable();
        let expected: Vec<u64> = (0..256u64).flat_map(|i| [i * 4096; 3]).collect();
        assert_eq!(offsets, expected, "{backend:?}");
        assert_eq!(r.latency(OpKind::Read).count(), 768);
    }
}

#[test]
fn asynchronous_reads_past_the_end_and_wrong_data_are_found() {
    let uring = Backend::Uring(Uring::default());
    let bench = Bench::new(64 * KIB);
    std::fs::write(bench.file(), vec![0; 10 * KIB as usize]).unwrap();
    let r = bench.run(Stream {
        backend: uring,
        queue_depth: 4,
        ..Stream::new("f", Direction::Read, Bytes(4 * KIB))
    });
    let Ending::Failed(e) = &only(&r).ending else { panic!("not noticed") };
    assert!(e.message.contains("ends too early"), "{}", e.message);
    let bench = Bench::new(64 * KIB);
    std::fs::write(bench.file(), vec![7; 64 * KIB as usize]).unwrap();
    let r = bench.run(Stream {
        backend: uring,
        queue_depth: 4,
        data: Data::Byte(8),
        verify: Verify::Full,
        ..Stream::new("f", Direction::Read, Bytes(4 * KIB))
    });
    assert!(matches!(&only(&r).ending, Ending::Failed(e) if e.call == "verify"), "{:?}", only(&r).ending);
}

#[test]
fn asynchronous_writes_sync_and_stop() {
    let bench = Bench::new(MIB)
        .stop(fathom_workload::Stop { time: Some(Duration(20_000_000)), ..fathom_workload::Stop::default() });
    for backend in [Backend::Uring(Uring::default()), Backend::Aio { batch: 0, atomic: false }] {
        let r = bench.run(Stream {
            backend,
            queue_depth: 8,
            amount: Amount::Endless,
            sync_every: Some(SyncEvery { writes: 100, ..SyncEvery::default() }),
            timed: Timed { fsync: true, close: true, ..Timed::default() },
            ..Stream::new("f", Direction::Write, Bytes(4 * KIB))
        });
        assert_eq!(only(&r).ending, Ending::Stopped, "{backend:?}");
        assert!(r.latency(OpKind::Sync).count() >= 1 && only(&r).elapsed_ns >= 20_000_000);
    }
}

#[test]
fn an_fsync_may_be_one_of_those_in_flight() {
    let bench = Bench::new(MIB);
    for backend in
        [Backend::Uring(Uring::default()), Backend::Aio { batch: 0, atomic: false }, Backend::Posix]
    {
        let depths = |sync_in_queue| {
            let r = bench.run(Stream {
                backend,
                queue_depth: 8,
                sync_in_queue,
                sync_every: Some(SyncEvery { writes: 1, ..SyncEvery::default() }),
                ..Stream::new("f", Direction::Write, Bytes(4 * KIB))
            });
            assert_eq!(only(&r).ending, Ending::Completed, "{backend:?}");
            let counts = [OpKind::Write, OpKind::Sync].map(|kind| r.latency(kind).count());
            assert_eq!(counts, [256, 256], "{backend:?}");
            only(&r).in_flight.unwrap().depth
        };
        assert_eq!(depths(false)[1..], [0; 6], "{backend:?}");
        let counted = depths(true);
        assert!(counted[3] > 0, "{backend:?}: {counted:?}");
    }
}

#[test]
fn completions_may_be_taken_when_the_queue_is_full() {
    for backend in [
        Backend::Uring(Uring { batch: 1, ..Uring::default() }),
        Backend::Aio { batch: 1, atomic: false },
        Backend::Posix,
    ] {
        let stream = |direction| Stream {
            backend,
            queue_depth: 8,
            take_at_most: Some(3),
            access: Access::Permuted,
            ..Stream::new("f", direction, Bytes(4 * KIB))
        };
        let bench = Bench::new(256 * KIB);
        for (wait_for, refill_at) in [(1, None), (3, None), (2, Some(4)), (1, Some(1))] {
            for direction in [Direction::Write, Direction::Read] {
                let r = bench.run(Stream { wait_for, refill_at, ..stream(direction) });
                let worker = only(&r);
                assert_eq!((&worker.ending, worker.ops), (&Ending::Completed, 64), "{backend:?}");
                // It fills without looking at completions: 1, 2 and 3, 4 to 7, and then full or refilled.
                let depth = worker.in_flight.unwrap().depth;
                assert!(
                    depth[0] > 0 && depth[1] > 1 && depth[2] > 3 && depth[3] > 0,
                    "{backend:?}: {depth:?}"
                );
                assert_eq!(
                    (depth.iter().sum(), &depth[4..]),
                    (64_u64, &[0; 3][..]),
                    "{backend:?}: {depth:?}"
                );
            }
        }
        // Operations completed but not processed are not waited for after an error.
        std::fs::write(bench.file(), vec![7; 256 * KIB as usize]).unwrap();
        let wrong = Stream { data: Data::Byte(8), verify: Verify::Full, ..stream(Direction::Read) };
        let r = bench.run(wrong);
        assert!(matches!(&only(&r).ending, Ending::Failed(e) if e.call == "verify"), "{backend:?}");
        let short = fathom_workload::Stop { time: Some(Duration(20_000_000)), ..Default::default() };
        let r =
            Bench::new(MIB).stop(short).run(Stream { amount: Amount::Endless, ..stream(Direction::Write) });
        assert_eq!(only(&r).ending, Ending::Stopped, "{backend:?}");
    }
}
