//! Images from the writers that people use, xorriso and genisoimage: what is read equals the files they were made from. Skips by name where a
//! writer is not installed.

mod disk;
mod media;
mod trees;
