//! Workers that wait for each other, and limits that end a worker: shares are exact on any machine, because no worker gets ahead
//! of its share; a violated limit is reported with both numbers.

use crate::support::{Bench, MIB, only};
use fathom_record::{Ending, OpError, Worker};
use fathom_workload::{
    Access, Amount, Backend, Bytes, Direction, Duration, Isolation, Least, Longest, Pace, Rate, Ratio, Stop,
    Stream, Think, Uring,
};

const MS: u64 = 1_000_000;

fn weighing(weight: u32, backend: Backend, depth: u32, amount: Amount) -> Stream {
    Stream {
        backend,
        queue_depth: depth,
        access: Access::Uniform,
        amount,
        pace: Pace { ratio: Some(Ratio { group: 1, weight, sleep: Duration(0) }), ..Pace::default() },
        ..Stream::new("f", Direction::Read, Bytes(4096))
    }
}

fn error(worker: &Worker) -> &OpError {
    match &worker.ending {
        Ending::Failed(error) => error,
        other => panic!("{other:?}"),
    }
}

/// A bench whose files hold data.
fn written(workers: u32) -> Bench {
    let bench = Bench::new(MIB).workers(workers, Isolation::Thread);
    bench.run(Stream::new("f", Direction::Write, Bytes(4096)));
    bench
}

#[test]
fn operations_are_in_the_ratio_of_the_weights() {
    for (backend, depth) in [
        (Backend::Null, 1),
        (Backend::default(), 1),
        (Backend::Uring(Uring::default()), 4),
        (Backend::Null, 4),
    ] {
        let bench = written(3).stop(Stop { time: Some(Duration(200 * MS)), ..Stop::default() });
        let streams = [1, 2, 3].map(|weight| weighing(weight, backend, depth, Amount::Endless));
        let done = bench.run_all(streams.to_vec());
        let ops: Vec<u64> = done.workers.iter().map(|w| w.ops).collect();
        // Up to the number in flight, plus those counted before the last worker began to count.
        for (weight, ops) in (1..).zip(&ops) {
            let share = done.ops() * weight / 6;
            assert!(ops.abs_diff(share) <= 64, "{backend:?} at depth {depth}: {ops} of {share}");
        }
        assert!(ops[0] > 0, "{backend:?}: {ops:?}");
    }
}

#[test]
fn a_slow_worker_holds_the_others_until_it_ends() {
    let bench = Bench::new(MIB);
    let rate = Rate {
        operations_per_s: 1000.0,
        arrivals: fathom_workload::Gaps::Even,
        per: fathom_workload::Bytes(0),
        common: false,
    };
    let mut slow = weighing(1, Backend::Null, 1, Amount::Operations(100));
    slow.pace.rate = Some(rate);
    let fast = weighing(8, Backend::Null, 1, Amount::Operations(100_000));
    let done = bench.run_all(vec![slow, fast]);
    let [slow, fast] = &done.workers[..] else { panic!("{done:?}") };
    assert_eq!((slow.ops, fast.ops), (100, 100_000));
    // The slow one took its 99 ms, though it did not have to wait.
    assert!(fast.elapsed_ns >= 90 * MS, "{}", fast.elapsed_ns);
}

#[test]
fn failed_workers_and_other_groups_are_not_waited_for() {
    let bench = Bench::new(MIB).stop(Stop { failed: fathom_workload::Failed::Worker, ..Stop::default() });
    // Its file is empty.
    let mut missing = weighing(1, Backend::default(), 1, Amount::Operations(10));
    missing.open.create = true;
    let mut other = weighing(1, Backend::Null, 1, Amount::Operations(1000));
    other.pace.ratio = Some(Ratio { group: 2, weight: 1, sleep: Duration(MS) });
    let done = bench.run_all(vec![missing, weighing(5, Backend::Null, 1, Amount::Operations(1000)), other]);
    assert!(matches!(done.workers[0].ending, Ending::Failed(_)), "{:?}", done.workers[0].ending);
    assert_eq!(done.workers[1..].iter().map(|w| w.ops).collect::<Vec<_>>(), [1000, 1000]);
}

