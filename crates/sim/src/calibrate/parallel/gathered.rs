//! Statistics of one trace in bounded memory: mean times by kind, size and depth, and the throughput in short windows of time.

use super::super::service::{Service, Services};
use super::super::spread::TimeSample;
use super::flushes::OpenFlushes;
use super::turnaround::Turnaround;
use crate::devices::SECTOR_BYTES;
use crate::thin::Thin;
use fathom_record::block::{BlockEvent, DeviceNumber};
use fathom_record::course::Thinned;
use std::collections::BTreeMap;

/// Requests per window.
pub(super) const WINDOW: u32 = 32;
/// Windows kept of a trace.
const MOST_WINDOWS: usize = 2048;

/// Requests of one kind, of sizes within a factor of two, that found about the same number of others in the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LoadCell {
    pub write: bool,
    /// Logarithm of the size.
    pub size: u32,
    /// Logarithm of the number of requests in the device at its issue, itself included.
    pub depth: u32,
}

/// Sums over the requests of a cell.
#[derive(Clone, Debug, Default)]
pub(super) struct CellSums {
    pub bytes: f64,
    pub depth: f64,
    pub response_ns: f64,
    pub seen: TimeSample,
}

impl CellSums {
    pub fn merge(&mut self, other: &Self) {
        self.bytes += other.bytes;
        self.depth += other.depth;
        self.response_ns += other.response_ns;
        self.seen.merge(&other.seen);
    }
}

/// Consecutively completed requests.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    /// Numbers of reads and writes.
    pub requests: [u32; 2],
    /// Bytes read and written.
    pub bytes: [u64; 2],
    /// Sum over requests of the queue depth at issue.
    pub depth: u64,
    /// Sum of their response times.
    pub response_ns: u64,
    /// Time between completions during which the device was busy.
    pub busy_ns: u64,
    /// Whether it has a request outside the traced workload.
    spoilt: bool,
}

/// Statistics of one trace.
#[derive(Clone, Debug)]
pub struct Gathered {
    services: Services,
    flushing: OpenFlushes,
    pub(super) cells: BTreeMap<LoadCell, CellSums>,
    pub(super) flushes: TimeSample,
    turnaround: Turnaround,
    window: Window,
    thin: Thin<Window>,
    pub(super) windows: Vec<Window>,
    requests: u64,
}

impl Gathered {
    /// Empty statistics of this device.
    #[must_use]
    pub fn new(device: DeviceNumber) -> Self {
        Self {
            services: Services::new(device),
            flushing: OpenFlushes::new(device),
            cells: BTreeMap::new(),
            flushes: TimeSample::default(),
            turnaround: Turnaround::default(),
            window: Window::default(),
            thin: Thin::new(MOST_WINDOWS),
            windows: Vec::new(),
            requests: 0,
        }
    }

    /// Processes the next event. `counts` says whether an issue belongs to the traced workload; others still keep the device busy.
    pub fn take(&mut self, event: &BlockEvent, counts: bool) {
        if let Some((ns, true)) = self.flushing.take(event, counts) {
            self.flushes.add(ns);
        }
        if let Some(service) = self.services.take_marked(event, counts) {
            self.turnaround.add(&service, event.time_ns);
            self.add(&service);
        }
    }

    /// How long the program took from a completion to its next request, us; `None` unless most requests were alone in the device.
    #[must_use]
    pub fn turnaround_us(&self) -> Option<f64> {
        self.turnaround.median_us()
    }

    fn add(&mut self, service: &Service) {
        let bytes = u64::from(service.sectors) * SECTOR_BYTES;
        if service.marked {
            self.requests += 1;
            let depth = service.depth.max(1);
            let cell = LoadCell { write: service.write, size: bytes.ilog2(), depth: depth.ilog2() };
            let sums = self.cells.entry(cell).or_default();
            sums.bytes += bytes as f64;
            sums.depth += f64::from(depth);
            sums.response_ns += service.response_ns as f64;
            sums.seen.add(service.response_ns);
        }
        let window = &mut self.window;
        let kind = usize::from(service.write);
        window.requests[kind] += 1;
        window.bytes[kind] += bytes;
        window.depth += u64::from(service.depth);
        window.response_ns += service.response_ns;
        window.busy_ns += service.ns;
        window.spoilt |= !service.marked;
        if window.requests[0] + window.requests[1] == WINDOW {
            let whole = std::mem::take(window);
            if !whole.spoilt {
                self.thin.see(|| whole);
            }
        }
    }

    /// Ends the trace.
    #[must_use]
    pub fn finish(mut self) -> Self {
        let Thinned { kept, .. } = self.thin.take();
        self.windows = kept;
        self
    }

    /// Reads and writes of the traced workload.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// The end of the highest request.
    #[must_use]
    pub fn end_sector(&self) -> u64 {
        self.services.end_sector()
    }

    /// Highest number of reads and writes in the device.
    #[must_use]
    pub fn most_open(&self) -> usize {
        self.services.most_open()
    }

    /// Events beyond the last possible sector.
    #[must_use]
    pub fn impossible(&self) -> u64 {
        self.services.impossible()
    }
}
