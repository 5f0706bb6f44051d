//! A device with known parameters under several loads: the parameters are recovered, and a held-out load is predicted from the others.

use super::*;
use crate::devices::distribution::{CommandRules, Distribution, DistributionRules};
use crate::devices::{AnyDevice, DeviceProfile};
use crate::replay::{Arrival, Arrivals, DEVICE, Mode, ReplaySetup, Replayed, Scale, replay};
use fathom_iopath::{Limits, Op, Queue, Rules, elevator};
use fathom_record::BlockEvent;
use fathom_record::block::BlockAction;
use std::convert::Infallible;
use std::num::NonZeroU32;

/// Four channels; 160 us outside them; 5 us per KiB; reads 500 us, writes 800 us, flushes 2 ms.
fn known() -> AnyDevice {
    let of = |us: u64| CommandRules {
        times_ns: vec![us * 900, us * 1000, us * 1100],
        bytes_per_s: 204_800_000,
        beside_ns: 160_000,
    };
    AnyDevice::Distribution(Box::new(Distribution::new(DistributionRules {
        capacity_sectors: 1 << 24,
        depth: 64,
        channels: 4,
        reads: of(500),
        writes: of(800),
        flush_ns: vec![2_000_000],
    })))
}

/// A load: whether the n-th command is a write, and its sectors (0: a flush).
type Load = fn(u64) -> (bool, u32);

fn traced(load: Load, depth: u32) -> Vec<BlockEvent> {
    let mut n = 0;
    let mut source = || {
        n += 1;
        let (write, sectors) = load(n);
        Ok::<_, Infallible>((n <= 1200).then(|| Arrival {
            time_ns: n,
            op: if write { Op::Write } else { Op::Read },
            sync: true,
            sector: n * 7919 % 10_000 * 1024,
            sectors,
            pid: 1,
            cpu: 0,
            task: [0; 16],
            flush_before: false,
            flush_behind: false,
            after: None,
        }))
    };
    let mut events = Vec::new();
    run(known(), Mode::Closed(NonZeroU32::new(depth).unwrap()), &mut source, &mut events);
    events
}

fn run(
    device: AnyDevice,
    mode: Mode,
    source: &mut impl FnMut() -> Result<Option<Arrival>, Infallible>,
    events: &mut Vec<BlockEvent>,
) -> Replayed {
    use crate::devices::Device as _;
    let limits = Limits { max_sectors: 1 << 20, max_segments: u16::MAX, ..Limits::LOOP_618 };
    let queue = Queue::new(elevator::by_name("none").unwrap(), Rules::today(limits, device.depth()));
    replay(ReplaySetup { queue, device, device_name: "d".into(), mode }, source, |e| events.push(*e)).unwrap()
}

fn gathered(events: &[BlockEvent]) -> Gathered {
    let mut gathered = Gathered::new(DEVICE);
    events.iter().for_each(|e| gathered.take(e, true));
    gathered.finish()
}

fn small_read(_: u64) -> (bool, u32) {
    (false, 8)
}

fn large_read(_: u64) -> (bool, u32) {
    (false, 256)
}

fn small_write(_: u64) -> (bool, u32) {
    (true, 8)
}

fn flushed_write(n: u64) -> (bool, u32) {
    (true, if n.is_multiple_of(2) { 0 } else { 8 })
}

fn mixed(n: u64) -> (bool, u32) {
    (n.is_multiple_of(3), 8)
}

/// The model's time for a trace relative to the device's.
fn ratio(model: &Model, events: &[BlockEvent], scatters: bool) -> f64 {
    let profile = DeviceProfile::parse("m", &model.profile("fitted", scatters)).unwrap();
    let mut arrivals = Arrivals::in_turn(DEVICE);
    let mut all = events.iter();
    let mut source = || Ok::<_, Infallible>(all.by_ref().find_map(|e| arrivals.take(e)));
    let out = run(profile.build().unwrap(), Mode::Dependent(Scale::ONE), &mut source, &mut Vec::new());
    let at = |action| events.iter().filter(move |e| e.action == action).map(|e| e.time_ns);
    let took = at(BlockAction::Complete).max().unwrap() - at(BlockAction::Issue).min().unwrap();
    out.elapsed_ns as f64 / took as f64
}

#[test]
fn the_fit_recovers_the_parameters_of_the_model() {
    let loads: [(Load, u32); 6] = [
        (small_read, 1),
        (small_read, 32),
        (large_read, 2),
        (small_write, 1),
        (small_write, 32),
        (flushed_write, 1),
    ];
    let all: Vec<Gathered> = loads.iter().map(|(load, depth)| gathered(&traced(*load, *depth))).collect();
    let model = fit(&all.iter().collect::<Vec<_>>()).unwrap();
    assert_eq!(model.channels, 4, "{model:?}");
    for (command, us) in [(model.reads.unwrap(), 500.0), (model.writes.unwrap(), 800.0)] {
        let near = |found: f64, wanted: f64| (found / wanted - 1.0).abs() < 0.05;
        assert!(near(command.held_ns, us * 1e3), "{command:?}");
        assert!((command.beside_ns - 160e3).abs() < 0.05 * us * 1e3, "{command:?}");
    }
    let (count, mean_us, _) = model.flushes.unwrap();
    assert!(count == 600 && (mean_us - 2000.0).abs() < 40.0, "{count} {mean_us}");
}

