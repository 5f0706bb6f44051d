//! Live block-layer events: the kernel's trace points report what each request did, when, and for which task while a phase runs. Users
//! who may not read trace points get rows of the devices' counters instead.
//!
//! * [`Instance`]: a private tracefs instance of this process, created once, removed on drop.
//! * [`Watch`]: watches one phase; passes events in time order to a [`Sink`] and counts lost ones.
//! * [`bpf`]: counts requests in the kernel, without events, where the kernel accepts the programs.
//! * [`Watched`]: the devices to watch, and whether they have requests or only bios.
//! * [`own`]: who issued a request: this process, write-back, a journal, the kernel, or others.
//! * [`rows`]: iostat-style rows of counters, without root; [`cgroup`]: the counters of our control group.
//! * [`availability()`]: which of these this user may use, and why the better ones are unavailable.
//! * [`mod@format`], [`page`], [`decode`]: the kernel's descriptions, its ring pages and its records. Pure.
//!
//! Limits: a bio-based device has no issue events, so its bios are reported instead. When the rings are full, events are lost and
//! counted, never hidden. The kernel's own cost per event is charged to the observed program, not to the observer.
//!
//! Measured on two CPUs that were contended by twenty other tasks: the observer's thread takes 0.2 to 0.3 us of CPU per event (two events
//! per request, six at full detail). 110 000 I/O per second on zram (220 000 events) and 59 000 on a loop device in memory lost none with
//! the rings sized for 300 000. Higher rates were not measured: that machine does not reach them.
//!
//! When comparing with other tools' counts: the kernel completes an empty flush twice, once as a flush and once as a write of no sectors,
//! and counts the second among a device's writes, too. A request's error is part of its completion, so `block_rq_error` is not watched.
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
mod queue_settings;
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
pub use queue_settings::queue_settings;
pub use rows::{CountedRows, CounterRows};
pub use tracefs::sweep_left_behind;
pub use watch::{Sink, Watch, WatchResult};
