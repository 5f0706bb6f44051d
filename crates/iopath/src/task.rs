//! Who submits: a small index per thread, and what some elevators want to know of it (its process, its I/O priority). The table
//! is filled by [`crate::Queue::describe`]; a task that nobody described is a process of its own with the default priority.

/// Index of a thread, dense from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u16);

impl TaskId {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Class of I/O priority (`ionice`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IoClass {
    /// Before all others.
    RealTime,
    /// The default.
    #[default]
    BestEffort,
    /// When nobody else wants the device.
    Idle,
}

/// What is known of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskInfo {
    /// Threads of one process share it (tgid). Under LinuxThreads each thread has its own.
    pub process: u16,
    /// Class of I/O priority.
    pub class: IoClass,
    /// Level inside the class: 0 (first) to 7, 4 by default.
    pub level: u8,
}

impl TaskInfo {
    /// A process of its own with the default priority.
    pub const fn alone(task: TaskId) -> Self {
        Self { process: task.0, class: IoClass::BestEffort, level: 4 }
    }

    /// A thread of a process.
    pub const fn of_process(process: u16) -> Self {
        Self { process, class: IoClass::BestEffort, level: 4 }
    }
}

/// What is known of every task.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tasks(Vec<TaskInfo>);

impl Tasks {
    /// Enters a task; those before it that are not known become processes of their own.
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
