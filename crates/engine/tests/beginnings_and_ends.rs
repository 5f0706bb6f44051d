//! What is counted: neither warm-up nor depth search; exactly a shared amount; until a steady state; and operations in flight at
//! a stop are drained.

use crate::support::{Bench, KIB, MIB, only};
use fathom_record::{Ending, OpKind};
use fathom_workload::{
    Access, AdaptiveDepth, Amount, Backend, Bytes, Criterion, DepthGoal, Direction, Duration, Isolation,
    Limit, Steady, SteadyFigure, SteadyGroups, Stop, Stream, Times, Uring,
};

const MS: u64 = 1_000_000;

fn endless(backend: Backend, depth: u32) -> Stream {
    Stream {
        backend,
        queue_depth: depth,
        access: Access::Uniform,
        amount: Amount::Endless,
        ..Stream::new("f", Direction::Write, Bytes(4 * KIB))
    }
}

fn time(ms: u64) -> Stop {
    Stop { time: Some(Duration(ms * MS)), ..Stop::default() }
}

const BOTH: [(Backend, u32); 4] = [
    (Backend::Null, 1),
    (Backend::Null, 8),
    (Backend::Psync(fathom_workload::SyncCall::Positioned), 1),
    (Backend::Aio { batch: 0, atomic: false }, 8),
];

#[test]
fn the_warm_up_is_not_counted_and_the_time_begins_after_it() {
    for (backend, depth) in BOTH {
        let bench = Bench::new(MIB).ramp(Duration(60 * MS)).stop(time(40)).interval(Duration(10 * MS));
        let done = bench.run(endless(backend, depth));
        let worker = only(&done);
        assert_eq!(done.ramp_ns, 60 * MS);
        assert!(worker.ramp_ops > 0 && worker.ops > 0, "{backend:?}: {} and {}", worker.ramp_ops, worker.ops);
        assert!(worker.start_ns >= 60 * MS, "{backend:?} counted from {} ns on", worker.start_ns);
        assert!(worker.elapsed_ns < 10_000 * MS && worker.elapsed_ns > 20 * MS, "{}", worker.elapsed_ns);
        assert_eq!(done.latency(OpKind::Write).count(), worker.ops, "{backend:?}: nothing of the warm-up");
        let in_intervals: u64 = done.intervals.iter().map(|i| i.ops).sum();
        assert_eq!(in_intervals, worker.ops, "{backend:?}");
    }
}

#[test]
fn an_amount_is_whole_after_a_warm_up() {
    for (backend, depth) in BOTH {
        let stream = Stream { amount: Amount::Operations(700), ..endless(backend, depth) };
        let done = Bench::new(MIB).ramp(Duration(20 * MS)).run(stream);
        assert_eq!((only(&done).ops, &only(&done).ending), (700, &Ending::Completed), "{backend:?}");
    }
}

#[test]
fn bytes_end_a_warm_up() {
    for (backend, depth) in BOTH {
        let stream = Stream { amount: Amount::Operations(700), ..endless(backend, depth) };
        let times = Times { ramp_bytes: Bytes(64 * 4 * KIB), ..Times::default() };
        let done = Bench::new(MIB).times(times).run(stream);
        let worker = only(&done);
        assert_eq!((worker.ops, &worker.ending), (700, &Ending::Completed), "{backend:?}");
        let most = 64 + 2 * u64::from(depth);
        assert!((64..=most).contains(&worker.ramp_ops), "{backend:?}: {} in the warm-up", worker.ramp_ops);
        assert!(
            worker.start_ns > 0 && done.ramp_ns == worker.start_ns,
            "{} {}",
            worker.start_ns,
            done.ramp_ns
        );
    }
}

