//! A pause of a stream with several operations in flight, once none is.

use super::Hot;
use super::rare::wait_until;
use fathom_workload::WhenStopped;

/// Waits, or computes, as long as the stream pauses; less if it ends meanwhile.
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
    if think.postpones {
        hot.postpone(from);
    }
}

impl Hot<'_> {
    /// What is due is due later, by the time that has passed since a pause began.
    pub(super) fn postpone(&mut self, from: u64) {
        let passed = self.clock.now().saturating_sub(from);
        if let Some(schedule) = self.rare.as_mut().and_then(|rare| rare.pace.schedule.as_mut()) {
            schedule.postpone(passed);
        }
    }
}
