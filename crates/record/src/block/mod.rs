//! What reached the block layer: single events as the kernel (or a trace file, or the simulator) tells them, and what is kept of
//! them in a record.
//!
//! * [`event`]: one event, the same from every source.
//! * [`log`]: events in a file of our own.
//! * [`activity`]: what a repetition's events come to, device by device: the stored form.
//! * [`analysis`]: from the one to the other.

pub mod activity;
pub mod analysis;
pub mod event;
pub mod log;

pub use activity::{
    BlockInterval, BlockLayer, DepthTime, DeviceActivity, Issuer, IssuerKind, RequestClass, RequestStats,
    Seeks, SizeCount, TimeSource,
};
pub use analysis::{Analysis, Options, WatchedDevice, merged_issuers, without_numbers};
pub use event::{BlockAction, BlockEvent, DeviceNumber, RequestFlags, measured_threads_name};
