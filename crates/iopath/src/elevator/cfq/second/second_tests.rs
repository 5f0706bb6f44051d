//! Passes, used service and limits of the second CFQ, scenario by scenario.

use crate::elevator::testing::Bench;

#[test]
fn each_process_gives_one_request_per_pass_nearest_to_the_head() {
    let mut bench = Bench::new("cfq2");
    for n in 0..3 {
        bench.read_by(0, 1000 + 100 * n);
        bench.read_by(1, 9000 + 100 * n);
    }
    // Equal service: the process that became busy last is first. The insert into the dispatch list compares with the end of the request
    // being inserted, so it keeps the order of the passes, not of the sectors.
    assert_eq!(bench.serve_n(4), [9000, 1000, 9100, 1100]);
    assert_eq!(bench.order(), [9200, 1200]);
}

#[test]
fn who_has_used_the_device_longer_waits() {
    let mut bench = Bench::new("cfq2,quantum=1");
    bench.read_by(0, 1000);
    let id = bench.start().unwrap();
    bench.after(50).done(id);
    bench.read_by(1, 9000);
    bench.read_by(0, 2000);
    // Among equals the latest would have been first.
    assert_eq!(bench.order(), [9000, 2000]);
}

#[test]
fn used_service_fades_within_seconds() {
    let mut bench = Bench::new("cfq2,quantum=1");
    for (task, millis) in [(0, 50), (1, 8)] {
        bench.read_by(task, 1000 + 10_000 * u64::from(task));
        let id = bench.start().unwrap();
        bench.after(millis).done(id);
    }
    bench.after(2000);
    bench.read_by(1, 9000);
    bench.read_by(0, 2000);
    assert_eq!(bench.order(), [9000, 2000], "50/8 jiffies are still more than 8/8");
    let mut bench = Bench::new("cfq2,quantum=1");
    bench.read_by(0, 1000);
    let id = bench.start().unwrap();
    bench.after(7).done(id);
    bench.after(2000).read_by(1, 9000);
    bench.read_by(0, 2000);
    assert_eq!(bench.order(), [2000, 9000], "7/8 of a jiffy is none");
}

#[test]
fn only_those_with_nothing_under_way_in_the_first_pass() {
    let mut bench = Bench::new("cfq2,quantum=1");
    bench.read_by(0, 1000);
    let first = bench.start().unwrap();
    bench.read_by(0, 1100);
    bench.read_by(1, 9000);
    assert_eq!(bench.serve(), Some(9000));
    assert_eq!(bench.serve(), Some(1100), "nobody else");
    bench.done(first);
}

#[test]
fn asynchronous_requests_expire_first() {
    let mut bench = Bench::new("cfq2,quantum=1");
    bench.write(5_000_000);
    bench.after(400);
    bench.read(50_000);
    bench.read(60_000);
    assert_eq!((bench.serve(), bench.counter("expired")), (Some(50_000), 0), "the write is 400 ms old");
    bench.after(200);
    assert_eq!((bench.serve(), bench.counter("expired")), (Some(5_000_000), 1));
    assert_eq!((bench.serve(), bench.counter("expired")), (Some(60_000), 1));
    let mut bench = Bench::new("cfq2,quantum=1");
    bench.read(50_000);
    bench.serve();
    bench.write(10);
    bench.read(50_100);
    bench.after(501);
    assert_eq!(bench.serve(), Some(10), "a write after 500 ms");
    bench.read(50_200);
    bench.read(5);
    bench.after(501);
    assert_eq!(bench.serve(), Some(5));
}

#[test]
fn a_process_always_has_eight_requests_and_at_most_64() {
    use crate::elevator::by_name;
    use crate::queue::{Queue, Rules, Submitted};
    use crate::{Bio, Limits, Nanos, Op};
    let mut queue = Queue::new(by_name("cfq2").unwrap(), Rules::linux26(Limits::IDE_26).unplugged());
    let mut taken = 0;
    for n in 0..200 {
        taken += usize::from(matches!(
            queue.submit(Nanos::ZERO, Bio::new(Op::Read, 100 * n, 8)),
            Submitted::Queued(_)
        ));
    }
    assert_eq!(taken, 64);
}
