//! Submits arrivals to the queue in order, cut to the device's limits, and in up to three steps for a write with a flush before it
//! (PREFLUSH) or after it (FUA). The kernel splits such writes the same way.

use super::ReplayError;
use super::arrival::Arrival;
use super::engine::Engine;
use super::in_flight::{InFlight, RemainingSteps};
use super::watch::RequestInfo;
use crate::devices::SECTOR_BYTES;
use fathom_iopath::{Bio, MergeKind, Nanos, Op, Submitted, TaskId};
use fathom_record::block::{BlockAction, BlockEvent};
use std::collections::VecDeque;

/// The arrival, or step of one, being submitted.
#[derive(Clone, Copy)]
pub(super) struct HeadArrival {
    pub whole: u32,
    pub op: Op,
    pub sync: bool,
    pub sector: u64,
    /// Sectors left; 0 for a flush.
    pub left: u32,
    pub task: TaskId,
    pub cpu: u8,
    pub due: u64,
    /// It found the queue full and sleeps.
    pub sleeps: bool,
}

/// Steps of arrivals that have ended, and those to follow.
#[derive(Default)]
pub(super) struct NextSteps {
    /// Completed steps not processed yet.
    pub ended: Vec<InFlight>,
    /// Next steps, submitted before new arrivals.
    pub heads: VecDeque<HeadArrival>,
}

impl<E, S: FnMut() -> Result<Option<Arrival>, E>, O: FnMut(&BlockEvent)> Engine<S, O> {
    /// For steps whose parts are all done: starts the next step or completes the arrival.
    pub(super) fn go_on(&mut self) {
        while let Some(whole) = self.again.ended.pop() {
            match whole.rest {
                Some(rest) => self.next_step(whole, rest),
                None => {
                    self.counts.done += 1;
                    self.under_way -= 1;
                    let bytes = u64::from(whole.sectors) * SECTOR_BYTES;
                    self.served.add(whole.op, bytes, self.now - whole.due.min(self.now));
                    self.feed.done(whole.number, self.now);
                }
            }
        }
    }

    fn next_step(&mut self, whole: InFlight, rest: RemainingSteps) {
        let behind = rest.data && rest.flush;
        let left = if rest.data { whole.sectors } else { 0 };
        let at = self.in_flight_table.put(InFlight {
            left: left.div_ceil(self.longest).max(1),
            rest: behind.then_some(RemainingSteps { data: false, ..rest }),
            ..whole
        });
        self.again.heads.push_back(HeadArrival {
            whole: at,
            op: Op::Write,
            // A task waits for all of it.
            sync: true,
            sector: rest.sector,
            left,
            task: rest.task,
            cpu: rest.cpu,
            due: self.now,
            sleeps: false,
        });
    }

    /// Submits everything scheduled until the queue or device is full.
    pub(super) fn hand_in_all(&mut self) -> Result<(), ReplayError<E>> {
        loop {
            match self.head {
                Some(head) => {
                    let room =
                        if head.left == 0 { !self.free.is_empty() } else { self.queue.has_room(head.op) };
                    if head.sleeps && !room {
                        return Ok(());
                    }
                }
                None => {
                    if let Some(head) = self.again.heads.pop_front() {
                        self.head = Some(head);
                        continue;
                    }
                    self.feed.fill().map_err(ReplayError::Trace)?;
                    let Some(due) = self.feed.due(self.now, self.under_way).filter(|&due| due <= self.now)
                    else {
                        return Ok(());
                    };
                    self.begin(due)?;
                }
            }
            let Some(head) = self.head else { continue };
            let went = if head.left == 0 { self.flush(head) } else { self.hand_in(head) };
            self.drive(false);
            if !went {
                let asleep = HeadArrival { sleeps: true, ..head };
                self.counts.full += u64::from(!head.sleeps);
                self.head = Some(asleep);
                // Something is in the device or waits for a timer; its end retries this.
                return Ok(());
            }
        }
    }

