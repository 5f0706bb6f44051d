//! From block events to arrivals: reduces a trace of one device to what reached its queue, when, from which task, and after which
//! completion. If a trace has no queueing events, its issued requests are used instead.

use fathom_iopath::Op;
use fathom_record::block::event::TASK_NAME_BYTES;
use fathom_record::block::{BlockAction, BlockEvent, DeviceNumber, RequestFlags};
use std::collections::HashMap;

/// A bio that reaches the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Time, ns; the first arrival's is 0.
    pub time_ns: u64,
    /// The operation. A write of no sectors is a flush.
    pub op: Op,
    /// Whether a task waits for it even if it is a write.
    pub sync: bool,
    /// First sector of 512 bytes.
    pub sector: u64,
    /// Length in sectors.
    pub sectors: u32,
    /// Process ID of the task.
    pub pid: u32,
    /// CPU it was queued on.
    pub cpu: u16,
    /// Name of the task; zeros where unknown.
    pub task: [u8; TASK_NAME_BYTES],
    /// For a write with data: the device's cache is flushed before it (PREFLUSH).
    pub flush_before: bool,
    /// For a write with data: it is done once on the medium (FUA). A flush after it ensures that, as in the kernel for devices without
    /// FUA.
    pub flush_behind: bool,
    /// The last completion that its task had seen.
    pub after: Option<After>,
}

/// The completion that an arrival followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct After {
    /// Number of the completed arrival, from 0 in trace order.
    pub number: u64,
    /// From its completion to the arrival, ns.
    pub gap_ns: u64,
}

/// Events of a trace that are not replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Arrivals at other devices.
    pub other_devices: u64,
    /// Discards.
    pub discards: u64,
    /// Zone and driver commands, and reads of no sectors.
    pub others: u64,
}

/// Limit on remembered arrivals without completion, so that lost events do not pile up.
const MOST_OPEN: usize = 4096;
/// Limit on remembered tasks.
const MOST_TASKS: usize = 4096;

/// Converts events to arrivals.
#[derive(Debug)]
pub struct Arrivals {
    device: Option<DeviceNumber>,
    from: BlockAction,
    follows: bool,
    began_ns: Option<u64>,
    last_ns: u64,
    next: u64,
    open: Vec<OpenArrival>,
    done: Completions,
    left_out: LeftOut,
}

/// Completions, as the submitters of later arrivals see them: number and time.
#[derive(Debug)]
enum Completions {
    /// Each task sees its own.
    ByTask(HashMap<u32, (u64, u64)>),
    /// Any completion may let any task proceed. Each is used once, the latest first.
    AnyTask { latest: Option<(u64, u64)>, waiting: Vec<(u64, u64)> },
}

impl Completions {
    fn add(&mut self, pid: u32, one: (u64, u64)) {
        match self {
            Self::ByTask(seen) => {
                if seen.len() == MOST_TASKS && !seen.contains_key(&pid) {
                    seen.clear();
                }
                seen.insert(pid, one);
            }
            Self::AnyTask { latest, waiting } => {
                if waiting.len() == MOST_TASKS {
                    waiting.clear();
                }
                waiting.push(one);
                *latest = Some(one);
            }
        }
    }

