//! Replays of made-up traces: everything is served once and in order, the depth is respected, and the same history gives the same bytes.

use super::*;
use crate::devices::{self, Constant, Device as _};
use fathom_iopath::{Limits, Op, Rules, elevator};
use fathom_record::block::log::{LogHeader, LogWriter};
use fathom_record::block::{BlockAction, BlockEvent};
use proptest::prelude::*;
use std::convert::Infallible;

const MS: u64 = 1_000_000;

fn arrival(time_ns: u64, op: Op, sector: u64, sectors: u32, pid: u32) -> Arrival {
    let task = [0; 16];
    let (flush_before, flush_behind) = (false, false);
    Arrival {
        time_ns,
        op,
        sync: false,
        sector,
        sectors,
        pid,
        cpu: 0,
        task,
        flush_before,
        flush_behind,
        after: None,
    }
}

/// Non-adjacent reads of 4 KiB, one every `gap_ns`.
fn reads(count: u64, gap_ns: u64) -> Vec<Arrival> {
    (0..count).map(|n| arrival(n * gap_ns, Op::Read, n * 7919 % 10_007 * 16, 8, 1)).collect()
}

/// A device that serves one command at a time, each in `command_ns`.
fn constant(command_ns: u64) -> AnyDevice {
    AnyDevice::Constant(Constant::new(1 << 20, 4, command_ns, 0))
}

fn setup(scheduler: &str, device: AnyDevice, mode: Mode) -> ReplaySetup {
    let rules = Rules::today(Limits::LOOP_618, device.depth());
    let queue = Queue::new(elevator::by_name(scheduler).unwrap(), rules);
    ReplaySetup { queue, device, device_name: "simulated".into(), mode }
}

fn run(setup: ReplaySetup, arrivals: &[Arrival]) -> (Replayed, Vec<BlockEvent>) {
    let mut left = arrivals.iter().copied();
    let mut events = Vec::new();
    let out = replay(setup, || Ok::<_, Infallible>(left.next()), |event| events.push(*event)).unwrap();
    (out, events)
}

fn closed(depth: u32) -> Mode {
    Mode::Closed(NonZeroU32::new(depth).unwrap())
}

#[test]
fn open_keeps_the_times_and_a_scale_changes_them() {
    for (scale, elapsed_ms) in [(1.0, 99 * 2 + 1), (2.0, 99 * 4 + 1), (0.25, 100)] {
        let mode = Mode::Open(Scale::new(scale).unwrap());
        let (out, events) = run(setup("none", constant(MS), mode), &reads(100, 2 * MS));
        assert_eq!(out.elapsed_ns, elapsed_ms * MS, "{scale}");
        let first_queued = events.iter().filter(|e| e.action == BlockAction::Queue).nth(1).unwrap();
        assert_eq!(first_queued.time_ns, (2.0 * scale) as u64 * MS + (2.0 * scale % 1.0 * 1e6) as u64);
    }
}

#[test]
fn an_overrun_queue_holds_the_trace_up_and_says_so() {
    // 8 scheduler tags, and a hundred arrivals at once.
    let (out, _) = run(setup("mq-deadline", constant(MS), Mode::Open(Scale::ONE)), &reads(100, 0));
    assert_eq!((out.counts.done, out.elapsed_ns), (100, 100 * MS));
    assert!(out.counts.full > 0 && out.counts.late_ns > 1000 * MS, "{:?}", out.counts);
    assert!(out.counts.most_under_way <= 9, "{:?}", out.counts);
}

/// Sequential reads of one process, each 1 ms after the previous one completed, and queued random reads all over the disk.
fn thinking_beside_random() -> Vec<Arrival> {
    let random = (1..41).map(|n| arrival(0, Op::Read, n * 1_000_000, 8, 2));
    let reader = |n: u64| {
        let before = if n == 1 { 0 } else { 40 + n - 1 };
        Arrival {
            after: Some(After { number: before, gap_ns: MS }),
            ..arrival(n * 20 * MS, Op::Read, n * 8, 8, 1)
        }
    };
    std::iter::once(arrival(0, Op::Read, 0, 8, 1)).chain(random).chain((1..40).map(reader)).collect()
}

