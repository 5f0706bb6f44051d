//! The live source of block-layer events: what each request did, when, and for whom, told by the kernel's own trace points while
//! a phase runs; and, for users the kernel tells less, rows of the devices' counters.
//!
//! * [`Instance`]: a private tracefs instance of this process, made once, removed on drop.
//! * [`Watch`]: one phase's watching: events in the order of time to a [`Sink`], lost ones counted.
//! * [`Watched`]: which devices, and whether they have requests or only bios.
//! * [`own`]: who issued a request: this process, writeback, a journal, the kernel, others.
//! * [`rows`]: iostat-style rows of counters, without root; [`cgroup`]: the counters of our control group.
//! * [`availability`]: which of these this user may use, and why not the better.
//! * [`format`], [`page`], [`decode`]: the kernel's descriptions, its ring pages and its records. Pure.
//!
//! Limits. Events carry what the kernel traces: a bio-based device has no issue events, its bios are told in their place. Ring
//! pages are read raw, so an event costs the reader some tens of ns and a text line nothing; what the kernel itself spends per event
//! is in nobody's account but the observed program's. Where the rings are full events are lost and counted, never hidden.
//! Timestamps are those of CLOCK_MONOTONIC.

pub mod availability;
pub mod cgroup;
pub mod decode;
mod devices;
mod error;
pub mod format;
mod instance;
mod kernel_events;
mod merge;
mod origin;
pub mod own;
pub mod page;
mod reader;
pub mod rows;
mod tracefs;
mod watch;

#[cfg(test)]
mod synthetic;

pub use availability::{Availability, availability};
pub use devices::{Watched, watched};
pub use error::WatchError;
pub use instance::{Coming, Instance};
pub use kernel_events::Detail;
pub use origin::Who;
pub use own::OwnTasks;
pub use rows::CounterRows;
pub use watch::{Sink, Taken, Watch};
