//! What is seen of block devices and files of this machine: one file a subject, one test program.

mod attributes;
mod block_counts;
mod block_events;
mod extents;
mod loop_device;
mod stacks;
