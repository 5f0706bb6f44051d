//! Simulated threads. They draw from the op stream of `workload`, unchanged, and feed completions back like the engine's hot loop, so the
//! same workload and seed give the same operations in both.
//!
//! * `plan`: who runs in a phase and on which files
//! * `refused`: what the simulator cannot execute
//! * `life`: one worker from release to end; `open`: how its files are opened; `hot`: what it counts
//! * `files`: its files through its back-end; `buffered`: C library streams; `mapping`: mapped files
//! * `alone`: one operation at a time; `queued`: several in flight; `pace`: rates, pauses, common amounts
//! * `ratio`: operations in proportion to those of other workers; `warming`: warm-ups
//! * `stop`: state shared by the workers of a phase; `steady`: the rounds that detect a steady state
//! * `worker_result`: results of one worker

mod alone;
mod buffered;
mod files;
mod hot;
mod life;
mod mapping;
mod open;
mod pace;
mod plan;
mod queued;
mod ratio;
mod refused;
mod steady;
mod stop;
mod warming;
mod worker_result;

pub(crate) use hot::LEAST_NS;
pub(crate) use life::live;
pub(crate) use open::prologue;
pub(crate) use plan::{Pools, Setting, plans};
pub(crate) use queued::{Slots, serve};
pub(crate) use refused::refusals;
pub(crate) use stop::PhaseControl;
pub(crate) use worker_result::{LatencyTally, WorkerResult};
