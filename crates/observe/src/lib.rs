//! Where a measurement ran and what reached the device. Everything is read from the kernel's files and calls. Nothing is changed, with
//! three exceptions: [`residency::evict`] writes back a file's dirty pages and drops them from the page cache on request,
//! [`block::Instance`] creates a private tracefs instance, which it removes, and [`knobs`] changes kernel settings, with a journal to
//! restore them.
//!
//! * [`device`]: maps a path to the block devices below it.
//! * [`counters`]: I/O of those devices and this process between two points in time.
//! * [`cache`]: dirty data during a phase, pending write-back, making files cold.
//! * [`residency`]: how much of a file is in the page cache.
//! * [`extents`]: holes and unwritten extents of files, which need no device I/O.
//! * [`attributes`]: attributes of files that make writes slower.
//! * [`environment`]: the machine, its memory, file system, devices and limits as one document.
//! * [`block`]: events and rows of the block layer, live.
//! * [`findings`]: sentences proven by the figures, one file per rule.
//! * [`join`]: relates our own calls to the requests at the device.
//! * [`stacks`]: where in the kernel the slowest calls waited.
//! * [`knobs`]: kernel settings, changing them, and restoring them after any kind of exit.
//! * [`loop_device`]: files as block devices, detached when no longer used.
//! * [`throttle`]: limits this process to a number of requests per second at a device.
//! * [`written`]: how much of the written data can have reached the device in time.
//! * [`compressible`]: how compressible a sample of the written data is.
//! * [`trust`]: every check of a run with its figures. Pure: figures in, sentences out.
//! * [`doctor`]: what on this machine would spoil a measurement, and how to fix it.
//! * [`doubts`]: reasons to doubt a result, with advice. Pure, too.
//!
//! The crate runs no workload and draws no charts. All kernel files are read through [`files::KernelFiles`], which tests replace.

pub mod attributes;
pub mod block;
pub mod cache;
pub mod compressible;
pub mod counters;
mod cpu_list;
pub mod device;
pub mod doctor;
pub mod doubts;
pub mod environment;
pub mod extents;
pub mod files;
pub mod findings;
pub mod foreign;
pub mod join;
pub mod knobs;
pub mod local_time;
pub mod loop_device;
mod ranges;
pub mod residency;
pub mod responsive;
mod sha256;
pub mod stacks;
pub mod throttle;
pub mod trust;
mod weights;
mod words;
pub mod written;

#[cfg(test)]
mod fake;
