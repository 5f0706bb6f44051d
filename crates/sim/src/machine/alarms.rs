//! Waits that end with a wake-up or with a moment, whichever comes first, and the clocks of those who serve for ever. An event that was
//! put in cannot be taken out again; so an alarm has a number, and one that nobody waits for any more says nothing.

use super::Machine;
use super::task::TaskNumber;

#[derive(Default)]
pub(super) struct Alarms {
    /// For each task: the number of its last alarm, and whether it rang.
    of_task: Vec<(u32, bool)>,
    /// Events that no task can be waiting for but the one that sleeps until then.
    pub ticking: usize,
}

impl Alarms {
    /// A new alarm of a task. Returns its number.
    pub fn set(&mut self, task: TaskNumber) -> u32 {
        let at = task as usize;
        if self.of_task.len() <= at {
            self.of_task.resize(at + 1, (0, false));
        }
        let alarm = &mut self.of_task[at];
        *alarm = (alarm.0.wrapping_add(1), false);
        alarm.0
    }

    /// The task goes on: whether the alarm was the reason. It will not ring any more.
    pub fn ended(&mut self, task: TaskNumber, alarm: u32) -> bool {
        let state = &mut self.of_task[task as usize];
        debug_assert_eq!(state.0, alarm, "a task waits for one alarm at a time");
        state.0 = alarm.wrapping_add(1);
        std::mem::take(&mut state.1)
    }
}

impl Machine {
    /// The moment of an alarm has come: whether the task still waits for it.
    pub(super) fn rings(&self, task: TaskNumber, alarm: u32) -> bool {
        let mut alarms = self.alarms.borrow_mut();
        let Some(state) = alarms.of_task.get_mut(task as usize).filter(|state| state.0 == alarm) else {
            return false;
        };
        state.1 = true;
        true
    }

    /// An event of those that nobody waits for has come.
    pub(super) fn clock_ticked(&self) {
        self.alarms.borrow_mut().ticking -= 1;
    }

    /// Whether nothing will happen but that those who serve for ever look at their clocks.
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
