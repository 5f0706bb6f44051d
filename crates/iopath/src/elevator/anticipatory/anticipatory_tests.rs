//! Scenarios for each condition of anticipation and for the batches. One tick is a millisecond.

use super::*;
use crate::bio::Op;
use crate::elevator::testing::Bench;
use crate::queue::{Queue, Rules, Submitted};

const FAR: u64 = 50_000_000;

/// Task 0 has read a few adjacent blocks with short think times, so the elevator will wait for it. Returns the end of its last read.
fn reader(elevator: &str) -> (Bench, u64) {
    let mut bench = Bench::new(elevator);
    let mut sector = 1_000_000;
    for _ in 0..8 {
        bench.read(sector);
        let id = bench.start().unwrap();
        bench.after(5).done(id);
        bench.after(1);
        sector += 8;
    }
    (bench, sector)
}

#[test]
fn it_waits_for_the_reader_and_not_for_long() {
    let (mut bench, end) = reader("as");
    let began = bench.now;
    bench.read_by(1, FAR);
    // Its last completion was a millisecond ago: five are left.
    assert_eq!(bench.not_before(), Some(began + Nanos::from_millis(5)));
    bench.after(5);
    assert_eq!(bench.serve(), Some(FAR));
    assert_eq!((bench.counter("waits"), bench.counter("timeouts"), bench.counter("hits")), (1, 1, 0));
    let (mut bench, _) = reader("as");
    bench.read_by(1, FAR);
    assert!(bench.not_before().is_some());
    bench.after(2).read(end);
    assert_eq!(bench.order()[0], end, "what was waited for ends the wait at once");
    assert_eq!((bench.counter("hits"), bench.counter("timeouts")), (1, 0));
}

#[test]
fn it_does_not_wait_when_told_not_to() {
    let (mut bench, _) = reader("as,antic_expire=0");
    bench.read_by(1, FAR);
    assert_eq!(bench.serve(), Some(FAR));
}

#[test]
fn what_is_near_goes_and_near_grows_with_the_wait() {
    for (offset, goes) in [(60, true), (70, false)] {
        let (mut bench, end) = reader("as");
        bench.read_by(1, end + offset);
        assert_eq!(bench.start().is_some(), goes, "{offset}");
    }
    let (mut bench, end) = reader("as");
    assert!(end > 33);
    bench.read_by(1, end - 33);
    assert!(bench.not_before().is_some(), "backwards only half as far");
    // Three milliseconds after the completion, 256 sectors count as near: the wait is over, and the nearest request goes.
    bench.after(2).read_by(2, end + 250);
    assert_eq!(bench.serve(), Some(end - 33));
}

#[test]
fn a_seeky_reader_is_not_preferred_to_what_is_nearer() {
    let mut bench = Bench::new("as");
    for n in 0..40u64 {
        bench.read(n % 2 * 4_000_000);
        let id = bench.start().unwrap();
        bench.done(id);
        bench.after(1);
    }
    bench.read_by(1, 5_000_000);
    assert_eq!(bench.serve(), Some(5_000_000));
}

#[test]
fn a_thinker_and_who_exited_are_not_waited_for() {
    let mut bench = Bench::new("as");
    for n in 0..40u64 {
        bench.read(8 * n);
        let id = bench.start().unwrap();
        bench.done(id);
        bench.after(10);
    }
    bench.read(320);
    let id = bench.start().unwrap();
    bench.done(id);
    bench.read_by(1, FAR);
    assert_eq!(bench.serve(), Some(FAR), "mean think time 10 ms");
    let (mut bench, _) = reader("as");
    let now = bench.now;
    bench.queue.task_exited(now, TaskId(0));
    bench.read_by(1, FAR);
    assert_eq!(bench.serve(), Some(FAR));
    // Another task starts with the same id.
    let (mut bench, _) = reader("as");
    let now = bench.now;
    bench.queue.task_exited(now, TaskId(0));
    bench.queue.describe(TaskId(0), crate::task::TaskInfo::alone(TaskId(0)));
    bench.read_by(1, FAR);
    assert_eq!(bench.serve(), None, "it is waited for");
}

