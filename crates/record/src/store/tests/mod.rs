//! The store's behaviour, one subject per file, with shared helpers. The sample run and the generator of arbitrary runs are
//! also used by the exports' tests.

mod any_run;
mod any_worker;
mod cost;
mod in_parts;
mod killed;
mod list;
mod past;
mod queries;
mod refusals;
mod round_trip;
mod sample;
mod versions;

use super::*;
use crate::{Clock, Ending, Histogram, Jitter, OpKind, OpStat, Phase, Repetition, Row, Run, Status, Worker};
pub(crate) use any_run::any_run;
pub(super) use any_worker::{any_histogram, figure, number, words};
pub(crate) use sample::{plain_sample_run, sample_run};

/// A path for a store, in a directory that does not exist yet.
fn scratch() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("below/fathom.db");
    (dir, path)
}

fn run_named(id: &str) -> Run {
    Run { id: id.into(), ..sample_run() }
}
