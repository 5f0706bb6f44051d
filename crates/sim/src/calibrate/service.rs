//! One request's own time: from when the device could begin with it (it was issued, and the one before it was done) to its completion.
//! A device that serves one request after the other takes exactly this; of others it is what each adds.

use fathom_record::block::{BlockAction, BlockEvent, DeviceNumber, RequestFlags};

/// What is with the device; a recorder that lost completions must not pile them up.
const MOST_OPEN: usize = 4096;

/// No device reaches so far (8 EiB); an event that says so is damaged, and sums of such sectors are no numbers.
pub const LAST_SECTOR: u64 = 1 << 54;

/// A request that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// Its own time, ns.
    pub ns: u64,
    /// The time of one that waited until the device had a channel for it ([`Services::with_channels`]), ns.
    pub channel_ns: u64,
    /// From its issue to its completion, ns.
    pub response_ns: u64,
    /// First sector.
    pub sector: u64,
    /// Sectors.
    pub sectors: u32,
    /// Where the request ended that was done before it.
    pub head: u64,
    /// Whether it writes.
    pub write: bool,
    /// Reads and writes that the device had when it was issued, with it.
    pub depth: u32,
    /// What was said of it when it was issued ([`Services::take_marked`]).
    pub marked: bool,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    issued: u64,
    sector: u64,
    sectors: u32,
    write: bool,
    depth: u32,
    marked: bool,
    /// When a channel was free for it.
    began: Option<u64>,
}

/// Makes services of the events of one device.
#[derive(Clone, Debug)]
pub struct Services {
    device: DeviceNumber,
    channels: usize,
    open: Vec<Open>,
    last_done: u64,
    head: Option<u64>,
    end_sector: u64,
    most_open: usize,
    impossible: u64,
}

impl Services {
    /// Of this device.
    #[must_use]
    pub fn new(device: DeviceNumber) -> Self {
        Self::with_channels(device, 1)
    }

    /// Of this device, taken to serve so many requests at the same time in the order in which they were issued.
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

    /// The sector behind the last one that was asked for.
    #[must_use]
    pub fn end_sector(&self) -> u64 {
        self.end_sector
    }

    /// Most requests that the device had at once.
    #[must_use]
    pub fn most_open(&self) -> usize {
        self.most_open
    }

    /// Events that lie behind [`LAST_SECTOR`] and were left out.
    #[must_use]
    pub fn impossible(&self) -> u64 {
        self.impossible
    }

    /// Takes the next event; a service if it ends one. Flushes, discards and failures are none.
    pub fn take(&mut self, event: &BlockEvent) -> Option<Service> {
        self.take_marked(event, true)
    }

    /// The same; of an issue `marked` is what its service will say: that of a completion is not looked at.
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
                self.open.push(Open { issued, sector, sectors, write, depth, marked, began });
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
        // The oldest that waits has a channel now, if this one had one.
        if at < self.channels
            && let Some(next) = self.channels.checked_sub(1).and_then(|last| self.open.get_mut(last))
        {
            next.began.get_or_insert(now);
        }
        let channel_began = open.began.unwrap_or(began);
        self.last_done = now;
        let head = self.head.replace(open.sector + u64::from(open.sectors));
        // Of the first nobody knows where the heads were; a failure says nothing of time.
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
