//! `cargo xtask bench observe`: what watching the block layer costs, and whether it counts right. [`overhead`] runs random O_DIRECT
//! reads with and without it, side by side; [`read_ahead`] draws the picture of the 2007 report, request sizes of a cold sequential
//! read by read-ahead, and holds its counts against the device's own counters and an in-kernel count by bpftrace.

mod in_kernel;
mod overhead;
mod read_ahead;
mod record;

pub use overhead::run as overhead;
pub use read_ahead::run as read_ahead;
