//! Command line of `fathom compare`: sides, figures, outputs, and when it fails.

use super::run::line::Measure;
use clap::Args;
use std::path::PathBuf;

/// Arguments that exclude a sweep, for the options that need one (`requires` alone is not enough: see
/// `run::line::STORED`).
const NO_SWEEP: [&str; 5] = ["sides", "a", "b", "of", "run"];

#[derive(Debug, Args)]
#[command(after_help = "A side is one of
  an id, its beginning, \"last\"     that run
  a label                          all runs that have it
  a file                           the runs in it: JSON of `fathom export`, or what `fathom import`
                                   reads; FILE:FIRST-LAST is only what stands in these lines
  several of these with commas     all of them (with --a and --b)
Of more than two sides, each is compared with the first.

The method is the strongest that the runs allow. Runs that were mixed four by four, two of each
side (`fathom sweep` does that), are compared in quads, by an exact test. Other runs are two
groups: drift between the sessions cannot be told from a change, and that is said. Single runs
have a ratio and nothing else. A run is one value of each figure; only where each side is one
run do its repetitions count. A verdict takes 3 quads, or 5 runs of each side.

With --run both sides are measured now: two workload files (behind `--` two command lines of
drop-ins, parted by --and), or one workload under two values of a setting, or in two directories.
Quads are run in random order until a change is beyond doubt, or --max-quads or --budget are
spent. Every run is kept with its place in the design: --of says the verdict again.

Examples:
  fathom compare before after                      runs labelled so; two files do as well
  fathom compare 20261121T2105 last                two runs by id
  fathom compare mail.txt:1-120 mail.txt:121-240   two outputs of one text
  fathom compare --sweep last --by scheduler -o page.html
  fathom compare --run --plan old.toml new.toml
  fathom compare --run --vary scheduler=none,bfq --budget 10min workload.toml
  fathom compare --run --in /mnt/a,/mnt/b --effect 5% --calibrate workload.toml
  fathom compare --run --vary threads=1,2 -- \\
      sysbench fileio --file-test-mode=rndrd --threads={threads} run
  fathom compare --gate --threshold 2% --junit out.xml before after

Exit code: 0 done, 2 bad input; with --gate: 0 no regression, 1 a regression, 3 not enough data
to tell. With --run also 3 if a run failed, and 130 after Ctrl-C. docs/compare.md says more.")]
pub struct Compare {
    /// The baseline, then what is compared with it
    #[arg(value_name = "SIDE", conflicts_with_all = ["a", "b", "sweep", "of"])]
    pub sides: Vec<String>,
    /// The baseline
    #[arg(long, value_name = "SIDE,...", value_delimiter = ',', requires = "b")]
    pub a: Vec<String>,
    /// What is compared with it
    #[arg(long, value_name = "SIDE,...", value_delimiter = ',', requires = "a")]
    pub b: Vec<String>,
    /// The cells of a stored sweep; needs --by where it varied several settings
    #[arg(long, value_name = "ID", conflicts_with_all = ["a", "b"])]
    pub sweep: Option<String>,
    /// A stored comparison that measured its runs itself (--run)
    #[arg(long, value_name = "ID", conflicts_with_all = ["a", "b", "sweep"])]
    pub of: Option<String>,
    /// The setting of the sweep whose values are the sides; the other settings are coordinates of cells
    #[arg(long, value_name = "SETTING", requires = "sweep", conflicts_with_all = NO_SWEEP)]
    pub by: Option<String>,
    /// The value of that setting that is the baseline [default: the one the sweep names first]
    #[arg(long, value_name = "VALUE", requires = "sweep", conflicts_with_all = NO_SWEEP)]
    pub base: Option<String>,
    /// The least change of a ratio that is called one [default: 1%, or that of the stored comparison]
    #[arg(long, value_name = "SHARE")]
    pub threshold: Option<String>,
    /// Figures to compare, with commas: throughput, ops, time, p50, p99, p99.9, all, or a figure's name
    /// [default: throughput (else ops), time, and the three percentiles]
    #[arg(long, value_name = "FIGURE", value_delimiter = ',')]
    pub metric: Vec<String>,
    /// Let the exit code tell whether something got worse; it looks at throughput (else operations per second, else time) of
    /// every cell, or at the figures that --metric or --figure name
    #[arg(long)]
    pub gate: bool,
    /// Write what the gate says of each figure as JUnit XML
    #[arg(long, value_name = "FILE", requires = "gate")]
    pub junit: Option<PathBuf>,
    /// Print what the gate says as annotations of GitHub Actions
    #[arg(long, requires = "gate")]
    pub github: bool,
    /// Write the page of the comparison (.html), its text for a ticket (.md), or its ratios as a picture (.svg)
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write everything into a .md, which otherwise has at most 25 lines
    #[arg(long, requires = "output")]
    pub full: bool,
    /// Overwrite files that exist
    #[arg(long)]
    pub force: bool,
    /// Print JSON; docs/formats/compare.schema.json describes it
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub measure: Measure,
}
