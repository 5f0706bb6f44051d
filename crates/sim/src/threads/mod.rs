//! Simulated threads. They draw from the op stream of `workload`, unchanged, and feed it with completions as the engine's hot loop does,
//! so that the same workload and seed give the same operations in both.
//!
//! * `plan`: who runs in a phase and on which files
//! * `refused`: what the simulator cannot execute
//! * `life`: one worker from its release to its end; `open`: how its files are opened; `hot`: what it counts
//! * `files`: its files through its back-end; `buffered`: the C library's streams; `mapping`: mapped files
//! * `alone`: one operation after the other; `several`: with several in flight; `pace`: rates, pauses, amounts of all
//! * `ratio`: operations in proportion to those of others; `warming`: warm-ups
//! * `stop`: what the workers of a phase share; `steady`: the rounds after which they are steady
//! * `worked`: what one did

mod alone;
mod buffered;
mod files;
mod hot;
mod life;
mod mapping;
mod open;
mod pace;
mod plan;
mod ratio;
mod refused;
mod several;
mod steady;
mod stop;
mod warming;
mod worked;

pub(crate) use hot::LEAST_NS;
pub(crate) use life::live;
pub(crate) use open::prologue;
pub(crate) use plan::{Pools, Setting, plans};
pub(crate) use refused::refusals;
pub(crate) use several::{Slots, serve};
pub(crate) use stop::Together;
pub(crate) use worked::{Stat, Worked};
