//! Waits that end with a wake-up or at a given time, whichever comes first, and the clocks of service tasks. A queued event cannot be
//! removed, so each alarm has a number, and an alarm that no task waits for is ignored.

use super::Machine;
use super::task::TaskNumber;

#[derive(Default)]
pub(super) struct Alarms {
    /// For each task: the number of its last alarm, and whether it rang.
    of_task: Vec<(u32, bool)>,
    /// Pending timer events of service tasks; no other task can be waiting for them.
    pub ticking: usize,
}

impl Alarms {
    /// Sets a new alarm for a task and returns its number.
    pub fn set(&mut self, task: TaskNumber) -> u32 {
        let at = task as usize;
        if self.of_task.len() <= at {
            self.of_task.resize(at + 1, (0, false));
        }
        let alarm = &mut self.of_task[at];
        *alarm = (alarm.0.wrapping_add(1), false);
        alarm.0
    }

    /// The task resumes. Returns whether the alarm was the reason; the alarm will not ring again.
    pub fn ended(&mut self, task: TaskNumber, alarm: u32) -> bool {
        let state = &mut self.of_task[task as usize];
        debug_assert_eq!(state.0, alarm, "a task waits for one alarm at a time");
        state.0 = alarm.wrapping_add(1);
        std::mem::take(&mut state.1)
    }
}

impl Machine {
    /// The time of an alarm has come. Returns whether the task still waits for it.
    pub(super) fn rings(&self, task: TaskNumber, alarm: u32) -> bool {
        let mut alarms = self.alarms.borrow_mut();
        let Some(state) = alarms.of_task.get_mut(task as usize).filter(|state| state.0 == alarm) else {
            return false;
        };
        state.1 = true;
        true
    }

    /// A service task's timer event has fired.
    pub(super) fn clock_ticked(&self) {
        self.alarms.borrow_mut().ticking -= 1;
    }

    /// Whether the only pending events are timers of service tasks.
    pub(super) fn only_clocks_tick(&self) -> bool {
        self.events.borrow().len() <= self.alarms.borrow().ticking
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alarm_is_over_when_the_task_goes_on() {
        let mut alarms = Alarms::default();
        let first = alarms.set(3);
        assert!(!alarms.ended(3, first), "somebody woke the task");
        let second = alarms.set(3);
        assert_ne!(first, second);
        alarms.of_task[3].1 = true;
        assert!(alarms.ended(3, second));
        assert_ne!(alarms.of_task[3].0, second, "it rings no more");
    }
}
