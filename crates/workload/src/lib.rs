//! The workload model. A [`Workload`] is data: file sets, phases, groups of processes and threads, and the programs they run (streams of
//! one kind of I/O; flows of several operations). Every dialect is parsed into this model and every executor runs it. From a seed it
//! yields the op stream, the deterministic sequence of operations ([`ops`]), and for flows the action of each operation ([`flow`]).
//! [`drive`] decides when operations are issued.
//!
//! Pure: no I/O, no clock, no threads. It is written and read as TOML ([`Workload::to_toml`], [`Workload::from_toml`]), the
//! native format described in docs/formats/workload.md.

pub mod caps;
pub mod check;
pub mod diagnostic;
pub mod drive;
pub mod flow;
pub mod model;
pub mod ops;
pub mod quantity;
pub mod ranks;
mod text;
pub mod tree;

pub use check::CheckError;
pub use diagnostic::Diagnostic;
pub use model::*;
pub use quantity::{Bytes, Duration, Seed};