#[test]
fn a_company_warms_up_together() {
    for (backend, depth) in BOTH {
        let stream = Stream { amount: Amount::Operations(50), ..endless(backend, depth) };
        let times = Times {
            ramp_bytes: Bytes(600 * 4 * KIB),
            ramp_together: true,
            company: Some(3),
            ..Times::default()
        };
        let done = Bench::new(MIB).workers(3, Isolation::Process).times(times).run(stream);
        let warm: u64 = done.workers.iter().map(|w| w.ramp_ops).sum();
        let most = 600 + 3 * 2 * u64::from(depth);
        assert!((600..=most).contains(&warm), "{backend:?}: {warm} in the warm-up");
        assert!(done.workers.iter().all(|w| w.ops == 50), "{:?}", done.workers);
    }
}

#[test]
fn a_common_amount_is_exact() {
    for (backend, depth) in BOTH {
        let stop = Stop { operations: Some(1001), ..Stop::default() };
        let done = Bench::new(MIB).workers(3, Isolation::Thread).stop(stop).run(endless(backend, depth));
        assert_eq!(done.ops(), 1001, "{backend:?}");
        let stop = Stop { bytes: Some(Bytes(100 * KIB)), ..Stop::default() };
        let done = Bench::new(MIB).workers(2, Isolation::Process).stop(stop).run(endless(backend, depth));
        assert_eq!(done.bytes(), 100 * KIB, "{backend:?}");
    }
}

#[test]
fn steady_state_ends_the_phase() {
    let steady =
        Steady { round: Duration(10 * MS), range_percent: 1e9, slope_percent: 1e9, ..Steady::default() };
    let stop = Stop { steady: Some(steady), ..Stop::default() };
    let done = Bench::new(MIB).stop(stop).run(endless(Backend::Null, 1));
    let state = done.steady.clone().unwrap();
    assert!(state.reached && state.asked, "{state:?}");
    assert_eq!((state.rounds.len(), state.window, state.figure.as_str()), (5, 5, "operations"));
    assert_eq!(only(&done).ending, Ending::Stopped);
}

#[test]
fn a_group_that_is_steady_ends_alone_and_later_than_it_waits() {
    let rule = Steady {
        round: Duration(10 * MS),
        window: 3,
        most_rounds: 0,
        criterion: Some(Criterion::Deviation(Limit::Percent(1e9))),
        after: Duration(50 * MS),
        ..Steady::default()
    };
    let steady_groups = vec![SteadyGroups { groups: vec![0], rule }];
    let stop = Stop { steady_groups, ..time(400) };
    for (backend, depth) in BOTH {
        let stream = endless(backend, depth);
        let done = Bench::new(MIB).stop(stop.clone()).run_all(vec![stream.clone(), stream]);
        let of = &done.steady_groups[0];
        assert!(of.reached && of.workers == [0] && of.operations.len() == 3, "{backend:?}: {of:?}");
        assert!(done.steady.is_none());
        let elapsed = |worker: usize| done.workers[worker].elapsed_ns;
        assert!(
            elapsed(0) >= 60 * MS && elapsed(1) > elapsed(0),
            "{backend:?}: {} {}",
            elapsed(0),
            elapsed(1)
        );
        assert!(done.workers.iter().all(|w| w.ending == Ending::Stopped), "{backend:?}");
    }
}

#[test]
fn a_steady_state_that_does_not_come_is_given_up() {
    // No machine reaches a spread of zero.
    let steady = Steady {
        round: Duration(5 * MS),
        most_rounds: 7,
        range_percent: 1e-12,
        slope_percent: 1e-12,
        ..Steady::default()
    };
    let stop = Stop { steady: Some(steady), ..Stop::default() };
    let done = Bench::new(MIB).stop(stop).run(endless(Backend::default(), 1));
    let state = done.steady.unwrap();
    assert_eq!((state.reached, state.rounds.len()), (false, 7));
    assert!(state.range_percent > 0.0, "{state:?}");
    // Rounds in which a busy machine finished nothing have no latency, but count as rounds.
    let steady = Steady { of: SteadyFigure::Latency, ..steady };
    let stop = Stop { steady: Some(steady), ..Stop::default() };
    let state = Bench::new(MIB).stop(stop).run(endless(Backend::default(), 1)).steady.unwrap();
    assert!(!state.reached && state.rounds.len() <= 7, "{state:?}");
}

