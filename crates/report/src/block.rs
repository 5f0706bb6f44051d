//! Block-layer figures, derived from a [`BlockLayer`] once for every format: mean sizes, merged and sequential shares, mean and
//! largest depth. Formats only lay them out. What was not watched is `None`, never 0.

use crate::{counters, printable::clean, units};
use fathom_record::block::{
    BlockInterval, DepthTime, DeviceActivity, Issuer, RequestClass, RequestStats, TimeSource,
};
use fathom_record::{BlockLayer, Histogram, Phase, Physical, Repetition};

/// Figures of the requests of one class.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassRequests<'r> {
    /// The source.
    pub stats: &'r RequestStats,
    /// Mean size at issue, bytes.
    pub mean_bytes: Option<f64>,
    /// Share of the arrived bios that was merged into waiting requests.
    pub merged: Option<f64>,
    /// Share of the requests that began where the previous one ended.
    pub sequential: Option<f64>,
    /// Share that was marked as read-ahead.
    pub ahead: Option<f64>,
}

impl<'r> ClassRequests<'r> {
    /// Derives the figures of one class.
    #[must_use]
    pub fn of(stats: &'r RequestStats) -> Self {
        let merges = [stats.back_merges, stats.front_merges];
        let merged = merges.iter().any(Option::is_some).then(|| merges.iter().flatten().fold(0, sum));
        let seeks = &stats.seeks;
        let placed = [seeks.sequential, seeks.forward, seeks.backward].iter().fold(0, sum);
        Self {
            stats,
            mean_bytes: share(stats.issued_bytes, Some(stats.issued)),
            merged: merged.and_then(|merged| share(merged, stats.bios)),
            sequential: share(seeks.sequential, Some(placed)),
            ahead: share(stats.ahead, Some(stats.issued)),
        }
    }

    /// Mean distance of the non-sequential requests, bytes.
    #[must_use]
    pub fn mean_seek_bytes(&self) -> Option<f64> {
        let apart = self.stats.seeks.forward.saturating_add(self.stats.seeks.backward);
        (apart > 0).then(|| self.stats.seeks.total_bytes as f64 / apart as f64)
    }
}

fn sum(all: u64, one: &u64) -> u64 {
    all.saturating_add(*one)
}

/// A quotient; `None` if there is nothing to divide by.
fn share(part: u64, whole: Option<u64>) -> Option<f64> {
    whole.filter(|&w| w > 0).map(|w| part as f64 / w as f64)
}

/// Number of requests in one place, over time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Depth {
    /// Mean over the watched time.
    pub mean: f64,
    /// Mean over the time with at least one.
    pub while_busy: f64,
    /// The maximum.
    pub max: u32,
}

impl Depth {
    /// From the time at each depth; `None` if nothing was ever there. The watched time is at least the sum of those.
    #[must_use]
    pub fn of(times: &[DepthTime], watched_ns: u64) -> Option<Self> {
        let max = times.iter().filter(|t| t.ns > 0).map(|t| t.depth).max().filter(|&d| d > 0)?;
        let area: f64 = times.iter().map(|t| f64::from(t.depth) * t.ns as f64).sum();
        let busy: f64 = times.iter().filter(|t| t.depth > 0).map(|t| t.ns as f64).sum();
        let known_ns: f64 = times.iter().map(|t| t.ns as f64).sum();
        Some(Self { mean: area / known_ns.max(watched_ns as f64), while_busy: area / busy, max })
    }

    /// "mean 3.2 (3.4 while busy), max 32".
    #[must_use]
    pub fn words(&self) -> String {
        format!(
            "mean {} ({} while busy), max {}",
            depth_words(self.mean),
            depth_words(self.while_busy),
            self.max
        )
    }
}

/// Formats a mean depth: "0.04", "3.2", "128".
#[must_use]
pub fn depth_words(depth: f64) -> String {
    match depth {
        d if d < 0.995 => format!("{d:.2}"),
        d if d < 99.95 => format!("{d:.1}"),
        d => format!("{d:.0}"),
    }
}

/// Requests issued to a device, over all classes.
#[must_use]
pub fn issued(device: &DeviceActivity) -> u64 {
    device.requests.iter().fold(0, |all, r| sum(all, &r.issued))
}

/// Bytes issued to a device, over all classes.
#[must_use]
pub fn issued_bytes(device: &DeviceActivity) -> u64 {
    device.requests.iter().fold(0, |all, r| sum(all, &r.issued_bytes))
}

