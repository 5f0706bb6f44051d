//! Random accidents, tried again and again: kills, links put in the way, full disks, faults of a file system, stopped runs, stores with many
//! writers. What must hold is the same every time: nobody else's file changes, nothing is left, nothing is lost without a word.
//!
//! In the suite each kind takes ten seconds; `cargo xtask torture --minutes 30` goes on for as long as it is told.

mod bystanders;
mod campaign;
mod faults;
mod frozen;
mod full_disk;
mod kills;
mod left;
mod stores;
mod swaps;
