//! The IOzone drop-in, run for real through the built program: what a user types, what he reads, which files are left, what the
//! kernel was asked. One file per subject. Outputs are held to golden files with the figures taken out (see `layout`); refresh
//! them with `FATHOM_BLESS=1 cargo test -p fathom --test dropin` and read the change in `git diff`.

mod beside_iozone;
mod files;
mod interruption;
mod layout;
mod nothing_to_do;
mod op_order;
mod options_and_exits;
mod original;
mod side_files;
mod table;
mod telemetry;
mod throughput;
mod worksheet;
