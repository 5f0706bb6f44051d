//! The simulated machine: the clock, its events, and all state that tasks share. Each task holds a reference to it. Nothing in it stays
//! borrowed across a wait, so tasks may switch at any wait and nowhere else.

mod alarms;
mod cpu;
mod executor;
pub(crate) mod task;
mod waits;

pub use executor::Standstill;
pub(crate) use executor::{EarlyEnd, Executor};
pub(crate) use waits::{Gate, PartGroups};

use crate::block::{Block, Submitter};
use crate::cache::{Cache, PageNumber};
use crate::call_log::CallLog;
use crate::copying::Copies;
use crate::counts::Counts;
use crate::event::{Class, EventQueue};
use crate::files::Files;
use crate::host::Host;
use crate::journal::{Journal, Tid};
use crate::plot_data::PlotData;
use crate::sources::Sourced;
use crate::stack::Stack;
use crate::writeback::Background;
use alarms::Alarms;
use cpu::Cpus;
use fathom_iopath::readahead::{Policy, State};
use fathom_workload::ops::Extent;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use task::{Park, TaskNumber};

/// What happens at a scheduled time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A task resumes.
    Run(TaskNumber),
    /// A task resumes if it still waits for this alarm (a number local to the task).
    Alarm(TaskNumber, u32),
    /// A transaction of the journal has reached the age at which it is committed.
    Commit(Tid),
    /// The device may have completed something.
    Device,
    /// The queue may have a request for the device: a plug or an elevator's wait is over.
    Queue,
}

/// CPU cost of calls, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Costs {
    pub call_ns: u64,
    pub page_ns: u64,
    pub bio_ns: u64,
    /// Delay rather than CPU time.
    pub wake_ns: u64,
    /// Length of a timer tick, ns.
    pub tick_ns: u64,
}

pub(crate) struct Machine {
    now: Cell<u64>,
    events: RefCell<EventQueue<Event>>,
    running: Cell<TaskNumber>,
    alarms: RefCell<Alarms>,
    /// CPU time of each entity that the scheduler knows, and the entity each task computes for.
    used: RefCell<Vec<u64>>,
    owners: RefCell<Vec<u16>>,
    cpus: Cpus,
    pub costs: Costs,
    pub copies: Copies,
    pub host: Host,
    pub stack: Stack,
    pub policy: Policy,
    pub block: Block,
    pub cache: RefCell<Cache>,
    pub files: RefCell<Files>,
    pub journal: RefCell<Journal>,
    pub background: Background,
    pub parts: RefCell<PartGroups>,
    pub counts: RefCell<Counts>,
    /// Data of the phase kept for plotting.
    pub plot: RefCell<PlotData>,
    /// Read-ahead state of every open file.
    pub opens: RefCell<Vec<State>>,
    /// Indices of closed files' states, free for reuse.
    pub closed: RefCell<Vec<u32>>,
    /// Optional records of a run: operations and messages of flows.
    pub call_log: RefCell<CallLog>,
    /// Length in pages of each read-ahead mark, by its page.
    pub marks: RefCell<BTreeMap<PageNumber, u32>>,
    /// Extents that workers have written and not read back, by phase and worker.
    pub written: RefCell<BTreeMap<(u32, u32), Vec<Extent>>>,
}

/// Parts that a machine is built from.
pub(crate) struct Build {
    pub host: Host,
    pub stack: Stack,
    pub policy: Policy,
    pub block: Block,
    pub cache: Cache,
    pub files: Files,
    pub journal: Journal,
}

impl Machine {
    pub fn new(build: Build) -> Self {
        let Build { host, stack, policy, block, cache, files, journal } = build;
        let ns = |us: f64| (us * 1000.0) as u64;
        let costs = Costs {
            call_ns: ns(host.cpu.call_us.get()),
            page_ns: ns(host.cpu.page_us.get()),
            bio_ns: ns(host.cpu.bio_us.get()),
            wake_ns: ns(host.cpu.wake_us.as_ref().map_or(0.0, Sourced::get)),
            tick_ns: 1_000_000_000 / u64::from(host.cpu.hz.get().max(1)),
        };
        Self {
            now: Cell::new(0),
            events: RefCell::default(),
            running: Cell::new(0),
            alarms: RefCell::default(),
            used: RefCell::default(),
            owners: RefCell::default(),
            cpus: Cpus::new(host.cpu.cpus.get()),
            costs,
            copies: Copies::of(host.copying.as_ref()),
            host,
            stack,
            policy,
            block,
            cache: RefCell::new(cache),
            files: RefCell::new(files),
            journal: RefCell::new(journal),
            background: Background::default(),
            parts: RefCell::default(),
            counts: RefCell::default(),
            plot: RefCell::default(),
            opens: RefCell::default(),
            closed: RefCell::default(),
            call_log: RefCell::default(),
            marks: RefCell::default(),
            written: RefCell::default(),
        }
    }

