//! FIFO wait queue for a free request. A task that is woken and still gets none (an elevator may refuse despite free requests) returns to
//! its old position, and the tasks behind it may try.

use crate::machine::task::TaskNumber;
use fathom_iopath::Op;
use std::collections::VecDeque;

/// A position in the wait queue; earlier ones are smaller.
pub(super) type Ticket = u64;

#[derive(Default)]
pub(super) struct RequestWaitQueue {
    /// Ordered by ticket.
    waiting: VecDeque<(Ticket, TaskNumber, Op)>,
    next: Ticket,
}

impl RequestWaitQueue {
    /// Adds a task and returns its ticket.
    pub fn enter(&mut self, task: TaskNumber, op: Op) -> Ticket {
        self.next += 1;
        self.waiting.push_back((self.next, task, op));
        self.next
    }

    /// Puts a task that was woken in vain back at its old position.
    pub fn go_back(&mut self, ticket: Ticket, task: TaskNumber, op: Op) {
        let at = self.waiting.partition_point(|&(other, ..)| other < ticket);
        self.waiting.insert(at, (ticket, task, op));
    }

    /// Removes the first task after `ticket` (0: from the front) for whose operation `room` is true.
    pub fn first_behind(&mut self, ticket: Ticket, room: impl Fn(Op) -> bool) -> Option<TaskNumber> {
        let at = self.waiting.iter().position(|&(other, _, op)| other > ticket && room(op))?;
        self.waiting.remove(at).map(|(_, task, _)| task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_that_is_refused_keeps_its_position() {
        let mut line = RequestWaitQueue::default();
        let tickets = [7, 8, 9].map(|task| line.enter(task, Op::Write));
        assert_eq!(line.first_behind(0, |_| true), Some(7));
        // Refused: back to the front. The next one may try and is refused too.
        line.go_back(tickets[0], 7, Op::Write);
        assert_eq!(line.first_behind(tickets[0], |_| true), Some(8));
        line.go_back(tickets[1], 8, Op::Write);
        line.enter(10, Op::Read);
        let order: Vec<_> = std::iter::from_fn(|| line.first_behind(0, |_| true)).collect();
        assert_eq!(order, [7, 8, 9, 10]);
    }

    #[test]
    fn tasks_of_a_full_direction_are_skipped() {
        let mut line = RequestWaitQueue::default();
        line.enter(1, Op::Write);
        line.enter(2, Op::Read);
        assert_eq!(line.first_behind(0, |op| op == Op::Read), Some(2));
        assert_eq!(line.first_behind(0, |op| op == Op::Read), None);
    }
}
