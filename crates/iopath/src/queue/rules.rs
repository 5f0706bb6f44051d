//! The rules of a queue that belong to the kernel rather than the elevator: the number of requests and who may allocate one, plugging,
//! and whether a request is picked before the device has a tag. Presets for 2.4, 2.6 and today.

use crate::limits::Limits;
use crate::time::{Hz, Nanos};

/// Limit on the number of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolRule {
    /// 2.4: one pool for both directions. Once empty, no task gets a request until a quarter is free again.
    Shared {
        /// Size of the pool.
        requests: u32,
    },
    /// 2.6: a pool per direction. A task that found it full may take a batch of 32 beyond the limit (up to half more) within 20 ms after
    /// it was let in; all others wait.
    PerDirection {
        /// `nr_requests`: 128.
        requests: u32,
    },
    /// Today: tags. With an elevator a request holds one of its `scheduler` tags from allocation on; without one (`none`) it holds a tag
    /// of the `driver`. A task that found none sleeps until eight (or an eighth, if fewer) have been freed.
    Tags {
        /// Number of driver tags.
        driver: u32,
        /// Number of elevator tags, by default twice as many.
        scheduler: u32,
    },
    /// Limited only by the table's size.
    Unlimited,
}

/// When requests are held back although the device has room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlugRule {
    /// Never.
    None,
    /// 2.4 and 2.6: an empty queue is plugged by its first request. The plug opens when a task waits ([`crate::Queue::unplug`]), with the
    /// n-th request, or after some time. 2.4 has only the first rule.
    Queue {
        /// Number of requests that opens it; 0: no such rule.
        requests: u32,
        /// Time after which it opens.
        after: Nanos,
    },
    /// Today: each task gathers its own requests between [`crate::Queue::start_plug`] and [`crate::Queue::finish_plug`] and inserts them
    /// together; also when another one comes and it holds this many or the last one is this long.
    Task {
        /// Maximum number of requests held: 32.
        requests: u32,
        /// Length of the last request, unless waited for, that flushes the plug: 256 sectors (128 KiB).
        sectors: u32,
    },
}

/// The rules of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Limits of one request of the device.
    pub limits: Limits,
    /// How many requests there may be.
    pub pool: PoolRule,
    /// When requests are held back.
    pub plug: PlugRule,
    /// Whether the driver picks a request before it has a tag for it: the request can no longer grow and goes next. True for tagged
    /// devices (2.6's SCSI and cciss, today's block layer), false for IDE.
    pub parks: bool,
    /// Ticks per second, for elevators that count in jiffies.
    pub hz: Hz,
}

impl Rules {
    /// 2.4 with an IDE disk: 128 requests, a plug that opens when a task waits.
    pub const fn linux24(limits: Limits) -> Self {
        let plug = PlugRule::Queue { requests: 0, after: Nanos::NEVER };
        Self { limits, pool: PoolRule::Shared { requests: 128 }, plug, parks: false, hz: Hz::LINUX_24 }
    }

    /// 2.6 with a device that takes one request at a time: 128 requests per direction, a plug of 4 requests or 3 ms.
    pub const fn linux26(limits: Limits) -> Self {
        let plug = PlugRule::Queue { requests: 4, after: Nanos::from_millis(3) };
        Self { limits, pool: PoolRule::PerDirection { requests: 128 }, plug, parks: false, hz: Hz::LINUX_26 }
    }

    /// Today: driver tags, twice as many for the elevator (at most 256), a plug per task.
    pub const fn today(limits: Limits, driver_tags: u32) -> Self {
        let scheduler = if driver_tags < 128 { driver_tags * 2 } else { 256 };
        let pool = PoolRule::Tags { driver: driver_tags, scheduler };
        Self {
            limits,
            pool,
            plug: PlugRule::Task { requests: 32, sectors: 256 },
            parks: true,
            hz: Hz::LINUX_26,
        }
    }

    /// A file system that calls the driver itself (HSFS): no pool, no plug.
    pub const fn bare(limits: Limits) -> Self {
        Self { limits, pool: PoolRule::Unlimited, plug: PlugRule::None, parks: false, hz: Hz::LINUX_26 }
    }

    /// Sets the number of requests or, today, of the elevator's tags.
    #[must_use]
    pub const fn with_requests(mut self, count: u32) -> Self {
        match &mut self.pool {
            PoolRule::Shared { requests } | PoolRule::PerDirection { requests } => *requests = count,
            PoolRule::Tags { scheduler, .. } => *scheduler = count,
            PoolRule::Unlimited => {}
        }
        self
    }

    /// Plugs that open only when a task waits or finishes its plug.
    #[must_use]
    pub const fn gathering(mut self) -> Self {
        self.plug = PlugRule::Queue { requests: 0, after: Nanos::NEVER };
        self
    }

    /// A driver that picks before it has a tag.
    #[must_use]
    pub const fn parking(mut self) -> Self {
        self.parks = true;
        self
    }

    /// With another clock tick.
    #[must_use]
    pub const fn with_hz(mut self, hz: Hz) -> Self {
        self.hz = hz;
        self
    }

    /// Without any plug.
    #[must_use]
    pub const fn unplugged(mut self) -> Self {
        self.plug = PlugRule::None;
        self
    }

    /// Whether a plug never opens on its own: a task must report that it waits.
    #[must_use]
    pub const fn waits_to_be_opened(&self) -> bool {
        matches!(self.plug, PlugRule::Queue { requests: 0, after: Nanos::NEVER })
    }

    /// Number of slots in the table of requests.
    pub(crate) const fn capacity(&self) -> usize {
        match self.pool {
            PoolRule::Shared { requests } => requests as usize,
            // Both directions with the reserve for tasks that may take a batch.
            PoolRule::PerDirection { requests } => 3 * requests as usize,
            PoolRule::Tags { driver, scheduler } => {
                if driver > scheduler {
                    driver as usize
                } else {
                    scheduler as usize
                }
            }
            PoolRule::Unlimited => 1 << 14,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_have_the_kernels_numbers() {
        let limits = Limits::LOOP_618;
        assert_eq!(Rules::today(limits, 128).pool, PoolRule::Tags { driver: 128, scheduler: 256 });
        assert_eq!(Rules::today(limits, 32).pool, PoolRule::Tags { driver: 32, scheduler: 64 });
        assert_eq!(Rules::linux26(limits).capacity(), 384);
        assert_eq!(Rules::linux24(limits).with_requests(1024).capacity(), 1024);
        assert!(Rules::linux26(limits).parking().unplugged().parks);
    }
}
