//! Flows: lists of operations that a thread executes repeatedly, in order. The interpreter in `fathom_workload::flow` decides
//! what each of them works on; this module executes it with real calls. Shared state is laid out in shared memory ([`setting`]);
//! then each worker ([`worker`]) goes through its steps ([`run`]), with one file for each family of operations ([`io`], [`names`],
//! [`aio`], [`wait`], [`finish`]).
//!
//! The phase around them (start barrier, stop flags, watching) is the same as for streams. Reads and writes are part of the same
//! statistics as those of streams; in addition, every operation of a flow has a separate row.

mod aio;
mod failures;
mod finish;
mod io;
mod memory;
mod names;
mod refusals;
mod run;
mod say;
mod sets;
mod setting;
mod spot;
mod wait;
mod worker;

pub(crate) use failures::error_of;
pub(crate) use refusals::check;
pub(crate) use run::live;
pub use say::Said;
pub(crate) use sets::names_of;
pub(crate) use setting::{Setting, directory_of};

use fathom_workload::drive::Quota;
use fathom_workload::ops::Place;
use fathom_workload::{Raise, Workload};
use std::path::PathBuf;

/// Everything one worker needs to run its flow.
#[derive(Clone)]
pub(crate) struct FlowPlan<'a> {
    pub group: String,
    pub index: usize,
    pub workload: &'a Workload,
    pub setting: &'a Setting,
    /// Directory of its files, for messages about the worker as a whole.
    pub path: PathBuf,
    pub place: Place,
    pub cpu: Option<usize>,
    /// CPUs that it may use; empty: all.
    pub among: &'a [u32],
    pub start_cpu: Option<usize>,
    pub nice: i32,
    /// Memory that it keeps locked, in bytes.
    pub locked_bytes: u64,
    pub time_ns: Option<u64>,
    pub ramp_ns: u64,
    pub quota: Quota,
    pub raise: Option<Raise>,
}

impl FlowPlan<'_> {
    /// Number of files that it may have open at once.
    pub fn slots(&self) -> u64 {
        let Some(place) = &self.setting.places[self.index] else { return 0 };
        let ops = &self.setting.programs[place.program].ops;
        let rotating = ops.iter().filter(|op| op.rotate).count() as u64;
        ops.len() as u64 + rotating * u64::from(fathom_workload::flow::NAMED_SLOTS)
    }

    /// Memory needed by its buffers, in bytes.
    pub fn buffer_bytes(&self) -> u64 {
        let Some(place) = &self.setting.places[self.index] else { return 0 };
        memory::needed_bytes(&self.setting.programs[place.program], self.setting, place.memory)
    }
}