#[test]
fn a_rate_below_the_least_is_an_error_with_both_numbers() {
    let pause = Think { time: Duration(20 * MS), counted: true, asleep: true, ..Think::default() };
    let stream = |least| Stream {
        backend: Backend::Null,
        access: Access::Uniform,
        amount: Amount::Operations(12),
        pace: Pace { think: Some(pause), least: Some(least), ..Pace::default() },
        ..Stream::new("f", Direction::Read, Bytes(4096))
    };
    let window = Duration(100 * MS);
    let done = Bench::new(MIB).run(stream(Least { reads_per_s: 1, window, ..Least::default() }));
    assert_eq!((only(&done).ending.clone(), only(&done).ops), (Ending::Completed, 12));
    for least in [
        Least { reads_per_s: 5000, window, ..Least::default() },
        Least { read_bytes_per_s: MIB, window, ..Least::default() },
    ] {
        let done = Bench::new(MIB).run(stream(least));
        let worker = only(&done);
        let error = error(worker);
        assert!(worker.ops < 12, "{}", worker.ops);
        assert_eq!(error.errno, libc_eio());
        let (asked, found) = error.compared.unwrap();
        assert_eq!(asked, least.reads_per_s.max(least.read_bytes_per_s));
        assert!(found < asked && error.message.contains("the minimum is"), "{error:?}");
    }
    // No limit applies during the grace period.
    let patient = Least { reads_per_s: 5000, window, grace: Duration(60_000 * MS), ..Least::default() };
    assert_eq!(only(&Bench::new(MIB).run(stream(patient))).ending, Ending::Completed);
}

fn libc_eio() -> i32 {
    5
}

#[test]
fn a_latency_above_the_longest_is_an_error() {
    let limited = |backend, depth, ns| Stream {
        backend,
        queue_depth: depth,
        access: Access::Uniform,
        pace: Pace { longest: Some(Longest { read: Duration(ns), write: Duration(0) }), ..Pace::default() },
        ..Stream::new("f", Direction::Read, Bytes(4096))
    };
    for (backend, depth) in [
        (Backend::default(), 1),
        (Backend::Uring(Uring::default()), 4),
        (Backend::Aio { batch: 0, atomic: false }, 4),
    ] {
        let bench = written(1);
        assert_eq!(only(&bench.run(limited(backend, depth, 3_600_000 * MS))).ending, Ending::Completed);
        let done = bench.run(limited(backend, depth, 1));
        let error = error(only(&done));
        assert_eq!((error.call.as_str(), error.errno), ("latency", 110), "{backend:?}");
        assert!(error.offset.is_some() && error.message.contains("at most 1 were allowed"), "{error:?}");
    }
}

#[test]
fn a_pause_comes_after_so_much_time() {
    // 30 operations of 2 ms each are due; a pause comes after 20 ms, and shifts nothing else.
    let rate = Rate {
        operations_per_s: 500.0,
        arrivals: fathom_workload::Gaps::Even,
        per: fathom_workload::Bytes(0),
        common: false,
    };
    let think = Think {
        time: Duration(40 * MS),
        counted: true,
        asleep: true,
        every: 0,
        interval: Duration(20 * MS),
        ..Think::default()
    };
    let stream = Stream {
        backend: Backend::Null,
        access: Access::Uniform,
        amount: Amount::Operations(30),
        pace: Pace { think: Some(think), rate: Some(rate), ..Pace::default() },
        ..Stream::new("f", Direction::Read, Bytes(4096))
    };
    let done = Bench::new(MIB).run(stream);
    assert_eq!(only(&done).ops, 30);
    // Without a pause the last would be due after 58 ms; after a pause at 20 ms it is late, and done at once.
    assert!(only(&done).elapsed_ns >= 58 * MS, "{}", only(&done).elapsed_ns);
}

#[test]
fn operations_that_are_kept_apart_are_all_done() {
    for backend in [Backend::Uring(Uring::default()), Backend::Aio { batch: 0, atomic: false }, Backend::Null]
    {
        let bench = written(1);
        // All overlap each other, and those of the second stream overlap none.
        for access in [Access::Same(0), Access::Sequential] {
            let stream = Stream {
                backend,
                queue_depth: 8,
                no_overlap: true,
                access,
                amount: Amount::Operations(200),
                ..Stream::new("f", Direction::Write, Bytes(4096))
            };
            let done = bench.run(stream);
            assert_eq!(
                (only(&done).ops, only(&done).ending.clone()),
                (200, Ending::Completed),
                "{backend:?}"
            );
        }
    }
}
