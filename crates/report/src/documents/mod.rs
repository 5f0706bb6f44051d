//! Subjects as documents, one file each: runs, a comparison, a history, a sweep, a calibrated device, a reproduced table. Each takes
//! figures that were judged before and puts them in order of reading; no output is known here.

mod calibrated;
mod compared;
mod history;
mod reproduced;
pub(crate) mod run;
mod sweep;

pub use calibrated::document as calibration;
pub use compared::document as comparison;
pub use history::document as history;
pub use reproduced::document as reproduction;
pub use run::document as runs;
pub use sweep::document as sweep;
