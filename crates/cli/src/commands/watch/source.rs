//! Source of an interval's figures: an analysis that the observer thread feeds with events, or samples of the counters.

use super::Moment;
use crate::observing::monotonic_ns;
use fathom_observe::block::{CounterRows, Detail, Instance, Sink, Watch, Watched, Who};
use fathom_observe::files::Live;
use fathom_record::BlockLayer;
use fathom_record::block::BlockEvent;
use fathom_record::block::analysis::{Analysis, Options, WatchedDevice};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Sampling period of counters within an interval: busy time and queue depth have a resolution of milliseconds anyway.
const PERIOD: Duration = Duration::from_millis(20);

/// A running source.
pub struct WatchSource {
    devices: Vec<Watched>,
    /// Identity of each device at the start.
    there: Vec<Option<String>>,
    from: From,
    since: Instant,
}

enum From {
    Events { watch: Option<Watch<Feed>>, shared: Arc<Mutex<Analysis>>, instance: Option<Instance> },
    Counters(Option<CounterRows>),
}

/// Feeds events to the analysis on the observer thread.
struct Feed(Arc<Mutex<Analysis>>);

impl Sink for Feed {
    fn event(&mut self, event: &BlockEvent, who: &Who) {
        lock(&self.0).event(&who.put_into(event), who.kind);
    }
}

fn lock(shared: &Mutex<Analysis>) -> MutexGuard<'_, Analysis> {
    // The analysis is consistent between events, even after a panic.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl WatchSource {
    pub fn start(devices: Vec<Watched>, events: bool, queue: bool) -> anyhow::Result<Self> {
        let from = if events {
            let instance = Instance::new()?;
            let devices: Vec<Watched> = devices.iter().cloned().map(Watched::for_a_bystander).collect();
            let device = |d: &Watched| WatchedDevice {
                number: d.number,
                name: d.name.clone(),
                level: d.level,
                bio_based: d.bio_based,
            };
            let analysis = Analysis::new(Options {
                devices: devices.iter().map(device).collect(),
                queueing: queue,
                from_ns: monotonic_ns(),
                ..Options::default()
            });
            let shared = Arc::new(Mutex::new(analysis));
            let detail = if queue { Detail::Full } else { Detail::Requests };
            // The load is unknown; if this is too small, the rows report the lost events.
            let watch = Watch::start(&instance, &devices, detail, 100_000, Feed(shared.clone()))?;
            From::Events { watch: Some(watch), shared, instance: Some(instance) }
        } else {
            From::Counters(Some(counters(&devices)?))
        };
        let there = devices.iter().map(identity).collect();
        Ok(Self { devices, there, from, since: Instant::now() })
    }

    pub fn names(&self) -> Vec<String> {
        self.devices.iter().map(|d| d.name.clone()).collect()
    }

    /// Figures since the last call.
    pub fn take(&mut self) -> anyhow::Result<Moment> {
        if let Some((gone, _)) =
            self.devices.iter().zip(&self.there).find(|(device, there)| identity(device) != **there)
        {
            anyhow::bail!(
                "{} is gone, or another device has its number now: watch the one that is wanted",
                gone.name
            );
        }
        let now = Instant::now();
        let length = now - std::mem::replace(&mut self.since, now);
        let layer = match &mut self.from {
            From::Events { shared, .. } => {
                let now_ns = monotonic_ns();
                let mut analysis = lock(shared);
                let mut layer = analysis.finish(now_ns);
                analysis.restart(now_ns);
                layer.source = "tracefs".into();
                layer
            }
            From::Counters(rows) => {
                let intervals = rows.take().map(CounterRows::stop).unwrap_or_default().rows;
                *rows = Some(counters(&self.devices)?);
                BlockLayer { source: "counters".into(), intervals, ..BlockLayer::default() }
            }
        };
        Ok(Moment { length, layer })
    }

    /// Stops and tears down.
    pub fn stop(self) {
        if let From::Events { watch, instance, .. } = self.from {
            if let Some(Ok(taken)) = watch.map(Watch::stop)
                && taken.lost > 0
            {
                crate::console::warning(&format!(
                    "{} of {} events were lost because the buffers were full: counts above may be too low",
                    taken.lost,
                    taken.events + taken.lost
                ));
            }
            drop(instance);
        }
    }
}

/// Tells a device from a later one of the same number: the kernel numbers disks in order of appearance (since Linux
/// 5.15; before, only its presence can be checked).
fn identity(device: &Watched) -> Option<String> {
    let number = (device.number.major, device.number.minor);
    let dir = std::fs::canonicalize(fathom_observe::device::sys_of(&Live, number)).ok()?;
    let of_disk = if dir.join("partition").exists() { dir.parent()? } else { &dir };
    let sequence = std::fs::read_to_string(of_disk.join("diskseq")).unwrap_or_default();
    Some(format!("{} {}", dir.display(), sequence.trim()))
}

fn counters(devices: &[Watched]) -> std::io::Result<CounterRows> {
    CounterRows::start(&devices.iter().map(|d| d.number).collect::<Vec<_>>(), PERIOD)
}