    /// The completion that an arrival of this task followed.
    fn before(&mut self, pid: u32) -> Option<(u64, u64)> {
        match self {
            Self::ByTask(seen) => seen.get(&pid).copied(),
            Self::AnyTask { latest, waiting } => waiting.pop().or(*latest),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct OpenArrival {
    number: u64,
    pid: u32,
    read: bool,
    /// Both are 0 for a flush.
    sector: u64,
    end: u64,
}

impl Arrivals {
    /// For this device, or for the first one seen. `queueing`: the trace has queueing events; otherwise issued requests are used.
    /// `follows`: also find the completion that each arrival followed, which costs a lookup per completion.
    #[must_use]
    pub fn new(device: Option<DeviceNumber>, queueing: bool, follows: bool) -> Self {
        Self {
            device,
            from: if queueing { BlockAction::Queue } else { BlockAction::Issue },
            follows,
            began_ns: None,
            last_ns: 0,
            next: 0,
            open: Vec::new(),
            done: Completions::ByTask(HashMap::new()),
            left_out: LeftOut::default(),
        }
    }

    /// The issued requests of a device, each after the completion before it, whichever task waited for that: between two writes of a task
    /// there are a file system's journal and a flush.
    #[must_use]
    pub fn in_turn(device: DeviceNumber) -> Self {
        let done = Completions::AnyTask { latest: None, waiting: Vec::new() };
        Self { done, ..Self::new(Some(device), false, true) }
    }

    /// The device, once it is known.
    #[must_use]
    pub fn device(&self) -> Option<DeviceNumber> {
        self.device
    }

    /// Events left out so far.
    #[must_use]
    pub fn left_out(&self) -> LeftOut {
        self.left_out
    }

    /// Processes the next event; returns an arrival if it is one.
    pub fn take(&mut self, event: &BlockEvent) -> Option<Arrival> {
        let completes = matches!(event.action, BlockAction::Complete | BlockAction::BioComplete);
        if event.action != self.from && !completes {
            return None;
        }
        if self.device.is_none() && !completes {
            self.device = Some(event.device);
        }
        if self.device != Some(event.device) {
            self.left_out.other_devices += u64::from(!completes);
            return None;
        }
        let began = *self.began_ns.get_or_insert(event.time_ns);
        // Events of several CPUs are merged to within a few nanoseconds.
        self.last_ns = self.last_ns.max(event.time_ns.saturating_sub(began));
        if completes {
            if self.follows {
                self.completed(event);
            }
            return None;
        }
        self.arrival(event)
    }

    fn arrival(&mut self, event: &BlockEvent) -> Option<Arrival> {
        let flags = event.flags;
        let flush = flags.has(RequestFlags::PREFLUSH) && event.sectors == 0;
        let op = if flags.has(RequestFlags::DISCARD) {
            self.left_out.discards += 1;
            return None;
        } else if flags.has(RequestFlags::WRITE) && event.sectors > 0 || flush {
            Op::Write
        } else if flags.has(RequestFlags::READ) && event.sectors > 0 {
            Op::Read
        } else {
            self.left_out.others += 1;
            return None;
        };
        let number = self.next;
        self.next += 1;
        let before = self.done.before(event.pid);
        let after = before.map(|(number, at)| After { number, gap_ns: self.last_ns.saturating_sub(at) });
        if self.follows && (!flush || matches!(self.done, Completions::AnyTask { .. })) {
            if self.open.len() == MOST_OPEN {
                self.open.remove(0);
            }
            // The sector of a flush changes between issue and completion.
            let sector = if flush { 0 } else { event.sector };
            let end = sector.saturating_add(u64::from(event.sectors));
            let (pid, read) = (event.pid, op.is_read());
            self.open.push(OpenArrival { number, pid, read, sector, end });
        }
        Some(Arrival {
            time_ns: self.last_ns,
            op,
            sync: flags.has(RequestFlags::SYNC) || flags.has(RequestFlags::FUA) || flush,
            sector: event.sector,
            sectors: event.sectors,
            pid: event.pid,
            cpu: event.cpu,
            task: event.task,
            flush_before: op == Op::Write && !flush && flags.has(RequestFlags::PREFLUSH),
            flush_behind: op == Op::Write && !flush && flags.has(RequestFlags::FUA),
            after,
        })
    }

    /// The submitters of all bios of a completed request have seen its completion.
    fn completed(&mut self, event: &BlockEvent) {
        let now = self.last_ns;
        if event.sectors == 0 {
            if let Some(at) = self.open.iter().position(|open| open.end == 0) {
                let flush = self.open.remove(at);
                self.done.add(flush.pid, (flush.number, now));
            }
            return;
        }
        let end = event.sector.saturating_add(u64::from(event.sectors));
        let read = event.flags.has(RequestFlags::READ);
        let done = &mut self.done;
        self.open.retain(|open| {
            let within = open.end > 0 && open.read == read && open.sector >= event.sector && open.end <= end;
            if within {
                done.add(open.pid, (open.number, now));
            }
            !within
        });
    }
}
