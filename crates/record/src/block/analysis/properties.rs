//! Invariants for every sequence of events: conservation of requests and bytes, Little's law, rows that add up to totals.
//! Checked against a minimal simulated device with known answers and, where nothing is promised about the input, against random
//! events.

use super::super::event::{BlockAction, RequestFlags};
use super::super::{BlockInterval, DepthTime, RequestClass, RequestStats};
use super::tests::{VDA, device, event};
use super::*;
use proptest::prelude::*;

const KINDS: [&str; 5] = ["R", "RA", "WS", "WFS", "D"];

/// A generated request: arrival, waiting and service times, position, size.
#[derive(Clone, Debug)]
struct GeneratedRequest {
    arrives_ns: u64,
    waits_ns: u64,
    takes_ns: u64,
    kind: usize,
    sector: u64,
    sectors: u32,
}

fn made() -> impl Strategy<Value = GeneratedRequest> {
    // Few positions, so that concurrent requests often share one.
    (
        0u64..5000,
        0u64..400,
        0u64..700,
        0..KINDS.len(),
        0u64..12,
        prop::sample::select(vec![1u32, 8, 8, 8, 40, 9000]),
    )
        .prop_map(|(arrives_ns, waits_ns, takes_ns, kind, place, sectors)| GeneratedRequest {
            arrives_ns,
            waits_ns,
            takes_ns,
            kind,
            sector: place * 10_000,
            sectors,
        })
}

/// Its events in order of time; ties keep the order of generation.
fn events_of(all: &[GeneratedRequest], bios: bool) -> Vec<BlockEvent> {
    let mut events = Vec::new();
    for m in all {
        let issued = m.arrives_ns + m.waits_ns;
        let told = |time, action| event(time, action, KINDS[m.kind], m.sector, m.sectors);
        if bios {
            events.extend([
                told(issued, BlockAction::Queue),
                told(issued + m.takes_ns, BlockAction::BioComplete),
            ]);
        } else {
            events.push(told(m.arrives_ns, BlockAction::Queue));
            events.push(told(issued, BlockAction::Issue));
            events.push(told(issued + m.takes_ns, BlockAction::Complete));
        }
    }
    events.sort_by_key(|e| e.time_ns);
    events
}

fn sum(stats: &[RequestStats], figure: impl Fn(&RequestStats) -> u64) -> u64 {
    stats.iter().map(figure).sum()
}

fn integral(times: &[DepthTime]) -> u128 {
    times.iter().map(|t| u128::from(t.depth) * u128::from(t.ns)).sum()
}

/// Invariants that hold for any sequence of events.
fn check_always(layer: &BlockLayer) -> Result<(), TestCaseError> {
    for (n, device) in (0..).zip(&layer.devices) {
        let stats = &device.requests;
        prop_assert_eq!(sum(stats, |s| s.issued), sum(stats, |s| s.completed) + device.unfinished);
        for s in stats {
            prop_assert!(
                s.completed <= s.issued && s.completed_bytes <= s.issued_bytes && s.errors <= s.completed
            );
            prop_assert_eq!(s.sizes.iter().map(|c| c.bytes * c.count).sum::<u64>(), s.issued_bytes);
            prop_assert_eq!(s.d2c.count(), s.completed);
            prop_assert!(s.q2d.count() <= s.issued);
            let seeks = &s.seeks;
            let moved = seeks.sequential + seeks.forward + seeks.backward;
            prop_assert_eq!(moved, s.sizes.iter().map(|c| c.count).sum::<u64>().saturating_sub(1));
            prop_assert_eq!(seeks.distances.iter().map(|d| d.1).sum::<u64>(), seeks.forward + seeks.backward);
        }
        let issuers = &device.issuers;
        prop_assert_eq!(
            issuers.iter().map(|i| i.reads + i.writes + i.others).sum::<u64>(),
            sum(stats, |s| s.issued)
        );
        for times in [&device.in_device, &device.in_queue] {
            if !times.is_empty() {
                prop_assert_eq!(times.iter().map(|t| t.ns).sum::<u64>(), layer.watched_ns);
            }
        }
        let idle = device.in_device.iter().find(|t| t.depth == 0).map_or(0, |t| t.ns);
        prop_assert_eq!(device.busy_ns, layer.watched_ns - idle);
        check_rows(layer, n)?;
    }
    Ok(())
}

