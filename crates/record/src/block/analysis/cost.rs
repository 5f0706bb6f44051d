//! CPU time per event: run by hand and optimised; see the test for how. It asserts counts, not times.

use super::super::event::BlockAction;
use super::tests::{device, event};
use super::*;
use std::io::Write as _;

/// CPU time of this thread so far, unaffected by other processes. 0 if the kernel does not report it.
fn cpu_ns() -> u64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0)
}

/// Feeds requests with all their events at a depth of 32, scattered over a device; returns ns per event.
fn measure(what: &str, queueing: bool, bio_based: bool) {
    let (requests, depth) = (1_000_000u64, 32);
    // A multiplicative step through 2^24 positions, random enough for a hash table and a cache.
    let sector = |n: u64| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) * 8;
    let options =
        Options { devices: vec![device(bio_based)], from_ns: 0, interval_ns: 100_000_000, queueing };
    let mut analysis = Analysis::new(options);
    let mut events = Vec::new();
    for n in 0..requests + depth {
        if n < requests {
            if queueing || bio_based {
                events.push(event(n * 10_000, BlockAction::Queue, "R", sector(n), 8));
            }
            if !bio_based {
                events.push(event(n * 10_000 + 2000, BlockAction::Issue, "R", sector(n), 8));
            }
        }
        if let Some(done) = n.checked_sub(depth) {
            let action = if bio_based { BlockAction::BioComplete } else { BlockAction::Complete };
            events.push(event(n * 10_000 + 5000 + (done * 7919) % 4000, action, "R", sector(done), 8));
        }
    }
    let start = cpu_ns();
    for event in &events {
        analysis.event(event, IssuerKind::Own);
    }
    let ns = (cpu_ns() - start) as f64 / events.len() as f64;
    let layer = analysis.finish(0);
    assert_eq!(
        (layer.devices[0].requests[0].completed, layer.devices[0].unfinished),
        (requests, 0),
        "{what}"
    );
    writeln!(std::io::stdout(), "{what}: {ns:.0} ns per event, {} events", events.len())
        .expect("stdout is open");
}

#[test]
#[ignore = "measures: cargo test -p fathom-record --lib --config 'profile.dev.package.fathom-record.opt-level=3' -- --ignored --nocapture cost_per_event"]
fn cost_per_event() {
    for _ in 0..3 {
        measure("issue and complete", false, false);
        measure("with queueing", true, false);
        measure("without requests", false, true);
    }
}
