//! Statistics only: pure functions over samples. Nothing here reads a file, a clock or a record; numbers come in, numbers go out.

mod numbers;
mod seeded;

pub mod bootstrap;
pub mod design;
pub mod levels;
pub mod matrix;
pub mod multiple;
pub mod noise;
pub mod order_effect;
pub mod outliers;
pub mod paired;
pub mod quads;
pub mod quantiles;
pub mod segment;
pub mod sequential;
pub mod series;
pub mod steady;
pub mod summary;
pub mod unpaired;
pub mod unusable;
pub mod verdict;
pub mod warmup;

pub use segment::{Settings, segments};
pub use summary::Summary;
pub use unusable::Unusable;
