//! Pauses between operations that run one at a time.

use super::Timeline;
use crate::Think;

/// Decides when the next pause comes.
#[derive(Clone, Copy, Debug)]
pub struct SerialPauses {
    think: Think,
    /// Operations up to and including the one after the next pause by count; 0: no such pause.
    left: u64,
    /// End of the last pause; `None` before the first, when the stream's release counts.
    since: Option<u64>,
}

impl SerialPauses {
    /// The pauses of a stream. Without `think` they have no length.
    #[must_use]
    pub fn new(think: Option<Think>) -> Self {
        let think = think.unwrap_or_default();
        Self { think, left: think.every, since: None }
    }

    /// The configured pause.
    #[must_use]
    pub fn asked(&self) -> Think {
        self.think
    }

    /// Length in ns of the pause before the next read or write; 0: none.
    pub fn next_ns<T: Timeline>(&mut self, time: T, released: u64, now: impl Fn() -> u64) -> u64 {
        let interval_ns = self.think.interval.0;
        let by_time = interval_ns > 0 && time.between(self.since.unwrap_or(released), now()) >= interval_ns;
        let by_number = match self.left {
            0 => false,
            1 => true,
            _ => {
                self.left -= 1;
                false
            }
        };
        if !by_time && !by_number {
            return 0;
        }
        self.left = self.think.every;
        if interval_ns > 0 {
            self.since = Some(now().saturating_add(time.ticks(self.think.time.0)));
        }
        self.think.time.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::Nanoseconds;
    use super::*;
    use crate::Duration;

    #[test]
    fn pauses_come_by_number_and_by_time() {
        let think = Think { time: Duration(10), every: 3, interval: Duration(100), ..Think::default() };
        let mut thinking = SerialPauses::new(Some(think));
        let mut next = |now| thinking.next_ns(Nanoseconds, 1000, || now);
        assert_eq!([1000, 1001, 1002, 1003].map(&mut next), [0, 0, 10, 0]);
        // 100 ns after the last pause ended, whatever the count.
        assert_eq!([1111, 1112, 1113].map(&mut next), [0, 10, 0]);
        assert_eq!(SerialPauses::new(None).next_ns(Nanoseconds, 0, || 5), 0);
    }

    #[test]
    fn pauses_may_come_by_time_alone() {
        let think = Think { time: Duration(10), every: 0, interval: Duration(100), ..Think::default() };
        let mut thinking = SerialPauses::new(Some(think));
        let mut next = |now| thinking.next_ns(Nanoseconds, 0, || now);
        assert_eq!([50, 99, 100, 209, 210].map(&mut next), [0, 0, 10, 0, 10]);
    }
}