#[test]
fn waits_of_an_idle_disk_are_seen_where_the_scheduler_anticipates_and_nowhere_else() {
    let waits = |scheduler: &str| {
        let device = devices::by_name("deskstar-60gxp").unwrap().build().unwrap();
        let queue = Queue::new(elevator::by_name(scheduler).unwrap(), Rules::linux26(Limits::IDE_26));
        let mode = Mode::Dependent(Scale::ONE);
        let setup = ReplaySetup { queue, device, device_name: "simulated".into(), mode };
        run(setup, &thinking_beside_random()).0.inside.idle_waits
    };
    let none = waits("deadline");
    assert_eq!((none.paid.count(), none.in_vain.count()), (0, 0));
    let anticipatory = waits("as");
    assert!(anticipatory.paid.count() >= 10, "{anticipatory:?}");
    // The process thinks for 1 ms; a wait that times out takes 6 ms.
    assert!(anticipatory.paid.max_ns() < 2 * MS, "{anticipatory:?}");
    let mine = |w: &&fathom_record::course::IdleWait| w.paid;
    assert!(anticipatory.kept.kept.iter().filter(mine).all(|w| w.sector < 1_000_000), "{anticipatory:?}");
    // Why the scheduler idles for the first task only: it thinks for a tick, and reads near its last position.
    let [reader, random] = &anticipatory.habits[..] else { panic!("{:?}", anticipatory.habits) };
    assert_eq!((reader.task.as_str(), random.task.as_str()), ("process 1", "process 2"));
    assert!(reader.think_ns <= 3 * MS && reader.seek_sectors < 1000, "{reader:?}");
    assert!(random.seek_sectors > 500_000, "{random:?}");
    assert!(none.habits.is_empty());
    let never = waits("as,antic_expire=0");
    assert_eq!((never.paid.count(), never.in_vain.count()), (0, 0));
}

#[test]
fn a_flush_has_no_position() {
    let both = [arrival(0, Op::Write, 0, 0, 1), arrival(1, Op::Read, 800, 8, 1)];
    let (out, events) = run(setup("none", constant(MS), closed(1)), &both);
    assert_eq!(events.iter().filter(|e| e.action == BlockAction::Issue).count(), 2);
    let served: Vec<u64> = out.inside.served.kept.iter().map(|d| d.sector).collect();
    assert_eq!(served, [800]);
}

#[test]
fn a_write_that_must_be_on_the_medium_is_flushed_behind_and_before() {
    let disk = || devices::by_name("sata-7200-ncq").unwrap().build().unwrap();
    let writes = |flush_before, flush_behind| -> Vec<Arrival> {
        let one = |n: u64| arrival(n * 200 * MS, Op::Write, n * 100_000, 8, 1);
        (0..50).map(|n| Arrival { flush_before, flush_behind, ..one(n) }).collect()
    };
    let took = |out: &Replayed| out.served.iter().map(|s| s.latency.mean_ns().unwrap_or(0.0)).sum::<f64>();
    let (plain, _) = run(setup("none", disk(), Mode::Open(Scale::ONE)), &writes(false, false));
    let (durable, events) = run(setup("none", disk(), Mode::Open(Scale::ONE)), &writes(true, true));
    assert_eq!((plain.counts.flushes, durable.counts.flushes), (0, 100));
    assert_eq!((durable.counts.arrivals, durable.counts.done, durable.counts.late_ns), (50, 50, 0));
    assert_eq!(durable.served.len(), 1, "{:?}", durable.served);
    // The cache takes a plain write in no time; a durable write waits for a seek and a rotation.
    assert!(took(&plain) < 0.5e6 && took(&durable) > 2e6, "{} and {}", took(&plain), took(&durable));
    let issued = events.iter().filter(|e| e.action == BlockAction::Issue);
    let sectors: Vec<u32> = issued.map(|e| e.sectors).take(6).collect();
    assert_eq!(sectors, [0, 8, 0, 0, 8, 0]);
}

