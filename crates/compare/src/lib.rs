//! Statistics only: pure functions over samples. Nothing here reads a file, a clock or a record; numbers come in, numbers go out.
//! `design` says in which order cells are run, `summary` condenses a sample, `segment` cuts a series where its level changes. The report draws what they find.

pub mod design;
pub mod segment;
pub mod summary;

pub use segment::{Settings, segments};
pub use summary::Summary;
