//! The queue's own rules, tested with the simplest elevator.

use super::*;
use crate::elevator;
use crate::limits::Limits;

fn queue(rules: Rules) -> Queue {
    Queue::new(elevator::by_name("noop").unwrap(), rules)
}

fn read(sector: u64) -> Bio {
    Bio::new(Op::Read, sector, 8)
}

fn write(sector: u64) -> Bio {
    Bio::new(Op::Write, sector, 8)
}

fn ms(n: u64) -> Nanos {
    Nanos::from_millis(n)
}

fn sectors(queue: &mut Queue, now: Nanos) -> Vec<(u64, u32)> {
    let mut seen = Vec::new();
    while let Next::Request(id) = queue.next(now, 1) {
        let request = queue.request(id).unwrap();
        seen.push((request.sector(), request.sectors()));
        assert!(queue.completed(now, id, |_| {}));
    }
    seen
}

#[test]
fn bios_merge_and_requests_join() {
    let mut queue = queue(Rules::bare(Limits::CCISS));
    let Submitted::Queued(first) = queue.submit(ms(0), read(0)) else { panic!() };
    let Submitted::Queued(second) = queue.submit(ms(0), read(16)) else { panic!() };
    let merged = queue.submit(ms(0), read(8));
    assert_eq!(merged, Submitted::Merged { request: first, kind: MergeKind::Back });
    assert!(queue.request(second).is_none(), "joined");
    assert!(matches!(queue.submit(ms(0), write(24)), Submitted::Queued(_)), "another direction");
    assert_eq!(sectors(&mut queue, ms(0)), [(0, 24), (24, 8)]);
    let counts = *queue.merges();
    assert_eq!((counts.back, counts.front, counts.joined, counts.bios()), (1, 0, 1, 1));
}

#[test]
fn what_the_device_has_does_not_grow_and_completes_once() {
    let mut queue = queue(Rules::bare(Limits::CCISS));
    queue.submit(ms(0), read(0));
    let Next::Request(id) = queue.next(ms(0), 1) else { panic!() };
    assert!(matches!(queue.submit(ms(0), read(8)), Submitted::Queued(_)));
    assert_eq!(queue.in_flight(), 1);
    let mut bios = Vec::new();
    assert!(queue.completed(ms(1), id, |bio| bios.push(bio.sector())));
    assert!(!queue.completed(ms(1), id, |bio| bios.push(bio.sector())));
    assert_eq!(bios, [0]);
}

#[test]
fn what_is_too_long_is_refused() {
    let mut queue = queue(Rules::bare(Limits::CCISS));
    assert_eq!(queue.submit(ms(0), Bio::new(Op::Read, 0, 513)), Submitted::TooLarge);
    assert_eq!(queue.submit(ms(0), Bio::new(Op::Read, 0, 0)), Submitted::TooLarge);
    let scattered = read(0).memory(crate::PageSpan::scattered(32));
    assert_eq!(queue.submit(ms(0), scattered), Submitted::TooLarge);
}

#[test]
fn the_plug_of_26_opens_by_time_by_number_or_when_someone_waits() {
    let mut queue = queue(Rules::linux26(Limits::IDE_26));
    queue.submit(ms(0), read(0));
    assert_eq!(queue.next(ms(1), 1), Next::NotBefore(ms(3)));
    let Next::Request(id) = queue.next(ms(3), 1) else { panic!() };
    queue.submit(ms(3), read(5000));
    assert!(!queue.is_plugged(), "a disk that is busy is not plugged");
    queue.completed(ms(4), id, |_| {});
    assert_eq!(sectors(&mut queue, ms(4)), [(5000, 8)]);
    for n in 0..4 {
        assert_eq!(queue.next(ms(4), 1), if n == 0 { Next::Nothing } else { Next::NotBefore(ms(7)) });
        queue.submit(ms(4), read(100 * n));
    }
    assert!(matches!(queue.next(ms(4), 1), Next::Request(_)));
    assert_eq!(sectors(&mut queue, ms(4)).len(), 3);
    queue.submit(ms(4), read(0));
    queue.unplug(ms(4));
    assert_eq!(sectors(&mut queue, ms(4)).len(), 1);
}

#[test]
fn the_plug_of_24_waits_for_someone_who_waits() {
    let mut queue = queue(Rules::linux24(Limits::IDE_24));
    for n in 0..20 {
        queue.submit(ms(n), read(100 * n));
    }
    assert_eq!(queue.next(Nanos::from_secs(100), 1), Next::Nothing);
    assert!(queue.is_plugged());
    queue.unplug(ms(0));
    assert_eq!(sectors(&mut queue, Nanos::from_secs(100)).len(), 20);
}

