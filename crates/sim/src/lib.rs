//! Runs a workload in virtual time. Simulated threads execute the op stream of `workload` unchanged, through a page cache, read-ahead,
//! write-back, a journal, an elevator and a device. The result is the same kind of record that a real run gives.
//!
//! ```text
//! op stream ─▶ threads ─┐
//! flows ─────▶ flows ───┴▶ calls ─▶ cache, journal, write-back ─▶ block (iopath's queue) ─▶ devices
//!                 └────────────── machine: clock, events, CPUs ──────────────┘           └▶ outcome: record types
//! ```
//!
//! Everything is deterministic: time is whole nanoseconds, equal times have a fixed order ([`event`]), each entity has its own random
//! stream ([`random`]), and floating point uses only + - * / and sqrt. The same inputs and seed give the same bytes on any machine.

pub mod agree;
mod block;
mod cache;
pub mod calibrate;
mod call_log;
mod calls;
pub mod changed;
mod copying;
pub mod counts;
mod depths;
pub mod devices;
pub mod event;
mod files;
mod flows;
pub mod host;
mod idle_waits;
mod journal;
mod layout;
mod machine;
mod names;
pub mod outcome;
mod place;
mod plot_data;
pub mod random;
mod regions;
pub mod replay;
pub mod reproduce;
mod runs;
mod sets;
pub mod shapes;
mod shared;
pub mod simulation;
pub mod sources;
pub mod stack;
mod thin;
mod threads;
mod writeback;

pub use call_log::LoggedCall;
pub use counts::Counts;
pub use machine::Standstill;
pub use outcome::{Inside, Simulated};
pub use simulation::{Setup, SimError, never, simulate, simulate_noting};
pub use stack::Stack;
