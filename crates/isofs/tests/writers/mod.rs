//! Images made by xorriso and genisoimage: the tree read equals the source files. Skipped by name if a writer is not installed.

mod disk;
mod media;
mod trees;
