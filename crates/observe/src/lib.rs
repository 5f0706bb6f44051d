//! Where a measurement ran and what reached the device. Everything here is read from the kernel's files and calls, nothing is
//! changed, except that [`residency::evict`] writes a file's dirty pages back and drops them from the page cache when asked, and that
//! [`block::Instance`] makes a tracefs instance of its own, which it removes, and that
//! [`knobs`] turns the kernel's settings, under a journal that puts them back.
//!
//! * [`device`]: from a path to the block devices below it.
//! * [`counters`]: what those devices and this process moved between two moments.
//! * [`cache`]: dirty data over the time of a phase, what waits to be written, making files cold.
//! * [`residency`]: how much of a file lies in the page cache.
//! * [`extents`]: holes and unwritten extents of files, which no device is asked for.
//! * [`attributes`]: attributes of files that make writes slower.
//! * [`environment`]: the machine, its memory, file system, devices and limits as one document.
//! * [`block`]: events and rows of the block layer, live.
//! * [`findings`]: sentences that the figures prove, a rule a file.
//! * [`join`]: our own calls beside the requests that reached the device.
//! * [`knobs`]: what can be turned, turning it, and putting it back after any end.
//! * [`loop_device`]: files as block devices, gone when nobody uses them.
//! * [`throttle`]: a device held to so many requests a second, for this process.
//! * [`written`]: how much of what was written can have reached the device in time.
//! * [`compressible`]: how far a sample of what is written can be compressed.
//! * [`trust`]: every check of a run with its figures. Pure: figures in, sentences out.
//! * [`doctor`]: what on this machine would spoil a measurement, and how to mend it.
//! * [`doubts`]: what of all that makes a result doubtful, and what to do. Pure, too.
//!
//! The crate measures no workload and draws nothing. All kernel files are read through [`files::KernelFiles`], so tests bring a
//! machine of their own.

pub mod answers;
pub mod attributes;
pub mod block;
pub mod cache;
pub mod compressible;
pub mod counters;
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
pub mod residency;
mod sha256;
pub mod throttle;
pub mod trust;
mod words;
pub mod written;

#[cfg(test)]
mod fake;
