//! Observation of a replay: every event goes to the analysis used for real events and to the caller's output. Also keeps the sums to
//! check Little's law.

use fathom_record::block::event::TASK_NAME_BYTES;
use fathom_record::block::{
    Analysis, BlockAction, BlockEvent, DeviceNumber, IssuerKind, Options, RequestFlags, WatchedDevice,
};

/// Number of the simulated device; no real device has major 0.
pub const DEVICE: DeviceNumber = DeviceNumber { major: 0, minor: 1 };

/// Subject of an event.
#[derive(Clone, Copy)]
pub(super) struct RequestInfo {
    pub write: bool,
    pub sync: bool,
    pub sector: u64,
    pub sectors: u32,
    pub cpu: u8,
    pub who: (u32, [u8; TASK_NAME_BYTES]),
}

pub(super) struct ReplayObserver<O> {
    pub analysis: Analysis,
    out: O,
    pub depth_ns: u128,
    pub response_ns: u128,
    since: u64,
}

impl<O: FnMut(&BlockEvent)> ReplayObserver<O> {
    pub fn new(name: &str, out: O) -> Self {
        let watched = WatchedDevice { number: DEVICE, name: name.into(), level: 0, bio_based: false };
        let options = Options { devices: vec![watched], queueing: true, ..Options::default() };
        Self { analysis: Analysis::new(options), out, depth_ns: 0, response_ns: 0, since: 0 }
    }

    /// The device held `depth` requests until `now`.
    #[inline]
    pub fn pass(&mut self, now: u64, depth: u32) {
        self.depth_ns += u128::from(now - self.since) * u128::from(depth);
        self.since = now;
    }

    #[inline]
    pub fn tell(&mut self, time_ns: u64, action: BlockAction, about: &RequestInfo) {
        let mut flags = match (about.write, about.sectors) {
            (true, 0) => RequestFlags::PREFLUSH,
            (true, _) => RequestFlags::WRITE,
            (false, _) => RequestFlags::READ,
        };
        if about.sync && about.write {
            flags = flags.with(RequestFlags::SYNC);
        }
        let event = BlockEvent {
            time_ns,
            device: DEVICE,
            action,
            flags,
            sector: about.sector,
            sectors: about.sectors,
            pid: about.who.0,
            cpu: u16::from(about.cpu),
            error: 0,
            task: about.who.1,
        };
        self.analysis.event(&event, IssuerKind::Other);
        (self.out)(&event);
    }
}
