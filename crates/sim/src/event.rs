//! The event queue: a 4-ary heap over (time, class, sequence). Events at the same time are ordered by class, then by insertion, so a run
//! has the same history on every machine.

/// Kind of an event. At equal times the lower class comes first, so a task waiting for a completion sees it before new work arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    /// A device has completed a request.
    Completion = 0,
    /// A timer has expired: an elevator's, the flusher's, or a sleeping thread's.
    Timer = 1,
    /// A CPU has finished a piece of work.
    Cpu = 2,
    /// New work is submitted.
    Submission = 3,
}

const CLASS_SHIFT: u32 = 62;

/// Events ordered by time in ns, class and sequence. With a thousand events, pushing and popping cost about ten comparisons.
pub struct EventQueue<E> {
    heap: Vec<QueuedEvent<E>>,
    sequence: u64,
}

struct QueuedEvent<E> {
    time: u64,
    /// Class in the two upper bits, sequence below: one comparison orders both.
    order: u64,
    event: E,
}

impl<E> QueuedEvent<E> {
    #[inline]
    fn before(&self, other: &Self) -> bool {
        (self.time, self.order) < (other.time, other.order)
    }
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self { heap: Vec::new(), sequence: 0 }
    }
}

impl<E> EventQueue<E> {
    /// Schedules an event at `time` ns.
    pub fn push(&mut self, time: u64, class: Class, event: E) {
        debug_assert!(self.sequence < 1 << CLASS_SHIFT, "2^62 events take centuries");
        let order = (class as u64) << CLASS_SHIFT | self.sequence;
        self.sequence += 1;
        self.heap.push(QueuedEvent { time, order, event });
        let mut at = self.heap.len() - 1;
        while at > 0 {
            let parent = (at - 1) / 4;
            if !self.heap[at].before(&self.heap[parent]) {
                break;
            }
            self.heap.swap(at, parent);
            at = parent;
        }
    }

    /// Removes the next event and returns it with its time; `None` if the queue is empty.
    pub fn pop(&mut self) -> Option<(u64, E)> {
        if self.heap.is_empty() {
            return None;
        }
        let top = self.heap.swap_remove(0);
        let mut at = 0;
        loop {
            let first = at * 4 + 1;
            let children = first..(first + 4).min(self.heap.len());
            let Some(least) = children.reduce(|a, b| if self.heap[b].before(&self.heap[a]) { b } else { a })
            else {
                break;
            };
            if !self.heap[least].before(&self.heap[at]) {
                break;
            }
            self.heap.swap(least, at);
            at = least;
        }
        debug_assert!(
            self.next_time().is_none_or(|next| next >= top.time),
            "events leave the queue in the order of their times"
        );
        Some((top.time, top.event))
    }

    /// Time of the next event, ns.
    #[must_use]
    pub fn next_time(&self) -> Option<u64> {
        self.heap.first().map(|e| e.time)
    }

    /// Counts an event that was handled without being queued because it would have been the next one.
    pub fn count_inline(&mut self) {
        self.sequence += 1;
    }

    /// Number of pending events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether no event is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Events pushed since the start.
    #[must_use]
    pub fn pushed(&self) -> u64 {
        self.sequence
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn at_one_time_completions_come_first_and_submissions_last() {
        let mut queue = EventQueue::default();
        queue.push(5, Class::Submission, 's');
        queue.push(5, Class::Cpu, 'c');
        queue.push(5, Class::Timer, 't');
        queue.push(5, Class::Completion, 'd');
        queue.push(5, Class::Timer, 'u');
        queue.push(4, Class::Submission, 'a');
        let order: String = std::iter::from_fn(|| queue.pop()).map(|(_, e)| e).collect();
        assert_eq!(order, "adtucs");
    }

    proptest! {
        #[test]
        fn events_leave_in_the_order_of_time_class_and_arrival(events in prop::collection::vec((0u64..50, 0u8..4), 0..400)) {
            let class = |c| [Class::Completion, Class::Timer, Class::Cpu, Class::Submission][usize::from(c)];
            let mut queue = EventQueue::default();
            for (n, &(time, c)) in events.iter().enumerate() {
                queue.push(time, class(c), (c, n));
            }
            let mut expected: Vec<_> = events.iter().enumerate().map(|(n, &(time, c))| (time, (c, n))).collect();
            expected.sort_unstable();
            prop_assert_eq!(queue.next_time(), expected.first().map(|e| e.0));
            let got: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
            prop_assert_eq!(got, expected);
        }
    }
}