    /// Makes the next arrival the head.
    fn begin(&mut self, due: u64) -> Result<(), ReplayError<E>> {
        let Some((number, arrival)) = self.feed.take(self.now) else { return Ok(()) };
        self.counts.arrivals += 1;
        if arrival.sectors == 0 && arrival.op != Op::Write {
            self.counts.empty += 1;
            self.counts.done += 1;
            self.feed.done(number, self.now);
            return Ok(());
        }
        let sector = self.place(number, &arrival)?;
        let (task, cpu) = (self.tasks.number(arrival.pid, arrival.task), (arrival.cpu % 32) as u8);
        let durable = arrival.op == Op::Write && arrival.sectors > 0;
        let rest = RemainingSteps {
            data: durable && arrival.flush_before,
            flush: durable && arrival.flush_behind,
            sector,
            task,
            cpu,
        };
        let sectors = if rest.data { 0 } else { arrival.sectors };
        let at = self.in_flight_table.put(InFlight {
            number,
            left: sectors.div_ceil(self.longest).max(1),
            sectors: arrival.sectors,
            due,
            op: arrival.op,
            rest: (rest.data || rest.flush).then_some(rest),
        });
        self.under_way += 1;
        self.counts.most_under_way = self.counts.most_under_way.max(self.under_way);
        self.head = Some(HeadArrival {
            whole: at,
            op: arrival.op,
            sync: arrival.sync,
            sector,
            left: sectors,
            task,
            cpu,
            due,
            sleeps: false,
        });
        Ok(())
    }

    /// Sector of an arrival on this device: its own, wrapped if past the end.
    fn place(&mut self, number: u64, arrival: &Arrival) -> Result<u64, ReplayError<E>> {
        let sectors = u64::from(arrival.sectors);
        if sectors > self.capacity {
            let (sectors, capacity) = (arrival.sectors, self.capacity);
            return Err(ReplayError::TooLong { number: number + 1, sectors, capacity });
        }
        let last = self.capacity - sectors;
        if arrival.sector <= last {
            return Ok(arrival.sector);
        }
        self.counts.wrapped += 1;
        // Keeps the alignment of 4 KiB blocks.
        Ok(arrival.sector % (last + 1) / 8 * 8)
    }

    /// Submits a flush, which bypasses the scheduler. False: the device is full.
    pub(super) fn flush(&mut self, head: HeadArrival) -> bool {
        let who = self.tasks.who(head.task);
        let about = RequestInfo { write: true, sync: true, sector: 0, sectors: 0, cpu: head.cpu, who };
        if self.free.is_empty() {
            return false;
        }
        self.watch.tell(self.now, BlockAction::Queue, &about);
        self.counts.flushes += 1;
        self.handed_in(head);
        self.head = None;
        self.plot.is_flushed(self.now);
        self.start(None, about, 1, head.whole);
        true
    }

    /// Submits one bio, as long as the device allows. False: the queue is full.
    fn hand_in(&mut self, head: HeadArrival) -> bool {
        let now = Nanos(self.now);
        let sectors = head.left.min(self.longest);
        let about = RequestInfo {
            write: !head.op.is_read(),
            sync: head.sync,
            sector: head.sector,
            sectors,
            cpu: head.cpu,
            who: self.tasks.who(head.task),
        };
        if head.sleeps {
            self.queue.let_in(now, head.task);
        } else {
            self.watch.tell(self.now, BlockAction::Queue, &about);
            self.plot.is_queued(self.now, about.sector, about.write);
        }
        let mut bio =
            Bio::new(head.op, head.sector, sectors).by(head.task).with_token(head.whole).on(head.cpu);
        if head.sync {
            bio = bio.sync();
        }
        let action = match self.queue.submit(now, bio) {
            Submitted::Merged { kind: MergeKind::Back, .. } => BlockAction::BackMerge,
            Submitted::Merged { .. } => BlockAction::FrontMerge,
            Submitted::Queued(_) => BlockAction::GetRequest,
            // Bios are cut to the limits, and none is empty.
            Submitted::TooLarge | Submitted::Full => return false,
        };
        self.watch.tell(self.now, action, &about);
        self.counts.bios += 1;
        let left = head.left - sectors;
        self.head = (left > 0).then_some(HeadArrival {
            sector: head.sector + u64::from(sectors),
            left,
            sleeps: false,
            ..head
        });
        if left == 0 {
            self.handed_in(head);
        }
        true
    }

    fn handed_in(&mut self, head: HeadArrival) {
        self.counts.late_ns = self.counts.late_ns.saturating_add(self.now - head.due.min(self.now));
    }
}
