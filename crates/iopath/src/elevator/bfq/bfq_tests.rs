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

/// Two tasks read 512 KiB at a time, one request after the other of each.
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
    let mut bench = Bench::new("bfq-lite,max_budget=16384");
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
    let mut bench = Bench::new("bfq-lite,max_budget=16384");
    two_readers(&mut bench, 60);
    let first = (0..60).take_while(|_| serve(&mut bench, 31) < FAR).count();
    assert_eq!(first, 4, "124 ms");
    assert_eq!(bench.counter("timeouts"), 1);
}

#[test]
fn service_is_shared_by_weight() {
    let mut bench = Bench::new("bfq-lite,max_budget=4096");
    bench.queue.describe(TaskId(0), TaskInfo { level: 0, ..TaskInfo::alone(TaskId(0)) });
    bench.queue.describe(TaskId(1), TaskInfo { level: 4, ..TaskInfo::alone(TaskId(1)) });
    two_readers(&mut bench, 400);
    let own = (0..300).filter(|_| serve(&mut bench, 1) < FAR).count();
    assert!((195..=205).contains(&own), "80 to 40: {own} of 300");
}

#[test]
fn the_disk_is_kept_idle_for_the_queue_whose_turn_it_is() {
    let mut bench = Bench::new("bfq-lite");
    bench.read_by(0, 1000);
    bench.read_by(1, FAR);
    assert_eq!(serve(&mut bench, 5), 1000);
    assert_eq!(bench.not_before(), Some(Nanos::from_millis(13)));
    bench.after(2).read_by(0, 1008);
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
