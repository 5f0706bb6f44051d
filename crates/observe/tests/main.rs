//! Observing real block devices and files: one file per subject, one test program.

mod attributes;
mod block_counts;
mod block_events;
mod extents;
mod loop_device;
mod stacks;
