//! Figures of each interval and device, as far back as a screen can show.

use fathom_record::block::{DeviceActivity, Issuer, RequestClass, SizeCount};
use fathom_record::{BlockLayer, Histogram};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// Intervals kept: more than a terminal is wide.
const MOST: usize = 512;

#[derive(Clone, Debug, Default)]
pub struct Moment {
    pub length: Duration,
    pub layer: BlockLayer,
}

/// Figures of one direction in one interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DirectionFigures {
    pub requests_per_s: f64,
    pub bytes_per_s: f64,
    pub merges_per_s: f64,
    /// Mean latency of a request, ns; `None` without requests.
    pub mean_ns: Option<f64>,
}

/// Figures of one device in one interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    pub reads: DirectionFigures,
    pub writes: DirectionFigures,
    pub flushes_per_s: f64,
    pub discards_per_s: f64,
    /// Mean queue depth.
    pub depth: f64,
    /// Share of the time with requests in the device.
    pub busy: f64,
    pub merges_known: bool,
}

pub struct WatchHistory {
    pub names: Vec<String>,
    pub moments: VecDeque<Moment>,
}

impl WatchHistory {
    pub fn new(names: Vec<String>) -> Self {
        Self { names, moments: VecDeque::new() }
    }

    pub fn push(&mut self, moment: Moment) {
        if self.moments.len() == MOST {
            self.moments.pop_front();
        }
        self.moments.push_back(moment);
    }

    pub fn latest(&self) -> Option<&Moment> {
        self.moments.back()
    }
}

impl Moment {
    pub fn figures(&self, device: usize) -> Figures {
        let seconds = self.length.as_secs_f64().max(1e-9);
        match self.layer.devices.get(device) {
            Some(activity) => of_events(activity, seconds),
            None => of_counters(&self.layer, device, seconds),
        }
    }

    /// The analysed events of a device.
    pub fn activity(&self, device: usize) -> Option<&DeviceActivity> {
        self.layer.devices.get(device)
    }

    /// Latencies of all reads and writes in the device.
    pub fn latency(&self, device: usize) -> Histogram {
        let mut all = Histogram::default();
        for stats in self.activity(device).into_iter().flat_map(|a| &a.requests) {
            if matches!(stats.class, RequestClass::Read | RequestClass::Write) {
                all.merge(&stats.d2c);
            }
        }
        all
    }

    /// Sizes of all reads and writes, ascending.
    pub fn sizes(&self, device: usize) -> Vec<SizeCount> {
        let mut all = BTreeMap::<u64, u64>::new();
        let stats = self.activity(device).into_iter().flat_map(|a| &a.requests);
        for stats in stats.filter(|s| matches!(s.class, RequestClass::Read | RequestClass::Write)) {
            stats.sizes.iter().for_each(|s| *all.entry(s.bytes).or_default() += s.count);
        }
        all.into_iter().map(|(bytes, count)| SizeCount { bytes, count }).collect()
    }

    /// The top issuers.
    pub fn issuers(&self, device: usize) -> &[Issuer] {
        self.activity(device).map_or(&[], |a| &a.issuers)
    }
}

fn of_events(activity: &DeviceActivity, seconds: f64) -> Figures {
    let count = |class| activity.class(class).map_or(0, |s| s.completed) as f64 / seconds;
    let flow = |class| {
        let Some(s) = activity.class(class) else { return DirectionFigures::default() };
        let merges = s.back_merges.unwrap_or(0) + s.front_merges.unwrap_or(0) + s.request_merges.unwrap_or(0);
        DirectionFigures {
            requests_per_s: s.completed as f64 / seconds,
            bytes_per_s: s.completed_bytes as f64 / seconds,
            merges_per_s: merges as f64 / seconds,
            mean_ns: s.d2c.mean_ns(),
        }
    };
    let depth_ns: f64 = activity.in_device.iter().map(|d| f64::from(d.depth) * d.ns as f64).sum();
    Figures {
        reads: flow(RequestClass::Read),
        writes: flow(RequestClass::Write),
        flushes_per_s: count(RequestClass::Flush),
        discards_per_s: count(RequestClass::Discard),
        depth: depth_ns / (seconds * 1e9),
        busy: (activity.busy_ns as f64 / (seconds * 1e9)).min(1.0),
        merges_known: activity.requests.iter().any(|s| s.back_merges.is_some()),
    }
}

