//! What reached the block layer: single events as reported by the kernel, a trace file or the simulator, and what a record
//! keeps of them.
//!
//! * [`event`]: one event, the same from every source.
//! * [`log`]: events in our own file format.
//! * [`activity`]: a repetition's activity by device: the stored form.
//! * [`analysis`]: turns events into activity.

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
