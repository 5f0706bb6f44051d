//! What fathom does to a machine when things go wrong: signals, kills, full and vanished disks, files of other users.
//! Every test runs the built program and checks what it leaves behind.

mod faults;
mod full_disk;
mod hostile_text;
mod killed;
mod leftovers;
mod outputs;
mod planted;
mod processes;
mod refused;
mod signals;
mod still;
mod store_trouble;
mod swapped;
mod users_files;
mod vanished;
