//! Block events of any kind in any order, as no kernel would write them: replayed on a simulated device, and followed by schedulers. The
//! first byte chooses the way, the second the scheduler; each event is twelve bytes.

#![no_main]

use fathom_iopath::{Limits, Queue, Rules, elevator};
use fathom_record::BlockEvent;
use fathom_record::block::event::TASK_NAME_BYTES;
use fathom_record::block::{BlockAction, DeviceNumber, RequestFlags};
use fathom_sim::agree::{self, Follower, Look};
use fathom_sim::devices::{AnyDevice, Constant, Device as _};
use fathom_sim::replay::{Arrivals, Mode, ReplayError, ReplaySetup, Scale, replay};
use libfuzzer_sys::fuzz_target;
use std::convert::Infallible;
use std::num::NonZeroU32;

fuzz_target!(|bytes: &[u8]| {
    let [way, which, rest @ ..] = bytes else { return };
    let events = events(rest);
    let names: Vec<&str> = elevator::known().collect();
    let name = names[usize::from(*which) % names.len()];
    match way % 8 {
        0..4 => follow(name, &events),
        4 => run(name, &events, Mode::Open(Scale::ONE), way & 8 > 0),
        5 => run(name, &events, Mode::Open(Scale::new(0.25).expect("a scale")), way & 8 > 0),
        6 => run(name, &events, Mode::Closed(NonZeroU32::new(8).expect("some")), way & 8 > 0),
        _ => run(name, &events, Mode::Dependent(Scale::ONE), way & 8 > 0),
    }
});

/// Action, flags, sector, sectors, task, CPU, time since the one before, and how far the last ones are shifted, so that near and far
/// both come up.
fn events(bytes: &[u8]) -> Vec<BlockEvent> {
    let mut time_ns = 0u64;
    let one = |b: &[u8]| {
        let number = |at: usize| u64::from(u16::from_le_bytes([b[at], b[at + 1]]));
        let shift = |bits: u8, by: [u32; 4]| by[usize::from(b[10] >> bits & 3)];
        let step = number(8) << shift(4, [0, 10, 24, 47]);
        time_ns = if b[10] & 64 > 0 { time_ns.saturating_sub(step) } else { time_ns.saturating_add(step) };
        BlockEvent {
            time_ns,
            device: DeviceNumber { major: 7, minor: u32::from(b[11] % 4) },
            action: BlockAction::ALL[usize::from(b[0]) % BlockAction::ALL.len()],
            flags: RequestFlags(number(1) as u16),
            sector: number(3) << shift(0, [0, 3, 33, 48]),
            sectors: u32::from(b[5]) << shift(2, [0, 3, 12, 24]),
            pid: u32::from(b[6]),
            cpu: u16::from(b[7]),
            error: if b[10] & 128 > 0 { -5 } else { 0 },
            task: [b[6]; TASK_NAME_BYTES],
        }
    };
    bytes.chunks_exact(12).map(one).collect()
}

fn follow(name: &str, events: &[BlockEvent]) {
    let mut look = Look::default();
    events.iter().for_each(|event| look.event(event));
    let Some(traced) = look.busiest().filter(|traced| traced.missing().is_none()) else { return };
    let made = |name: &str| (name.to_owned(), elevator::by_name(name).expect("it is known"));
    let places = traced.most_in_device;
    let setup = agree::FollowerSetup {
        traced,
        schedulers: vec![made(name), made("none")],
        limits: Limits::LOOP_618,
        places,
        most_misses: 4,
    };
    let mut follower = Follower::new(setup);
    events.iter().for_each(|event| follower.event(event));
    let agreed = follower.finish(places);
    assert!(!agreed.to_string().is_empty());
    for row in &agreed.rows {
        assert!(row.same <= row.issued && row.contested <= row.issued, "{row:?}");
        assert!(row.contested_same <= row.contested && row.contested_same <= row.same, "{row:?}");
    }
}

fn run(name: &str, events: &[BlockEvent], mode: Mode, queueing: bool) {
    let follows = matches!(mode, Mode::Dependent(_));
    let mut arrivals = Arrivals::new(None, queueing, follows);
    let mut left = events.iter();
    let source = || Ok::<_, Infallible>(left.find_map(|event| arrivals.take(event)));
    let device = AnyDevice::Constant(Constant::new(1 << 20, 4, 1_000_000, 0));
    let rules = Rules::today(Limits::LOOP_618, device.depth());
    let queue = Queue::new(elevator::by_name(name).expect("it is known"), rules);
    let setup = ReplaySetup { queue, device, device_name: "simulated".into(), mode };
    match replay(setup, source, |_| {}) {
        Ok(out) => {
            let counts = out.counts;
            assert_eq!((counts.done, counts.bios_done), (counts.arrivals, counts.bios), "{counts:?}");
        }
        Err(wrong) => assert!(!matches!(wrong, ReplayError::Standstill { .. }), "{wrong}"),
    }
}
