//! One profile from several traces of a device under different loads. Requests that found the device nearly empty determine the time of a
//! request alone; requests that found it full determine the parallelism.
//!
//! ```text
//! events of each trace ─▶ gathered (times by kind, size and depth; windows; flushes) ─▶ fit (all of them) ─▶ model ─▶ profile (TOML)
//! ```
//!
//! Memory does not grow with a trace. Judging a model on a held-out trace is up to the caller.

mod fit;
mod flushes;
mod gathered;
mod model;
#[cfg(test)]
mod tests;
mod turnaround;

pub use fit::fit;
pub use gathered::Gathered;
pub use model::{CommandTimes, Model};
