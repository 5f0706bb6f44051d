//! Read-only media: rejects whatever writes to one, since its figures would be meaningless. Flushes do no harm and
//! pass.

use super::machine::SimulatedMachine;
use crate::run_loop::described;
use fathom_sim::Simulated;
use fathom_sim::devices::DeviceProfile;
use fathom_sim::replay::Arrival;
use fathom_workload::Workload;

/// The error text: who writes, the device, what to do.
pub fn why(who: &str, device: &str, instead: &str) -> String {
    format!(
        "{who} writes, and {device} is an optical drive, whose medium is only read; choose another --device, or {instead}"
    )
}

/// Rejects a workload with a phase that writes.
pub fn check(workload: &Workload, machine: &SimulatedMachine, device: &str) -> Result<(), String> {
    if !machine.device.is_only_read() {
        return Ok(());
    }
    let mut phases = workload.phases.iter().enumerate();
    match phases.find(|(number, phase)| described(phase, *number).writes) {
        Some((_, phase)) => Err(why(&format!("phase {}", phase.name), device, INSTEAD)),
        None => Ok(()),
    }
}

/// Rejects a workload that turns out to write, for example in steps between phases.
pub fn check_after(out: &Simulated, machine: &SimulatedMachine, device: &str) -> Result<(), String> {
    // A flush is a request without sectors.
    if machine.device.is_only_read() && out.inside.shapes.all().any(|(sectors, ..)| sectors > 0) {
        return Err(why("what is done between the phases", device, INSTEAD));
    }
    Ok(())
}

const INSTEAD: &str = "a workload that only reads";

/// Passes the arrivals of a trace up to the first write.
pub struct Gate {
    only_read: bool,
    number: u64,
}

impl Gate {
    pub fn before(device: &DeviceProfile) -> Self {
        Self { only_read: device.is_only_read(), number: 0 }
    }

    /// The same arrival, or the number (from 1) of one that may not pass.
    pub fn pass(&mut self, arrival: Option<Arrival>) -> Result<Option<Arrival>, u64> {
        self.number += 1;
        match arrival {
            Some(a) if self.only_read && !a.op.is_read() && a.sectors > 0 => Err(self.number),
            other => Ok(other),
        }
    }
}
