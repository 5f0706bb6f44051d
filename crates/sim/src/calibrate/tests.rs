//! Simulates devices with known parameters, traces and fits them: the parameters are recovered.

use super::*;
use crate::devices::{AnyDevice, Constant, by_name};
use crate::replay::{DEVICE, Mode, ReplaySetup, Synthetic, replay};
use fathom_iopath::{Limits, Queue, Rules, elevator};
use fathom_record::BlockEvent;
use std::convert::Infallible;
use std::num::NonZeroU32;

fn traced(device: AnyDevice, count: u64, depth: u32) -> Vec<BlockEvent> {
    use crate::devices::Device as _;
    let rules = Rules::today(Limits::LOOP_618, device.depth());
    let queue = Queue::new(elevator::by_name("none").unwrap(), rules);
    let mut arrivals = Synthetic::new(count, device.capacity_sectors(), 1).map(|mut arrival| {
        // Two sizes, to separate time per byte from time per command.
        arrival.sectors = if arrival.sector.is_multiple_of(16) { 8 } else { 64 };
        arrival
    });
    let mode = Mode::Closed(NonZeroU32::new(depth).unwrap());
    let mut events = Vec::new();
    let setup = ReplaySetup { queue, device, device_name: "d".into(), mode };
    replay(setup, || Ok::<_, Infallible>(arrivals.next()), |e| events.push(*e)).unwrap();
    events
}

fn services(events: &[BlockEvent]) -> (Vec<Service>, Services) {
    let mut services = Services::new(DEVICE);
    (events.iter().filter_map(|e| services.take(e)).collect(), services)
}

#[test]
fn a_line_is_found_again_at_any_depth() {
    for depth in [1, 8] {
        let device = AnyDevice::Constant(Constant::new(1 << 20, 8, 250_000, 100_000_000));
        let (all, seen) = services(&traced(device, 500, depth));
        let mut line = LineFit::default();
        all.iter().for_each(|s| line.add(s));
        let [command, rate] = line.fit().unwrap();
        assert!(
            (command.value - 250.0).abs() < 0.01 && (rate.value - 100.0).abs() < 0.01,
            "{command:?} {rate:?}"
        );
        assert_eq!(seen.most_open(), depth as usize);
        assert!(seen.end_sector() <= 1 << 20 && seen.end_sector() > 1 << 19);
    }
}

#[test]
fn sizes_that_are_all_one_give_the_mean() {
    let mut line = LineFit::default();
    for n in 0..40 {
        line.add(&Service {
            ns: 1000 + n % 2,
            channel_ns: 0,
            response_ns: 0,
            sector: 0,
            sectors: 8,
            head: 0,
            write: false,
            depth: 1,
            marked: true,
        });
    }
    let [command, rate] = line.fit().unwrap();
    assert!((command.value - 1.0005).abs() < 1e-9 && rate.value == 0.0, "{command:?} {rate:?}");
    assert_eq!(LineFit::default().fit(), Err(FitError::TooFew { found: 0, wanted: 20 }));
}

#[test]
fn a_disks_seeks_are_found_again() {
    let AnyDevice::Disk(disk) = by_name("deskstar-60gxp").unwrap().build().unwrap() else { unreachable!() };
    let geometry = disk.mechanism().geometry().clone();
    let (all, _) = services(&traced(AnyDevice::Disk(disk), 4000, 1));
    let mut curve = Curve::new(geometry, 300_000);
    all.iter().for_each(|s| curve.add(s));
    let found = curve.fit().unwrap();
    // The average seek is well determined, the shortest from few reads.
    for (value, (wanted, within)) in found.iter().zip([(1.8, 0.8), (8.5, 0.2), (14.7, 0.5)]) {
        assert!((value.value - wanted).abs() < within, "{value:?}: {wanted}");
        assert!(value.standard_error.is_some_and(|e| e > 0.0), "{value:?}");
    }
}

#[test]
fn lines_of_profiles_are_short() {
    let value = |value| Value {
        key: "service.command_us",
        value,
        standard_error: None,
        src: "fit",
        note: "n".into(),
    };
    assert_eq!(value(1234.56789).line(), "command_us = { value = 1234.57, src = \"fit\", note = \"n\" }\n");
    assert_eq!(value(0.0).line(), "command_us = { value = 0.0, src = \"fit\", note = \"n\" }\n");
    assert_eq!(
        value(0.012_345_678).line(),
        "command_us = { value = 0.0123457, src = \"fit\", note = \"n\" }\n"
    );
}

