//! Simulated threads that execute flows. The interpreter of `fathom_workload::flow`, which the engine uses too, decides what each
//! operation works on; here it is done with virtual calls. So the same workload and seed give the same operations in both, as long as
//! nothing depends on what other threads do in between.
//!
//! * `state`: state shared by the flows of a phase; `wait_queue`: wait queues in it
//! * `runner`: one worker at work, and what it counts; `life`: from its release to its end
//! * `io`, `names`, `aio`, `wait`, `ends`: the families of operations
//! * `rows`: figures of the operations; `refused`: what is not simulated

mod aio;
mod ends;
mod io;
mod life;
mod names;
mod refused;
mod rows;
mod runner;
mod state;
mod wait;
mod wait_queue;

pub(crate) use aio::{AioSlots, MOST, serve};
pub(crate) use life::live;
pub(crate) use refused::{notes, refusal};
pub(crate) use state::FlowState;
