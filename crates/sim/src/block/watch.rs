//! Observation of the device: every event goes to the analysis used for the kernel's events, so the block layer of a simulated record
//! means the same as that of a real one. Also keeps the sums to check Little's law.

use super::Submitter;
use crate::shapes::Shapes;
use fathom_record::block::{
    Analysis, BlockAction, BlockEvent, DeviceNumber, Options, RequestFlags, WatchedDevice,
};

/// Number of the simulated device; no real device has major 0.
const DEVICE: DeviceNumber = DeviceNumber { major: 0, minor: 1 };

pub(crate) struct BlockObserver {
    pub analysis: Analysis,
    /// Requests in the device: the time integral of their number, and the sum of their times there, ns.
    pub depth_ns: u128,
    pub response_ns: u128,
    /// Shapes of write requests.
    pub shapes: Shapes,
    since: u64,
    pub began: Vec<u64>,
    pub written_bytes: u64,
}

impl BlockObserver {
    /// For a device that takes `depth` commands at once.
    pub fn new(name: &str, depth: u32) -> Self {
        let watched = WatchedDevice { number: DEVICE, name: name.into(), level: 0, bio_based: false };
        let options = Options { devices: vec![watched], queueing: true, ..Options::default() };
        Self {
            analysis: Analysis::new(options),
            depth_ns: 0,
            response_ns: 0,
            shapes: Shapes::default(),
            since: 0,
            began: vec![0; depth as usize],
            written_bytes: 0,
        }
    }

    /// The depth was `depth` until `now`.
    pub fn pass(&mut self, now: u64, depth: u32) {
        self.depth_ns += u128::from(now - self.since) * u128::from(depth);
        self.since = now;
    }

    pub fn tell(
        &mut self,
        now: u64,
        action: BlockAction,
        write: bool,
        sector: u64,
        sectors: u32,
        who: Submitter,
    ) {
        let event = BlockEvent {
            time_ns: now,
            device: DEVICE,
            action,
            flags: match (write, sectors) {
                (true, 0) => RequestFlags::PREFLUSH,
                (true, _) => RequestFlags::WRITE,
                (false, _) => RequestFlags::READ,
            },
            sector,
            sectors,
            pid: u32::from(who.0),
            cpu: 0,
            error: 0,
            task: [0; 16],
        };
        self.analysis.event(&event, who.kind());
    }
}
