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
                                   reads; FILE:FIRST-LAST limits it to these lines
  several of these with commas     all of them (with --a and --b)
With more than two sides, each is compared with the first.

The runs determine the method, the strongest possible. Runs in interleaved quads, two of each side
(`fathom sweep` makes them), get an exact test. Other runs are compared as two groups, with a
warning: drift between the sessions looks like a change. Single runs get a ratio without a verdict.
Each run counts as one value of a figure; repetitions within a run count only if each side is one
run. A verdict takes 3 quads, or 5 runs of each side.

With --run both sides are measured now: two workload files (after `--`, two command lines of
drop-ins separated by --and), or one workload under two values of a setting, or in two directories.
Quads run in random order until a change is certain, or --max-quads or --budget is reached. Every
run is stored with its position in the design: --of repeats the verdict.

Examples:
  fathom compare before after                      two labels; files work, too
  fathom compare 20261121T2105 last                two runs by id
  fathom compare mail.txt:1-120 mail.txt:121-240   two results in one text
  fathom compare --sweep last --by scheduler -o page.html
  fathom compare --run --plan old.toml new.toml
  fathom compare --run --vary scheduler=none,bfq --budget 10min workload.toml
  fathom compare --run --in /mnt/a,/mnt/b --effect 5% --calibrate workload.toml
  fathom compare --run --vary threads=1,2 -- \\
      sysbench fileio --file-test-mode=rndrd --threads={threads} run
  fathom compare --gate --threshold 2% --junit out.xml before after

Exit code: 0 done, 2 bad input; with --gate: 0 no regression, 1 a regression, 3 not enough data
to tell. With --run also 3 if a run failed, and 130 after Ctrl-C. See docs/compare.md.")]
pub struct Compare {
    /// The baseline, then the sides to compare with it
    #[arg(value_name = "SIDE", conflicts_with_all = ["a", "b", "sweep", "of"])]
    pub sides: Vec<String>,
    /// The baseline
    #[arg(long, value_name = "SIDE,...", value_delimiter = ',', requires = "b")]
    pub a: Vec<String>,
    /// The side to compare with the baseline
    #[arg(long, value_name = "SIDE,...", value_delimiter = ',', requires = "a")]
    pub b: Vec<String>,
    /// Compare the cells of a stored sweep; needs --by if it varied several settings
    #[arg(long, value_name = "ID", conflicts_with_all = ["a", "b"])]
    pub sweep: Option<String>,
    /// Repeat the verdict of a stored comparison (made with --run)
    #[arg(long, value_name = "ID", conflicts_with_all = ["a", "b", "sweep"])]
    pub of: Option<String>,
    /// The setting of the sweep whose values are the sides; the other settings define the cells
    #[arg(long, value_name = "SETTING", requires = "sweep", conflicts_with_all = NO_SWEEP)]
    pub by: Option<String>,
    /// Its value that is the baseline [default: the first one in the sweep]
    #[arg(long, value_name = "VALUE", requires = "sweep", conflicts_with_all = NO_SWEEP)]
    pub base: Option<String>,
    /// Smallest change that counts [default: 1%, or that of the stored comparison]
    #[arg(long, value_name = "SHARE")]
    pub threshold: Option<String>,
    /// Figures to compare, with commas: throughput, ops, time, p50, p99, p99.9, all, or a figure's name
    /// [default: throughput (else ops), time, and the three percentiles]
    #[arg(long, value_name = "FIGURE", value_delimiter = ',')]
    pub metric: Vec<String>,
    /// Set the exit code by whether something got worse: throughput (else operations per second, else time) of every cell, or the
    /// figures of --metric or --figure
    #[arg(long)]
    pub gate: bool,
    /// Write the gate's result for each figure as JUnit XML
    #[arg(long, value_name = "FILE", requires = "gate")]
    pub junit: Option<PathBuf>,
    /// Print the gate's results as annotations of GitHub Actions
    #[arg(long, requires = "gate")]
    pub github: bool,
    /// Also write a report: .html .md (for a ticket) .xlsx .svg (the ratios), or DIR/ for all pictures
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