#[test]
fn a_depth_is_found_and_the_search_is_not_counted() {
    let how = AdaptiveDepth {
        goal: DepthGoal::Latency { percentile: 50.0, at_most: Duration(1_000_000 * MS) },
        window: Duration(2 * MS),
        longest: None,
        once: false,
        goes_on: false,
    };
    for backend in [Backend::Null, Backend::Uring(Uring::default())] {
        let stream = Stream { adaptive_depth: Some(how), ..endless(backend, 16) };
        let done = Bench::new(MIB).stop(time(20)).run(stream);
        // Every depth meets a limit of 1000 s, so the result is the largest.
        assert_eq!(only(&done).settled_depth, Some(16), "{backend:?}");
        // Five trials of 2 ms.
        assert!(only(&done).start_ns >= 10 * MS && only(&done).ops > 0, "{:?}", only(&done).start_ns);
        assert_eq!(done.latency(OpKind::Write).count(), only(&done).ops);
    }
}

#[test]
fn operations_in_flight_at_a_stop_are_drained_and_counted() {
    let stream = endless(Backend::Aio { batch: 0, atomic: false }, 8);
    let done = Bench::new(MIB).stop(time(20)).run(stream);
    let worker = only(&done);
    assert!(worker.drained_ops <= 8, "{}", worker.drained_ops);
    assert_eq!(done.latency(OpKind::Write).count(), worker.ops);
    let parts = |kind| worker.stats.iter().find(|s| s.op == kind).map_or(0, |s| s.ops);
    assert_eq!(parts(OpKind::WriteSubmission), worker.ops);
    assert_eq!(parts(OpKind::WriteCompletion), worker.ops);
}

#[test]
fn intervals_have_the_latencies_of_operations_finished_in_them() {
    let bench = Bench::new(MIB).stop(time(60)).interval(Duration(20 * MS));
    let done = bench.run(endless(Backend::default(), 1));
    let counted: u64 = done.intervals.iter().flat_map(|i| &i.latencies).map(|(_, h)| h.count()).sum();
    assert_eq!(counted, only(&done).ops);
    assert!(done.intervals.iter().all(|i| i.latencies.iter().all(|(kind, _)| *kind == OpKind::Write)));
}

/// Reads that are really in flight when the warm-up ends; `None` where the directory does not support O_DIRECT.
fn direct_reads(bench: &Bench, depth: u32) -> Option<Stream> {
    if bench.in_memory() {
        return None;
    }
    bench.run(Stream { sync_after: true, ..Stream::new("f", Direction::Write, Bytes(64 * KIB)) });
    let mut stream = endless(Backend::Uring(Uring::default()), depth);
    stream.direction = Direction::Read;
    stream.open.direct = true;
    Some(stream)
}

#[test]
fn operations_in_flight_when_counting_begins_are_not_counted() {
    let bench = Bench::new(MIB);
    let Some(stream) = direct_reads(&bench, 64) else { return };
    let bench = bench.ramp(Duration(50 * MS));
    let done = bench.run(Stream { amount: Amount::Operations(1000), ..stream.clone() });
    assert_eq!((only(&done).ops, done.latency(OpKind::Read).count()), (1000, 1000));
    let how = AdaptiveDepth {
        goal: DepthGoal::Knee { gain_percent: 5.0 },
        window: Duration(5 * MS),
        longest: None,
        once: false,
        goes_on: false,
    };
    let adaptive =
        Stream { adaptive_depth: Some(how), amount: Amount::Operations(500), queue_depth: 16, ..stream };
    let done = bench.run(adaptive);
    assert_eq!(only(&done).ops, 500);
}

