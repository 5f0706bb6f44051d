//! Options that several commands share.

use crate::observing::Observe;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Options of every command.
#[derive(Clone, Debug, Default, Args)]
pub struct Common {
    /// The SQLite file that keeps the runs
    #[arg(long, global = true, value_name = "FILE", help_heading = "Global options")]
    pub store: Option<PathBuf>,
    /// How closely the block layer is watched while phases run [default: $FATHOM_OBSERVE, else auto]
    #[arg(long, global = true, value_name = "HOW", help_heading = "Global options")]
    pub observe: Option<Observe>,
    /// Do not keep this run
    #[arg(long, global = true, help_heading = "Global options")]
    pub no_store: bool,
    /// What a sweep or a comparison says of the runs it makes
    #[arg(skip)]
    pub mark: Option<crate::mark::Mark>,
    /// Set by the commands that have [`Conditions`].
    #[arg(skip)]
    pub cold: Option<ColdReach>,
}

impl Common {
    /// Adds the conditions of one command.
    pub fn under(&self, conditions: &Conditions) -> Self {
        Self { cold: conditions.cold, ..self.clone() }
    }
}

/// Options of the commands that measure in our own language. Drop-ins, whose command line is another program's, take them from the
/// environment.
#[derive(Clone, Debug, Default, Args)]
pub struct Conditions {
    /// Evict the files that a phase reads from the page cache before it starts, and verify it (drop-ins: FATHOM_COLD=1)
    ///
    /// Each file, and the image below a loop device, is written back and evicted (posix_fadvise). The pages that stay are counted
    /// (cachestat) and stored with the run. That needs no root and does not affect other programs. `machine` also drops the whole
    /// machine's cache (/proc/sys/vm/drop_caches, root) if evicting the files was not enough. Phases whose workload asks for a
    /// warm cache keep it.
    #[arg(long, value_name = "REACH", num_args = 0..=1, require_equals = true, default_missing_value = "files")]
    pub cold: Option<ColdReach>,
}

/// How far `--cold` may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColdReach {
    /// Only the files that are read
    Files,
    /// Also the whole machine's page cache, if that is not enough
    Machine,
}
