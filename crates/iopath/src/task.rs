//! Submitters: a small index per thread, and what some elevators need to know of it (its process, its I/O priority). The table is filled
//! by [`crate::Queue::describe`]; an undescribed task is a separate process with the default priority.

/// Index of a thread, dense from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u16);

impl TaskId {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// I/O priority class (`ionice`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IoClass {
    /// Served before all others.
    RealTime,
    /// The default.
    #[default]
    BestEffort,
    /// Served only when the device is otherwise idle.
    Idle,
}

/// Information about a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskInfo {
    /// Process id (tgid), shared by the threads of a process. Under LinuxThreads each thread has its own.
    pub process: u16,
    /// Class of I/O priority.
    pub class: IoClass,
    /// Level inside the class: 0 (highest) to 7, 4 by default.
    pub level: u8,
}

impl TaskInfo {
    /// A separate process with the default priority.
    pub const fn alone(task: TaskId) -> Self {
        Self { process: task.0, class: IoClass::BestEffort, level: 4 }
    }

    /// A thread of a process.
    pub const fn of_process(process: u16) -> Self {
        Self { process, class: IoClass::BestEffort, level: 4 }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Tasks(Vec<TaskInfo>);

impl Tasks {
    /// Records a task; unknown tasks with lower indices become separate processes.
    pub(crate) fn describe(&mut self, task: TaskId, info: TaskInfo) {
        while self.0.len() <= task.index() {
            self.0.push(TaskInfo::alone(TaskId(self.0.len() as u16)));
        }
        self.0[task.index()] = TaskInfo { level: info.level.min(7), ..info };
    }

    pub(crate) fn get(&self, task: TaskId) -> TaskInfo {
        self.0.get(task.index()).copied().unwrap_or(TaskInfo::alone(task))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_tasks_are_processes_of_their_own() {
        let mut tasks = Tasks::default();
        tasks.describe(TaskId(2), TaskInfo { process: 7, class: IoClass::Idle, level: 9 });
        assert_eq!(tasks.get(TaskId(1)), TaskInfo::alone(TaskId(1)));
        assert_eq!(tasks.get(TaskId(2)), TaskInfo { process: 7, class: IoClass::Idle, level: 7 });
        assert_eq!(tasks.get(TaskId(300)).process, 300);
    }
}
