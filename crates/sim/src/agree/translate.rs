//! From block events to the input of an agreement: events of one device, without those that bypass schedulers. A flush, and a write that
//! needs one before or after it, reaches the driver on a separate path; so do driver commands.

use crate::replay::tasks::Tasks;
use fathom_iopath::agree::TraceEvent;
use fathom_iopath::{Bio, MergeKind, Op};
use fathom_record::block::{BlockAction, BlockEvent, DeviceNumber, RequestFlags};

/// Writes in flight that need a flush; a journal has a few.
const MOST_ASIDE: usize = 256;

/// Translates events.
pub(super) struct Translate {
    device: DeviceNumber,
    tasks: Tasks,
    began_ns: Option<u64>,
    last_ns: u64,
    /// Start sectors of writes that came with a flush: their data is issued without the flag.
    aside: Vec<u64>,
    passed_by: u64,
}

impl Translate {
    pub fn new(device: DeviceNumber) -> Self {
        Self { device, tasks: Tasks::default(), began_ns: None, last_ns: 0, aside: Vec::new(), passed_by: 0 }
    }

    /// Number of requests that bypassed schedulers.
    pub fn passed_by(&self) -> u64 {
        self.passed_by
    }

    /// The translated event and its time, ns after the device's first event.
    pub fn event(&mut self, event: &BlockEvent) -> Option<(u64, TraceEvent)> {
        if event.device != self.device {
            return None;
        }
        let began = *self.began_ns.get_or_insert(event.time_ns);
        // Events of several CPUs are merged to within a few nanoseconds.
        self.last_ns = self.last_ns.max(event.time_ns.saturating_sub(began));
        let Some(op) = self.operation(event) else {
            self.passed_by += u64::from(event.action == BlockAction::Issue);
            return None;
        };
        let BlockEvent { sector, sectors, .. } = *event;
        let seen = match event.action {
            BlockAction::Queue => TraceEvent::Bio(self.bio(event, op)),
            BlockAction::Split => TraceEvent::Split { sector, first: sectors },
            BlockAction::GetRequest => TraceEvent::Request { sector },
            BlockAction::BackMerge => TraceEvent::Merge { sector, kind: MergeKind::Back },
            BlockAction::FrontMerge => TraceEvent::Merge { sector, kind: MergeKind::Front },
            BlockAction::RequestMerge => TraceEvent::Join { op, sector },
            BlockAction::Insert => TraceEvent::Insert { op, sector },
            BlockAction::Issue => TraceEvent::Issue { op, sector, sectors },
            BlockAction::Requeue => TraceEvent::Requeue { op, sector },
            BlockAction::Complete => TraceEvent::Complete { op, sector },
            // These concern no request.
            BlockAction::BioComplete | BlockAction::Plug | BlockAction::Unplug | BlockAction::Remap => {
                return None;
            }
        };
        Some((self.last_ns, seen))
    }

    fn bio(&mut self, event: &BlockEvent, op: Op) -> Bio {
        let task = self.tasks.number(event.pid, event.task);
        let bio = Bio::new(op, event.sector, event.sectors).by(task).on((event.cpu % 32) as u8);
        if event.flags.has(RequestFlags::SYNC) { bio.sync() } else { bio }
    }

    /// The operation, if a scheduler is involved.
    fn operation(&mut self, event: &BlockEvent) -> Option<Op> {
        // A flush, or a second completion event of a request whose data is already complete. Schedulers do not see it, whatever its flags.
        // Its sector, usually 0, says nothing: a write at that sector is another request.
        if event.sectors == 0 {
            return None;
        }
        let flags = event.flags;
        let flushes = flags.has(RequestFlags::PREFLUSH) || flags.has(RequestFlags::FUA);
        if flushes && event.action == BlockAction::Queue {
            if self.aside.len() == MOST_ASIDE {
                self.aside.remove(0);
            }
            self.aside.push(event.sector);
        }
        if flushes {
            if event.action == BlockAction::Complete {
                self.aside.retain(|&sector| sector != event.sector);
            }
            return None;
        }
        if flags.has(RequestFlags::DISCARD) {
            return Some(Op::Discard);
        }
        if flags.has(RequestFlags::READ) {
            return Some(Op::Read);
        }
        if !flags.has(RequestFlags::WRITE) {
            return None;
        }
        let aside = self.aside.contains(&event.sector);
        if aside && event.action == BlockAction::Complete {
            self.aside.retain(|&sector| sector != event.sector);
        }
        (!aside).then_some(Op::Write)
    }
}
