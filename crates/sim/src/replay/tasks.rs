//! Task numbers for the scheduler: small, in order of first arrival. The engine assigns them; events are translated back to their tasks.

use fathom_iopath::TaskId;
use fathom_record::block::event::TASK_NAME_BYTES;
use std::collections::HashMap;

/// Number of tasks with a unique number; later ones share them. A trace of a week may have any number of processes.
const MOST: usize = 4096;

/// Task numbers and identities.
#[derive(Default)]
pub(crate) struct Tasks {
    numbers: HashMap<u32, u16>,
    who: Vec<(u32, [u8; TASK_NAME_BYTES])>,
    /// The last lookup; usually the next is the same.
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

    /// Display name: "postgres (4711)", or "process 4711" where the name is unknown.
    pub fn label(&self, task: TaskId) -> String {
        let (pid, name) = self.who(task);
        let end = name.iter().position(|&b| b == 0).unwrap_or(name.len());
        let name = String::from_utf8_lossy(&name[..end]);
        if name.is_empty() { format!("process {pid}") } else { format!("{name} ({pid})") }
    }

    /// PID and name of a task.
    pub fn who(&self, task: TaskId) -> (u32, [u8; TASK_NAME_BYTES]) {
        self.who.get(usize::from(task.0)).copied().unwrap_or_default()
    }
}
