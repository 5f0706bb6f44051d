//! Turns, budgets, weights and idling, scenario by scenario.

use crate::elevator::testing::Bench;
use crate::task::{IoClass, TaskId, TaskInfo};
use crate::{Bio, Nanos, Op};

const FAR: u64 = 50_000_000;

fn serve(bench: &mut Bench, millis: u64) -> u64 {
    let id = bench.start().unwrap();
    let sector = bench.sector(id);
    bench.after(millis).done(id);
    sector
}

/// Two tasks read 512 KiB at a time, each with one request after the other.
fn two_readers(bench: &mut Bench, n: u64) {
    for n in 0..n {
        for task in 0..2 {
            let sector = FAR * u64::from(task) + 2048 * n;
            bench.submit(Bio::new(Op::Read, sector, 1024).by(TaskId(task)));
        }
    }
}

#[test]
fn a_turn_lasts_as_long_as_its_budget() {
    let mut bench = Bench::new("bfq-lite,low_latency=0,max_budget=16384");
    two_readers(&mut bench, 60);
    let mut order = Vec::new();
    for _ in 0..48 {
        order.push(serve(&mut bench, 1) < FAR);
    }
    // Budgets of two thirds of 16384 sectors, then of all.
    let runs: Vec<usize> = order.chunk_by(|a, b| a == b).map(<[bool]>::len).collect();
    assert_eq!(runs, [10, 10, 16, 12]);
    assert_eq!(bench.counter("exhausted"), 3);
}

#[test]
fn a_turn_lasts_no_longer_than_its_time() {
    let mut bench = Bench::new("bfq-lite,low_latency=0,max_budget=16384");
    two_readers(&mut bench, 60);
    let first = (0..60).take_while(|_| serve(&mut bench, 31) < FAR).count();
    assert_eq!(first, 4, "124 ms");
    assert_eq!(bench.counter("timeouts"), 1);
}

#[test]
fn service_is_shared_by_weight() {
    let mut bench = Bench::new("bfq-lite,low_latency=0,max_budget=4096");
    bench.queue.describe(TaskId(0), TaskInfo { level: 0, ..TaskInfo::alone(TaskId(0)) });
    bench.queue.describe(TaskId(1), TaskInfo { level: 4, ..TaskInfo::alone(TaskId(1)) });
    two_readers(&mut bench, 400);
    let own = (0..300).filter(|_| serve(&mut bench, 1) < FAR).count();
    assert!((195..=205).contains(&own), "80 to 40: {own} of 300");
}

#[test]
fn the_disk_is_kept_idle_for_the_queue_whose_turn_it_is() {
    let mut bench = Bench::new("bfq-lite,low_latency=0");
    bench.read_by(0, 1000);
    bench.read_by(1, FAR);
    assert_eq!(serve(&mut bench, 5), 1000);
    assert_eq!(bench.not_before(), Some(Nanos::from_millis(13)));
    bench.after(1).read_by(0, 1008);
    assert_eq!(serve(&mut bench, 5), 1008);
    assert!(bench.not_before().is_some());
    bench.after(8);
    assert_eq!(serve(&mut bench, 5), FAR);
    let mut bench = Bench::new("bfq-lite,slice_idle=0");
    bench.read_by(0, 1000);
    bench.read_by(1, FAR);
    assert_eq!(bench.order(), [1000, FAR]);
}

#[test]
fn inside_a_queue_the_nearest_goes_unless_the_oldest_is_due() {
    let mut bench = Bench::new("bfq-lite");
    for sector in [100_000, 900_000, 200_000, 110_000] {
        bench.read(sector);
    }
    assert_eq!(bench.serve_n(2), [100_000, 110_000]);
    assert_eq!(bench.serve(), Some(200_000));
    bench.read(210_000);
    assert_eq!(bench.order(), [210_000, 900_000]);
    let mut bench = Bench::new("bfq-lite,slice_idle=0");
    for sector in [900_000, 100, 200] {
        bench.read(sector);
    }
    bench.after(125);
    assert_eq!(bench.order(), [100, 900_000, 200], "ages are looked at when the first of a turn has gone");
}

#[test]
fn a_task_may_be_idle_for_longer_than_a_trace_can_last() {
    const YEARS_200: u64 = 200 * 366 * 24 * 3600 * 1000;
    let mut bench = Bench::new("bfq-lite");
    bench.read(1000);
    assert_eq!(serve(&mut bench, 1), 1000);
    bench.after(YEARS_200).read(9000);
    assert_eq!(serve(&mut bench, 1), 9000);
}

