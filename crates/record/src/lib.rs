//! What was measured. A [`Run`] is complete: what was requested, where it ran, what happened, what reached the device, and what
//! makes it doubtful. Every report is drawn from it and prints nothing that is not in it.
//!
//! This crate holds the types, every figure of a run as one flat list (`figures`), the SQLite store (`store`) and the exports
//! (`export`). It measures nothing and knows neither workloads nor dialects: the executed workload is kept as its TOML text.

pub mod block;
pub mod cache;
pub mod course;
pub mod doubt;
pub mod escape;
pub mod export;
pub mod figures;
pub mod finding;
pub mod halts;
pub mod headline;
pub mod histogram;
pub mod imported;
pub mod in_flight;
pub mod lock_waits;
pub mod origin;
pub mod page_cache;
pub mod passed;
pub mod phase;
pub mod physical;
pub mod ranks;
pub mod row;
pub mod run;
pub mod same_work;
pub mod simulation;
pub mod slow_calls;
pub mod steady;
mod stood_still;
pub mod store;
pub mod tail;
pub mod trust;

pub use block::{BlockEvent, BlockLayer};
pub use cache::{CacheCourse, CacheSample, CacheTruth, Cold, ColdStep, ReadTruth, UnwrittenData, WriteTruth};
pub use doubt::Doubt;
pub use escape::{escape_coloured, escape_controls, escape_lines};
pub use finding::{Evidence, Finding};
pub use halts::Halts;
pub use headline::Headline;
pub use histogram::Histogram;
pub use imported::{Figure, Source};
pub use in_flight::InFlight;
pub use lock_waits::{LockHolder, LockWaits};
pub use origin::{Origin, Regime};
pub use page_cache::{JournalChanges, PageCacheEvents, PageMoves, Pauses, Programs, Remover};
pub use passed::PassedOver;
pub use phase::{
    Axes, CacheIntent, Ending, Extents, Interval, Jitter, Mark, Marks, OpError, OpKind, OpLogEntry, OpStat,
    OpTotal, Phase, PriorityStat, Repetition, SteadyGroup, SteadyState, ThreadCounts, Worker, WorkerInterval,
};
pub use physical::{DeviceDelta, Physical, Residency};
pub use row::{Row, RowClass};
pub use run::{Clock, Run, Status};
pub use simulation::{FeedMode, OffHeldOut, ProfileText, Simulation, Uncertainty, ValueSources};
pub use slow_calls::{SlowCall, SlowCalls, Wait, WaitStack};
pub use store::{Store, StoreError};
pub use tail::{Tail, Watched};
pub use trust::{Trust, Verdict};

/// For serde: omits a field that has its default value.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
