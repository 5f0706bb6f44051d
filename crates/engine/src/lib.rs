//! Real I/O: executes the phases of a [`fathom_workload::Workload`] and returns [`fathom_record::Repetition`]s.
//!
//! A phase runs in processes or threads ([`spawn`](crate::phase)). They meet at a start barrier, draw operations from the op
//! stream, issue them through a [`backend`], and record into shared memory, so a killed worker's results survive. The hot loop
//! ([`hot`]) does not allocate, lock or format, and makes no system call besides the I/O.
//!
//! The engine knows no job-file dialect, prints nothing and stores nothing. Files that it creates are entered in a [`ledger`]
//! first.
//!
//! [`read_ring`] reads a file through io_uring for callers without a workload.

mod action;
pub mod backend;
mod buffer;
mod calls;
mod check;
mod checksum;
pub mod clock;
mod contents;
mod direct;
mod engine;
mod error;
mod fault;
mod files;
mod flow;
mod hot;
mod interrupt;
mod job;
mod kept;
mod kind_stats;
mod layout;
pub mod ledger;
mod locks;
mod memory;
mod numa;
mod phase;
mod pooled;
mod pools;
mod priorities;
mod punctual;
mod ratios;
pub mod read_ring;
mod sample;
mod sealed;
mod settle;
mod shared;
mod shared_memory;
mod spool;
mod start;
mod stream_plan;
mod usage;
mod worker;
mod zoned;

pub use action::{Prepared, Progress, Step, is_bottomless};
pub use backend::capability::{Capability, State};
pub use backend::probe::{capabilities, capabilities_in};
pub use calls::{Call, Calls};
pub use clock::Clock;
pub use engine::Engine;
pub use error::EngineError;
pub use flow::Said;
pub use interrupt::{
    ignore_file_size_signal, interrupted_by, state_wanted, watch_signals, watch_state_signal,
};
pub use layout::cpus_of_workers;
pub use ledger::{Fate, Ledger, Sweeping, Swept};
pub use phase::Moments;
pub use sample::sample;
pub use spool::{Does, Operation, Operations};