    /// Current time, ns since the machine started.
    pub fn now(&self) -> u64 {
        self.now.get()
    }

    /// Events processed so far.
    pub fn events(&self) -> u64 {
        self.events.borrow().pushed()
    }

    /// The running task.
    pub fn task(&self) -> TaskNumber {
        self.running.get()
    }

    pub fn at(&self, time: u64, class: Class, event: Event) {
        debug_assert!(time >= self.now.get(), "nothing happens in the past");
        self.events.borrow_mut().push(time, class, event);
    }

    /// Advances to a time for the running task itself, if no other event comes before or at it: the effect of a separate event, without
    /// the event. A run that finds its pages in memory passes most of its time this way.
    pub fn pass_to(&self, time: u64) -> bool {
        let mut events = self.events.borrow_mut();
        if events.next_time().is_some_and(|next| next <= time) {
            return false;
        }
        events.count_inline();
        self.now.set(time);
        true
    }

    /// Makes a waiting task runnable now, after all earlier events of the same time.
    pub fn wake(&self, task: TaskNumber) {
        self.at(self.now(), Class::Submission, Event::Run(task));
    }

    /// The same for a task that waits for a request of the device.
    pub fn wake_after_io(&self, task: TaskNumber) {
        self.at(self.now() + self.costs.wake_ns, Class::Submission, Event::Run(task));
    }

    /// Gives up the CPU and waits until the task is woken.
    pub fn park(&self) -> Park {
        self.leave_cpu();
        Park::new()
    }

    /// Sleeps until `time`.
    pub async fn sleep_until(&self, time: u64) {
        if time > self.now() {
            self.at(time, Class::Timer, Event::Run(self.task()));
            self.park().await;
        }
    }

    /// Schedules an event that no task can be waiting for.
    pub fn clock_at(&self, time: u64, event: Event) {
        self.alarms.borrow_mut().ticking += 1;
        self.at(time, Class::Timer, event);
    }

    /// Sleeps until `time`, for a service task: its event is one that no other task can be waiting for.
    pub async fn tick_at(&self, time: u64) {
        self.alarms.borrow_mut().ticking += 1;
        self.sleep_until(time).await;
        self.alarms.borrow_mut().ticking -= 1;
    }

    /// Waits until the task is woken, but at most until `time`. Returns whether the time came first; a wake-up already in flight then
    /// will still arrive.
    pub async fn park_until(&self, time: u64) -> bool {
        let task = self.task();
        let alarm = self.alarms.borrow_mut().set(task);
        self.at(time.max(self.now()), Class::Timer, Event::Alarm(task, alarm));
        self.park().await;
        self.alarms.borrow_mut().ended(task, alarm)
    }

    /// Sleeps until the next timer tick, like `schedule_timeout(1)`.
    pub async fn sleep_a_tick(&self) {
        let tick = self.costs.tick_ns;
        self.sleep_until((self.now() / tick + 1) * tick).await;
    }

    /// From now on the running task computes for `who`.
    pub fn own_cpu(&self, who: Submitter) {
        let task = self.task() as usize;
        let mut owners = self.owners.borrow_mut();
        if owners.len() <= task {
            owners.resize(task + 1, 0);
        }
        owners[task] = who.0;
    }

    /// CPU time used by `who`, ns.
    pub fn cpu_of(&self, who: Submitter) -> u64 {
        self.used.borrow().get(usize::from(who.0)).copied().unwrap_or(0)
    }

    fn used_cpu(&self, ns: u64) {
        self.counts.borrow_mut().cpu_ns += ns;
        let who = usize::from(self.owners.borrow().get(self.task() as usize).copied().unwrap_or(0));
        let mut used = self.used.borrow_mut();
        if used.len() <= who {
            used.resize(who + 1, 0);
        }
        used[who] += ns;
    }

    /// A task about to wait for the device submits the requests it holds back, or it would wait for ever.
    pub fn about_to_wait(&self, who: Submitter) {
        self.block.unplug(self, who);
    }
}
