//! The replay loop: time advances to the next completion, queue timer or arrival (in this order at equal times), arrivals enter the
//! queue, and the device gets as many requests as it has slots for. No event heap is needed, since each of the three has a single next
//! time; nothing is allocated per arrival. [`super::handing`] submits arrivals to the queue.

use super::arrival::Arrival;
use super::feed::Feed;
use super::handing::{HeadArrival, NextSteps};
use super::in_flight::InFlightTable;
use super::served::Served;
use super::tasks::Tasks;
use super::watch::{ReplayObserver, RequestInfo};
use super::{ReplayCounts, ReplayError, ReplaySetup, Replayed};
use crate::depths::DepthSample;
use crate::devices::{AnyDevice, Command, Counters, Device as _};
use crate::idle_waits::habits;
use crate::plot_data::PlotData;
use fathom_iopath::{Elevator as _, Nanos, Next, Queue, RequestId};
use fathom_record::block::{BlockAction, BlockEvent};

/// End of virtual time; leaves headroom for what a device adds to it.
pub(super) const LAST_NS: u64 = 1 << 62;

/// Replays `source` until it is exhausted and everything is done. `out` gets every event of the simulated device, in time order.
///
/// # Errors
/// Those of `source`, and arrivals that do not fit on the device.
pub fn replay<E>(
    setup: ReplaySetup,
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
        watch: ReplayObserver::new(&setup.device_name, out),
        tags: vec![None; depth as usize],
        free: (0..depth).rev().collect(),
        in_flight_table: InFlightTable::default(),
        head: None,
        again: NextSteps::default(),
        tasks: Tasks::default(),
        served: Served::default(),
        timer: None,
        counts: ReplayCounts::default(),
        under_way: 0,
        now: 0,
        done: Vec::new(),
        plot: PlotData::default(),
    };
    engine.plot.begin(0, Counters::default(), 1);
    engine.run()?;
    Ok(engine.finish())
}

/// What a device tag is in use for.
#[derive(Clone, Copy)]
pub(super) struct Outstanding {
    /// `None` for a flush.
    request: Option<RequestId>,
    about: RequestInfo,
    since: u64,
    /// For a flush: its arrival.
    whole: u32,
}

pub(super) struct Engine<S, O> {
    pub(super) queue: Queue,
    pub(super) device: AnyDevice,
    pub(super) capacity: u64,
    pub(super) longest: u32,
    pub(super) feed: Feed<S>,
    pub(super) watch: ReplayObserver<O>,
    pub(super) tags: Vec<Option<Outstanding>>,
    pub(super) free: Vec<u32>,
    pub(super) in_flight_table: InFlightTable,
    pub(super) head: Option<HeadArrival>,
    pub(super) again: NextSteps,
    pub(super) tasks: Tasks,
    pub(super) served: Served,
    pub(super) timer: Option<u64>,
    pub(super) counts: ReplayCounts,
    pub(super) under_way: u32,
    pub(super) now: u64,
    pub(super) done: Vec<u32>,
    pub(super) plot: PlotData,
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
            if next > LAST_NS {
                return Err(ReplayError::TooLate { at_ns: next });
            }
            self.now = self.now.max(next);
            self.complete_all();
            self.drive(false);
            self.hand_in_all()?;
            self.drive(true);
        }
    }

    pub(super) fn in_flight(&self) -> u32 {
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
        // A flush only waits for a tag, so it goes before the scheduler's requests.
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
        let Some(id) = outstanding.request else { return self.flush_done(outstanding.whole) };
        let Self { queue, in_flight_table, counts, again, .. } = self;
        queue.completed(Nanos(now), id, |bio| {
            counts.bios_done += 1;
            if let Some(whole) = in_flight_table.part_done(bio.token()) {
                again.ended.push(whole);
            }
        });
        self.go_on();
    }

    fn flush_done(&mut self, whole: u32) {
        if let Some(whole) = self.in_flight_table.part_done(whole) {
            self.again.ended.push(whole);
            self.go_on();
        }
    }

    /// Gives the device as many requests as it has slots for. `settled`: everything scheduled for this time has arrived, so the
    /// submitters now wait and the queue's plug opens.
    pub(super) fn drive(&mut self, settled: bool) {
        self.timer = None;
        let waits = loop {
            match self.queue.next(Nanos(self.now), self.free.len() as u32) {
                Next::Request(id) => self.start_request(id),
                Next::Nothing if settled && self.queue.is_plugged() => self.queue.unplug(Nanos(self.now)),
                Next::Nothing => break false,
                Next::NotBefore(Nanos(at)) => {
                    self.timer = Some(at.max(self.now + 1));
                    break true;
                }
            }
        };
        self.plot.look(self.now, DepthSample::of(&self.queue, self.in_flight(), waits));
    }

    fn start_request(&mut self, id: RequestId) {
        let Some(request) = self.queue.request(id) else { return };
        let about = RequestInfo {
            write: !request.op().is_read(),
            sync: request.is_sync(),
            sector: request.sector(),
            sectors: request.sectors(),
            cpu: request.cpu(),
            who: self.tasks.who(request.task()),
        };
        let (segments, queued) = (request.segments(), request.queued_at().0);
        self.plot.is_served(self.now, about.sector, about.write, queued);
        self.start(Some(id), about, segments, 0);
    }

    pub(super) fn start(
        &mut self,
        request: Option<RequestId>,
        about: RequestInfo,
        segments: u16,
        whole: u32,
    ) {
        let Some(&tag) = self.free.last() else { return };
        self.watch.pass(self.now, self.in_flight());
        self.free.pop();
        self.tags[tag as usize] = Some(Outstanding { request, about, since: self.now, whole });
        self.watch.tell(self.now, BlockAction::Issue, &about);
        let RequestInfo { write, sector, sectors, .. } = about;
        self.device.submit(self.now, Command { tag, write, sector, sectors, segments });
    }

    fn finish(mut self) -> Replayed {
        let mut block = self.watch.analysis.finish(self.now);
        block.source = "sim".into();
        let habits = habits(&self.queue, |task| self.tasks.label(task));
        let mut replayed = Replayed {
            block,
            counts: self.counts,
            served: self.served.stats(),
            scheduler: counted(&self.queue),
            merges: *self.queue.merges(),
            device: self.device.counters(self.now),
            elapsed_ns: self.now,
            depth_ns: self.watch.depth_ns,
            response_ns: self.watch.response_ns,
            inside: self.plot.take(self.now, 0, self.device.counters(self.now)),
        };
        replayed.inside.idle_waits.habits = habits;
        replayed
    }
}

/// Counters of the scheduler, by name.
fn counted(queue: &Queue) -> Vec<(&'static str, u64)> {
    let mut all = Vec::new();
    queue.elevator().counters(&mut |name, count| all.push((name, count)));
    all
}
