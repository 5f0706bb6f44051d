//! The drop-in for fio, run for real through the built program: what a user types, what he reads, which files are left and which are not
//! touched; and where fio itself is installed, the same beside it. One file per subject.

mod acceptance;
mod beside_fio;
mod consumers;
mod devices;
mod differential;
mod documented;
mod elsewhere;
mod ends;
mod engines;
mod errors;
mod examples;
mod files;
mod flows;
mod iologs;
mod jobs_beside;
mod kinds;
mod latency;
mod logs;
mod memory;
mod pipelines;
mod placement;
mod priorities;
mod read_back;
mod reports;
mod safety;
mod several;
mod states;
mod steady;
mod support;
mod syncs;
mod times;
mod trims;
mod users;
mod verified;
mod words;
