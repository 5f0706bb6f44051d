//! What is kept of a phase to be drawn: where bios and requests lay and when, thinned out, how far read-ahead went, and what the device
//! spent its time on. It changes nothing of the run.

use crate::devices::Counters;
use crate::thin::Thin;
use fathom_record::inside::{Dot, PhaseInside, ServiceTime, Window};

/// Marks that are kept of all phases together, of one, and of one among very many.
const ALL: usize = 24_000;
const MOST: usize = 1500;
const LEAST: usize = 40;

/// A phase as it goes on.
#[derive(Default)]
pub(crate) struct Drawn {
    /// None outside of a phase's clock.
    now: Option<Phase>,
}

struct Phase {
    began_ns: u64,
    before: Counters,
    served: Thin<Dot>,
    queued: Thin<Dot>,
    windows: Thin<Window>,
}

impl Drawn {
    /// A phase begins, one of so many.
    pub fn begin(&mut self, began_ns: u64, before: Counters, phases: usize) {
        let most = (ALL / phases.max(1)).clamp(LEAST, MOST);
        self.now = Some(Phase {
            began_ns,
            before,
            served: Thin::new(most),
            queued: Thin::new(most),
            windows: Thin::new(most),
        });
    }

    /// The device is given a request.
    pub fn is_served(&mut self, now: u64, sector: u64, write: bool) {
        if let Some(phase) = &mut self.now {
            phase.served.see(|| Dot { at_ns: now - phase.began_ns, sector, write });
        }
    }

    /// A bio is handed in.
    pub fn is_queued(&mut self, now: u64, sector: u64, write: bool) {
        if let Some(phase) = &mut self.now {
            phase.queued.see(|| Dot { at_ns: now - phase.began_ns, sector, write });
        }
    }

    /// Pages are read at once.
    pub fn is_read_ahead(&mut self, now: u64, pages: u32) {
        if let Some(phase) = &mut self.now {
            phase.windows.see(|| Window { at_ns: now - phase.began_ns, pages });
        }
    }

    /// The phase is over.
    pub fn take(&mut self, phase: u32, after: Counters) -> PhaseInside {
        let Some(mut now) = self.now.take() else { return PhaseInside { phase, ..PhaseInside::default() } };
        let before = now.before;
        PhaseInside {
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
        }
    }
}
