//! `fathom sweep` as a user meets it: settings of workloads and of the kernel, and that everything is put back after every end. Kernel
//! settings are turned on loop devices that the tests make; nothing of the machine's own is.

mod compared;
mod disk;
mod documented;
mod ends;
mod knobs;
mod moved;
mod refused;
pub mod support;
mod workloads;
