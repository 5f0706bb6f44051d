//! The Filebench drop-in, run for real through the built program: what a user types, what he reads, which files are left. One file per
//! subject. The workloads that come with Filebench are the user's; tests that need them say so and look where
//! `FATHOM_FILEBENCH_WORKLOADS` points.

mod command_line;
mod composites;
mod ends;
mod foreign_files;
mod language;
mod output;
mod script;
mod seed;
mod shipped;
