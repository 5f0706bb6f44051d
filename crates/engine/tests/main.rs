//! The engine's guarantees, each tested with real I/O on its own files: one file per subject, one test program.

mod backends;
mod beginnings_and_ends;
mod buffers;
mod calls;
mod errors;
mod extents;
mod flows;
mod flows_lists;
mod flows_together;
mod flows_trees;
mod locked_memory;
mod pacing;
mod passes;
mod phases;
mod pooled;
mod preparing;
mod ratios;
mod read_ring;
mod refusals;
mod streams;
mod support;
mod trees;
mod trims;
mod turns;
