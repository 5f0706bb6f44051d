//! A phase without watched events, described by the device's counters: how many requests, their mean size, how busy the device
//! was and how deep its queue. Counters hold no single request, so nothing here is a distribution.

use crate::block::{depth_words, interval_device, rounded_bytes};
use crate::units;
use fathom_record::block::{BlockInterval, TimeSource};
use fathom_record::{BlockLayer, Physical};

/// A caveat for every sentence made here; shown once if there are several.
pub const LIMITS: &str = "From the device's counters, which include I/O of all programs: no sizes, seeks or latencies of single requests.";

/// Whether counters are the only source for a phase's requests.
#[must_use]
pub fn are_all(layer: &BlockLayer) -> bool {
    layer.devices.is_empty() && layer.intervals.iter().any(of_counters)
}

fn of_counters(interval: &BlockInterval) -> bool {
    interval.source == TimeSource::Counters
}

/// "loop3: 1234 reads, mean 64.0 KiB; busy 87 %, mean depth 3.2": for the active device nearest to the file system.
#[must_use]
pub fn sentence(layer: &BlockLayer, physical: &Physical) -> Option<String> {
    let rows = || layer.intervals.iter().filter(|i| of_counters(i));
    let nearest = |busy: bool| rows().filter(|i| !busy || did_anything(i)).map(|i| i.device).min();
    let device = nearest(true).or_else(|| nearest(false))?;
    let rows: Vec<&BlockInterval> = rows().filter(|i| i.device == device).collect();
    let name = interval_device(layer, physical, rows.first()?);
    let sum = |of: fn(&BlockInterval) -> u64| rows.iter().fold(0u64, |all, i| all.saturating_add(of(i)));
    let moved = [
        moved(sum(|i| i.reads), sum(|i| i.read_bytes), "read"),
        moved(sum(|i| i.writes), sum(|i| i.write_bytes), "write"),
        counted(sum(|i| i.discards), "discard", "discards"),
        counted(sum(|i| i.flushes), "flush", "flushes"),
    ];
    let mut parts: Vec<String> = moved.into_iter().flatten().collect();
    if parts.is_empty() {
        return Some(format!("nothing reached {name}"));
    }
    let watched = sum(|i| i.width_ns) as f64;
    if watched > 0.0 {
        let busy = units::percent(sum(|i| i.busy_ns) as f64 / watched);
        let depth = depth_words(sum(|i| i.depth_ns) as f64 / watched);
        parts.push(format!("busy {busy}, mean depth {depth}"));
    }
    Some(format!("{name}: {}", parts.join("; ")))
}

fn did_anything(i: &BlockInterval) -> bool {
    [i.reads, i.writes, i.discards, i.flushes].iter().any(|n| *n > 0)
}

fn counted(n: u64, one: &str, many: &str) -> Option<String> {
    (n > 0).then(|| format!("{} {}", units::count(n), if n == 1 { one } else { many }))
}

fn moved(n: u64, bytes: u64, one: &str) -> Option<String> {
    Some(format!("{}, mean {}", counted(n, one, &format!("{one}s"))?, rounded_bytes(bytes as f64 / n as f64)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn the_nearest_device_that_did_anything_is_told_from_all_its_rows() {
        let run = samples::counted_run();
        let repetition = &run.phases[0].repetitions[0];
        let layer = repetition.block.as_ref().expect("counted");
        assert!(are_all(layer));
        let told = sentence(layer, &repetition.physical);
        assert_eq!(
            told.as_deref(),
            Some("vda: 4000 reads, mean 64.0 KiB; 1 write, mean 4.00 KiB; busy 75 %, mean depth 2.5")
        );
    }

    #[test]
    fn idle_devices_and_no_rows() {
        let idle = BlockInterval { source: TimeSource::Counters, width_ns: 1, ..BlockInterval::default() };
        let layer = BlockLayer { intervals: vec![idle], ..BlockLayer::default() };
        assert_eq!(sentence(&layer, &Physical::default()).as_deref(), Some("nothing reached ?"));
        assert_eq!(sentence(&BlockLayer::default(), &Physical::default()), None);
        assert!(!are_all(&samples::block_layer()), "events tell more");
    }
}