#[test]
fn who_has_more_under_way_is_not_waited_for() {
    let mut bench = Bench::new("as");
    bench.read(1000);
    bench.read(FAR);
    assert_eq!(bench.serve(), Some(1000));
    bench.read_by(1, 2 * FAR);
    assert_eq!(bench.serve(), Some(FAR), "its own request");
}

#[test]
fn writes_are_not_waited_behind() {
    let (mut bench, _) = reader("as");
    bench.after(20).write(FAR);
    assert_eq!(bench.serve(), Some(FAR));
    bench.write(2 * FAR);
    assert_eq!(bench.serve(), Some(2 * FAR));
}

#[test]
fn batches_take_turns_and_wait_for_each_other() {
    let mut bench = Bench::new("as,antic_expire=0");
    for n in 0..200 {
        bench.read(FAR + 1000 * n);
        bench.write(1000 * n);
    }
    let mut kinds = String::new();
    for _ in 0..400 {
        let Some(id) = bench.start() else { break };
        let read = bench.queue.request(id).unwrap().op().is_read();
        kinds.push(if read { 'r' } else { 'w' });
        bench.after(5).done(id);
    }
    assert_eq!(kinds.len(), 400);
    let runs: Vec<usize> = runs_of(&kinds);
    // 500 ms of reads at 5 ms, with the one that starts the clock; then writes: the budget of 12 has been doubled by the first
    // synchronous batch, before which no write was slow.
    assert_eq!(runs, [102, 24, 98, 176]);
}

#[test]
fn the_write_budget_follows_the_time_that_writes_take() {
    let adapted = |took: u64, left: u64, idled: bool| {
        let mut elevator =
            Anticipatory { batch_expires: 1000, write_left: left, write_idled: idled, ..Default::default() };
        assert_eq!(elevator.write_budget, 12);
        elevator.adapt_write_budget(1000 + took - 125);
        elevator.write_budget
    };
    assert_eq!([adapted(376, 0, false), adapted(375, 0, false), adapted(126, 0, false)], [6, 11, 11]);
    assert_eq!([adapted(125, 0, false), adapted(42, 0, false), adapted(41, 0, false)], [12, 13, 24]);
    assert_eq!(
        [adapted(41, 1, false), adapted(376, 0, true)],
        [12, 12],
        "not its whole budget; nobody competed"
    );
}

fn runs_of(text: &str) -> Vec<usize> {
    let mut runs = vec![];
    let mut last = None;
    for letter in text.chars() {
        if last == Some(letter) {
            *runs.last_mut().unwrap() += 1;
        } else {
            runs.push(1);
        }
        last = Some(letter);
    }
    runs
}

#[test]
fn a_change_of_direction_waits_for_the_device() {
    let mut bench = Bench::new("as,antic_expire=0");
    bench.write(1000);
    let write = bench.start().unwrap();
    bench.read(FAR);
    bench.read(2 * FAR);
    assert_eq!(bench.start(), None);
    bench.done(write);
    assert_eq!(bench.serve(), Some(FAR), "the oldest first");
}

#[test]
fn ages_are_looked_at_once_per_expiry() {
    let mut bench = Bench::new("as,antic_expire=0");
    bench.read(FAR);
    bench.serve();
    for n in 0..20 {
        bench.read(n * 1000);
    }
    for n in 0..20 {
        bench.read(2 * FAR + n * 1000);
    }
    bench.after(200);
    let order = bench.serve_n(3);
    assert_eq!(order, [0, 1000, 2000], "the oldest, and on from there");
    assert_eq!(bench.counter("expired"), 1);
}

#[test]
fn the_one_that_is_waited_for_gets_its_request() {
    let (mut bench, end) = reader("as");
    let limits = *bench.queue.rules();
    let rules = Rules { limits: limits.limits, ..Rules::linux26(limits.limits).with_requests(4).unplugged() };
    bench.queue = Queue::new(bench.queue.elevator().clone(), rules);
    for n in 0..7 {
        bench.read_by(1, FAR + 1000 * n);
        if n == 0 {
            assert!(bench.not_before().is_some());
        }
    }
    let read = |task: u16, sector| Bio::new(Op::Read, sector, 8).by(TaskId(task));
    assert_eq!(bench.submit(read(2, 2 * FAR)), Submitted::Full);
    assert!(matches!(bench.submit(read(0, end)), Submitted::Queued(_) | Submitted::Full));
}
