//! Bursts: an fsync and a pause after a number of bytes.

use crate::Burst;

/// Counts the bytes of a burst.
#[derive(Clone, Copy, Debug)]
pub struct Bursts {
    burst: Option<Burst>,
    left: u64,
}

impl Bursts {
    /// Bursts of a stream; `None` never ends a burst.
    #[must_use]
    pub fn new(burst: Option<Burst>) -> Self {
        Self { burst, left: burst.map_or(0, |b| b.bytes.0) }
    }

    /// An operation moved `bytes`. `Some`: the burst is over, and its pause has this length in ns.
    pub fn moved(&mut self, bytes: u32) -> Option<u64> {
        let burst = self.burst.filter(|b| b.bytes.0 > 0)?;
        self.left = self.left.saturating_sub(u64::from(bytes));
        if self.left > 0 {
            return None;
        }
        self.left = burst.bytes.0;
        Some(burst.pause.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bytes, Duration};

    #[test]
    fn a_pause_follows_every_burst() {
        let mut bursts = Bursts::new(Some(Burst { bytes: Bytes(8192), pause: Duration(5) }));
        let pauses: Vec<bool> = (0..6).map(|_| bursts.moved(4096).is_some()).collect();
        assert_eq!(pauses, [false, true, false, true, false, true]);
        assert_eq!(bursts.moved(1 << 20), Some(5), "what is too much is not carried over");
        assert_eq!(Bursts::new(None).moved(u32::MAX), None);
    }
}
