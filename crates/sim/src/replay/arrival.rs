//! From block events to arrivals: what a trace tells of one device, reduced to what reached its queue, when, by whom, and after
//! which completion. Where a trace has no arrivals, its requests as they were issued stand for them.

use fathom_iopath::Op;
use fathom_record::block::event::TASK_NAME_BYTES;
use fathom_record::block::{BlockAction, BlockEvent, DeviceNumber, RequestFlags};
use std::collections::HashMap;

/// Something reaches the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When, ns; the first one's time is 0.
    pub time_ns: u64,
    /// What is to be done. A write of no sectors is a flush.
    pub op: Op,
    /// Whether somebody waits for it although it is a write.
    pub sync: bool,
    /// First sector of 512 bytes.
    pub sector: u64,
    /// Sectors.
    pub sectors: u32,
    /// Whose.
    pub pid: u32,
    /// On which CPU.
    pub cpu: u16,
    /// Name of the task; zeros where nobody told.
    pub task: [u8; TASK_NAME_BYTES],
    /// Of a write with data: the device's cache is flushed before it (PREFLUSH).
    pub flush_before: bool,
    /// Likewise: it is done when it is on the medium (FUA), which a flush behind it sees to, as the kernel has it where a device knows
    /// no such command.
    pub flush_behind: bool,
    /// What its task had seen completed last.
    pub after: Option<After>,
}

/// What an arrival came after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct After {
    /// The arrival that had been completed, from 0 in the order of the trace.
    pub number: u64,
    /// From its completion to the arrival, ns.
    pub gap_ns: u64,
}

/// What of a trace is not replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Arrivals at other devices.
    pub other_devices: u64,
    /// Discards.
    pub discards: u64,
    /// Zone and driver commands, and reads of nothing.
    pub others: u64,
}

/// Arrivals without a completion that are remembered; what a recorder lost must not pile up.
const MOST_OPEN: usize = 4096;
/// Tasks that are remembered.
const MOST_TASKS: usize = 4096;

/// Makes arrivals of events.
#[derive(Debug)]
pub struct Arrivals {
    device: Option<DeviceNumber>,
    from: BlockAction,
    follows: bool,
    began_ns: Option<u64>,
    last_ns: u64,
    next: u64,
    open: Vec<Open>,
    done: Done,
    left_out: LeftOut,
}

/// What was done, as those see it who hand in the next one: its number and when.
#[derive(Debug)]
enum Done {
    /// Each task sees its own.
    ByTask(HashMap<u32, (u64, u64)>),
    /// Whatever was done lets somebody go on. Each is taken once, the latest first.
    Whoever { latest: Option<(u64, u64)>, waiting: Vec<(u64, u64)> },
}

impl Done {
    fn is(&mut self, pid: u32, one: (u64, u64)) {
        match self {
            Self::ByTask(seen) => {
                if seen.len() == MOST_TASKS && !seen.contains_key(&pid) {
                    seen.clear();
                }
                seen.insert(pid, one);
            }
            Self::Whoever { latest, waiting } => {
                if waiting.len() == MOST_TASKS {
                    waiting.clear();
                }
                waiting.push(one);
                *latest = Some(one);
            }
        }
    }

    /// What an arrival of this task came after.
    fn before(&mut self, pid: u32) -> Option<(u64, u64)> {
        match self {
            Self::ByTask(seen) => seen.get(&pid).copied(),
            Self::Whoever { latest, waiting } => waiting.pop().or(*latest),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Open {
    number: u64,
    pid: u32,
    read: bool,
    /// Of a flush both are 0.
    sector: u64,
    end: u64,
}

impl Arrivals {
    /// Of this device, or of the first that is met. `queueing`: the trace has arrivals; otherwise requests are taken as they were
    /// issued. `follows`: what each arrival came after is wanted too, which costs a look at each completion.
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
            done: Done::ByTask(HashMap::new()),
            left_out: LeftOut::default(),
        }
    }

    /// The requests of a device as they were issued, each after what was done before it, whoever waited for that: a file system's
    /// journal and a flush stand between two writes of a task.
    #[must_use]
    pub fn in_turn(device: DeviceNumber) -> Self {
        let done = Done::Whoever { latest: None, waiting: Vec::new() };
        Self { done, ..Self::new(Some(device), false, true) }
    }

    /// The device, once it is known.
    #[must_use]
    pub fn device(&self) -> Option<DeviceNumber> {
        self.device
    }

    /// What was left out so far.
    #[must_use]
    pub fn left_out(&self) -> LeftOut {
        self.left_out
    }

    /// Takes the next event; an arrival if it is one.
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
        // Several CPUs' events are merged to within some nanoseconds.
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
        if self.follows && (!flush || matches!(self.done, Done::Whoever { .. })) {
            if self.open.len() == MOST_OPEN {
                self.open.remove(0);
            }
            // Where a flush is said to lie changes from its issue to its completion.
            let sector = if flush { 0 } else { event.sector };
            let end = sector.saturating_add(u64::from(event.sectors));
            let (pid, read) = (event.pid, op.is_read());
            self.open.push(Open { number, pid, read, sector, end });
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

    /// All that a completed request was made of has been seen by those who handed it in.
    fn completed(&mut self, event: &BlockEvent) {
        let now = self.last_ns;
        if event.sectors == 0 {
            if let Some(at) = self.open.iter().position(|open| open.end == 0) {
                let flush = self.open.remove(at);
                self.done.is(flush.pid, (flush.number, now));
            }
            return;
        }
        let end = event.sector.saturating_add(u64::from(event.sectors));
        let read = event.flags.has(RequestFlags::READ);
        let done = &mut self.done;
        self.open.retain(|open| {
            let within = open.end > 0 && open.read == read && open.sector >= event.sector && open.end <= end;
            if within {
                done.is(open.pid, (open.number, now));
            }
            !within
        });
    }
}
