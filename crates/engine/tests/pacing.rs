//! Rates: operations are issued when due, one by one and several in flight; response time counts from the due time. The machine
//! may be slow, so exact checks apply to the schedule and the accounting, never to punctuality.

use crate::support::{Bench, MIB, only};
use fathom_record::{Ending, OpKind};
use fathom_workload::{
    Access, Amount, Backend, Bytes, Direction, Duration, Gaps, Isolation, Pace, Rate, Record, Stop, Stream,
    Uring,
};

const MS: u64 = 1_000_000;

fn paced(backend: Backend, depth: u32, per_s: f64, arrivals: Gaps) -> Stream {
    Stream {
        backend,
        queue_depth: depth,
        access: Access::Uniform,
        amount: Amount::Endless,
        pace: Pace {
            rate: Some(Rate {
                operations_per_s: per_s,
                arrivals,
                per: fathom_workload::Bytes(0),
                common: false,
            }),
            ..Pace::default()
        },
        ..Stream::new("f", Direction::Read, Bytes(4096))
    }
}

fn time(ms: u64) -> Stop {
    Stop { time: Some(Duration(ms * MS)), ..Stop::default() }
}

#[test]
fn as_many_operations_as_are_due_are_issued() {
    for (backend, depth) in [
        (Backend::Null, 1),
        (Backend::Null, 4),
        (Backend::default(), 1),
        (Backend::Uring(Uring::default()), 1),
        (Backend::Uring(Uring::default()), 8),
        (Backend::Aio { batch: 0, atomic: false }, 8),
    ] {
        let bench = Bench::new(MIB).stop(time(200));
        let writer = Stream::new("f", Direction::Write, Bytes(4096));
        bench.run(writer);
        let done = bench.run(paced(backend, depth, 1000.0, Gaps::Even));
        let worker = only(&done);
        assert_eq!(worker.ending, Ending::Stopped, "{backend:?}");
        // Due at 0, 1, ... 199 ms. A machine that stalls at the very end issues fewer.
        assert!((100..=201).contains(&worker.ops), "{backend:?} at depth {depth}: {}", worker.ops);
        let count = |kind| worker.stats.iter().find(|s| s.op == kind).map_or(0, |s| s.ops);
        assert_eq!(count(OpKind::Response), worker.ops, "{backend:?}: each has a response time");
        assert_eq!(count(OpKind::Read), worker.ops);
    }
}

#[test]
fn of_a_rate_in_bytes_large_operations_take_more() {
    let size = Bytes(4096);
    for (backend, depth) in
        [(Backend::Null, 1), (Backend::default(), 1), (Backend::Uring(Uring::default()), 8)]
    {
        let bench = Bench::new(MIB).stop(time(300));
        bench.run(Stream::new("f", Direction::Write, size));
        let mut stream = paced(backend, depth, 1024.0, Gaps::Even);
        stream.pace.rate = stream.pace.rate.map(|rate| Rate { per: size, ..rate });
        stream.record = Record::Split(vec![(size, 50.0), (Bytes(16 * 4096), 50.0)]);
        let done = bench.run(stream);
        // 4 MiB a second, plus a last operation of any size.
        let most = 4 * MIB * 3 / 10 + 16 * 4096;
        let bytes = only(&done).bytes;
        assert!((most / 2..=most).contains(&bytes), "{backend:?} at depth {depth}: {bytes}");
    }
}

#[test]
fn a_response_is_never_shorter_than_the_service() {
    let bench = Bench::new(MIB).stop(time(100));
    let done = bench.run(paced(Backend::Null, 1, 2000.0, Gaps::Poisson));
    let worker = only(&done);
    let all = |kind| done.latency(kind);
    assert!(worker.ops > 20, "{}", worker.ops);
    assert!(all(OpKind::Response).sum_ns() >= all(OpKind::Read).sum_ns());
}

