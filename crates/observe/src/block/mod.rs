//! The live source of block-layer events: what each request did, when, and for whom, told by the kernel's own trace points while
//! a phase runs; and, for users the kernel tells less, rows of the devices' counters.
//!
//! * [`Instance`]: a private tracefs instance of this process, made once, removed on drop.
//! * [`Watch`]: one phase's watching: events in the order of time to a [`Sink`], lost ones counted.
//! * [`bpf`]: requests counted in the kernel, without events, where it takes the programs.
//! * [`Watched`]: which devices, and whether they have requests or only bios.
//! * [`own`]: who issued a request: this process, writeback, a journal, the kernel, others.
//! * [`rows`]: iostat-style rows of counters, without root; [`cgroup`]: the counters of our control group.
//! * [`availability()`]: which of these this user may use, and why not the better.
//! * [`mod@format`], [`page`], [`decode`]: the kernel's descriptions, its ring pages and its records. Pure.
//!
//! Limits. Events carry what the kernel traces: a bio-based device has no issue events, its bios are told in their place. Where the
//! rings are full events are lost and counted, never hidden. What the kernel itself spends per event is in the observed program's
//! account, not in the observer's.
//!
//! Measured on two CPUs that twenty other tasks wanted, too: the observer's thread takes 0.2 to 0.3 us of CPU per event (two events
//! per request, six when everything is watched); 110 000 I/O per second on zram (220 000 events) and 59 000 on a loop device in
//! memory lost none with the rings sized for 300 000. Above that nothing was measured: that machine does not get there.
//!
//! To compare with counts of others: the kernel completes an empty flush twice, once as a flush and once as a write of no sectors,
//! and counts the second among a device's writes, too. A request's error is told with its completion, so `block_rq_error` is not
//! watched.
//!
//! Timestamps are those of CLOCK_MONOTONIC.

pub mod availability;
pub mod bpf;
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
mod own_pages;
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
pub use rows::{CountedRows, CounterRows};
pub use tracefs::sweep_left_behind;
pub use watch::{Sink, Taken, Watch};
