//! Statistics as pure functions over samples: nothing here reads a file, a clock or a record.
//!
//! # Two sides measured in quads
//!
//! The default question is whether side B is faster than side A. Both are run in [`design::blocks`] of two rounds, so every two runs of A
//! and the two runs of B of the same rounds make a [`quads::Quad`]. [`verdict::compare`] gives the exact test, the effect with its
//! interval and the verdict; [`wording::comparison`] makes the sentence.
//!
//! ```
//! use fathom_compare::{quads, verdict, wording};
//!
//! // Throughput of five quads, each side's runs in the order they were run.
//! let a = [512.4, 508.9, 515.2, 511.0, 509.7, 513.8, 510.5, 507.6, 514.1, 511.9];
//! let b = [498.1, 495.6, 499.9, 497.2, 470.3, 498.8, 496.9, 494.2, 500.3, 497.7];
//!
//! let quads = quads::quads_of(&a, &b)?;
//! let rules = verdict::Rules { higher_is_better: true, ..verdict::Rules::default() };
//! let found = verdict::compare(&quads, &rules)?;
//!
//! assert_eq!(found.verdict, verdict::Verdict::Slower);
//! assert_eq!(
//!     wording::comparison(&found, wording::Names::of_speed("A", "B")),
//!     "B is 2.7 % slower than A (ratio 0.9726, 94.6 % interval 0.9681 to 0.9773; \
//!      10 + 10 runs in 5 random quads; exact p = 0.0003)."
//! );
//! # Ok::<(), fathom_compare::Unusable>(())
//! ```
//!
//! # Modules
//!
//! | Question | Module |
//! |---|---|
//! | in which order to run | [`design`] |
//! | is B faster, by how much, how sure | [`quads`], [`verdict`] |
//! | may this machine give verdicts, how many quads does a change need | [`noise`] |
//! | may one stop early | [`sequential`] |
//! | many cells at once | [`matrix`], [`multiple`] |
//! | imported results, without quads | [`unpaired`] |
//! | single runs | [`single`] |
//! | how many observations a quantile needs | [`quantiles`] |
//! | what a sample looks like | [`summary`], [`outliers`], [`levels`], [`order_effect`] |
//! | are neighbours in a series alike | [`series`] |
//! | a history of builds | [`history`] |
//! | where a surface changes its level | [`segment`] |
//! | which cell of a surface to measure next | [`adaptive`] |
//! | sentences | [`wording`] |
//!
//! Functions fail with [`Unusable`]; random numbers come from seeds that the caller stores.

mod numbers;
mod seeded;

pub mod adaptive;
pub mod design;
pub mod history;
pub mod levels;
pub mod matrix;
pub mod multiple;
pub mod noise;
pub mod order_effect;
pub mod outliers;
pub mod quads;
pub mod quantiles;
pub mod segment;
pub mod sequential;
pub mod series;
pub mod single;
pub mod summary;
pub mod unpaired;
pub mod unusable;
pub mod verdict;
pub mod wording;

pub use segment::{Settings, segments};
pub use summary::Summary;
pub use unusable::Unusable;
