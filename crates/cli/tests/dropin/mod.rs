//! The IOzone drop-in, run for real through the built program: what a user types and reads, which files are left, which
//! system calls were made. One file per subject. Outputs are compared with golden files without the figures (see
//! `layout`); refresh them with `FATHOM_BLESS=1 cargo test -p fathom --test dropin` and review the change with `git
//! diff`.

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
