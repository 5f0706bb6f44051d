//! Between file system and device: bios enter the queue (`iopath`), requests go to the device when it has free slots, and completions
//! wake the waiting tasks. Tasks that find the queue full sleep in FIFO order ([`wait_queue`]).
//!
//! Every event also goes to the analysis used for the kernel's events, so the block layer of a simulated record means the same as that of
//! a real one.

mod flushes;
mod purpose;
mod submit;
mod wait_queue;
mod watch;
mod who;

pub(crate) use purpose::Purpose;
pub(crate) use submit::BlockIo;
pub(crate) use watch::BlockObserver;
pub(crate) use who::Submitter;

use crate::depths::DepthSample;
use crate::devices::{Command, Device, SECTOR_BYTES};
use crate::event::Class;
use crate::machine::task::TaskNumber;
use crate::machine::{Event, Machine};
use fathom_iopath::{Bio, Limits, Nanos, Next, Op, Queue, RequestId, TaskId};
use fathom_record::block::BlockAction;
use flushes::{FlushQueue, QueuedFlush};
use purpose::Purposes;
use std::cell::{Cell, RefCell};
use wait_queue::RequestWaitQueue;

/// What a device tag is in use for.
#[derive(Clone, Copy)]
enum TagUse {
    Request { id: RequestId, write: bool },
    Flush(QueuedFlush),
}

pub(crate) struct Block {
    queue: RefCell<Queue>,
    device: RefCell<Box<dyn Device>>,
    depth: u32,
    /// Whether the end of a task's bios opens the queue's plug.
    gathers: bool,
    /// Whether only a waiting task opens it.
    waits_to_be_opened: bool,
    /// Use of each device tag.
    tags: RefCell<Vec<Option<TagUse>>>,
    in_flight: Cell<u32>,
    purposes: RefCell<Purposes>,
    /// Tasks that sleep for a free request.
    line: RefCell<RequestWaitQueue>,
    flushes: FlushQueue,
    /// Write-back tasks that wait until the queue is no longer congested.
    held_off: RefCell<Vec<TaskNumber>>,
    device_at: Cell<u64>,
    queue_at: Cell<u64>,
    watch: RefCell<BlockObserver>,
    done: RefCell<Vec<u32>>,
    ended: RefCell<Vec<Bio>>,
}

const NEVER: u64 = u64::MAX;
impl Block {
    pub fn new(queue: Queue, device: Box<dyn Device>, name: &str, gathers: bool) -> Self {
        let depth = device.depth();
        Self {
            waits_to_be_opened: queue.rules().waits_to_be_opened(),
            queue: RefCell::new(queue),
            device: RefCell::new(device),
            depth,
            gathers,
            tags: RefCell::new(vec![None; depth as usize]),
            in_flight: Cell::new(0),
            purposes: RefCell::default(),
            line: RefCell::default(),
            held_off: RefCell::default(),
            flushes: FlushQueue::default(),
            device_at: Cell::new(NEVER),
            queue_at: Cell::new(NEVER),
            watch: RefCell::new(BlockObserver::new(name, depth)),
            done: RefCell::default(),
            ended: RefCell::default(),
        }
    }