#[test]
fn todays_plug_is_the_tasks() {
    let mut queue = queue(Rules::today(Limits::LOOP_618, 128));
    let task = TaskId(3);
    queue.start_plug(task);
    for n in 0..3 {
        queue.submit(ms(0), read(100 * n).by(task));
        queue.submit(ms(0), read(100 * n + 8).by(task));
    }
    assert_eq!(queue.next(ms(0), 1), Next::Nothing);
    queue.submit(ms(0), read(500).by(TaskId(4)));
    assert_eq!(sectors(&mut queue, ms(0)), [(500, 8)]);
    queue.finish_plug(ms(0), task);
    assert_eq!(sectors(&mut queue, ms(0)), [(0, 16), (100, 16), (200, 16)]);
    assert_eq!(queue.merges().plug_back, 3);
    queue.submit(ms(0), read(0).by(task));
    assert_eq!(sectors(&mut queue, ms(0)).len(), 1, "the plug is gone");
}

#[test]
fn a_tasks_plug_holds_32_and_hands_over_behind_a_long_one() {
    let mut queue = queue(Rules::today(Limits::LOOP_618, 128));
    queue.start_plug(TaskId(0));
    for n in 0..33 {
        queue.submit(ms(0), read(100 * n));
    }
    assert_eq!(sectors(&mut queue, ms(0)).len(), 32);
    queue.submit(ms(0), Bio::new(Op::Read, 10_000, 256));
    assert_eq!(sectors(&mut queue, ms(0)).len(), 0);
    queue.submit(ms(0), read(20_000));
    assert_eq!(sectors(&mut queue, ms(0)), [(3200, 8), (10_000, 256)]);
}

#[test]
fn a_full_pool_says_so_and_hands_the_plug_over() {
    let mut queue = queue(Rules::today(Limits::LOOP_618, 2));
    queue.start_plug(TaskId(0));
    for n in 0..4 {
        assert!(matches!(queue.submit(ms(0), read(100 * n)), Submitted::Queued(_)));
    }
    assert_eq!(queue.submit(ms(0), read(900)), Submitted::Full);
    assert!(!queue.has_room(Op::Read));
    assert!(matches!(queue.submit(ms(0), read(8)), Submitted::Merged { .. }), "merging needs no room");
    assert_eq!(sectors(&mut queue, ms(0)).len(), 4);
    assert!(queue.has_room(Op::Read));
}

#[test]
fn a_request_picked_before_a_tag_is_free_can_no_longer_grow() {
    let mut queue = queue(Rules::today(Limits::LOOP_618, 128));
    queue.submit(ms(0), read(0));
    assert_eq!(queue.next(ms(0), 0), Next::Nothing);
    assert!(matches!(queue.submit(ms(0), read(8)), Submitted::Queued(_)));
    let mut seen = Snapshot::default();
    queue.snapshot(&mut seen);
    assert!(seen.parked && seen.waiting.len() == 1 && seen.waiting[0].sector == 8);
    assert_eq!(sectors(&mut queue, ms(0)), [(0, 8), (8, 8)]);
    let mut ide = self::queue(Rules::bare(Limits::IDE_26));
    ide.submit(ms(0), read(0));
    assert_eq!(ide.next(ms(0), 0), Next::Nothing);
    assert!(matches!(ide.submit(ms(0), read(8)), Submitted::Merged { .. }), "IDE does not pick early");
}

#[test]
fn a_request_that_is_joined_as_it_enters_has_the_name_of_the_one_it_joined() {
    let limits = Limits { max_sectors: 24, ..Limits::CCISS };
    let mut queue = Queue::new(elevator::by_name("mq-deadline").unwrap(), Rules::bare(limits));
    // The last-merge hint, which the bio between the two would make too long.
    queue.submit(ms(0), Bio::new(Op::Read, 100, 20));
    let Submitted::Queued(lower) = queue.submit(ms(0), read(84)) else { panic!() };
    let between = queue.submit(ms(0), read(92));
    assert_eq!(between, Submitted::Merged { request: lower, kind: MergeKind::Back });
    assert_eq!((queue.merges().refused, queue.merges().joined), (1, 1));
}

#[test]
fn a_trace_is_followed_whatever_the_elevator_would_do() {
    let mut queue = Queue::new(elevator::by_name("mq-deadline").unwrap(), Rules::bare(Limits::CCISS));
    let ids: Vec<RequestId> = [500, 100, 300]
        .map(|sector| match queue.submit(ms(0), read(sector)) {
            Submitted::Queued(id) => id,
            other => panic!("{other:?}"),
        })
        .to_vec();
    assert_eq!(queue.clone().next(ms(0), 1), Next::Request(ids[1]));
    assert!(queue.follow(ms(0), ids[2]) && !queue.follow(ms(0), ids[2]));
    assert_eq!(queue.next(ms(0), 1), Next::Request(ids[0]), "on from where the kernel went");
    assert_eq!(queue.in_flight(), 2);
}

#[test]
fn another_elevator_takes_over_what_waits() {
    let mut queue = queue(Rules::bare(Limits::CCISS));
    queue.submit(ms(0), read(0));
    queue.submit(ms(0), read(100));
    assert!(queue.change_elevator(ms(0), elevator::by_name("noop").unwrap()).is_ok());
    let Next::Request(id) = queue.next(ms(0), 1) else { panic!() };
    assert!(queue.change_elevator(ms(0), elevator::by_name("noop").unwrap()).is_err());
    queue.completed(ms(0), id, |_| {});
    assert_eq!(sectors(&mut queue, ms(0)), [(100, 8)]);
}