#[test]
fn the_log_excludes_the_warm_up() {
    let bench = Bench::new(MIB);
    let Some(stream) = direct_reads(&bench, 8) else { return };
    let stream = Stream { amount: Amount::Operations(50), log_operations: true, ..stream };
    let done = bench.ramp(Duration(50 * MS)).run(stream);
    let log = &only(&done).op_log;
    assert_eq!(log.len(), 50);
    assert_eq!(log.iter().map(|e| e.latency_ns).max().unwrap(), done.latency(OpKind::Read).max_ns());
}

#[test]
fn an_operation_that_waited_through_the_end_of_a_warm_up_is_one_of_the_amount() {
    let rate = fathom_workload::Rate {
        operations_per_s: 500.0,
        arrivals: fathom_workload::Gaps::Even,
        per: fathom_workload::Bytes(0),
        common: false,
    };
    for (backend, depth) in BOTH {
        let mut stream = Stream { amount: Amount::Operations(40), ..endless(backend, depth) };
        stream.pace.rate = Some(rate);
        let done = Bench::new(MIB).ramp(Duration(31 * MS)).run(stream);
        assert_eq!(only(&done).ops, 40, "{backend:?}");
    }
}

#[test]
fn the_rest_of_a_file_is_finished_without_a_gap() {
    for (backend, depth) in BOTH {
        if backend == Backend::Null {
            continue;
        }
        let stop = Stop { operations: Some(100), ..Stop::default() };
        let stream = Stream {
            access: Access::Sequential,
            amount: Amount::Pass,
            when_stopped: fathom_workload::WhenStopped::FinishUncounted,
            timed: fathom_workload::Timed { close: true, ..fathom_workload::Timed::default() },
            open: fathom_workload::Open { truncate: true, ..fathom_workload::Open::default() },
            ..endless(backend, depth)
        };
        let bench = Bench::new(MIB).stop(stop);
        let done = bench.run(stream);
        assert_eq!(only(&done).bytes, 400 * KIB, "{backend:?}");
        assert_eq!(only(&done).uncounted_bytes, MIB - 400 * KIB, "{backend:?}");
        let file = std::fs::read(bench.file()).unwrap();
        assert_eq!(file.len() as u64, MIB);
        assert!(
            file.chunks(4096).all(|record| record.iter().any(|&b| b != 0)),
            "{backend:?}: a hole is left"
        );
    }
}

#[test]
fn the_series_begins_with_the_first_worker_and_loses_nothing() {
    let bench = Bench::new(MIB)
        .workers(2, Isolation::Thread)
        .ramp(Duration(20 * MS))
        .stagger(Duration(60 * MS))
        .interval(Duration(20 * MS))
        .stop(time(80));
    let rate = fathom_workload::Rate {
        operations_per_s: 1000.0,
        arrivals: fathom_workload::Gaps::Even,
        per: fathom_workload::Bytes(0),
        common: false,
    };
    let mut stream = endless(Backend::Null, 1);
    stream.pace.rate = Some(rate);
    let done = bench.run(stream);
    assert_eq!(done.intervals.iter().map(|i| i.ops).sum::<u64>(), done.ops());
    // Never more than both workers together. A stall delays part of an interval, so the margin is wide.
    let first = &done.intervals[0];
    assert!(first.ops < 200, "{first:?}");
}

#[test]
fn an_interrupted_warm_up_has_counted_nothing() {
    // The second worker fails at once because its file is empty, which stops the first in its warm-up.
    let bench = Bench::new(MIB).ramp(Duration(10_000 * MS)).stop(time(10_000));
    let mut missing = Stream::new("f", Direction::Read, Bytes(4 * KIB));
    missing.open.create = true;
    for (backend, depth) in BOTH {
        let done = bench.run_all(vec![endless(backend, depth), missing.clone()]);
        let first = &done.workers[0];
        assert_eq!((first.ops, first.elapsed_ns), (0, 0), "{backend:?}: {first:?}");
        assert!(first.stats.iter().all(|s| !matches!(s.op, OpKind::Write)), "{backend:?}");
    }
}

