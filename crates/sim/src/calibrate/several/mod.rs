//! One profile from several traces of a device, which had it under different loads: what a request takes alone is told by those that
//! found the device nearly empty, how much goes on at the same time by those that found it full.
//!
//! ```text
//! events of each trace ─▶ gathered (times by kind, size and depth; windows; flushes) ─▶ fit (all of them) ─▶ model ─▶ profile (TOML)
//! ```
//!
//! Memory does not grow with a trace. Nothing here judges: a model is held beside a trace that it was not fitted to by whoever has both.

mod fit;
mod flushes;
mod gathered;
mod model;
#[cfg(test)]
mod tests;

pub use fit::fit;
pub use gathered::Gathered;
pub use model::{Command, Model};
