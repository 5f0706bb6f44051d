//! Pauses of a stream with several operations in flight, once none is in flight.

use super::Hot;
use super::rare::wait_until;
use fathom_workload::WhenStopped;

/// Sleeps or computes for the stream's pause; less if the phase ends first.
#[cold]
pub(super) fn pause(hot: &mut Hot<'_>, when_stopped: WhenStopped) {
    let Some(rare) = &hot.rare else { return };
    let think = rare.pace.think.asked();
    let from = hot.clock.now();
    let until = |ns: u64| from.saturating_add(hot.clock.ticks(ns));
    if think.busy.0 > 0 {
        wait_until(hot, until(think.busy.0), true, when_stopped);
    }
    wait_until(hot, until(think.time.0), !think.asleep, when_stopped);
    if think.shifts_schedule {
        hot.postpone(from);
    }
}

impl Hot<'_> {
    /// Delays scheduled operations by the time since a pause began.
    pub(super) fn postpone(&mut self, from: u64) {
        let passed = self.clock.now().saturating_sub(from);
        if let Some(schedule) = self.rare.as_mut().and_then(|rare| rare.pace.schedule.as_mut()) {
            schedule.postpone(passed);
        }
    }
}
