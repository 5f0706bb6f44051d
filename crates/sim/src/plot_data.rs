//! Data of a phase kept for plotting: positions and times of bios and requests, thinned out, read-ahead sizes, queue depth, deliberate
//! device idling, and what the device spent its time on. It does not influence the run.

use crate::depths::{DepthSample, Depths};
use crate::devices::Counters;
use crate::idle_waits::Waits;
use crate::thin::Thin;
use fathom_record::course::{Dot, PhaseCourse, ServiceTime, Window};

/// Limits on kept marks: for all phases together, for one phase, and for one phase among very many.
const ALL: usize = 24_000;
const MOST: usize = 1500;
const LEAST: usize = 40;
/// The same limits for intervals.
const MOST_INTERVALS: usize = 240;

/// The current phase.
#[derive(Default)]
pub(crate) struct PlotData {
    /// None while no phase's clock runs.
    now: Option<Phase>,
}

struct Phase {
    began_ns: u64,
    before: Counters,
    served: Thin<Dot>,
    queued: Thin<Dot>,
    windows: Thin<Window>,
    depths: Depths,
    waits: Waits,
}

impl PlotData {
    /// A phase begins; the workload has `phases` in all.
    pub fn begin(&mut self, began_ns: u64, before: Counters, phases: usize) {
        let most = (ALL / phases.max(1)).clamp(LEAST, MOST);
        self.now = Some(Phase {
            began_ns,
            before,
            served: Thin::new(most),
            queued: Thin::new(most),
            windows: Thin::new(most),
            depths: Depths::new((most / 6).min(MOST_INTERVALS)),
            waits: Waits::new(most / 2),
        });
    }

    /// The device starts a request that has waited since `queued`.
    pub fn is_served(&mut self, now: u64, sector: u64, write: bool, queued: u64) {
        if let Some(phase) = &mut self.now {
            let at_ns = now - phase.began_ns;
            phase.served.see(|| Dot { at_ns, sector, write });
            phase.waits.is_served(at_ns, Some(sector), queued.checked_sub(phase.began_ns));
        }
    }

    /// The device starts a cache flush, which has no position.
    pub fn is_flushed(&mut self, now: u64) {
        if let Some(phase) = &mut self.now {
            phase.waits.is_served(now - phase.began_ns, None, None);
        }
    }

    /// The depth changes to `level`.
    pub fn look(&mut self, now: u64, level: DepthSample) {
        if let Some(phase) = &mut self.now {
            let at_ns = now - phase.began_ns;
            phase.depths.look(at_ns, level);
            phase.waits.look(at_ns, level.held);
        }
    }

    /// A bio is submitted.
    pub fn is_queued(&mut self, now: u64, sector: u64, write: bool) {
        if let Some(phase) = &mut self.now {
            phase.queued.see(|| Dot { at_ns: now - phase.began_ns, sector, write });
        }
    }

    /// Read-ahead submits `pages` pages in one go.
    pub fn is_read_ahead(&mut self, now: u64, pages: u32) {
        if let Some(phase) = &mut self.now {
            phase.windows.see(|| Window { at_ns: now - phase.began_ns, pages });
        }
    }

    /// Ends the phase and returns its data.
    pub fn take(&mut self, now_ns: u64, phase: u32, after: Counters) -> PhaseCourse {
        let Some(mut now) = self.now.take() else { return PhaseCourse { phase, ..PhaseCourse::default() } };
        let before = now.before;
        PhaseCourse {
            phase,
            service: ServiceTime {
                busy_ns: after.busy_ns - before.busy_ns,
                overhead_ns: after.overhead_ns - before.overhead_ns,
                seek_ns: after.seek_ns - before.seek_ns,
                rotation_ns: after.rotation_ns - before.rotation_ns,
                transfer_ns: after.transfer_ns - before.transfer_ns,
                destage_ns: after.destage_ns - before.destage_ns,
                buffer_hits: after.read_hits - before.read_hits,
                cached_writes: after.cached_writes - before.cached_writes,
                members: after.members,
            },
            served: now.served.take(),
            queued: now.queued.take(),
            windows: now.windows.take(),
            depths: now.depths.take(now_ns - now.began_ns),
            idle_waits: now.waits.take(),
        }
    }
}
