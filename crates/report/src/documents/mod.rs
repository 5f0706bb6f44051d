//! Subjects as documents, one file each: a comparison, a history, a sweep, a calibrated device, a reproduced table. Each takes
//! figures that were judged before and puts them in order of reading; no output is known here.

mod calibrated;
mod compared;
mod history;
mod reproduced;
mod sweep;

pub use calibrated::document as calibration;
pub use compared::document as comparison;
pub use history::document as history;
pub use reproduced::document as reproduction;
pub use sweep::document as sweep;
