//! What the simulator's models are worth beside this machine's kernel, on loop devices made for it: [`agree`] compares choices and
//! merges of the schedulers, [`calibrate`] the response times of a device with those of the profile that was fitted to it.

mod agree;
mod calibrate;
mod load;
mod tally;
mod test_bed;
mod throttle;

pub use agree::run as agree;
pub use calibrate::run as calibrate;