#[test]
fn classes_go_in_their_order() {
    let mut bench = Bench::new("bfq-lite,slice_idle=0");
    let described = |class| TaskInfo { class, ..TaskInfo::alone(TaskId(0)) };
    bench.queue.describe(TaskId(1), described(IoClass::RealTime));
    bench.queue.describe(TaskId(2), described(IoClass::Idle));
    for task in [2, 0, 1] {
        bench.read_by(task, 1000 * u64::from(task) + 10_000);
    }
    assert_eq!(bench.order(), [11_000, 10_000, 12_000]);
}

/// Task 0 reads until its raising ends; then task 1 arrives.
fn a_reader_and_a_newcomer(options: &str) -> Bench {
    let mut bench = Bench::new(&format!("bfq-lite{options}"));
    for n in 0..200 {
        bench.submit(Bio::new(Op::Read, 2048 * n, 1024));
    }
    (0..130).for_each(|_| assert!(serve(&mut bench, 1) < FAR));
    for n in 0..80 {
        bench.submit(Bio::new(Op::Read, FAR + 2048 * n, 1024).by(TaskId(1)));
    }
    bench
}

#[test]
fn a_new_queue_is_raised_and_goes_first() {
    let mut bench = a_reader_and_a_newcomer("");
    assert_eq!(bench.counter("preempted"), 1, "the old one is no longer raised after 120000 sectors");
    let order: Vec<bool> = (0..60).map(|_| serve(&mut bench, 1) >= FAR).collect();
    assert!(order[0]);
    // Once the old task has had the turn it was owed, its weight of 40 against 1200 shows.
    let own = order.iter().filter(|&&newcomer| newcomer).count();
    assert!(own >= 40, "{own} of 60: {order:?}");
    let mut bench = a_reader_and_a_newcomer(",low_latency=0");
    assert_eq!(bench.counter("preempted"), 0);
    assert!(serve(&mut bench, 1) < FAR);
}

#[test]
fn raised_queues_take_turns_quickly() {
    let mut bench = Bench::new("bfq-lite");
    two_readers(&mut bench, 60);
    let order: Vec<bool> = (0..40).map(|_| serve(&mut bench, 1) < FAR).collect();
    // 1024 sectors are one request. The length of a new queue's turns follows from the arrival of its requests.
    let runs: Vec<usize> = order.chunk_by(|a, b| a == b).map(<[bool]>::len).collect();
    assert!(runs.iter().all(|&run| run == 1), "{runs:?}");
}

#[test]
fn raising_ends_after_its_time() {
    // 14000 * 7000 / 9333 ms at the rate assumed for a disk; a pause of 2 s would raise it again.
    let mut bench = Bench::new("bfq-lite");
    for n in 0..10 {
        bench.read(1000 + 8 * n);
        assert_eq!(bench.serve(), Some(1000 + 8 * n));
        let raised = bench.not_before().map(|at| at.0 - bench.now.0);
        assert_eq!(raised, (n < 9).then_some(20_000_000), "{n}");
        bench.after(1300);
    }
}

#[test]
fn who_seeks_is_charged_for_time() {
    let mut bench = Bench::new("bfq-lite,low_latency=0");
    for n in 0..40 {
        bench.read_by(0, 1_000_000 * (n % 7) + 1000 * n);
        bench.submit(Bio::new(Op::Read, FAR + 520 * n, 512).by(TaskId(1)));
    }
    // 8 sectors in 6 ms against 512 in 1 ms: the first turn ends after 124 ms and is charged as 124 ms of the other.
    let order: Vec<bool> = (0..60)
        .map(|_| {
            let id = bench.start().unwrap();
            let far = bench.sector(id) >= FAR;
            bench.after(if far { 1 } else { 6 }).done(id);
            far
        })
        .collect();
    let runs: Vec<usize> = order.chunk_by(|a, b| a == b).map(<[bool]>::len).collect();
    assert_eq!(runs[0], 21, "{runs:?}");
    assert!(runs[1] > 30, "{runs:?}");
}

#[test]
fn asynchronous_requests_cost_three_times_as_much() {
    let mut bench = Bench::new("bfq-lite,low_latency=0,max_budget=4096");
    for n in 0..60 {
        bench.submit(Bio::new(Op::Write, FAR + 520 * n, 512));
    }
    two_readers(&mut bench, 20);
    let first = (0..20).take_while(|_| serve(&mut bench, 1) >= FAR).count();
    assert_eq!(first, 7, "10922 of 3 times 512 each");
}

#[test]
fn who_comes_back_in_time_goes_on_where_it_was() {
    let mut bench = Bench::new("bfq-lite,low_latency=0");
    bench.read_by(0, 1000);
    assert_eq!(serve(&mut bench, 1), 1000);
    (0..40).for_each(|n| bench.read_by(1, FAR + 8 * n));
    bench.after(8);
    assert!(serve(&mut bench, 1) >= FAR, "task 0 was waited for in vain");
    bench.read_by(0, 1008);
    assert_eq!(bench.counter("preempted"), 1);
    assert_eq!(serve(&mut bench, 1), 1008);
}