fn check_rows(layer: &BlockLayer, n: u32) -> Result<(), TestCaseError> {
    let device = &layer.devices[n as usize];
    let rows: Vec<_> = layer.intervals.iter().filter(|r| r.device == n).collect();
    let of = |figure: fn(&BlockInterval) -> u64| rows.iter().map(|r| figure(r)).sum::<u64>();
    let class = |class, figure: fn(&RequestStats) -> u64| device.class(class).map_or(0, figure);
    prop_assert_eq!(of(|r| r.width_ns), layer.watched_ns);
    prop_assert_eq!(of(|r| r.busy_ns), device.busy_ns);
    prop_assert_eq!(u128::from(of(|r| r.depth_ns)), integral(&device.in_device));
    prop_assert_eq!(of(|r| r.reads), class(RequestClass::Read, |s| s.completed));
    prop_assert_eq!(of(|r| r.read_bytes), class(RequestClass::Read, |s| s.completed_bytes));
    prop_assert_eq!(of(|r| r.writes), class(RequestClass::Write, |s| s.completed));
    prop_assert_eq!(of(|r| r.write_bytes), class(RequestClass::Write, |s| s.completed_bytes));
    prop_assert_eq!(of(|r| r.discards), class(RequestClass::Discard, |s| s.completed));
    prop_assert_eq!(of(|r| r.flushes), class(RequestClass::Flush, |s| s.completed));
    let merges = |s: &RequestStats| [s.back_merges, s.front_merges, s.request_merges].iter().flatten().sum();
    prop_assert_eq!(of(|r| r.read_merges), class(RequestClass::Read, merges));
    prop_assert_eq!(of(|r| r.write_merges), class(RequestClass::Write, merges));
    for pair in rows.windows(2) {
        prop_assert_eq!(pair[1].end_ns, pair[0].end_ns + pair[1].width_ns);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_device_that_loses_nothing_is_known_exactly(
        all in prop::collection::vec(made(), 1..120),
        bio_based in any::<bool>(),
        interval_ns in prop::sample::select(vec![1u64, 100, 1000, 100_000]),
    ) {
        let events = events_of(&all, bio_based);
        let options = Options { devices: vec![device(bio_based)], interval_ns, queueing: true, from_ns: 0 };
        let mut analysis = Analysis::new(options);
        analysis.event(&BlockEvent { device: DeviceNumber::default(), ..event(0, BlockAction::Plug, "", 0, 0) }, IssuerKind::Other);
        for event in &events {
            analysis.event(event, IssuerKind::Own);
        }
        let layer = analysis.finish(10_000);
        check_always(&layer)?;
        let device = &layer.devices[0];
        prop_assert_eq!((layer.watched_ns, device.unfinished, device.begun_before), (10_000, 0, 0));
        prop_assert_eq!(sum(&device.requests, |s| s.issued), all.len() as u64);
        let bytes = |m: &GeneratedRequest| u64::from(m.sectors) * 512;
        prop_assert_eq!(sum(&device.requests, |s| s.completed_bytes), all.iter().map(bytes).sum::<u64>());
        // Little: whichever of two identical requests is taken as completed, the sum is the same.
        let served: u64 = all.iter().map(|m| m.takes_ns).sum();
        prop_assert_eq!(device.requests.iter().map(|s| s.d2c.sum_ns()).sum::<u128>(), u128::from(served));
        prop_assert_eq!(integral(&device.in_device), u128::from(served));
        if !bio_based {
            let waited: u64 = all.iter().map(|m| m.waits_ns).sum();
            prop_assert_eq!(integral(&device.in_queue), u128::from(waited));
            prop_assert_eq!(device.requests.iter().map(|s| s.q2d.sum_ns()).sum::<u128>(), u128::from(waited));
        }
        prop_assert_eq!(sum(&device.requests, |s| s.bios.unwrap_or(0)), all.len() as u64);
    }

    #[test]
    fn a_watch_that_begins_and_ends_in_the_middle_loses_nothing(
        all in prop::collection::vec(made(), 1..120),
        bio_based in any::<bool>(),
        from_ns in 0u64..3000,
        end_ns in 3000u64..6000,
    ) {
        // Two identical requests at one position could be confused, and one of them be from before.
        let mut all = all;
        for (n, m) in (0u64..).zip(&mut all) {
            m.sector = n * 10_000;
        }
        let mut analysis = Analysis::new(Options { devices: vec![device(bio_based)], from_ns, interval_ns: 100, queueing: true });
        for event in events_of(&all, bio_based).iter().filter(|e| e.time_ns <= end_ns) {
            analysis.event(event, IssuerKind::Own);
        }
        let layer = analysis.finish(end_ns);
        check_always(&layer)?;
        let device = &layer.devices[0];
        let (issue, complete) = (|m: &GeneratedRequest| m.arrives_ns + m.waits_ns, |m: &GeneratedRequest| m.arrives_ns + m.waits_ns + m.takes_ns);
        let inside = |t: u64| t >= from_ns && t <= end_ns;
        let count = |wanted: &dyn Fn(&GeneratedRequest) -> bool| all.iter().filter(|m| wanted(m)).count() as u64;
        prop_assert_eq!(sum(&device.requests, |s| s.issued), count(&|m| inside(issue(m))));
        prop_assert_eq!(sum(&device.requests, |s| s.completed), count(&|m| inside(issue(m)) && complete(m) <= end_ns));
        prop_assert_eq!(device.begun_before, count(&|m| issue(m) < from_ns && inside(complete(m))));
        let time_inside = |m: &GeneratedRequest| u128::from(complete(m).clamp(from_ns, end_ns) - issue(m).clamp(from_ns, end_ns));
        prop_assert_eq!(integral(&device.in_device), all.iter().map(time_inside).sum::<u128>());
    }

    #[test]
    fn nothing_that_is_thrown_together_breaks_the_sums(
        all in prop::collection::vec(
            (0u64..20_000, prop::sample::select(BlockAction::ALL.to_vec()), 0u16..1024, 0u64..40, 0u32..20, -1i32..1, 0u32..2, 0u8..40),
            0..300,
        ),
        bio_based in any::<bool>(),
        queueing in any::<bool>(),
        restart in 0usize..300,
    ) {
        let mut analysis = Analysis::new(Options { devices: vec![device(bio_based)], from_ns: 10, interval_ns: 77, queueing });
        for (n, (time_ns, action, flags, sector, sectors, error, minor, odd)) in all.into_iter().enumerate() {
            if n == restart {
                analysis.restart(time_ns);
            }
            if odd == 0 {
                analysis.gap();
            }
            let device = DeviceNumber { minor, ..VDA };
            let told = BlockEvent { flags: RequestFlags(flags), error, device, ..event(time_ns, action, "", sector, sectors) };
            analysis.event(&told, IssuerKind::ALL[usize::from(odd) % IssuerKind::ALL.len()]);
        }
        check_always(&analysis.finish(30_000))?;
    }
}
