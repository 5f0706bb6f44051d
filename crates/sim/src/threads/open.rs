//! Opening a worker's files, and reads before the start.

use super::plan::WorkerPlan;
use crate::machine::Machine;

/// Opens the files of a plan and truncates those that ask for it.
pub(crate) async fn open(machine: &Machine, plan: &WorkerPlan<'_>) {
    if plan.stream.open.truncate {
        for &file in plan.files {
            machine.make_empty(file).await;
        }
    }
    plan.begin(machine).await;
}

/// Reads before the start, outside every clock.
pub(crate) async fn prologue(machine: &Machine, plan: &WorkerPlan<'_>) {
    if !plan.stream.timed.open {
        open(machine, plan).await;
    }
    if plan.stream.sync_before {
        for file in 0..plan.files.len() as u32 {
            plan.fsync(machine, file, false).await;
        }
    }
    if plan.stream.warm_first_record {
        // A failure here will recur in the first operation, which reports it.
        let _ = plan.read(machine, 0, plan.region.start, plan.stream.record.largest().0).await;
    }
}