#[test]
fn sectors_that_no_device_has_are_left_out_and_counted() {
    use fathom_record::block::{BlockAction, RequestFlags};
    let device = DEVICE;
    let mut services = Services::new(device);
    for sector in [u64::MAX - 7, LAST_SECTOR - 7, 1 << 55] {
        for action in [BlockAction::Issue, BlockAction::Complete] {
            let flags = RequestFlags::READ;
            let (task, time_ns) = ([0; 16], 0);
            let event = BlockEvent {
                time_ns,
                device,
                action,
                flags,
                sector,
                sectors: 8,
                pid: 1,
                cpu: 0,
                error: 0,
                task,
            };
            assert!(services.take(&event).is_none());
        }
    }
    assert_eq!((services.impossible(), services.end_sector()), (6, 0));
}

#[test]
fn digits_of_a_profile_are_six_that_count() {
    let shown =
        [0.000_123_456_78, 0.012_345_678, 0.5, 1.234_567_89, 99_999.123, 123_456.7, 1e9, 0.0].map(rounded);
    assert_eq!(
        shown,
        ["0.000123457", "0.0123457", "0.500000", "1.23457", "99999.1", "123457", "1000000000", "0.0"]
    );
}

#[test]
fn a_name_with_letters_of_control_makes_a_profile_that_can_be_read() {
    let mut fitting = Fitting::constant();
    for n in 0..40 {
        fitting.add(&Service {
            ns: 1000 + n,
            channel_ns: 0,
            response_ns: 1000,
            sector: n * 8,
            sectors: 8,
            head: 0,
            write: false,
            depth: 1,
            marked: true,
        });
    }
    let values = fitting.fit().unwrap();
    let text = fitting.profile("of a\u{1b}[31m\"trace\"\r\t\u{0}", &values, 800, 1);
    let read = crate::devices::DeviceProfile::parse("mine", &text).unwrap();
    assert_eq!(read.demerit_percent, None);
    let judged = crate::devices::DeviceProfile::parse("mine", &with_demerit(&text, 7.256)).unwrap();
    assert_eq!((judged.demerit_percent, judged.uncertain.fitted.len()), (Some(7.26), 2));
    let wrong = crate::devices::DeviceProfile::parse("mine", &with_demerit(&text, -1.0)).unwrap_err();
    assert!(wrong.to_string().contains("demerit_percent"), "{wrong}");
}

#[test]
fn channels_and_tails_are_found_again() {
    use crate::devices::distribution::{CommandRules, Distribution, DistributionRules};
    // One in twenty takes forty times as long.
    let read_ns: Vec<u64> = (0..100).map(|n| if n < 95 { 50_000 + n * 100 } else { 2_000_000 }).collect();
    let mean_us = read_ns.iter().sum::<u64>() as f64 / 1e5;
    let (capacity_sectors, depth) = (1 << 20, 16);
    let commands = CommandRules { times_ns: read_ns, ..CommandRules::default() };
    let rules = |channels| DistributionRules {
        capacity_sectors,
        depth,
        channels,
        reads: commands.clone(),
        writes: commands.clone(),
        flush_ns: Vec::new(),
    };
    let fitted = |events: &[BlockEvent], channels: usize| {
        let (mut seen, mut spread) = (Services::with_channels(DEVICE, channels), Spread::new(channels, 0.0));
        events.iter().filter_map(|e| seen.take(e)).for_each(|s| spread.add(&s));
        let values = spread.fit().unwrap();
        values.iter().find(|v| v.key == "service.read_us").unwrap().value
    };
    for channels in [1, 4] {
        let device = AnyDevice::Distribution(Box::new(Distribution::new(rules(channels))));
        let events = traced(device, 6000, 16);
        let found = fitted(&events, channels as usize);
        assert!((found / mean_us - 1.0).abs() < 0.1, "{channels}: {found} {mean_us}");
        let waits = fitted(&events, 16);
        assert!(waits > 2.0 * mean_us, "with too many channels it is waiting that is seen: {waits}");
    }
}
