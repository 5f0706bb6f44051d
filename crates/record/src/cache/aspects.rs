//! What else to know about the source of a phase, beside the one word of its [`Regime`]: so that no summary says more than is so.

use super::split;
use crate::origin::{Origin, served_differently};
use crate::physical::LOOP;
use crate::{Phase, Regime, Repetition};

impl Phase {
    /// What served the repetitions, if it was not the same for all: "2 of 3 page cache, 1 of 3 device".
    #[must_use]
    pub fn served_differently(&self) -> Option<String> {
        served_differently(&Origin::of_repetitions(self))
    }

    /// Whether part of what was read were holes and the rest came from the device: nothing of it from memory.
    #[must_use]
    pub fn is_part_holes(&self) -> bool {
        let no_memory = |r: &Repetition| match Origin::of(self, r).regime {
            Regime::Device | Regime::Holes => true,
            Regime::Mixed => split::part_holes(&split::traffic(self, r)),
            _ => split::all_asked(r) == 0,
        };
        self.origin().regime == Regime::Mixed && self.repetitions.iter().all(no_memory)
    }

    /// Whether the file system compresses, and the device moved fewer bytes than the rate says.
    #[must_use]
    pub fn is_shrunk(&self) -> bool {
        let shrunk = |r| split::traffic(self, r).iter().any(split::DirectionTraffic::is_shrunk);
        self.repetitions.iter().any(shrunk)
    }

    /// Whether a program in user space read the bytes: what did not come from storage was in memory, but not surely in the page cache.
    #[must_use]
    pub fn is_served(&self) -> bool {
        self.repetitions.last().is_some_and(|r| r.physical.is_served())
    }

    /// Whether the device is a file that was in the page cache below: O_DIRECT does not go past that.
    #[must_use]
    pub fn is_image_cached(&self) -> bool {
        let cached = |r: &Repetition| {
            let top = r.physical.devices.first().is_some_and(|d| d.kind == LOOP);
            let waits = r.physical.waiting.is_some_and(|w| w.below_bytes > 0);
            (top && waits) || split::traffic(self, r).iter().any(|t| t.cached.is_some())
        };
        self.repetitions.iter().any(cached)
    }
}
