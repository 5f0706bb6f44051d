//! Command line of `fathom history`: the workload, its runs, the figures, the search for changes, and the outputs.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "WORKLOAD is one of
  nothing                      lists the workloads there are, with the number of their runs
  an id of that list           that workload
  \"last\", a run's id           the workload of that run
  a label, a workload's name   the workload whose runs have it
  a file                       the workload of that name, or what was imported from it
If several workloads are meant they are listed, and one of their ids chooses.

Runs belong together that were asked to do the same on the same host and mount point: the same
workload but for its seed, name and notes, the same command line but for the directories of its
files, and in a sweep or a comparison (compare --run) the same settings; a file or a name means
those without settings, if there are any. Runs that were interrupted or failed, and warm-up and
noise of a comparison, are left out and counted. Everything else that may have changed is what the
history tells of: kernel, version, device, scheduler, file system, mount options, governor, label.

Examples:
  fathom history                            which histories are there?
  fathom history last                       that of the run just made
  fathom history nightly.toml --last 60 -o nightly.html
  fathom history last --figure p99 --since 2026-10-01
  fathom history last --gate --threshold 2%

Exit code: 0 done, 2 bad input; with --gate: 0 the latest level is not found to be worse, 1 it is
worse than the one before by the threshold or more, 3 too few runs to tell, or a change is in
doubt. docs/history.md says more.")]
pub struct History {
    /// The workload; without it the workloads are listed
    #[arg(value_name = "WORKLOAD")]
    pub workload: Option<String>,
    /// Figures, with commas: throughput, ops, time, p50, p99, p99.9, all, or a figure's name
    /// [default: the one each cell is quoted by]
    #[arg(long, value_name = "FIGURE", value_delimiter = ',', requires = "workload")]
    pub figure: Vec<String>,
    /// Only cells in whose title this text stands, such as "random read"
    #[arg(long, value_name = "TEXT", requires = "workload")]
    pub cell: Option<String>,
    /// Only runs with this label
    #[arg(long, value_name = "TEXT", requires = "workload")]
    pub label: Option<String>,
    /// Only the newest N runs
    #[arg(long, value_name = "N", requires = "workload")]
    pub last: Option<usize>,
    /// Only runs begun at this time or later: 2026-10-01, 2026-10-01T12:00, or RFC 3339
    #[arg(long, value_name = "DATE", requires = "workload")]
    pub since: Option<String>,
    /// No level lasts fewer runs
    #[arg(long, value_name = "N", default_value_t = 3, requires = "workload")]
    pub min_segment: usize,
    /// Seed of the permutations
    #[arg(long, value_name = "N", default_value_t = 1, requires = "workload")]
    pub seed: u64,
    /// Permutations of the test [default: 999; of more than 1000 runs fewer, at least 199]
    #[arg(long, value_name = "N", requires = "workload")]
    pub permutations: Option<usize>,
    /// The least change that is told
    #[arg(long, value_name = "SHARE", default_value = "1%", requires = "workload")]
    pub threshold: String,
    /// Also say where PELT cuts: an overview without a test
    #[arg(long, requires = "workload")]
    pub pelt: bool,
    /// Let the exit code tell whether the latest level of some figure is worse than the one before
    #[arg(long, requires = "workload")]
    pub gate: bool,
    /// Also write it, by its ending: .html .md .svg (one picture) .csv; DIR/ gets a picture of each figure
    #[arg(short, long, value_name = "FILE", requires = "workload")]
    pub output: Option<PathBuf>,
    /// Overwrite the file if it exists
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Print JSON; docs/formats/history.schema.json describes it
    #[arg(long)]
    pub json: bool,
}
