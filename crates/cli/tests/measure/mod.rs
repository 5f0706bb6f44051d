//! Measuring as a user sees it: `fathom survey`, `fathom run`, what they print, write and store, and their help.

mod backends;
mod documents;
mod guide;
mod help;
mod kept;
mod power_cut;
mod run;
mod shell;
mod stalls;
mod survey;
pub mod workloads;
