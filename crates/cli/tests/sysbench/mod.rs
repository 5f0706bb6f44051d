//! The drop-in for SysBench's fileio, run for real through the built program: what a user types, what he reads, which files are
//! left, what the kernel was asked; and where SysBench itself is installed, the same beside it. One file per subject.

mod beside_sysbench;
mod ends;
mod files;
mod older;
mod order;
mod reports;
mod support;
mod validation;
