//! Virtual time as the policies see it: nanoseconds handed in by the caller, and the jiffies that old kernels derived from them.
//! Nothing here reads a clock.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A point in time (since the start of the run) or a duration, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// Later than every event.
    pub const NEVER: Self = Self(u64::MAX);

    /// From microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros * 1_000)
    }

    /// From milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// From seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * 1_000_000_000)
    }

    /// The time since `earlier`; zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
}

/// Overflow saturates at [`Nanos::NEVER`].
impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// See [`Nanos::since`].
impl Sub for Nanos {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.since(other)
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06} ms", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

/// Ticks per second of the simulated kernel: 100 for i386 2.4, 1000 for i386 2.6. Anticipatory and CFQ compare jiffies, so events within
/// one tick are simultaneous for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hz(u32);

impl Hz {
    /// i386, 2.4.
    pub const LINUX_24: Self = Self(100);
    /// i386, 2.6.0 to 2.6.12.
    pub const LINUX_26: Self = Self(1000);

    /// Ticks per second; 0 counts as 1.
    pub const fn new(ticks_per_second: u32) -> Self {
        Self(if ticks_per_second == 0 { 1 } else { ticks_per_second })
    }

    /// Length of a tick.
    pub const fn tick(self) -> Nanos {
        Nanos(1_000_000_000 / self.0 as u64)
    }

    /// Ticks that have passed at a point in time.
    pub const fn jiffies(self, at: Nanos) -> u64 {
        at.0 / self.tick().0
    }

    /// The time at which a jiffy begins.
    pub const fn moment(self, jiffies: u64) -> Nanos {
        Nanos(jiffies.saturating_mul(self.tick().0))
    }

    /// Milliseconds as jiffies, rounded down but never to zero, as the kernels' defaults are (HZ/150 and the like).
    pub const fn jiffies_of_millis(self, millis: u64) -> u64 {
        let jiffies = millis * self.0 as u64 / 1000;
        if jiffies == 0 && millis > 0 { 1 } else { jiffies }
    }
}

impl Default for Hz {
    fn default() -> Self {
        Self::LINUX_26
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_saturates_at_both_ends() {
        assert_eq!(Nanos(5) - Nanos(7), Nanos::ZERO);
        assert_eq!(Nanos::NEVER + Nanos(1), Nanos::NEVER);
        assert_eq!(Nanos::from_micros(1500).to_string(), "1.500000 ms");
    }

    #[test]
    fn jiffies_follow_the_tick() {
        let hz = Hz::LINUX_24;
        assert_eq!(hz.tick(), Nanos::from_millis(10));
        assert_eq!(hz.jiffies(Nanos::from_millis(19)), 1);
        assert_eq!(hz.moment(2), Nanos::from_millis(20));
        assert_eq!(hz.jiffies_of_millis(6), 1);
        assert_eq!(Hz::LINUX_26.jiffies_of_millis(6), 6);
        assert_eq!(Hz::new(0), Hz::new(1));
    }
}
