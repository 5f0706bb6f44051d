//! What flows do: the way through their operations, which file, offset and size each has, who waits for whom, limits and ends. All of
//! it without I/O and without a clock, so that the engine (real calls) and the simulator (virtual ones) execute a flow alike: the same
//! workload, seed and thread give the same operations in both as long as nothing depends on what other threads did meanwhile.
//!
//! * [`Program`]: a flow, flat; [`Walk`]: the way through it
//! * [`Thread`]: what an operation works on; it is asked before and told afterwards
//! * [`Cast`]: the workers of a phase; [`Set`], [`Variables`], [`WaitPoint`], [`Supply`]: what they share, in arrays of the executor's
//!   choice, because its workers may be processes
//! * [`refusal`]: flows that make no sense; [`Wrong`]: operations that cannot be done by what came before

mod act;
mod cast;
mod ends;
mod numbers;
mod point;
mod pool;
mod program;
mod refusals;
mod set;
mod slots;
mod supply;
#[cfg(test)]
mod tests;
mod thread;
mod transfer;
mod walk;
mod wrong;

pub use act::{Class, Kind};
pub use cast::{Cast, Place, every, flows, set_names};
pub use ends::{Counts, Totals};
pub use numbers::{Impossible, Numbers, Variables};
pub use point::{PATIENCE_NS, Tried, WaitPoint};
pub use pool::{Found, From, Pool, Wanted};
pub use program::{NAMED_SLOTS, Number, Op, Program, Step, is_called};
pub use refusals::{named_ops, refusal};
pub use set::Set;
pub use slots::{Slot, Slots};
pub use supply::Supply;
pub use thread::{Deletion, Pick, Thread};
pub use transfer::{Transfer, Whole};
pub use walk::{Turn, Walk};
pub use wrong::Wrong;
