//! The reader and its images from a library user's view: one file per subject, one test program.

mod flips;
mod formats;
mod hostile;
mod large;
mod reader;
mod reader_core;
mod reader_schedule;
mod reader_threads;
mod rounds;
mod support;
mod valid;
mod writers;
#[cfg(all(feature = "xz", feature = "lz4", feature = "zstd", feature = "bzip2"))]
mod zisofs;
