//! The Filebench drop-in, run for real through the built program: what a user types and reads, which files are left.
//! One file per subject. The user supplies Filebench's workloads; tests that need them say so and look in
//! `FATHOM_FILEBENCH_WORKLOADS`.

mod command_line;
mod composites;
mod ends;
mod foreign_files;
mod language;
mod output;
mod script;
mod seed;
mod shipped;
