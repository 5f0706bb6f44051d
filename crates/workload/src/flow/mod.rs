//! The interpreter of flows: the path through their operations, the file, offset and size of each, who waits for whom, limits and ends.
//! It does no I/O and reads no clock, so the engine (real calls) and the simulator (virtual ones) execute a flow alike: the same
//! workload, seed and thread give the same operations in both, unless something depends on what other threads do.
//!
//! * [`FlatProgram`]: a flattened flow; [`Walk`]: the path through it
//! * [`FlowThread`]: what an operation works on; the executor asks it before an operation and reports back afterwards
//! * [`FlowMembers`]: the workers of a phase; [`Set`], [`Variables`], [`WaitPoint`], [`Supply`]: their shared state, in arrays provided by
//!   the executor, because its workers may be processes
//! * [`refusal`]: invalid flows; [`Wrong`]: operations made impossible by earlier ones

mod act;
mod ends;
mod members;
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
pub use ends::{Counts, Totals};
pub use members::{FlowMembers, Member, every, flows, set_names};
pub use numbers::{Impossible, Numbers, Variables};
pub use point::{PATIENCE_NS, Tried, WaitPoint};
pub use pool::{Found, From, Pool, Wanted};
pub use program::{FlatOp, FlatProgram, NAMED_SLOTS, Number, Step, is_called};
pub use refusals::{named_ops, refusal};
pub use set::Set;
pub use slots::{Slot, Slots};
pub use supply::Supply;
pub use thread::{Deletion, EntryPick, FlowThread};
pub use transfer::{Transfer, Whole};
pub use walk::{NextStep, Walk};
pub use wrong::Wrong;
