//! The drop-in for fio, run for real through the built program: what a user types, what he reads, which files are left and which are not
//! touched; and where fio itself is installed, the same beside it. One file per subject.

mod acceptance;
mod beside_fio;
mod consumers;
mod documented;
mod elsewhere;
mod ends;
mod examples;
mod jobs_beside;
mod kinds;
mod reports;
mod safety;
mod support;