#[test]
fn a_worker_that_falls_behind_drops_no_operation() {
    // 20 ms of computing before each operation, with 1000 due per second.
    let think = fathom_workload::Think {
        time: Duration(20 * MS),
        counted: true,
        ..fathom_workload::Think::default()
    };
    let mut stream = paced(Backend::Null, 1, 1000.0, Gaps::Even);
    stream.pace.think = Some(think);
    stream.amount = Amount::Operations(10);
    let done = Bench::new(MIB).run(stream);
    let worker = only(&done);
    assert_eq!(worker.ops, 10);
    // The last of the ten was due 9 ms after the start and came at least 200 ms after it.
    assert!(done.latency(OpKind::Response).max_ns() >= 180 * MS, "{worker:?}");
    assert!(worker.behind_ns >= 100 * MS, "{}", worker.behind_ns);
    assert!(done.latency(OpKind::Read).max_ns() < 180 * MS, "the service itself is short");
}

#[test]
fn a_postponing_pause_shifts_the_schedule() {
    for (backend, depth) in
        [(Backend::Null, 1), (Backend::default(), 1), (Backend::Aio { batch: 0, atomic: false }, 4)]
    {
        let bench = Bench::new(MIB);
        bench.run(Stream::new("f", Direction::Write, Bytes(4096)));
        let mut stream = paced(backend, depth, 1000.0, Gaps::Even);
        stream.pace.think = Some(fathom_workload::Think {
            time: Duration(20 * MS),
            counted: true,
            asleep: true,
            every: 10,
            shifts_schedule: true,
            ..fathom_workload::Think::default()
        });
        stream.amount = Amount::Operations(100);
        let done = bench.run(stream);
        // Completions that are reaped together all count before a pause: up to 13 of depth 4 lie between two.
        let pauses = 99 / (9 + u64::from(depth));
        // 99 ms to the last one, and the pauses, none of them made up for.
        let ms = only(&done).elapsed_ns / MS;
        assert!(ms >= 90 + 20 * pauses, "{backend:?} at depth {depth}: {ms} ms");
    }
}

#[test]
fn the_log_holds_issue_times() {
    let mut stream = paced(Backend::Null, 1, 1000.0, Gaps::Even);
    stream.amount = Amount::Operations(50);
    stream.log_operations = true;
    let done = Bench::new(MIB).run(stream);
    let log = &only(&done).op_log;
    assert_eq!(log.len(), 50);
    for (n, entry) in log.iter().enumerate() {
        // Never before it is due; the clock's rounding is a nanosecond or two.
        assert!(entry.start_ns + 5 >= n as u64 * MS, "operation {n} at {} ns", entry.start_ns);
    }
}