    pub fn queue(&self) -> std::cell::Ref<'_, Queue> {
        self.queue.borrow()
    }

    /// Registers a thread's process with the queue.
    pub fn describe(&self, who: Submitter, process: u16) {
        let info = fathom_iopath::TaskInfo::of_process(process);
        self.queue.borrow_mut().describe(TaskId(who.0), info);
    }

    /// A thread has ended: the scheduler need not idle for it any more.
    pub fn has_exited(&self, machine: &Machine, who: Submitter) {
        self.queue.borrow_mut().task_exited(Nanos(machine.now()), TaskId(who.0));
        self.drive(machine);
    }

    pub fn watch(&self) -> std::cell::RefMut<'_, BlockObserver> {
        self.watch.borrow_mut()
    }

    /// Counters of the device up to `now`.
    pub fn device_counters(&self, now: u64) -> crate::devices::Counters {
        self.device.borrow().counters(now)
    }

    /// Bytes written by the device since [`Block::restart`].
    pub fn written_bytes(&self) -> u64 {
        self.watch.borrow().written_bytes
    }

    /// Resets the counters.
    pub fn restart(&self, now: u64) {
        let mut watch = self.watch.borrow_mut();
        watch.analysis.restart(now);
        watch.written_bytes = 0;
    }

    /// Whether read-ahead and write-back should hold off.
    pub fn congested(&self, write: bool) -> bool {
        self.queue.borrow().congested(if write { Op::Write } else { Op::Read })
    }

    /// Limits on a request.
    pub fn limits(&self) -> Limits {
        self.queue.borrow().rules().limits
    }

    /// Longest request, sectors.
    pub fn max_sectors(&self) -> u32 {
        self.queue.borrow().rules().limits.max_sectors
    }

    /// Maximum number of segments of a request.
    pub fn max_segments(&self) -> u32 {
        self.queue.borrow().rules().limits.max_segments.into()
    }

    /// A task starts to submit a batch of bios.
    pub fn plug(&self, who: Submitter) {
        self.queue.borrow_mut().start_plug(TaskId(who.0));
    }

    /// The task has submitted its batch.
    pub fn finish_plug(&self, machine: &Machine, who: Submitter) {
        let now = Nanos(machine.now());
        {
            let mut queue = self.queue.borrow_mut();
            queue.finish_plug(now, TaskId(who.0));
            if self.gathers {
                queue.unplug(now);
            }
        }
        self.drive(machine);
    }

    /// A task is about to wait: submits the requests it holds back.
    pub fn unplug(&self, machine: &Machine, who: Submitter) {
        let now = Nanos(machine.now());
        {
            let mut queue = self.queue.borrow_mut();
            queue.unplug(now);
            queue.finish_plug(now, TaskId(who.0));
        }
        self.drive(machine);
    }

    /// The time has come at which the device wanted to be polled.
    pub fn device_event(&self, machine: &Machine) {
        let now = machine.now();
        if self.device_at.get() <= now {
            self.device_at.set(NEVER);
        }
        let mut done = self.done.take();
        self.device.borrow_mut().advance(now, &mut done);
        for tag in done.drain(..) {
            self.complete(machine, tag);
        }
        self.done.replace(done);
        self.drive(machine);
        self.ask_device_again(machine);
    }

    /// The time of a plug or an elevator's wait is over.
    pub fn queue_event(&self, machine: &Machine) {
        if self.queue_at.get() <= machine.now() {
            self.queue_at.set(NEVER);
        }
        self.drive(machine);
    }

    /// Gives the device as many requests as it has slots for.
    fn drive(&self, machine: &Machine) {
        let now = machine.now();
        self.start_flushes(machine);
        let waits = loop {
            let free = self.depth - self.in_flight.get();
            let next = self.queue.borrow_mut().next(Nanos(now), free);
            match next {
                Next::Request(id) => self.start(machine, id),
                Next::Nothing => break false,
                Next::NotBefore(Nanos(at)) => {
                    let at = at.max(now);
                    if at < self.queue_at.get() {
                        self.queue_at.set(at);
                        machine.at(at, Class::Timer, Event::Queue);
                    }
                    break true;
                }
            }
        };
        self.look(machine, waits);
        self.ask_device_again(machine);
    }

    /// Updates the recorded queue depth. `waits`: the queue wants to be polled later.
    pub fn look(&self, machine: &Machine, waits: bool) {
        let level = DepthSample::of(&self.queue.borrow(), self.in_flight.get(), waits);
        machine.plot.borrow_mut().look(machine.now(), level);
    }

    fn ask_device_again(&self, machine: &Machine) {
        let Some(at) = self.device.borrow().next_event() else { return };
        let at = at.max(machine.now());
        if at < self.device_at.get() {
            self.device_at.set(at);
            machine.at(at, Class::Completion, Event::Device);
        }
    }

    fn start(&self, machine: &Machine, id: RequestId) {
        let queue = self.queue.borrow();
        let Some(request) = queue.request(id) else { return };
        let write = !request.op().is_read();
        let command = Command {
            tag: 0,
            write,
            sector: request.sector(),
            sectors: request.sectors(),
            segments: request.segments(),
        };
        self.hand_over(machine, command, TagUse::Request { id, write }, Submitter(request.task().0));
    }

    /// Gives the device a command under a free tag, which must exist.
    fn hand_over(&self, machine: &Machine, command: Command, outstanding: TagUse, who: Submitter) {
        let now = machine.now();
        let mut tags = self.tags.borrow_mut();
        let Some(tag) = tags.iter().position(Option::is_none) else { return };
        tags[tag] = Some(outstanding);
        {
            let mut watch = self.watch.borrow_mut();
            watch.pass(now, self.in_flight.get());
            watch.began[tag] = now;
            watch.shapes.note(&command);
            watch.tell(now, BlockAction::Issue, command.write, command.sector, command.sectors, who);
        }
        match outstanding {
            TagUse::Request { id, .. } => {
                let queued = self.queue.borrow().request(id).map_or(now, |r| r.queued_at().0);
                machine.plot.borrow_mut().is_served(now, command.sector, command.write, queued);
            }
            TagUse::Flush(_) => machine.plot.borrow_mut().is_flushed(now),
        }
        self.in_flight.set(self.in_flight.get() + 1);
        self.device.borrow_mut().submit(now, Command { tag: tag as u32, ..command });
    }

    fn complete(&self, machine: &Machine, tag: u32) {
        let now = machine.now();
        let Some(outstanding) = self.tags.borrow_mut()[tag as usize].take() else { return };
        {
            let mut watch = self.watch.borrow_mut();
            watch.pass(now, self.in_flight.get());
            watch.response_ns += u128::from(now - watch.began[tag as usize]);
        }
        self.in_flight.set(self.in_flight.get() - 1);
        match outstanding {
            TagUse::Request { id, write } => self.request_done(machine, id, write),
            TagUse::Flush(flush) => {
                self.watch.borrow_mut().tell(now, BlockAction::Complete, true, 0, 0, flush.who);
                machine.is_done(Purpose::Part(flush.part));
            }
        }
    }

    fn request_done(&self, machine: &Machine, id: RequestId, write: bool) {
        let now = machine.now();
        let mut ended = self.ended.take();
        {
            let mut queue = self.queue.borrow_mut();
            let extent = queue.request(id).map(|r| (r.sector(), r.sectors(), r.task()));
            queue.completed(Nanos(now), id, |bio| ended.push(bio));
            let mut watch = self.watch.borrow_mut();
            if let Some((sector, sectors, task)) = extent {
                watch.written_bytes += if write { u64::from(sectors) * SECTOR_BYTES } else { 0 };
                watch.tell(now, BlockAction::Complete, write, sector, sectors, Submitter(task.0));
            }
        }
        for bio in ended.drain(..) {
            let purpose = self.purposes.borrow_mut().take(bio.token());
            machine.is_done(purpose);
        }
        self.ended.replace(ended);
        self.let_one_in(machine, 0);
        if !self.congested(true) {
            self.held_off.borrow_mut().drain(..).for_each(|task| machine.wake(task));
        }
    }

    /// Registers a task to be woken once the queue, congested now, no longer is.
    pub fn hold_off(&self, task: TaskNumber) {
        self.held_off.borrow_mut().push(task);
    }

    /// Wakes the first task behind a ticket (0: of all) that can get a free request.
    fn let_one_in(&self, machine: &Machine, behind: wait_queue::Ticket) {
        let queue = self.queue.borrow();
        let next = self.line.borrow_mut().first_behind(behind, |op| queue.has_room(op));
        if let Some(task) = next {
            machine.wake(task);
        }
    }

    /// How often bios merged. Request sizes are in the analysis.
    pub fn merges(&self) -> fathom_iopath::MergeCounts {
        *self.queue.borrow().merges()
    }
}
