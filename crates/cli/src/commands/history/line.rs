//! Command line of `fathom history`: the workload, its runs, the figures, the search for changes, and the outputs.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "WORKLOAD is one of
  nothing                      lists the workloads, with the number of runs of each
  an id of that list           that workload
  \"last\", a run's id           the workload of that run
  a label, a workload's name   the workload whose runs have it
  a file                       the workload of that name, or what was imported from it
If several workloads match, they are listed; choose one by its id.

Runs belong together if they did the same on the same host and mount point: the same workload
except for seed, name and notes, the same command line except for the directories of its files, and
in a sweep or a comparison (compare --run) the same settings. A file or a name means the runs
without settings, if there are any. Interrupted and failed runs, and a comparison's warm-up and
calibration runs, are left out and counted. The history reports what else changed: kernel, version,
device, scheduler, file system, mount options, governor, label.

Examples:
  fathom history                            which histories are there?
  fathom history last                       the history of the newest run
  fathom history nightly.toml --last 60 -o nightly.html
  fathom history last --figure p99 --since 2026-10-01
  fathom history last --gate --threshold 2%

Exit code: 0 done, 2 bad input; with --gate: 0 the latest level is not worse, 1 it is worse than
the one before by the threshold or more, 3 too few runs to tell, or a change is uncertain. See
docs/history.md.")]
pub struct History {
    /// The workload [default: list the workloads]
    #[arg(value_name = "WORKLOAD")]
    pub workload: Option<String>,
    /// Figures, with commas: throughput, ops, time, p50, p99, p99.9, all, or a figure's name
    /// [default: the one each cell is quoted by]
    #[arg(long, value_name = "FIGURE", value_delimiter = ',', requires = "workload")]
    pub figure: Vec<String>,
    /// Only cells whose title contains this text, such as "random read"
    #[arg(long, value_name = "TEXT", requires = "workload")]
    pub cell: Option<String>,
    /// Only runs with this label
    #[arg(long, value_name = "TEXT", requires = "workload")]
    pub label: Option<String>,
    /// Only the newest N runs
    #[arg(long, value_name = "N", requires = "workload")]
    pub last: Option<usize>,
    /// Only runs that started at this time or later: 2026-10-01, 2026-10-01T12:00, or RFC 3339
    #[arg(long, value_name = "DATE", requires = "workload")]
    pub since: Option<String>,
    /// Least number of runs in a level
    #[arg(long, value_name = "N", default_value_t = 3, requires = "workload")]
    pub min_segment: usize,
    /// Seed of the permutations
    #[arg(long, value_name = "N", default_value_t = 1, requires = "workload")]
    pub seed: u64,
    /// Permutations of the test [default: 999; fewer above 1000 runs, at least 199]
    #[arg(long, value_name = "N", requires = "workload")]
    pub permutations: Option<usize>,
    /// Smallest change that is reported
    #[arg(long, value_name = "SHARE", default_value = "1%", requires = "workload")]
    pub threshold: String,
    /// Also show the changes PELT finds: an overview without a test
    #[arg(long, requires = "workload")]
    pub pelt: bool,
    /// Set the exit code by whether the latest level of any figure is worse than the one before
    #[arg(long, requires = "workload")]
    pub gate: bool,
    /// Also write a report: .html .md .xlsx .svg .csv, or DIR/ for a picture of each figure
    #[arg(short, long, value_name = "FILE", requires = "workload")]
    pub output: Option<PathBuf>,
    /// Overwrite the file if it exists
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Print JSON; docs/formats/history.schema.json describes it
    #[arg(long)]
    pub json: bool,
}
