//! The event loop: takes the next event and lets whom it concerns go on. Tasks stand in a table; those of the system (journal,
//! flusher) stay for the whole run, those of a phase come and go with it.

use super::task::{Job, TaskNumber};
use super::{Event, Machine};
use crate::event::Class;
use std::task::{Context, Waker};

/// The table of tasks.
pub(crate) struct Executor<'m> {
    /// Whether somebody wants the loop to end, and events since that was asked.
    stop: fn(u64) -> bool,
    looked: u32,
    machine: &'m Machine,
    tasks: Vec<Option<Job<'m>>>,
    /// Tasks that must end before the present part of the run is over.
    awaited: usize,
    /// The first of those.
    first_awaited: usize,
    /// Whether the tasks that serve have been let go.
    serving: bool,
}

/// Nothing is left to happen and still somebody waits: an error in the model itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the simulated machine stands still at {at_ns} ns with {waiting} tasks waiting for ever; please report it"
)]
pub struct Standstill {
    /// When.
    pub at_ns: u64,
    /// How many wait.
    pub waiting: usize,
}

/// Why the loop ended before its tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// An error in the model.
    Standstill(Standstill),
    /// Somebody asked for it.
    Stopped { at_ns: u64 },
}

/// Events between two looks at whether to stop: some hundredths of a second.
const EVENTS_PER_LOOK: u32 = 1 << 14;

impl<'m> Executor<'m> {
    pub fn new(machine: &'m Machine, stop: fn(u64) -> bool) -> Self {
        Self {
            stop,
            looked: EVENTS_PER_LOOK - 1,
            machine,
            tasks: Vec::new(),
            awaited: 0,
            first_awaited: 0,
            serving: false,
        }
    }

    /// Adds a task that serves the others and never ends; before any other.
    pub fn serve(&mut self, job: Job<'m>) {
        self.add(job);
        self.first_awaited = self.tasks.len();
    }

    /// Adds a task of the present part. Returns its number.
    pub fn add(&mut self, job: Job<'m>) -> TaskNumber {
        self.tasks.push(Some(job));
        (self.tasks.len() - 1) as TaskNumber
    }

    /// Runs until the first `awaited` tasks that were added since the last time have ended, and forgets all that were added.
    pub fn run(&mut self, awaited: usize) -> Result<(), Cut> {
        let machine = self.machine;
        self.awaited = awaited;
        let started = if std::mem::replace(&mut self.serving, true) { self.first_awaited } else { 0 };
        for task in started..self.tasks.len() {
            machine.at(machine.now(), Class::Submission, Event::Run(task as TaskNumber));
        }
        let result = self.until_done();
        self.tasks.truncate(self.first_awaited);
        result
    }

    fn until_done(&mut self) -> Result<(), Cut> {
        let machine = self.machine;
        let mut context = Context::from_waker(Waker::noop());
        let awaited = self.first_awaited..self.first_awaited + self.awaited;
        while self.awaited > 0 {
            // The flusher and the journal look at their clocks for ever; nobody waits for that.
            if machine.only_clocks_tick() {
                let stands = Standstill { at_ns: machine.now(), waiting: self.awaited };
                return Err(Cut::Standstill(stands));
            }
            let Some((time, event)) = machine.events.borrow_mut().pop() else { continue };
            machine.now.set(time);
            self.looked += 1;
            if self.looked >= EVENTS_PER_LOOK {
                self.looked = 0;
                if (self.stop)(time) {
                    return Err(Cut::Stopped { at_ns: time });
                }
            }
            match event {
                Event::Device => machine.block.device_event(machine),
                Event::Commit(tid) => {
                    machine.clock_ticked();
                    machine.commit_the_old(tid);
                }
                Event::Queue => machine.block.queue_event(machine),
                Event::Alarm(number, alarm) if !machine.rings(number, alarm) => {}
                Event::Run(number) | Event::Alarm(number, _) => {
                    let at = number as usize;
                    let Some(job) = self.tasks.get_mut(at).and_then(Option::as_mut) else { continue };
                    machine.running.set(number);
                    if job.as_mut().poll(&mut context).is_ready() {
                        self.tasks[at] = None;
                        machine.leave_cpu();
                        self.awaited -= usize::from(awaited.contains(&at));
                    }
                }
            }
        }
        Ok(())
    }
}
