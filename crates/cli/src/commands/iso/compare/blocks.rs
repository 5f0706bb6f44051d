//! Block events of one run, as seen by the device: requests by size, and how many did not start where the previous one
//! ended.

use fathom_observe::block::{Detail, Instance, Sink, Watch, WatchResult, Watched, Who};
use fathom_record::BlockEvent;
use fathom_record::block::{BlockAction, RequestFlags};
use std::collections::BTreeMap;

/// The rate is unknown beforehand.
const EXPECTED_IOPS: u64 = 100_000;

#[derive(Clone, Debug, Default)]
pub struct Blocks {
    pub requests: u64,
    pub bytes: u64,
    /// Requests that did not start where the previous one ended.
    pub apart: u64,
    /// Sum of these distances.
    pub distance_bytes: u64,
    pub sizes: BTreeMap<u64, u64>,
    /// Lost events; if not 0, no count here is a total.
    pub lost: u64,
    /// CPU time of the observer.
    pub observer_cpu_ns: u64,
    end: Option<u64>,
}

impl Sink for Blocks {
    fn event(&mut self, event: &BlockEvent, _: &Who) {
        if event.action != BlockAction::Issue || !event.flags.has(RequestFlags::READ) || event.sectors == 0 {
            return;
        }
        self.requests += 1;
        self.bytes += event.bytes();
        *self.sizes.entry(event.bytes()).or_default() += 1;
        let distance = self.end.map_or(0, |end| end.abs_diff(event.sector));
        self.apart += u64::from(distance > 0);
        self.distance_bytes = self.distance_bytes.saturating_add(distance.saturating_mul(512));
        self.end = Some(event.sector + u64::from(event.sectors));
    }
}

/// Observes the devices while `work` runs.
pub fn during<T>(
    watch: Option<&(Instance, Watched)>,
    what: impl FnOnce() -> T,
) -> anyhow::Result<(T, Option<Blocks>)> {
    let Some((instance, device)) = watch else { return Ok((what(), None)) };
    let devices = std::slice::from_ref(device);
    let watch = Watch::start(instance, devices, Detail::Requests, EXPECTED_IOPS, Blocks::default())?;
    let done = what();
    let WatchResult { sink, lost, observer_cpu_ns, .. } = watch.stop()?;
    Ok((done, Some(Blocks { lost, observer_cpu_ns, ..sink })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_record::block::DeviceNumber;

    #[test]
    fn reads_are_counted_where_they_are_issued() {
        let event = |action, sector, sectors, flags| BlockEvent {
            time_ns: 0,
            device: DeviceNumber::default(),
            action,
            flags,
            sector,
            sectors,
            pid: 0,
            cpu: 0,
            error: 0,
            task: [0; 16],
        };
        let mut blocks = Blocks::default();
        let who = Who::default();
        let read = RequestFlags::READ;
        for (action, sector, sectors, flags) in [
            (BlockAction::Issue, 8, 8, read),
            (BlockAction::Complete, 8, 8, read),
            (BlockAction::Issue, 16, 4, read),
            (BlockAction::Issue, 100, 4, read.with(RequestFlags::AHEAD)),
            (BlockAction::Issue, 4, 4, RequestFlags::WRITE),
        ] {
            blocks.event(&event(action, sector, sectors, flags), &who);
        }
        assert_eq!((blocks.requests, blocks.bytes, blocks.apart), (3, 8192, 1));
        assert_eq!((blocks.distance_bytes, blocks.sizes[&2048]), (80 * 512, 2));
    }
}
