//! How a worker's files are opened, and what comes before the start.

use super::plan::Plan;
use crate::machine::Machine;

/// Opens the files of a plan: those that are cut are empty then.
pub(crate) async fn open(machine: &Machine, plan: &Plan<'_>) {
    if plan.stream.open.truncate {
        for &file in plan.files {
            machine.make_empty(file).await;
        }
    }
    plan.begin(machine).await;
}

/// What comes before the start and is in no clock.
pub(crate) async fn prologue(machine: &Machine, plan: &Plan<'_>) {
    if !plan.stream.timed.open {
        open(machine, plan).await;
    }
    if plan.stream.sync_before {
        for file in 0..plan.files.len() as u32 {
            plan.fsync(machine, file, false).await;
        }
    }
    if plan.stream.warm_first_record {
        // What cannot be read here will be missed by the first operation, which says so.
        let _ = plan.read(machine, 0, plan.region.start, plan.stream.record.largest().0).await;
    }
}
