//! Slices, idling and preemption, scenario by scenario.

use crate::Nanos;
use crate::elevator::testing::Bench;
use crate::task::{IoClass, TaskId, TaskInfo};

const FAR: u64 = 50_000_000;

/// Serves one request that takes `millis` ms.
fn serve(bench: &mut Bench, millis: u64) -> u64 {
    let id = bench.start().unwrap();
    let sector = bench.sector(id);
    bench.after(millis).done(id);
    sector
}

#[test]
fn a_task_has_the_disk_for_its_slice() {
    let mut bench = Bench::new("cfq3");
    for n in 0..60 {
        bench.read_by(0, 1000 * n);
        bench.read_by(1, FAR + 1000 * n);
    }
    let mut order = Vec::new();
    for _ in 0..60 {
        order.push(serve(&mut bench, 5) < FAR);
    }
    // The slice begins with its first completion and is checked before each request: 1 + 100/5.
    let first = order.iter().take_while(|&&own| own).count();
    assert_eq!(first, 21);
    assert_eq!(order[first..].iter().take_while(|&&own| !own).count(), 21);
}

#[test]
fn priority_lengthens_the_slice() {
    let mut bench = Bench::new("cfq3");
    bench.queue.describe(TaskId(0), TaskInfo { level: 0, ..TaskInfo::alone(TaskId(0)) });
    for n in 0..60 {
        bench.read_by(0, 1000 * n);
        bench.read_by(1, FAR + 1000 * n);
    }
    let first = (0..60).take_while(|_| serve(&mut bench, 5) < FAR).count();
    assert_eq!(first, 1 + 180 / 5);
}

#[test]
fn the_disk_is_kept_idle_for_the_task_whose_turn_it_is() {
    let mut bench = Bench::new("cfq3");
    bench.read_by(0, 1000);
    bench.read_by(1, FAR);
    assert_eq!(serve(&mut bench, 5), 1000);
    assert_eq!(bench.not_before(), Some(Nanos::from_millis(13)));
    bench.after(2).read_by(0, 1008);
    assert_eq!(serve(&mut bench, 5), 1008);
    assert!(bench.not_before().is_some());
    bench.after(8);
    assert_eq!(serve(&mut bench, 5), FAR, "it has waited long enough");
    assert_eq!((bench.counter("idles"), bench.counter("idle_hits")), (3, 1));
}

#[test]
fn nobody_waits_for_a_thinker_or_a_seeker() {
    for (think, jump) in [(20, 8), (1, 1_000_000)] {
        let mut bench = Bench::new("cfq3");
        for n in 0..20u64 {
            bench.read_by(0, n * jump);
            serve(&mut bench, 1);
            bench.after(think);
        }
        bench.read_by(0, 20 * jump);
        serve(&mut bench, 1);
        bench.read_by(1, FAR);
        assert_eq!(bench.serve(), Some(FAR), "think {think} jump {jump}");
    }
    let mut bench = Bench::new("cfq3,slice_idle=0");
    bench.read_by(0, 1000);
    bench.read_by(1, FAR);
    assert_eq!(bench.order(), [1000, FAR]);
}

#[test]
fn synchronous_requests_preempt_asynchronous_ones() {
    let mut bench = Bench::new("cfq3");
    for n in 0..10 {
        bench.write(FAR + 1000 * n);
    }
    assert_eq!(serve(&mut bench, 1), FAR);
    bench.read_by(1, 1000);
    assert_eq!(serve(&mut bench, 1), 1000);
    assert_eq!(bench.counter("preempted"), 1);
}

#[test]
fn while_the_disk_is_idle_a_close_request_goes() {
    let mut bench = Bench::new("cfq3");
    bench.read_by(0, 1000);
    serve(&mut bench, 1);
    bench.read_by(1, FAR);
    assert!(bench.not_before().is_some());
    bench.read_by(2, 2000);
    assert_eq!(serve(&mut bench, 1), 2000);
}

#[test]
fn an_asynchronous_slice_is_a_number_of_requests() {
    let mut bench = Bench::new("cfq3,slice_idle=0");
    bench.queue.describe(TaskId(1), TaskInfo { level: 5, ..TaskInfo::alone(TaskId(1)) });
    for n in 0..40 {
        bench.write_by(0, 1000 * n);
        bench.write_by(1, FAR + 1000 * n);
    }
    let order = bench.order();
    assert_eq!(order.iter().take_while(|&&sector| sector < FAR).count(), 16);
    assert_eq!(order[16..].iter().take_while(|&&sector| sector >= FAR).count(), 12);
}

#[test]
fn classes_go_in_their_order() {
    let mut bench = Bench::new("cfq3,slice_idle=0");
    let described = |class| TaskInfo { class, ..TaskInfo::alone(TaskId(0)) };
    bench.queue.describe(TaskId(1), described(IoClass::RealTime));
    bench.queue.describe(TaskId(2), described(IoClass::Idle));
    for task in [2, 0, 1] {
        bench.read_by(task, 1000 * u64::from(task) + 10_000);
    }
    assert_eq!(bench.order(), [11_000, 10_000, 12_000]);
}

#[test]
fn a_queue_has_at_most_its_quantum_with_the_device() {
    let mut bench = Bench::new("cfq3");
    for n in 0..10 {
        bench.read_by(0, 1000 * n);
    }
    bench.read_by(1, FAR);
    assert_eq!((0..10).map_while(|_| bench.start()).count(), 4);
}

#[test]
fn tasks_do_not_merge_with_each_other() {
    let mut bench = Bench::new("cfq3");
    bench.read_by(0, 1000);
    bench.read_by(1, 1008);
    bench.read_by(0, 1008);
    assert_eq!(bench.merged(), (1, 0));
}

#[test]
fn who_seeks_is_waited_for_a_little_before_2_6_30_and_not_at_all_later() {
    for (name, idles, longest_ms) in [("cfq@2.6.18", true, 2), ("cfq@3.10", false, 0)] {
        let mut bench = Bench::new(name);
        // Far apart: after some requests the mean distance is trusted.
        for n in 0..12u64 {
            bench.read_by(0, 1_000_000 * (n * 7 % 12));
            let id = bench.start().unwrap();
            bench.after(1).done(id);
        }
        let before = bench.counter("idles");
        bench.read_by(0, 50_000_000);
        bench.read_by(1, 1000);
        let id = bench.start().unwrap();
        bench.after(1).done(id);
        assert_eq!(bench.counter("idles") > before, idles, "{name}");
        if idles {
            assert_eq!(bench.start(), None, "the disk is kept idle");
            bench.after(longest_ms);
        }
        assert!(bench.start().is_some(), "{name}");
    }
}
