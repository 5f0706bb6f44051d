//! Who is next by virtual time: each queue should get service in proportion to its weight. A queue's virtual start is where its last turn
//! ended, its virtual finish lies its budget further; the earliest finish goes first among the queues whose start has come.

/// Fixed point of virtual time.
const SCALE: u64 = 1 << 16;

/// A queue's place in virtual time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Share {
    pub(super) weight: u64,
    pub(super) start: u64,
    pub(super) finish: u64,
}

/// Virtual time that so many sectors take at a weight.
pub(super) fn virtual_length(sectors: u64, weight: u64) -> u64 {
    sectors.saturating_mul(SCALE) / weight.max(1)
}

impl Share {
    pub(super) fn new(level: u8) -> Self {
        let mut share = Self::default();
        share.set_level(level);
        share
    }

    /// Level 0 weighs 80, level 7 weighs 10.
    pub(super) fn set_level(&mut self, level: u8) {
        self.weight = 10 * u64::from(8 - level.min(7));
    }

    /// It has requests again: no claim is kept from the time without.
    pub(super) fn wake(&mut self, virtual_now: u64, budget: u64) {
        self.start = self.finish.max(virtual_now);
        self.finish = self.start + virtual_length(budget, self.weight);
    }

    /// Its turn is over: it pays for what it got, not for its budget.
    pub(super) fn charge(&mut self, served: u64) {
        self.finish = self.start + virtual_length(served, self.weight);
    }

    /// It has more and waits for another turn.
    pub(super) fn wait_again(&mut self, budget: u64) {
        self.start = self.finish;
        self.finish = self.start + virtual_length(budget, self.weight);
    }
}

/// The earliest finish among those that have started; of equals the lowest key.
pub(super) fn first(shares: impl Iterator<Item = (u16, Share)>, virtual_now: u64) -> Option<u16> {
    let started = shares.filter(|(_, share)| share.start <= virtual_now);
    started.min_by_key(|&(key, share)| (share.finish, key)).map(|(key, _)| key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_not_started_waits_however_early_it_would_finish() {
        let early = Share { weight: 10, start: 100, finish: 110 };
        let late = Share { weight: 10, start: 0, finish: 200 };
        assert_eq!(first([(1, early), (2, late)].into_iter(), 50), Some(2));
        assert_eq!(first([(1, early), (2, late)].into_iter(), 100), Some(1));
        assert_eq!(first([(2, late), (1, late)].into_iter(), 100), Some(1));
    }

    #[test]
    fn weight_makes_time_pass_slowly() {
        let (mut heavy, mut light) = (Share::new(0), Share::new(7));
        heavy.wake(0, 800);
        light.wake(0, 800);
        assert_eq!(heavy.finish * 8, light.finish);
        light.charge(80);
        assert_eq!(light.finish, virtual_length(80, 10));
    }
}
