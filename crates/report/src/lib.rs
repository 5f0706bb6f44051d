//! Draws records. From one or more [`fathom_record::Run`]s this crate makes an offline HTML page, a workbook, SVG pictures, a
//! Markdown summary and terminal text. It measures nothing, opens no store and prints nothing; it returns text or writes the
//! one file it is given.
//!
//! Order of reading: `section`, `surface`, `streams`, `latency`, `operations`, `writes`, `conduct` and `imported` extract
//! figures from a run; `heading` says where it was made, `results` is its short table. `regimes` and `band` separate disk from
//! memory; `block` shows what reached a device, `truth` which bytes memory served, `stacks` where the slowest calls waited,
//! `finding` and `budget` why; `why` is the answer for a phase, `answer` and `bottlenecks` those for a survey, whose figures
//! `survey` knows by stage. `text` draws plain text; `story` and `trust` put a run into words; `svg`, `html`, `xlsx`, `markdown`
//! and `terminal` lay it out; `units`, `spark`, `printable` and `colour` serve them all. `comparison` divides two runs. `document` is a
//! report without a form, which every output can draw; `documents` makes them: of runs, of two sides that `compared` judges, of all runs of
//! a workload (`history`), of a workload under different settings (`sweep`), of a fitted device profile (`calibrated`), and of a
//! published table beside its simulation (`reproduced`).

pub mod answer;
pub mod band;
pub mod block;
pub mod bottlenecks;
pub mod budget;
pub mod calibrated;
pub mod colour;
pub mod compared;
pub mod comparison;
pub mod conduct;
pub mod counters;
pub mod document;
pub mod documents;
mod environment;
pub mod finding;
pub mod heading;
pub mod history;
pub mod html;
pub mod imported;
pub mod latency;
pub mod machine;
pub mod markdown;
pub mod operations;
pub mod page_cache;
pub mod parallel;
pub mod parquet;
mod passed;
pub mod printable;
pub mod regimes;
pub mod reproduced;
pub mod results;
pub mod section;
pub mod spark;
pub mod stacks;
pub mod story;
pub mod streams;
pub mod surface;
pub mod survey;
pub mod svg;
pub mod sweep;
pub mod terminal;
pub mod text;
pub mod trust;
pub mod truth;
pub mod units;
pub mod why;
pub mod writes;
pub mod xlsx;

#[cfg(test)]
#[path = "../tests/support/samples.rs"]
mod samples;

pub use band::{Band, Cause};
pub use comparison::Comparison;
pub use machine::{Machine, Reference};
pub use operations::Breakdown;
pub use parallel::Parallel;
pub use regimes::{Kind, Mapped};
pub use story::Story;
pub use streams::Streams;
pub use surface::{Access, Quantity, Surface, SurfaceCell};