#[test]
fn times_that_no_clock_has_are_refused() {
    for (time_ns, scale) in [(u64::MAX - 1, 1.0), (20_000_000_000_000, 1e6)] {
        let late = [arrival(0, Op::Read, 0, 8, 1), arrival(time_ns, Op::Read, 8, 8, 1)];
        let disk = devices::by_name("sata-7200-ncq").unwrap().build().unwrap();
        let setup = setup("none", disk, Mode::Open(Scale::new(scale).unwrap()));
        let mut left = late.iter().copied();
        let refused = replay(setup, || Ok::<_, Infallible>(left.next()), |_| {}).unwrap_err();
        assert!(refused.to_string().contains("146 years"), "{refused}");
    }
}

#[test]
fn closed_keeps_its_depth() {
    for depth in [1, 3, 200] {
        let (out, _) = run(setup("mq-deadline", constant(MS), closed(depth)), &reads(100, 7 * MS));
        assert_eq!((out.counts.most_under_way, out.elapsed_ns), (depth.min(9), 100 * MS));
    }
}

#[test]
fn dependent_keeps_the_gaps_after_completions() {
    let follows = |number, gap_ns| Some(After { number, gap_ns });
    let chain: Vec<Arrival> = (0..20u64)
        .map(|n| Arrival {
            after: n.checked_sub(1).and_then(|before| follows(before, 5 * MS)),
            ..arrival(n * 6 * MS, Op::Read, n * 800, 8, 1)
        })
        .collect();
    for (device_ms, scale, elapsed_ms) in [(1, 1.0, 20 + 19 * 5), (3, 1.0, 60 + 19 * 5), (1, 2.0, 20 + 190)] {
        let mode = Mode::Dependent(Scale::new(scale).unwrap());
        let (out, _) = run(setup("none", constant(device_ms * MS), mode), &chain);
        assert_eq!(out.elapsed_ns, elapsed_ms * MS);
    }
}

#[test]
fn simulated_events_are_a_trace_that_can_be_replayed() {
    let (first, events) = run(setup("none", constant(MS), closed(4)), &reads(500, 0));
    let mut taken = Arrivals::new(None, true, true);
    let again: Vec<Arrival> = events.iter().filter_map(|event| taken.take(event)).collect();
    assert_eq!((again.len(), taken.device()), (500, Some(DEVICE)));
    assert_eq!(again[4].after, Some(After { number: 0, gap_ns: 0 }));
    let mode = Mode::Dependent(Scale::ONE);
    let (same, _) = run(setup("none", constant(MS), mode), &again);
    assert_eq!(same.elapsed_ns, first.elapsed_ns);
    let (slower, _) = run(setup("none", constant(2 * MS), mode), &again);
    assert_eq!(slower.elapsed_ns, 2 * first.elapsed_ns);
    // In an open replay the slower device only falls behind.
    let (open, _) = run(setup("none", constant(2 * MS), Mode::Open(Scale::ONE)), &again);
    assert_eq!((open.elapsed_ns, open.counts.late_ns > 0), (slower.elapsed_ns, true));
}

#[test]
fn a_window_of_dependent_arrivals_is_no_limit_to_the_trace() {
    // One task waits for its first request while the other does 30,000.
    let mut all = vec![arrival(0, Op::Read, 0, 8, 1)];
    for n in 1..=30_000u64 {
        let after = Some(After { number: n - 1, gap_ns: 0 }).filter(|_| n > 1);
        all.push(Arrival { after, ..arrival(n, Op::Read, n * 16 % 100_000, 8, 2) });
    }
    let last = Some(After { number: 0, gap_ns: 5 });
    all.push(Arrival { after: last, ..arrival(40_000, Op::Read, 8, 8, 1) });
    let (out, _) = run(setup("none", constant(1000), Mode::Dependent(Scale::ONE)), &all);
    assert_eq!((out.counts.arrivals, out.counts.done), (30_002, 30_002));
    assert!(out.elapsed_ns >= 30_000_000);
}

