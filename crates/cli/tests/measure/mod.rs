//! Measuring, as a user meets it: `fathom survey`, `fathom run`, what they print, write and keep, and the help that leads there.

mod backends;
mod documents;
mod guide;
mod help;
mod kept;
mod run;
mod shell;
mod stalls;
mod survey;
pub mod workloads;
