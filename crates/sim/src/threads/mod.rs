//! Simulated threads. They draw from the op stream of `workload`, unchanged, and feed it with completions as the engine's hot loop does,
//! so that the same workload and seed give the same operations in both.
//!
//! * `plan`: who runs in a phase and on which files
//! * `refused`: what the simulator cannot execute
//! * `live`: one worker from its release to its end; `several`: with several operations in flight; `pace`: rates, pauses, amounts of all
//! * `stop`: what the workers of a phase share
//! * `worked`: what one did

mod live;
mod pace;
mod plan;
mod refused;
mod several;
mod stop;
mod worked;

pub(crate) use live::{live, prologue};
pub(crate) use plan::{Pools, Setting, plans};
pub(crate) use refused::refusal;
pub(crate) use several::{Slots, serve};
pub(crate) use stop::Together;
pub(crate) use worked::Worked;