#[test]
fn long_arrivals_are_cut_and_those_beyond_the_end_put_elsewhere() {
    let all = [arrival(0, Op::Write, 0, 6000, 1), arrival(1, Op::Read, (1 << 20) + 80, 8, 1)];
    let (out, events) = run(setup("mq-deadline", constant(MS), Mode::Open(Scale::ONE)), &all);
    assert_eq!((out.counts.done, out.counts.bios, out.counts.bios_done, out.counts.wrapped), (2, 4, 4, 1));
    assert!(events.iter().all(|e| e.sectors <= 2560 && e.sector + u64::from(e.sectors) <= 1 << 20));
    let mut once = Some(arrival(0, Op::Read, 0, 3 << 20, 1));
    let mode = Mode::Open(Scale::ONE);
    let error = replay(setup("none", constant(MS), mode), || Ok::<_, Infallible>(once.take()), |_| {});
    assert!(error.unwrap_err().to_string().contains("choose a larger device"));
}

#[test]
fn flushes_pass_the_scheduler_and_reach_the_disk() {
    let mut all = reads(40, 0);
    all.extend([
        arrival(1, Op::Write, 64, 8, 1),
        arrival(2, Op::Write, 0, 0, 1),
        arrival(3, Op::Discard, 0, 0, 1),
    ]);
    let disk = devices::by_name("deskstar-60gxp").unwrap().build().unwrap();
    let (out, _) = run(setup("mq-deadline", disk, Mode::Open(Scale::ONE)), &all);
    assert_eq!((out.counts.done, out.counts.flushes, out.counts.empty), (43, 1, 1));
    let flush = fathom_record::block::RequestClass::Flush;
    assert_eq!(out.block.devices[0].class(flush).map(|c| c.completed), Some(1));
}

#[test]
fn a_trace_of_requests_is_replayed_as_they_were_issued() {
    let (_, events) = run(setup("mq-deadline", constant(MS), closed(2)), &reads(10, 0));
    let mut taken = Arrivals::new(None, false, false);
    let mut elsewhere = events[0];
    assert_eq!(events.iter().filter_map(|e| taken.take(e)).count(), 10);
    elsewhere.device.minor += 1;
    elsewhere.action = BlockAction::Issue;
    assert_eq!(taken.take(&elsewhere), None);
    assert_eq!(taken.left_out(), LeftOut { other_devices: 1, ..LeftOut::default() });
}

/// Serialises the events.
fn bytes(events: &[BlockEvent]) -> Vec<u8> {
    let mut log = Vec::new();
    let mut writer = LogWriter::new(&mut log, &LogHeader::default()).unwrap();
    events.iter().for_each(|event| writer.event(event).unwrap());
    writer.flush().unwrap();
    drop(writer);
    log
}

const SCHEDULERS: [&str; 12] = [
    "linus24",
    "noop",
    "deadline@2.6.0",
    "deadline@2.6.24",
    "as",
    "cfq1",
    "cfq2",
    "cfq3",
    "mq-deadline",
    "none",
    "kyber",
    "bfq-lite",
];