/// Time above the device for all classes that move data; empty if queueing was not watched.
#[must_use]
pub fn queue_latency(device: &DeviceActivity) -> Histogram {
    device.requests.iter().filter(|r| r.issued_bytes > 0).fold(Histogram::default(), |mut all, r| {
        all.merge(&r.q2d);
        all
    })
}

/// Time in the device for all classes that move data.
#[must_use]
pub fn device_latency(device: &DeviceActivity) -> Histogram {
    device.requests.iter().filter(|r| r.issued_bytes > 0).fold(Histogram::default(), |mut all, r| {
        all.merge(&r.d2c);
        all
    })
}

/// The device that represents a phase: the first one, below the file system, unless only lower ones had requests.
#[must_use]
pub fn main_device(layer: &BlockLayer) -> Option<&DeviceActivity> {
    layer.devices.iter().find(|d| issued(d) > 0).or(layer.devices.first())
}

/// The repetition a phase's block layer is shown from: the last one watched. It is not a sum over repetitions, because requests
/// over time, depth and order belong to one execution.
#[must_use]
pub fn shown_repetition(phase: &Phase) -> Option<(&Repetition, &BlockLayer)> {
    phase.repetitions.iter().rev().find_map(|r| Some((r, r.block.as_ref()?)))
}

/// Name of the device an interval belongs to: from the layer for events, from the physical record for counters.
#[must_use]
pub fn interval_device(layer: &BlockLayer, physical: &Physical, interval: &BlockInterval) -> String {
    let at = interval.device as usize;
    let name = match interval.source {
        TimeSource::Events => layer.devices.get(at).map(|d| d.name.as_str()),
        TimeSource::Counters => physical.devices.get(at).map(|d| d.name.as_str()),
    };
    clean(name.unwrap_or("?"))
}

/// A warning that the figures are no totals, because events were lost.
#[must_use]
pub fn lost_words(layer: &BlockLayer) -> Option<String> {
    (layer.lost > 0).then(|| {
        let all = layer.events as f64 + layer.lost as f64;
        format!(
            "{} of {} events were lost ({}): counts of requests and bytes here may be too low.",
            units::count(layer.lost),
            units::count(layer.events.saturating_add(layer.lost)),
            units::percent(layer.lost as f64 / all)
        )
    })
}

/// One phase in one sentence: "vda: 163 840 reads of 4.00 KiB, 0 % sequential; depth 7.0, max 8; 90.6 us in the device (p50), p99 ...".
#[must_use]
pub fn sentence(layer: &BlockLayer, physical: &Physical) -> String {
    let Some(device) = main_device(layer) else {
        let counted = counters::sentence(layer, physical);
        return counted.unwrap_or_else(|| "no device was watched".into());
    };
    let name = clean(&device.name);
    if issued(device) == 0 {
        return format!("nothing reached {name}");
    }
    let mut parts: Vec<String> =
        device.requests.iter().filter(|r| r.issued > 0).map(|r| class_words(r, layer.lost > 0)).collect();
    if let Some(depth) = Depth::of(&device.in_device, layer.watched_ns) {
        parts.push(format!("depth {}, max {}", depth_words(depth.mean), depth.max));
    }
    let times = device_latency(device);
    if let (Some(p50), Some(p99)) = (times.percentile_ns(50.0), times.percentile_ns(99.0)) {
        let (p50, p99) = (units::time_ns(p50 as f64), units::time_ns(p99 as f64));
        parts.push(format!("in the device p50 {p50}, p99 {p99}"));
    }
    format!("{name}: {}", parts.join("; "))
}

/// "163 840 reads of 4.00 KiB, 0 % sequential, 75 % merged".
fn class_words(stats: &RequestStats, lost: bool) -> String {
    let r = ClassRequests::of(stats);
    let plural = match (stats.issued, stats.class) {
        (1, RequestClass::Other) => "other command",
        (1, class) => class.word(),
        (_, RequestClass::Read) => "reads",
        (_, RequestClass::Write) => "writes",
        (_, RequestClass::Flush) => "flushes",
        (_, RequestClass::Discard) => "discards",
        (_, RequestClass::Other) => "other commands",
    };
    let at_least = if lost { "at least " } else { "" };
    let mut words = format!("{at_least}{} {plural}", units::count(stats.issued));
    let Some(mean) = r.mean_bytes.filter(|&b| b > 0.0) else { return words };
    words += &format!(" of {}", rounded_bytes(mean));
    if let Some(sequential) = r.sequential {
        words += &format!(", {} sequential", units::percent(sequential));
    }
    if let Some(merged) = r.merged.filter(|&m| m > 0.0) {
        words += &format!(", {} of bios merged", units::percent(merged));
    }
    words
}

