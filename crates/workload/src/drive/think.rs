//! Pauses between operations that are done one after the other.

use super::Timeline;
use crate::Think;

/// When the next pause is due.
#[derive(Clone, Copy, Debug)]
pub struct Thinking {
    think: Think,
    /// Operations until the next pause by number, with the one it precedes; 0: there is none.
    left: u64,
    /// When the last pause ended; before the first one, the stream's release counts.
    since: Option<u64>,
}

impl Thinking {
    /// The pauses of a stream. Without `think` each has no length.
    #[must_use]
    pub fn new(think: Option<Think>) -> Self {
        let think = think.unwrap_or_default();
        Self { think, left: think.every, since: None }
    }

    /// What the workload asks for.
    #[must_use]
    pub fn asked(&self) -> Think {
        self.think
    }

    /// The length in ns of the pause before the next read or write; 0: there is none.
    pub fn next_ns<T: Timeline>(&mut self, time: T, released: u64, now: impl Fn() -> u64) -> u64 {
        let spell_ns = self.think.spell.0;
        let by_time = spell_ns > 0 && time.between(self.since.unwrap_or(released), now()) >= spell_ns;
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
        if spell_ns > 0 {
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
        let think = Think { time: Duration(10), every: 3, spell: Duration(100), ..Think::default() };
        let mut thinking = Thinking::new(Some(think));
        let mut next = |now| thinking.next_ns(Nanoseconds, 1000, || now);
        assert_eq!([1000, 1001, 1002, 1003].map(&mut next), [0, 0, 10, 0]);
        // 100 ns after the last one ended, whatever the number.
        assert_eq!([1111, 1112, 1113].map(&mut next), [0, 10, 0]);
        assert_eq!(Thinking::new(None).next_ns(Nanoseconds, 0, || 5), 0);
    }

    #[test]
    fn pauses_may_come_by_time_alone() {
        let think = Think { time: Duration(10), every: 0, spell: Duration(100), ..Think::default() };
        let mut thinking = Thinking::new(Some(think));
        let mut next = |now| thinking.next_ns(Nanoseconds, 0, || now);
        assert_eq!([50, 99, 100, 209, 210].map(&mut next), [0, 0, 10, 0, 10]);
    }
}
