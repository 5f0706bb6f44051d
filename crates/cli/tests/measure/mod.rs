//! Measuring, as a user meets it: `fathom survey`, `fathom run`, what they print, write and keep, and the help that leads there.

mod backends;
mod guide;
mod help;
mod kept;
mod run;
mod stalls;
mod survey;
pub mod workloads;