#[test]
fn operations_are_written_down_without_an_end_in_sight() {
    let mapped = Backend::Mmap {
        flush: fathom_workload::MapFlush::No,
        flush_every: 1,
        populate: false,
        huge_pages: false,
        advice: None,
    };
    for (backend, queue_depth) in
        [(Backend::default(), 1), (mapped, 1), (Backend::Uring(Uring::default()), 8), (Backend::Null, 8)]
    {
        let stream = Stream {
            backend,
            queue_depth,
            access: Access::Uniform,
            amount: Amount::Endless,
            log_operations: true,
            direction: Direction::Mix(fathom_workload::Mix::ReadPercent(50)),
            ..Stream::new("f", Direction::Read, Bytes(4096))
        };
        let bench = Bench::new(MIB).workers(2, Isolation::Thread);
        bench.run(Stream::new("f", Direction::Write, Bytes(64 << 10)));
        let (done, logs) = bench.stop(time(100)).run_spooled(stream);
        assert_eq!(logs.len(), 2, "{backend:?}");
        for (worker, log) in done.workers.iter().zip(&logs) {
            assert!(worker.op_log.is_empty());
            let of = |kind: OpKind| {
                worker.stats.iter().find(|s| s.op == kind).unwrap_or_else(|| {
                    panic!(
                        "{backend:?}: {:?} has none of {kind:?}",
                        worker.stats.iter().map(|s| (s.op, s.ops)).collect::<Vec<_>>()
                    )
                })
            };
            for (kind, write, submission) in [
                (OpKind::Read, false, OpKind::ReadSubmission),
                (OpKind::Write, true, OpKind::WriteSubmission),
            ] {
                let these: Vec<_> =
                    log.iter().filter(|o| (o.does == fathom_engine::Does::Write) == write).collect();
                assert_eq!(these.len() as u64, of(kind).ops, "{backend:?}");
                let sum: u64 = these.iter().map(|o| o.latency_ns).sum();
                assert_eq!(u128::from(sum), of(kind).latency.sum_ns(), "{backend:?}");
                let submitted: u64 = these.iter().map(|o| o.submission_ns).sum();
                let counted = worker.stats.iter().find(|s| s.op == submission);
                assert_eq!(u128::from(submitted), counted.map_or(0, |s| s.latency.sum_ns()), "{backend:?}");
            }
            assert!(log.iter().all(|o| o.bytes == 4096 && o.offset % 4096 == 0 && o.offset < MIB));
        }
    }
    let endless = Stream {
        amount: Amount::Endless,
        log_operations: true,
        ..Stream::new("f", Direction::Read, Bytes(4096))
    };
    let refused = Bench::new(MIB).stop(time(100)).unsupported(endless).unwrap();
    assert!(refused.contains("known number of operations"), "{refused}");
}

#[test]
fn a_pause_after_the_last_operation_is_no_part_of_the_time_and_takes_none_away() {
    let burst = fathom_workload::Burst { bytes: Bytes(40 << 10), pause: Duration(100 * MS) };
    let stream = Stream {
        amount: Amount::Operations(20),
        pace: Pace { burst: Some(burst), ..Pace::default() },
        ..Stream::new("f", Direction::Write, Bytes(4096))
    };
    let done = Bench::new(MIB).run(stream);
    let worker = only(&done);
    // Two bursts of ten with one pause in between, which is not counted; the pause after the second belongs to neither.
    assert!(worker.elapsed_ns > 0 && worker.elapsed_ns < worker.marks.last_op_ns, "{worker:?}");
    assert!(worker.marks.last_op_ns >= 100 * MS, "{worker:?}");
}

#[test]
fn a_write_is_not_charged_for_making_the_data_of_others() {
    // 64 records of 1 MiB take milliseconds to fill; the null back-end takes none to write them.
    let stream = Stream {
        backend: Backend::Null,
        queue_depth: 64,
        amount: Amount::Operations(6400),
        data: fathom_workload::Data::Positioned { tag: 1 },
        ..Stream::new("f", Direction::Write, Bytes(64 << 10))
    };
    let done = Bench::new(64 * MIB).run(stream);
    let all = done.latency(OpKind::WriteSubmission);
    // The first of a batch waits for the other 63 to be filled, the last for none: with a single stamp at the beginning, the
    // shortest would be as long as the longest.
    assert!(all.min_ns() * 4 < all.max_ns(), "{} to {} ns", all.min_ns(), all.max_ns());
}

#[test]
fn a_pause_before_a_timed_fsync_is_not_counted() {
    let burst = fathom_workload::Burst { bytes: Bytes(40 << 10), pause: Duration(1000 * MS) };
    let stream = Stream {
        amount: Amount::Operations(10),
        pace: Pace { burst: Some(burst), ..Pace::default() },
        timed: fathom_workload::Timed { fsync: true, ..fathom_workload::Timed::default() },
        ..Stream::new("f", Direction::Write, Bytes(4096))
    };
    let done = Bench::new(MIB).run(stream);
    let worker = only(&done);
    // The only pause is after the last write and before the fsync.
    assert!(worker.marks.fsync_ns >= 1000 * MS, "{worker:?}");
    assert!(worker.elapsed_ns + 1000 * MS <= worker.marks.fsync_ns + MS, "{worker:?}");
}
