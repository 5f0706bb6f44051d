//! The loop of a replay: time goes from one thing to the next (a completion, a timer of the queue, an arrival, in this order at equal
//! times), arrivals enter the queue, the device gets what it has room for. No heap of events is needed, as each of the three has one
//! next time; nothing is allocated per arrival.

use super::arrival::Arrival;
use super::feed::Feed;
use super::served::Served;
use super::tasks::Tasks;
use super::watch::{About, Watch};
use super::wholes::{Whole, Wholes};
use super::{Counts, ReplayError, Replayed, Setup};
use crate::devices::{AnyDevice, Command, Device as _, SECTOR_BYTES};
use fathom_iopath::{Bio, Elevator as _, MergeKind, Nanos, Next, Op, Queue, RequestId, Submitted, TaskId};
use fathom_record::block::{BlockAction, BlockEvent};

/// Replays what `source` gives until it gives no more and everything is done. `out` gets every event of the simulated device, in the
/// order of time.
///
/// # Errors
/// Those of `source`, and arrivals that the device has no room for.
pub fn replay<E>(
    setup: Setup,
    source: impl FnMut() -> Result<Option<Arrival>, E>,
    out: impl FnMut(&BlockEvent),
) -> Result<Replayed, ReplayError<E>> {
    let depth = setup.device.depth();
    let mut engine = Engine {
        capacity: setup.device.capacity_sectors(),
        longest: setup.queue.rules().limits.max_sectors,
        queue: setup.queue,
        device: setup.device,
        feed: Feed::new(setup.mode, source),
        watch: Watch::new(&setup.device_name, out),
        tags: vec![None; depth as usize],
        free: (0..depth).rev().collect(),
        wholes: Wholes::default(),
        head: None,
        tasks: Tasks::default(),
        served: Served::default(),
        timer: None,
        counts: Counts::default(),
        under_way: 0,
        now: 0,
        last_done: 0,
        done: Vec::new(),
    };
    engine.run()?;
    Ok(engine.finish())
}

/// What a tag of the device is in use for.
#[derive(Clone, Copy)]
struct Outstanding {
    /// `None` for a flush.
    request: Option<RequestId>,
    about: About,
    since: u64,
    /// Of a flush: its arrival.
    whole: u32,
}

/// The arrival that is being handed in.
#[derive(Clone, Copy)]
struct Head {
    whole: u32,
    op: Op,
    sync: bool,
    sector: u64,
    left: u32,
    task: TaskId,
    cpu: u8,
    due: u64,
    /// It found the queue full and sleeps.
    sleeps: bool,
}

struct Engine<S, O> {
    queue: Queue,
    device: AnyDevice,
    capacity: u64,
    longest: u32,
    feed: Feed<S>,
    watch: Watch<O>,
    tags: Vec<Option<Outstanding>>,
    free: Vec<u32>,
    wholes: Wholes,
    head: Option<Head>,
    tasks: Tasks,
    served: Served,
    timer: Option<u64>,
    counts: Counts,
    under_way: u32,
    now: u64,
    last_done: u64,
    done: Vec<u32>,
}

impl<E, S: FnMut() -> Result<Option<Arrival>, E>, O: FnMut(&BlockEvent)> Engine<S, O> {
    fn run(&mut self) -> Result<(), ReplayError<E>> {
        loop {
            self.feed.fill().map_err(ReplayError::Trace)?;
            let arrival = if self.head.is_some() { None } else { self.feed.due(self.now, self.under_way) };
            if arrival.is_none() && self.under_way == 0 {
                return Ok(());
            }
            let next = [self.device.next_event(), self.timer, arrival].into_iter().flatten().min();
            let Some(next) = next else {
                return Err(ReplayError::Standstill { at_ns: self.now, waiting: self.queue.waiting() });
            };
            self.now = self.now.max(next);
            self.complete_all();
            self.drive(false);
            self.hand_in_all()?;
            self.drive(true);
        }
    }

    fn in_flight(&self) -> u32 {
        (self.tags.len() - self.free.len()) as u32
    }

    fn complete_all(&mut self) {
        if self.device.next_event().is_none_or(|at| at > self.now) {
            return;
        }
        let mut done = std::mem::take(&mut self.done);
        self.device.advance(self.now, &mut done);
        for tag in done.drain(..) {
            self.complete(tag);
        }
        self.done = done;
        // A flush waits for nothing but a tag, so it comes before what the scheduler has.
        if let Some(head) = self.head.filter(|head| head.left == 0) {
            self.flush(head);
        }
    }

    fn complete(&mut self, tag: u32) {
        let Some(outstanding) = self.tags[tag as usize].take() else { return };
        let now = self.now;
        self.watch.pass(now, self.in_flight());
        self.free.push(tag);
        self.watch.response_ns += u128::from(now - outstanding.since);
        self.watch.tell(now, BlockAction::Complete, &outstanding.about);
        self.last_done = now;
        let Some(id) = outstanding.request else { return self.flush_done(outstanding.whole) };
        let Self { queue, wholes, feed, counts, under_way, served, .. } = self;
        queue.completed(Nanos(now), id, |bio| {
            counts.bios_done += 1;
            if let Some(whole) = wholes.part_done(bio.tag()) {
                counts.done += 1;
                *under_way -= 1;
                served.add(whole.op, u64::from(whole.sectors) * SECTOR_BYTES, now - whole.due.min(now));
                feed.done(whole.number, now);
            }
        });
    }

