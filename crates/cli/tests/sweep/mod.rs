//! `fathom sweep` as a user sees it: settings of workloads and of the kernel, all restored after every end. Kernel
//! settings are changed only on loop devices made by the tests.

mod compared;
mod disk;
mod documented;
mod ends;
mod knobs;
mod moved;
mod refused;
pub mod support;
mod workloads;