fn of_counters(layer: &BlockLayer, device: usize, seconds: f64) -> Figures {
    let rows = || layer.intervals.iter().filter(|r| r.device as usize == device);
    let sum =
        |figure: fn(&fathom_record::block::BlockInterval) -> u64| rows().map(figure).sum::<u64>() as f64;
    let flow = |requests: f64, bytes: f64, merges: f64, ns: f64| DirectionFigures {
        requests_per_s: requests / seconds,
        bytes_per_s: bytes / seconds,
        merges_per_s: merges / seconds,
        mean_ns: (requests > 0.0).then(|| ns / requests),
    };
    Figures {
        reads: flow(sum(|r| r.reads), sum(|r| r.read_bytes), sum(|r| r.read_merges), sum(|r| r.read_ns)),
        writes: flow(sum(|r| r.writes), sum(|r| r.write_bytes), sum(|r| r.write_merges), sum(|r| r.write_ns)),
        flushes_per_s: sum(|r| r.flushes) / seconds,
        discards_per_s: sum(|r| r.discards) / seconds,
        depth: sum(|r| r.depth_ns) / (seconds * 1e9),
        busy: (sum(|r| r.busy_ns) / (seconds * 1e9)).min(1.0),
        merges_known: true,
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use fathom_record::block::{BlockInterval, DepthTime, IssuerKind, RequestStats};

    /// A second in which "vda" did 100 reads of 4 KiB and 10 writes of 64 KiB.
    pub fn moment() -> Moment {
        let class = |class, completed: u64, each: u64, ns: u64| RequestStats {
            class,
            issued: completed,
            issued_bytes: completed * each,
            completed,
            completed_bytes: completed * each,
            sizes: vec![SizeCount { bytes: each, count: completed }],
            d2c: Histogram::from_values(std::iter::repeat_n(ns, completed as usize)),
            ..RequestStats::default()
        };
        let issuer = |kind, name: &str, reads| Issuer {
            kind,
            name: name.into(),
            reads,
            read_bytes: reads * 4096,
            ..Issuer::default()
        };
        let activity = DeviceActivity {
            name: "vda".into(),
            requests: vec![
                class(RequestClass::Read, 100, 4096, 200_000),
                class(RequestClass::Write, 10, 65_536, 3_000_000),
            ],
            issuers: vec![issuer(IssuerKind::Other, "fio", 100)],
            in_device: vec![DepthTime { depth: 0, ns: 500_000_000 }, DepthTime { depth: 2, ns: 500_000_000 }],
            busy_ns: 500_000_000,
            ..DeviceActivity::default()
        };
        let layer = BlockLayer { source: "tracefs".into(), devices: vec![activity], ..BlockLayer::default() };
        Moment { length: Duration::from_secs(1), layer }
    }

    #[test]
    fn events_and_counters_give_the_same_figures() {
        let by_events = moment().figures(0);
        assert_eq!((by_events.reads.requests_per_s, by_events.writes.bytes_per_s), (100.0, 655_360.0));
        assert_eq!((by_events.depth, by_events.busy), (1.0, 0.5));
        let row = BlockInterval {
            reads: 100,
            read_bytes: 409_600,
            read_ns: 20_000_000,
            writes: 10,
            write_bytes: 655_360,
            write_ns: 30_000_000,
            busy_ns: 500_000_000,
            depth_ns: 1_000_000_000,
            ..BlockInterval::default()
        };
        let layer = BlockLayer { intervals: vec![row], ..BlockLayer::default() };
        let by_counters = Moment { length: Duration::from_secs(1), layer }.figures(0);
        assert_eq!(by_counters.reads.mean_ns, Some(200_000.0));
        let near = |a: Option<f64>, b: Option<f64>| (a.unwrap() / b.unwrap() - 1.0).abs() < 0.01;
        assert!(near(by_events.reads.mean_ns, by_counters.reads.mean_ns));
        assert_eq!((by_counters.depth, by_counters.busy), (1.0, 0.5));
    }

    #[test]
    fn the_oldest_moments_are_forgotten() {
        let mut history = WatchHistory::new(vec!["vda".into()]);
        (0..MOST + 3).for_each(|_| history.push(Moment::default()));
        assert_eq!(history.moments.len(), MOST);
        assert_eq!(Moment::default().figures(0), Figures { merges_known: true, ..Figures::default() });
    }
}
