//! The tasks of a trace as the scheduler numbers them: small numbers, given in the order of first arrival. Filled by the engine,
//! asked again when an event has to name whose it is.

use super::arrival::Arrival;
use fathom_iopath::TaskId;
use fathom_record::block::event::TASK_NAME_BYTES;
use std::collections::HashMap;

/// Tasks that have a number of their own; those that come later share them. A trace of a week has any number of processes.
const MOST: usize = 4096;

/// Numbers of tasks, and who they are.
#[derive(Default)]
pub(super) struct Tasks {
    numbers: HashMap<u32, u16>,
    who: Vec<(u32, [u8; TASK_NAME_BYTES])>,
    /// The last that was asked for: mostly the next one too.
    last: Option<(u32, u16)>,
}

impl Tasks {
    /// The number of whoever handed this in.
    pub fn number(&mut self, arrival: &Arrival) -> TaskId {
        if let Some((pid, number)) = self.last
            && pid == arrival.pid
        {
            return TaskId(number);
        }
        let number = match self.numbers.get(&arrival.pid) {
            Some(&number) => number,
            None if self.who.len() < MOST => {
                let number = self.who.len() as u16;
                self.who.push((arrival.pid, arrival.task));
                self.numbers.insert(arrival.pid, number);
                number
            }
            None => (arrival.pid as usize % MOST) as u16,
        };
        self.last = Some((arrival.pid, number));
        TaskId(number)
    }

    /// PID and name of a number.
    pub fn who(&self, task: TaskId) -> (u32, [u8; TASK_NAME_BYTES]) {
        self.who.get(usize::from(task.0)).copied().unwrap_or_default()
    }
}
