//! Random accidents, repeated: kills, planted links, full disks, file system faults, stopped runs, stores with many
//! writers. The invariants are always the same: no other user's file changes, nothing is left, nothing is lost
//! silently.
//!
//! In the suite each kind takes ten seconds; `cargo xtask torture --minutes 30` runs longer.

mod bystanders;
mod campaign;
mod faults;
mod frozen;
mod full_disk;
mod kills;
mod left;
mod stores;
mod swaps;