#[test]
fn loads_that_were_not_seen_are_predicted() {
    let loads: [(Load, u32); 5] =
        [(small_read, 1), (small_read, 32), (small_write, 1), (small_write, 32), (flushed_write, 1)];
    let all: Vec<Gathered> = loads.iter().map(|(load, depth)| gathered(&traced(*load, *depth))).collect();
    let model = fit(&all.iter().collect::<Vec<_>>()).unwrap();
    for (load, depth) in [(small_read as Load, 4), (small_read, 16), (mixed, 8), (mixed, 2), (small_write, 8)]
    {
        for scatters in [false, true] {
            let off = ratio(&model, &traced(load, depth), scatters);
            assert!((off - 1.0).abs() < 0.06, "depth {depth}: {off}");
        }
    }
}

#[test]
fn one_after_the_other_is_found_too() {
    let profile = "kind = \"constant\"\nabout = \"k\"\n[service]\ncapacity_gb = { value = 10.0, src = \"guess\" }\n\
        queue_depth = { value = 32, src = \"guess\" }\ncommand_us = { value = 250.0, src = \"guess\" }\nmb_s = { value = 100.0, src = \"guess\" }\n";
    let device = || DeviceProfile::parse("k", profile).unwrap().build().unwrap();
    let trace = |depth| {
        let mut n = 0_u64;
        let mut events = Vec::new();
        let mut source = || {
            n += 1;
            Ok::<_, Infallible>((n <= 600).then(|| Arrival {
                time_ns: n,
                op: Op::Read,
                sync: true,
                sector: n * 7919 % 10_000 * 1024,
                sectors: if n.is_multiple_of(2) { 8 } else { 256 },
                pid: 1,
                cpu: 0,
                task: [0; 16],
                flush_before: false,
                flush_behind: false,
                after: None,
            }))
        };
        run(device(), Mode::Closed(NonZeroU32::new(depth).unwrap()), &mut source, &mut events);
        gathered(&events)
    };
    let all = [trace(1), trace(8)];
    let model = fit(&[&all[0], &all[1]]).unwrap();
    let reads = model.reads.unwrap();
    assert!(model.channels == 1 && (reads.held_ns - 250e3).abs() < 5e3 && reads.beside_ns < 5e3, "{reads:?}");
    assert!((reads.ns_per_byte - 10.0).abs() < 0.2 && model.writes.is_none(), "{reads:?}");
}

#[test]
fn requests_outside_the_workload_do_not_affect_the_fit() {
    let (own, others) = (traced(small_read, 1), traced(large_read, 1));
    let mut gathered = Gathered::new(DEVICE);
    own.iter().for_each(|e| gathered.take(e, true));
    others.iter().for_each(|e| gathered.take(e, false));
    let model = fit(&[&gathered.finish()]).unwrap();
    let reads = model.reads.unwrap();
    assert_eq!((reads.requests, reads.ns_per_byte), (1199, 0.0));
    assert!(fit(&[&Gathered::new(DEVICE).finish()]).is_err());
}

#[test]
fn the_time_between_requests_is_the_hosts_unless_the_program_thinks() {
    // Each request is issued this long after the completion before it.
    let after = |gap_ns: u64| {
        let mut events = traced(small_read, 1);
        let mut issued = 0;
        for event in &mut events {
            issued += u64::from(event.action == BlockAction::Issue);
            event.time_ns += issued * gap_ns;
        }
        gathered(&events)
    };
    let (soon, later, much_later) = (after(20_000), after(50_000), after(1_000_000));
    let profile =
        |all: &[&Gathered]| DeviceProfile::parse("m", &fit(all).unwrap().profile("fitted", false)).unwrap();
    let us = profile(&[&much_later, &later, &soon]).turnaround_us.unwrap().get();
    assert!((us - 20.0).abs() < 0.5, "{us}");
    assert_eq!(profile(&[&much_later]).turnaround_us, None);
    assert_eq!(profile(&[&gathered(&traced(small_read, 32))]).turnaround_us, None);
}

#[test]
fn a_capacity_that_is_known_is_taken_over() {
    use crate::devices::Device as _;
    let events = traced(small_read, 1);
    let model = fit(&[&gathered(&events)]).unwrap().of_capacity(8 << 30);
    let profile = DeviceProfile::parse("m", &model.profile("fitted", false)).unwrap();
    assert_eq!(profile.build().unwrap().capacity_sectors(), 16 << 20);
}
