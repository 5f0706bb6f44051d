//! The command line of `fathom-mpi`: the measuring commands of `fathom`, preceded by options about ranks.

use crate::common::{Common, Conditions};
use crate::exit;
use crate::line::DropIn;
use clap::{Args, Parser, Subcommand, ValueEnum};
use fathom_workload::Layout;
use std::ffi::OsString;
use std::path::PathBuf;

/// How fast is this file system, measured from many processes on many hosts? Started by mpirun or srun
#[derive(Debug, Parser)]
#[command(
    name = "fathom-mpi",
    version,
    about,
    max_term_width = 100,
    after_help = "Examples:
  mpirun -n 16 fathom-mpi run examples/mpi/ior-easy.toml    one file per rank
  mpirun -n 16 fathom-mpi --shared strided fio job.fio      each rank has its records of one file
  srun --mpi=pmix -n 64 fathom-mpi -o page.html run ior-hard.toml
  mpirun -n 4 fathom-mpi iozone -t 4 -+m clients -s 1g -r 1m -i 0 -i 1

Every rank executes the whole command line: each group of the workload runs once per rank.
Rank 0 prints the result and stores the run. See docs/mpi.md."
)]
pub(super) struct RankLine {
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub ranks: Wishes,
    #[command(subcommand)]
    pub command: RankCommand,
}

/// What is said of ranks.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Wishes {
    /// All ranks share the same files: which part of each file a rank uses [default: separate files per rank]
    #[arg(long, value_name = "PART")]
    pub shared: Option<FileShare>,
    /// In read-only phases, read what a rank on the next host wrote
    #[arg(long)]
    pub reorder: bool,
    /// After a time limit, keep writing (not counted) until all ranks have written the same amount
    #[arg(long)]
    pub wear_out: bool,
    /// Seconds of silence after which a rank counts as dead
    #[arg(long, value_name = "SECONDS", default_value_t = 8, value_parser = clap::value_parser!(u64).range(2..=3600))]
    pub lost_after: u64,
    /// The hosts of the ranks, as elbencho takes them: a list (a,b or node[01-16]) or a file with one on each line. Where the ranks are is
    /// up to the launcher; the run is refused if the hosts differ
    #[arg(long, value_name = "LIST|FILE")]
    pub hosts: Option<String>,
    /// While a phase runs, print every second what all ranks have done so far; always on a terminal
    #[arg(long)]
    pub live: bool,
    /// Also write a page, or another form by the file's ending
    #[arg(short, long, global = true, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print the record as JSON instead of the summary
    #[arg(long, global = true)]
    pub json: bool,
}

/// A rank's part of a shared file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FileShare {
    /// All of it
    Whole,
    /// One contiguous piece per rank
    Segmented,
    /// Every Nth record, with N ranks
    Strided,
}

impl FileShare {
    pub fn layout(self) -> Layout {
        match self {
            Self::Whole => Layout::Whole,
            Self::Segmented => Layout::Segmented,
            Self::Strided => Layout::Strided,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum RankCommand {
    /// A workload file: the native format (.toml), a script of Filebench (.f), or a job file of fio (.fio)
    Run(RunRanks),
    /// IOzone's command line; with -+m, clients are ranks
    #[command(disable_help_flag = true)]
    Iozone(DropIn),
    /// SysBench's fileio test on prepared files, which all ranks share
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Sysbench(DropIn),
    /// A script of Filebench that has one run
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Filebench(DropIn),
    /// fio's job files and command lines
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Fio(DropIn),
}

#[derive(Debug, Args)]
pub(super) struct RunRanks {
    /// The workload
    pub file: PathBuf,
    #[command(flatten)]
    pub conditions: Conditions,
}

impl RankCommand {
    /// The command in the form that `fathom sweep` also parses.
    pub fn words(&self) -> Vec<OsString> {
        let drop_in = |name: &str, args: &DropIn| {
            std::iter::once(OsString::from(name)).chain(args.args.iter().cloned()).collect()
        };
        match self {
            Self::Run(run) => vec![run.file.clone().into_os_string()],
            Self::Iozone(args) => drop_in("iozone", args),
            Self::Sysbench(args) => drop_in("sysbench", args),
            Self::Filebench(args) => drop_in("filebench", args),
            Self::Fio(args) => drop_in("fio", args),
        }
    }
}

impl RankLine {
    /// The options of the run loop.
    pub fn common(&self) -> Common {
        match &self.command {
            RankCommand::Run(run) => self.common.under(&run.conditions),
            _ => self.common.clone(),
        }
    }
}

/// Parses the command line, on every rank.
pub(super) fn parse(words: &[OsString]) -> Result<RankLine, String> {
    RankLine::try_parse_from(words).map_err(|e| e.to_string())
}

/// See [`super::answer_alone`]. Of several ranks only the first prints.
pub(super) fn answer_alone(words: &[OsString]) -> Option<u8> {
    let error = RankLine::try_parse_from(words).err()?;
    const NUMBERS: [&str; 4] = ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"];
    let number = NUMBERS.iter().find_map(std::env::var_os);
    if number.is_none_or(|n| n == "0") {
        let _ = error.print();
    }
    Some(if error.use_stderr() { exit::USAGE } else { exit::DONE })
}
