//! Service time of one request: from when the device could start it (it was issued, and the previous one was done) to its completion. A
//! device that serves one request at a time takes exactly this; for others it is what each request adds.

use fathom_record::block::{BlockAction, BlockEvent, DeviceNumber, RequestFlags};

/// Limit on requests in the device, so that lost completions do not pile up.
const MOST_OPEN: usize = 4096;

/// Beyond any device (8 EiB): an event past this is damaged, and sums of such sectors would overflow.
pub const LAST_SECTOR: u64 = 1 << 54;

/// A completed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// Service time, ns.
    pub ns: u64,
    /// Channel time, for a request that waited for a free channel ([`Services::with_channels`]), ns.
    pub channel_ns: u64,
    /// From issue to completion, ns.
    pub response_ns: u64,
    /// First sector.
    pub sector: u64,
    /// Length in sectors.
    pub sectors: u32,
    /// End of the previously completed request.
    pub head: u64,
    /// Whether it is a write.
    pub write: bool,
    /// Reads and writes in the device when it was issued, itself included.
    pub depth: u32,
    /// The mark given at its issue ([`Services::take_marked`]).
    pub marked: bool,
}

#[derive(Clone, Copy, Debug)]
struct OpenRequest {
    issued: u64,
    sector: u64,
    sectors: u32,
    write: bool,
    depth: u32,
    marked: bool,
    /// Time at which a channel became free for it.
    began: Option<u64>,
}

/// Converts the events of one device to services.
#[derive(Clone, Debug)]
pub struct Services {
    device: DeviceNumber,
    channels: usize,
    open: Vec<OpenRequest>,
    last_done: u64,
    head: Option<u64>,
    end_sector: u64,
    most_open: usize,
    impossible: u64,
}

impl Services {
    /// For this device.
    #[must_use]
    pub fn new(device: DeviceNumber) -> Self {
        Self::with_channels(device, 1)
    }

    /// For this device, assumed to serve `channels` requests in parallel, in issue order.
    #[must_use]
    pub fn with_channels(device: DeviceNumber, channels: usize) -> Self {
        Self {
            device,
            channels,
            open: Vec::new(),
            last_done: 0,
            head: None,
            end_sector: 0,
            most_open: 0,
            impossible: 0,
        }
    }

    /// The end of the highest request.
    #[must_use]
    pub fn end_sector(&self) -> u64 {
        self.end_sector
    }

    /// Highest number of requests in the device.
    #[must_use]
    pub fn most_open(&self) -> usize {
        self.most_open
    }

    /// Number of events beyond [`LAST_SECTOR`], which were ignored.
    #[must_use]
    pub fn impossible(&self) -> u64 {
        self.impossible
    }

    /// Processes the next event; returns a service if it completes one. Flushes, discards and failures return none.
    pub fn take(&mut self, event: &BlockEvent) -> Option<Service> {
        self.take_marked(event, true)
    }

    /// The same; `marked` at an issue is copied to its service and ignored at a completion.
    pub fn take_marked(&mut self, event: &BlockEvent, marked: bool) -> Option<Service> {
        if event.device != self.device || event.sectors == 0 {
            return None;
        }
        if event.sector.saturating_add(event.sectors.into()) > LAST_SECTOR {
            self.impossible += 1;
            return None;
        }
        let write = event.flags.has(RequestFlags::WRITE);
        if !write && !event.flags.has(RequestFlags::READ) || event.flags.has(RequestFlags::DISCARD) {
            return None;
        }
        match event.action {
            BlockAction::Issue => {
                if self.open.len() == MOST_OPEN {
                    self.open.remove(0);
                }
                let BlockEvent { time_ns: issued, sector, sectors, .. } = *event;
                let began = (self.open.len() < self.channels).then_some(issued);
                let depth = self.open.len() as u32 + 1;
                self.open.push(OpenRequest { issued, sector, sectors, write, depth, marked, began });
                self.most_open = self.most_open.max(self.open.len());
                self.end_sector = self.end_sector.max(sector.saturating_add(u64::from(sectors)));
                None
            }
            BlockAction::Requeue => {
                self.open.retain(|o| o.sector != event.sector || o.write != write);
                None
            }
            BlockAction::Complete => self.completed(event, write),
            _ => None,
        }
    }

    fn completed(&mut self, event: &BlockEvent, write: bool) -> Option<Service> {
        let at = self.open.iter().position(|o| (o.sector, o.write) == (event.sector, write))?;
        let open = self.open.remove(at);
        let began = open.issued.max(self.last_done);
        let now = event.time_ns.max(self.last_done);
        // The oldest waiting request gets this one's channel, if it had one.
        if at < self.channels
            && let Some(next) = self.channels.checked_sub(1).and_then(|last| self.open.get_mut(last))
        {
            next.began.get_or_insert(now);
        }
        let channel_began = open.began.unwrap_or(began);
        self.last_done = now;
        let head = self.head.replace(open.sector + u64::from(open.sectors));
        // The head position before the first request is unknown, and a failure says nothing about timing.
        let head = head.filter(|_| event.error == 0)?;
        Some(Service {
            ns: now - began.min(now),
            channel_ns: event.time_ns.saturating_sub(channel_began),
            response_ns: event.time_ns.saturating_sub(open.issued),
            sector: open.sector,
            sectors: open.sectors,
            head,
            write,
            depth: open.depth,
            marked: open.marked,
        })
    }
}