/// Incomplete observations as sentences: errors, requests begun before or not finished, requeued requests.
#[must_use]
pub fn remarks(device: &DeviceActivity) -> Vec<String> {
    let errors = device.requests.iter().fold(0, |all, r| sum(all, &r.errors));
    let counted = |n: u64, one: &str, many: &str| match n {
        0 => None,
        1 => Some(format!("1 {one}")),
        n => Some(format!("{} {many}", units::count(n))),
    };
    let splits = counted(
        device.splits.unwrap_or(0),
        "bio was cut at a limit of the device",
        "bios were cut at a limit of the device",
    );
    [
        counted(errors, "request ended with an error", "requests ended with an error"),
        counted(
            device.requeued,
            "request was given back by the driver",
            "requests were given back by the driver",
        ),
        counted(
            device.unfinished,
            "request was not complete when watching ended",
            "requests were not complete when watching ended",
        ),
        counted(
            device.begun_before,
            "request was completed that had been issued before watching began",
            "requests were completed that had been issued before watching began",
        ),
        splits,
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// "1200 back, 30 front, 2 of requests": merges by kind; `None` if there were none or they were not watched.
#[must_use]
pub fn merge_words(stats: &RequestStats) -> Option<String> {
    let kinds =
        [(stats.back_merges, "back"), (stats.front_merges, "front"), (stats.request_merges, "of requests")];
    let any = kinds.iter().any(|(n, _)| n.is_some_and(|n| n > 0));
    let words = kinds.iter().filter_map(|(n, kind)| n.map(|n| format!("{} {kind}", units::count(n))));
    any.then(|| words.collect::<Vec<_>>().join(", "))
}

/// "read: 1200 back, 30 front, 2 of requests; write: ...": for all classes with merges.
#[must_use]
pub fn all_merges(device: &DeviceActivity) -> Option<String> {
    let words = |r: &RequestStats| Some(format!("{}: {}", r.class.word(), merge_words(r)?));
    let words: Vec<String> = device.requests.iter().filter_map(words).collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// "own fio", "writeback kworker": the kind and name of an issuer.
#[must_use]
pub fn issuer_words(issuer: &Issuer) -> String {
    let name = clean(&issuer.name);
    if name.is_empty() { issuer.kind.word().to_string() } else { format!("{} {name}", issuer.kind.word()) }
}

/// "1 234 requests, 5.1 MiB": the I/O of an issuer.
#[must_use]
pub fn issuer_share(issuer: &Issuer) -> String {
    let requests = [issuer.reads, issuer.writes, issuer.others].iter().fold(0, sum);
    let bytes = issuer.read_bytes.saturating_add(issuer.write_bytes);
    let unit = if requests == 1 { "request" } else { "requests" };
    format!("{} {unit}, {}", units::count(requests), rounded_bytes(bytes as f64))
}

/// Formats measured bytes: "1.00 GiB", "4.00 KiB", "512 B".
#[must_use]
pub fn rounded_bytes(bytes: f64) -> String {
    if bytes < 1023.5 {
        return format!("{bytes:.0} B");
    }
    let rate = units::rate(bytes);
    rate.strip_suffix("/s").unwrap_or(&rate).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_record::block::{IssuerKind, Seeks};

    #[test]
    fn shares_are_of_what_was_watched() {
        let stats = RequestStats {
            issued: 100,
            issued_bytes: 409_600,
            ahead: 25,
            bios: Some(400),
            back_merges: Some(290),
            front_merges: Some(10),
            seeks: Seeks { sequential: 30, forward: 60, backward: 10, total_bytes: 7000, ..Seeks::default() },
            ..RequestStats::default()
        };
        let got = ClassRequests::of(&stats);
        assert_eq!((got.mean_bytes, got.merged), (Some(4096.0), Some(0.75)));
        assert_eq!((got.sequential, got.ahead), (Some(0.3), Some(0.25)));
        assert_eq!(got.mean_seek_bytes(), Some(100.0));
        let unseen = RequestStats { bios: None, back_merges: None, front_merges: None, ..stats.clone() };
        assert_eq!(ClassRequests::of(&unseen).merged, None, "what was not watched is not 0");
        let none = RequestStats::default();
        let none = ClassRequests::of(&none);
        assert_eq!((none.mean_bytes, none.sequential, none.mean_seek_bytes()), (None, None, None));
    }

    #[test]
    fn depth_over_the_watched_and_the_busy_time() {
        let times = [
            DepthTime { depth: 0, ns: 50 },
            DepthTime { depth: 1, ns: 30 },
            DepthTime { depth: 4, ns: 20 },
            DepthTime { depth: 9, ns: 0 },
        ];
        let depth = Depth::of(&times, 100).expect("something was there");
        assert_eq!((depth.mean, depth.while_busy, depth.max), (1.1, 2.2, 4));
        assert_eq!(depth.words(), "mean 1.1 (2.2 while busy), max 4");
        // If the idle time is not listed, the watched time takes its place.
        assert_eq!(Depth::of(&times[1..], 100).map(|d| d.mean), Some(1.1));
        assert_eq!(Depth::of(&[], 100), None);
        assert_eq!(Depth::of(&times[..1], 100), None);
    }

    #[test]
    fn a_phase_is_told_by_its_first_device_that_had_requests() {
        let layer = crate::samples::block_layer();
        let sentence = |layer: &BlockLayer| sentence(layer, &Physical::default());
        let words = sentence(&layer);
        assert!(
            words.starts_with("vda: 163 840 reads of 4.00 KiB, <0.1 % sequential; depth 6.6, max 8;"),
            "{words}"
        );
        let idle = DeviceActivity { name: "sda".into(), ..DeviceActivity::default() };
        let above = BlockLayer { devices: vec![idle.clone(), layer.devices[0].clone()], ..layer };
        assert_eq!(sentence(&above), words);
        let nothing = BlockLayer { devices: vec![idle], ..BlockLayer::default() };
        assert_eq!(sentence(&nothing), "nothing reached sda");
        assert_eq!(sentence(&BlockLayer::default()), "no device was watched");
    }

    #[test]
    fn losses_and_issuers_in_words() {
        let layer = BlockLayer { events: 9_688, lost: 312, ..BlockLayer::default() };
        let words = lost_words(&layer).expect("some were lost");
        assert_eq!(
            words,
            "312 of 10 000 events were lost (3.1 %): counts of requests and bytes here may be too low."
        );
        assert_eq!(lost_words(&BlockLayer::default()), None);
        let issuer = Issuer {
            kind: IssuerKind::Writeback,
            name: "kworker\u{1b}".into(),
            writes: 1,
            write_bytes: 524_288,
            ..Issuer::default()
        };
        assert_eq!(issuer_words(&issuer), "writeback kworker\u{fffd}");
        assert_eq!(issuer_share(&issuer), "1 request, 512 KiB");
        assert_eq!(rounded_bytes(512.0), "512 B");
    }

    #[test]
    fn merges_are_told_by_their_kind() {
        let stats = |back, front, requests| RequestStats {
            back_merges: back,
            front_merges: front,
            request_merges: requests,
            ..RequestStats::default()
        };
        assert_eq!(
            merge_words(&stats(Some(1200), Some(30), Some(2))).as_deref(),
            Some("1200 back, 30 front, 2 of requests")
        );
        assert_eq!(merge_words(&stats(Some(3), Some(0), None)).as_deref(), Some("3 back, 0 front"));
        assert_eq!(
            (merge_words(&stats(Some(0), Some(0), None)), merge_words(&stats(None, None, None))),
            (None, None)
        );
        let device = DeviceActivity {
            requests: vec![stats(Some(3), None, None), stats(None, None, None)],
            ..DeviceActivity::default()
        };
        assert_eq!(all_merges(&device).as_deref(), Some("read: 3 back"));
    }

    #[test]
    fn remarks_are_made_where_there_is_something() {
        let device =
            DeviceActivity { unfinished: 1, requeued: 12_000, splits: Some(0), ..DeviceActivity::default() };
        assert_eq!(
            remarks(&device),
            [
                "12 000 requests were given back by the driver",
                "1 request was not complete when watching ended"
            ]
        );
    }
}