    fn flush_done(&mut self, whole: u32) {
        if let Some(whole) = self.wholes.part_done(whole) {
            self.counts.done += 1;
            self.under_way -= 1;
            self.served.add(whole.op, 0, self.now - whole.due.min(self.now));
            self.feed.done(whole.number, self.now);
        }
    }

    /// Hands in what is due, until something finds no room.
    fn hand_in_all(&mut self) -> Result<(), ReplayError<E>> {
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
                let asleep = Head { sleeps: true, ..head };
                self.counts.full += u64::from(!head.sleeps);
                self.head = Some(asleep);
                // Something is with the device or waits for a timer; its end lets this one try again.
                return Ok(());
            }
        }
    }

    /// The next arrival becomes the head.
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
        let left = arrival.sectors.div_ceil(self.longest).max(1);
        let at = self.wholes.put(Whole { number, left, sectors: arrival.sectors, due, op: arrival.op });
        self.under_way += 1;
        self.counts.most_under_way = self.counts.most_under_way.max(self.under_way);
        self.head = Some(Head {
            whole: at,
            op: arrival.op,
            sync: arrival.sync,
            sector,
            left: arrival.sectors,
            task: self.tasks.number(arrival.pid, arrival.task),
            cpu: (arrival.cpu % 32) as u8,
            due,
            sleeps: false,
        });
        Ok(())
    }

    /// Where on this device an arrival lies: at its own sector, or as far behind the beginning as it is behind the end.
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
        // Blocks of 4 KiB stay on their boundaries.
        Ok(arrival.sector % (last + 1) / 8 * 8)
    }

    /// A flush passes the scheduler by. False: the device has no room.
    fn flush(&mut self, head: Head) -> bool {
        let who = self.tasks.who(head.task);
        let about = About { write: true, sync: true, sector: 0, sectors: 0, cpu: head.cpu, who };
        if self.free.is_empty() {
            return false;
        }
        self.watch.tell(self.now, BlockAction::Queue, &about);
        self.counts.flushes += 1;
        self.handed_in(head);
        self.head = None;
        self.start(None, about, 1, head.whole);
        true
    }

    /// One bio, as long as the device takes. False: there is no room.
    fn hand_in(&mut self, head: Head) -> bool {
        let now = Nanos(self.now);
        let sectors = head.left.min(self.longest);
        let about = About {
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
        }
        let mut bio = Bio::new(head.op, head.sector, sectors).by(head.task).token(head.whole).on(head.cpu);
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
        self.head = (left > 0).then_some(Head {
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

    fn handed_in(&mut self, head: Head) {
        self.counts.late_ns = self.counts.late_ns.saturating_add(self.now - head.due.min(self.now));
    }

    /// Gives the device what it has room for. `settled`: everything that comes at this moment has come, so whoever handed it in
    /// waits now, and the queue's plug opens.
    fn drive(&mut self, settled: bool) {
        self.timer = None;
        loop {
            match self.queue.next(Nanos(self.now), self.free.len() as u32) {
                Next::Request(id) => self.start_request(id),
                Next::Nothing if settled && self.queue.is_plugged() => self.queue.unplug(Nanos(self.now)),
                Next::Nothing => return,
                Next::NotBefore(Nanos(at)) => {
                    self.timer = Some(at.max(self.now + 1));
                    return;
                }
            }
        }
    }

    fn start_request(&mut self, id: RequestId) {
        let Some(request) = self.queue.request(id) else { return };
        let about = About {
            write: !request.op().is_read(),
            sync: request.is_sync(),
            sector: request.sector(),
            sectors: request.sectors(),
            cpu: request.cpu(),
            who: self.tasks.who(request.task()),
        };
        let segments = request.segments();
        self.start(Some(id), about, segments, 0);
    }

    fn start(&mut self, request: Option<RequestId>, about: About, segments: u16, whole: u32) {
        let Some(&tag) = self.free.last() else { return };
        self.watch.pass(self.now, self.in_flight());
        self.free.pop();
        self.tags[tag as usize] = Some(Outstanding { request, about, since: self.now, whole });
        self.watch.tell(self.now, BlockAction::Issue, &about);
        let About { write, sector, sectors, .. } = about;
        self.device.submit(self.now, Command { tag, write, sector, sectors, segments });
    }

    fn finish(mut self) -> Replayed {
        let mut block = self.watch.analysis.finish(self.last_done);
        block.source = "sim".into();
        Replayed {
            block,
            counts: self.counts,
            served: self.served.stats(),
            scheduler: counted(&self.queue),
            merges: *self.queue.merges(),
            device: self.device.counters(),
            elapsed_ns: self.last_done,
            depth_ns: self.watch.depth_ns,
            response_ns: self.watch.response_ns,
        }
    }
}

/// What the scheduler counted, by name.
fn counted(queue: &Queue) -> Vec<(&'static str, u64)> {
    let mut all = Vec::new();
    queue.elevator().counters(&mut |name, count| all.push((name, count)));
    all
}