fn some_arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let one = (0u64..3 * MS, prop::bool::ANY, 0u64..3000, 1u32..40, 0u32..4, 0u64..4, 0u64..MS);
    prop::collection::vec(one, 1..120).prop_map(|all| {
        let mut time = 0;
        let made = all.into_iter().enumerate().map(|(n, (gap, write, block, blocks, pid, back, think))| {
            time += gap;
            let op = if write { Op::Write } else { Op::Read };
            let after = (n as u64).checked_sub(back + 1).map(|number| After { number, gap_ns: think });
            // Some writes carry flushes, as journals issue them.
            let (flush_before, flush_behind) = (write && blocks % 5 == 0, write && blocks % 3 == 0);
            let sync = blocks % 2 == 0;
            Arrival {
                after,
                sync,
                flush_before,
                flush_behind,
                ..arrival(time, op, block * 8, blocks * 8, pid)
            }
        });
        made.collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn every_arrival_is_served_once_in_the_order_of_time(
        arrivals in some_arrivals(),
        scheduler in 0..SCHEDULERS.len(),
        device in 0..3usize,
        rules in 0..3usize,
        mode in 0..3usize,
        depth in 1u32..40,
    ) {
        let scheduler = SCHEDULERS[scheduler];
        let mode = [Mode::Open(Scale::ONE), closed(depth), Mode::Dependent(Scale::ONE)][mode];
        let made = || {
            let device = match device {
                0 => constant(MS),
                1 => devices::by_name("deskstar-60gxp").unwrap().build().unwrap(),
                _ => devices::by_name("sata-7200-ncq").unwrap().build().unwrap(),
            };
            let limits = Limits { max_sectors: 160, ..Limits::LOOP_618 };
            let rules = match rules {
                0 => Rules::today(limits, device.depth()),
                1 => Rules::linux26(limits),
                _ => Rules::linux24(limits),
            };
            let queue = Queue::new(elevator::by_name(scheduler).unwrap(), rules);
            ReplaySetup { queue, device, device_name: "simulated".into(), mode }
        };
        let (out, events) = run(made(), &arrivals);
        let counts = out.counts;
        prop_assert_eq!(counts.arrivals, arrivals.len() as u64);
        prop_assert_eq!((counts.done, counts.bios_done), (counts.arrivals, counts.bios));
        prop_assert!(events.is_sorted_by_key(|e| e.time_ns));
        if let Mode::Closed(depth) = mode {
            prop_assert!(counts.most_under_way <= depth.get());
        }
        let sectors = |wanted| {
            events.iter().filter(|e| e.action == wanted).map(|e| u64::from(e.sectors)).sum::<u64>()
        };
        let asked: u64 = arrivals.iter().map(|a| u64::from(a.sectors)).sum();
        prop_assert_eq!(
            (sectors(BlockAction::Queue), sectors(BlockAction::Issue), sectors(BlockAction::Complete)),
            (asked, asked, asked)
        );
        // Little's law, computed in two ways, and a third time by the analysis of the events.
        prop_assert_eq!(out.depth_ns, out.response_ns);
        let course = &out.inside.depths;
        let drawn: u128 = course.intervals.iter().map(|i| u128::from(i.in_device_ns)).sum();
        prop_assert_eq!((drawn, course.end_ns), (out.depth_ns, out.elapsed_ns));
        // A device held idle is not busy; held time also includes waits that were given up.
        let held: u64 = course.intervals.iter().map(|i| i.held_ns).sum();
        let waits = &out.inside.idle_waits;
        prop_assert!(waits.paid.sum_ns() + waits.in_vain.sum_ns() <= u128::from(held));
        prop_assert!(course.intervals.iter().all(|i| i.busy_ns + i.held_ns <= course.interval_ns));
        let told = &out.block.devices[0];
        let analysed: u128 = told.in_device.iter().map(|d| u128::from(d.ns) * u128::from(d.depth)).sum();
        prop_assert!(analysed.abs_diff(out.depth_ns) * 1000 <= out.depth_ns, "{} {}", analysed, out.depth_ns);
        prop_assert!(told.busy_ns <= out.elapsed_ns && told.unfinished == 0);
        let (again, same) = run(made(), &arrivals);
        prop_assert!(again == out && bytes(&same) == bytes(&events));
    }
}
