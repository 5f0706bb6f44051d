//! The tasks of a trace as the scheduler numbers them: small numbers, given in the order of first arrival. Filled by the engine,
//! asked again when an event has to name whose it is.

use fathom_iopath::TaskId;
use fathom_record::block::event::TASK_NAME_BYTES;
use std::collections::HashMap;

/// Tasks that have a number of their own; those that come later share them. A trace of a week has any number of processes.
const MOST: usize = 4096;

/// Numbers of tasks, and who they are.
#[derive(Default)]
pub(crate) struct Tasks {
    numbers: HashMap<u32, u16>,
    who: Vec<(u32, [u8; TASK_NAME_BYTES])>,
    /// The last that was asked for: mostly the next one too.
    last: Option<(u32, u16)>,
}

impl Tasks {
    /// The number of a task.
    pub fn number(&mut self, pid: u32, name: [u8; TASK_NAME_BYTES]) -> TaskId {
        if let Some((last, number)) = self.last
            && last == pid
        {
            return TaskId(number);
        }
        let number = match self.numbers.get(&pid) {
            Some(&number) => number,
            None if self.who.len() < MOST => {
                let number = self.who.len() as u16;
                self.who.push((pid, name));
                self.numbers.insert(pid, number);
                number
            }
            None => (pid as usize % MOST) as u16,
        };
        self.last = Some((pid, number));
        TaskId(number)
    }

    /// A number for people: "postgres (4711)", or "process 4711" where nobody told a name.
    pub fn told(&self, task: TaskId) -> String {
        let (pid, name) = self.who(task);
        let end = name.iter().position(|&b| b == 0).unwrap_or(name.len());
        let name = String::from_utf8_lossy(&name[..end]);
        if name.is_empty() { format!("process {pid}") } else { format!("{name} ({pid})") }
    }

    /// PID and name of a number.
    pub fn who(&self, task: TaskId) -> (u32, [u8; TASK_NAME_BYTES]) {
        self.who.get(usize::from(task.0)).copied().unwrap_or_default()
    }
}