#[test]
fn a_waiting_worker_does_not_keep_a_common_amount_from_ending() {
    let stop = Stop { operations: Some(10), ..Stop::default() };
    for (backend, depth) in [(Backend::Null, 1), (Backend::Null, 4)] {
        let mut slow = endless(backend, depth);
        slow.pace.rate = Some(fathom_workload::Rate {
            operations_per_s: 0.01,
            arrivals: fathom_workload::Gaps::Even,
            per: fathom_workload::Bytes(0),
            common: false,
        });
        let begun = std::time::Instant::now();
        let done = Bench::new(MIB).stop(stop.clone()).run_all(vec![endless(backend, depth), slow]);
        assert_eq!(done.ops(), 10, "{backend:?}");
        assert!(begun.elapsed().as_secs() < 50, "the slow one's next turn is 100 s away");
    }
}

#[test]
fn workers_that_lock_their_file_do_not_wait_for_each_other_to_sync() {
    let stream = Stream {
        pick: fathom_workload::Pick::One(0),
        lock: fathom_workload::Lock::File,
        sync_after: true,
        ..Stream::new("f", Direction::Write, Bytes(64 * KIB))
    };
    let done = Bench::new(MIB).workers(2, Isolation::Thread).run(stream);
    assert_eq!(done.ops(), 32);
}

#[test]
fn a_common_amount_leaves_no_record_locked() {
    let stream = Stream {
        pick: fathom_workload::Pick::One(0),
        access: Access::Same(0),
        lock: fathom_workload::Lock::Record,
        sync_after: true,
        ..endless(Backend::default(), 1)
    };
    let stop = Stop { operations: Some(100), ..Stop::default() };
    let done = Bench::new(MIB).workers(3, Isolation::Process).stop(stop).run(stream);
    assert_eq!(done.ops(), 100);
}

#[test]
fn a_steady_state_ends_workers_that_ignore_the_others() {
    let steady =
        Steady { round: Duration(5 * MS), range_percent: 1e9, slope_percent: 1e9, ..Steady::default() };
    let stop = Stop { steady: Some(steady), first_done: Some(Default::default()), ..Stop::default() };
    let finite = Stream { amount: Amount::Operations(1), ..endless(Backend::Null, 1) };
    let deaf = Stream { when_stopped: fathom_workload::WhenStopped::Ignore, ..endless(Backend::Null, 1) };
    let done = Bench::new(MIB).stop(stop).run_all(vec![finite, deaf]);
    assert_eq!(done.workers[1].ending, Ending::Stopped);
}

#[test]
fn a_worker_that_fails_in_its_depth_search_is_not_waited_for() {
    let how = AdaptiveDepth {
        goal: DepthGoal::Knee { gain_percent: 5.0 },
        window: Duration(2 * MS),
        longest: None,
        once: false,
        goes_on: false,
    };
    let searching =
        Stream { adaptive_depth: Some(how), ..endless(Backend::Aio { batch: 0, atomic: false }, 4) };
    // Its file is empty: the first read fails, during the search.
    let mut failing = Stream { direction: Direction::Read, ..searching.clone() };
    failing.open.create = true;
    let done = Bench::new(MIB).stop(time(1)).run_all(vec![searching, failing]);
    assert!(matches!(done.workers[1].ending, Ending::Failed(_)), "{:?}", done.workers[1].ending);
}

#[test]
fn drained_operations_end_after_the_time() {
    // An unreachable rate must not change the time limit.
    let rate = fathom_workload::Rate {
        operations_per_s: 1e9,
        arrivals: fathom_workload::Gaps::Even,
        per: fathom_workload::Bytes(0),
        common: false,
    };
    for rate in [None, Some(rate)] {
        let mut stream = endless(Backend::Aio { batch: 0, atomic: false }, 8);
        stream.pace.rate = rate;
        let done = Bench::new(MIB).stop(time(20)).run(stream);
        // The clock rounds to a nanosecond or two.
        assert!(only(&done).elapsed_ns + 5 >= 20 * MS, "{:?}", only(&done).elapsed_ns);
    }
}
