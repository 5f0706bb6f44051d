//! The event loop: takes the next event and resumes the task it concerns. System tasks (journal, flusher) stay for the whole run; a
//! phase's tasks are added and removed with it.

use super::task::{TaskFuture, TaskNumber};
use super::{Event, Machine};
use crate::event::Class;
use std::task::{Context, Waker};

pub(crate) struct Executor<'m> {
    /// Called with the virtual time; returns whether to stop. And the events since the last call.
    stop: fn(u64) -> bool,
    looked: u32,
    machine: &'m Machine,
    tasks: Vec<Option<TaskFuture<'m>>>,
    /// Number of tasks that must end before the current part of the run is over.
    awaited: usize,
    /// Index of the first of them.
    first_awaited: usize,
    /// Whether the service tasks have been started.
    serving: bool,
}

/// No event is pending but tasks still wait: a bug in the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the simulated machine made no progress after {at_ns} ns, with {waiting} tasks waiting: a bug in the model; please report it"
)]
pub struct Standstill {
    /// Virtual time of the standstill, ns.
    pub at_ns: u64,
    /// Number of waiting tasks.
    pub waiting: usize,
}

/// Why the loop ended before its tasks did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EarlyEnd {
    /// A bug in the model.
    Standstill(Standstill),
    /// A stop was requested.
    Stopped { at_ns: u64 },
}

/// Events between two checks for a stop request: a few hundredths of a second.
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

    /// Adds a service task, which never ends. Must come before all other tasks.
    pub fn serve(&mut self, job: TaskFuture<'m>) {
        self.add(job);
        self.first_awaited = self.tasks.len();
    }

    /// Adds a task of the current part and returns its number.
    pub fn add(&mut self, job: TaskFuture<'m>) -> TaskNumber {
        self.tasks.push(Some(job));
        (self.tasks.len() - 1) as TaskNumber
    }

    /// Runs until the first `awaited` tasks added since the last call have ended, then removes all that were added.
    pub fn run(&mut self, awaited: usize) -> Result<(), EarlyEnd> {
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

    fn until_done(&mut self) -> Result<(), EarlyEnd> {
        let machine = self.machine;
        let mut context = Context::from_waker(Waker::noop());
        let awaited = self.first_awaited..self.first_awaited + self.awaited;
        while self.awaited > 0 {
            // The flusher and the journal check their clocks for ever; no task waits for that.
            if machine.only_clocks_tick() {
                let stands = Standstill { at_ns: machine.now(), waiting: self.awaited };
                return Err(EarlyEnd::Standstill(stands));
            }
            let Some((time, event)) = machine.events.borrow_mut().pop() else { continue };
            machine.now.set(time);
            self.looked += 1;
            if self.looked >= EVENTS_PER_LOOK {
                self.looked = 0;
                if (self.stop)(time) {
                    return Err(EarlyEnd::Stopped { at_ns: time });
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
