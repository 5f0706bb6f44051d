//! The command line, one definition per option for parsing and help.

mod help_options;

use crate::common::{Common, Conditions};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// How fast is this storage, did it get slower, and why?
#[derive(Debug, Parser)]
#[command(
    name = "fathom",
    version,
    about,
    max_term_width = 100,
    after_help = "Situations (GUIDE.md shows the commands for each):
  choose a disk, buy a platform     survey, compare, report, backends
  run the jobs you already have     iozone, sysbench, filebench, fio, run
  slower since an update            compare, history, trace
  check a file system               doctor, survey, run, power-cut
  tune read-ahead or a scheduler    sweep, watch, sim
  read an old log                   import, list, show, export, rm
  a gate in CI                      compare, history, report
  images and published tables       iso, mount, reproduce

Examples:
  fathom survey                          what is the storage below this directory?
  fathom survey /mnt/data -o data.html   another directory; the page's name is data.html
  fathom iozone -Ra -g 1g -b out.wks     IOzone's command line and output
  fathom sysbench fileio --file-test-mode=rndrw run   SysBench's command line and output
  fathom filebench -f varmail.f          Filebench's language and output
  fathom fio --explain job.fio           fio's job files and output
  fathom run workload.toml               a workload of your own
  fathom sweep --vary record=4KiB,64KiB -- workload.toml   what does a setting do?
  fathom list                            what was measured so far
  fathom why last                        what held it back, and what to do
  fathom compare --sweep last            is it faster, by how much, and is that more than noise?
  fathom history last                    since when is it slower, and what changed there?
  fathom import mail.txt                 results of other programs, found in any text
  fathom report last -o run.html         a page about a stored run; with two runs, also their ratio
  fathom doctor /mnt/data                what on this machine would spoil a measurement there?
  fathom backends                        which calls and flags work here, and why the others do not

Results go to stdout, progress and warnings to stderr. Every run is kept in one SQLite file
($FATHOM_STORE, else ~/.local/share/fathom/fathom.db)."
)]
pub struct Line {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// What is this storage? Measures a directory in about a minute; prints a summary, writes a page
    Survey(Survey),
    /// Run a workload file: the native format (.toml), a script of Filebench (.f), or a job file of fio (.fio)
    Run(RunFile),
    /// IOzone's command line and IOzone's output (`fathom iozone -h` lists its options)
    #[command(disable_help_flag = true)]
    Iozone(DropIn),
    /// SysBench's fileio test: its command line, its output (`fathom sysbench --help` lists the options)
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Sysbench(DropIn),
    /// Filebench's scripts and Filebench's output (`fathom filebench -h` lists its options)
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Filebench(DropIn),
    /// fio's job files and command lines, its output (`fathom fio --help` lists the options)
    #[command(disable_help_flag = true, disable_version_flag = true)]
    Fio(DropIn),
    /// One workload under every combination of settings: random, interleaved order, everything put back
    Sweep(Sweep),
    /// What reaches a device now: rates, latencies, sizes, queue depth, issuers
    ///
    /// Draws a live picture on a terminal, and prints one row per interval elsewhere. Only root sees single requests; other users see
    /// the device's counters.
    #[command(after_help = "Examples:
  fathom watch                    the device below the working directory
  fathom watch /mnt/data          the device below that path
  fathom watch nvme0n1 --queue    that device, with merges and time in the queue (root)
  fathom watch sda --json --count 60 > minute.jsonl")]
    Watch(WatchDevice),
    /// Did it get slower? Compares two sets of runs figure by figure; the exit code is for CI
    Compare(Box<crate::commands::compare::line::Compare>),
    /// When did it get slower, and what changed there? A workload's figures through all of its runs
    History(crate::commands::history::line::History),
    /// Import results of other programs: IOzone, SysBench, Filebench, fio, dd, time, iostat, dtrace, tables
    #[command(
        after_help = "Every result found in a text is stored as a run; the text around it may be anything, such as an
e-mail. Lines that look like figures but were not understood are reported; prose is only counted.

Examples:
  fathom import iozone.log sheet.wks results.json
  fathom import --dry-run --verbose mail.txt     what it holds, and which lines were skipped
  fio --output-format=json job.fio | fathom import -

Exit code: 0 something was imported, 2 a file holds no known format. See docs/import.md."
    )]
    Import(Import),
    /// Write a report on stored runs: HTML page, xlsx, Markdown, SVG, JSON, CSV, Parquet or Prometheus text, by the file's ending
    Report(Report),
    /// List the stored runs
    List(List),
    /// Show a stored run on the terminal; several runs: their parallel streams in one table
    Show(Show),
    /// Why is it not faster? What held a stored run back, where the time went, what to do
    ///
    /// Explains one phase: the longest, or the one you name. If a setting or a limit held it back, that is the answer; otherwise the
    /// layer in which most of the time was spent.
    Why(Why),
    /// Print a stored run as JSON or CSV
    Export(Export),
    /// Remove stored runs
    Rm(Rm),
    /// What on this machine would spoil a measurement at a path, and how to fix it
    ///
    /// Checks the file system and its free space, the devices below it, other load, power saving and heat, memory and write-back,
    /// limits, and what this user can observe. Takes about a second, only reads the kernel's files and changes nothing.
    Doctor(Doctor),
    /// Which calls and flags work here, and why the others do not
    ///
    /// A back-end is a way of submitting I/O to the kernel; a workload names one with `backend = ...`. Which of them work, and with
    /// which flags, depends on the kernel, on what this user or container may do, on the file system and on the device. So each one
    /// is tried, on an unnamed temporary file in DIR.
    Backends(Backends),
    /// Does storage keep what it has acknowledged when the power fails? Writes before the cut, checks after it
    PowerCut(crate::commands::power_cut::options::PowerCut),
    /// Block traces: record what reaches a device, summarise it, convert it to other formats
    Trace(crate::commands::trace::options::Trace),
    /// ISO 9660 images: list, read, check and unpack them without mounting
    Iso(crate::commands::iso::options::Iso),
    /// Mount an ISO 9660 image (FUSE)
    Mount(Box<crate::commands::mount::options::Mount>),
    /// Simulate a workload in virtual time: another kernel, scheduler, read-ahead or device
    Sim(crate::commands::sim::line::Sim),
    /// Compare a published table with our results; exit code 0 if every stated tolerance holds
    Reproduce(crate::commands::reproduce::Reproduce),
    /// Print a shell's completion script
    Completions(crate::commands::completions::Completions),
    /// Manual pages of the commands, for packages
    #[command(hide = true)]
    ManPages(crate::commands::completions::ManPages),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom survey                      this directory, in about a minute
  fathom survey --quick /mnt/usb     the same in 15 seconds
  fathom survey --quick --line       its main figures on one line
  fathom survey --thorough           ten minutes: a long write, and more repetitions
  fathom survey /dev/sdb             a whole device, read only
  fathom survey --json > here.json   figures, findings and verdicts for a program

It writes at most 2 GiB (--quick 1 GiB, --thorough 64 GiB), and removes its files.
docs/survey.md lists what is measured and the thresholds of the verdicts.")]
pub struct Survey {
    /// Directory to measure, in a temporary subdirectory; or a block device, which is only read
    #[arg(default_value = ".", value_name = "DIR|DEVICE")]
    pub dir: PathBuf,
    /// Where to write the page [default: fathom-RUN.html in the working directory]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Shorter, with fewer repetitions: about 15 seconds
    #[arg(long, conflicts_with = "thorough")]
    pub quick: bool,
    /// Longer, with a long write and more repetitions: about ten minutes
    #[arg(long)]
    pub thorough: bool,
    /// Measure every cell of the surfaces twice, nothing else, and say how well sampling would have done
    #[arg(long, hide = true, conflicts_with_all = ["thorough", "json", "output"])]
    pub dense: bool,
    /// Seed of the random choices
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Print JSON; docs/formats/survey.schema.json describes it
    #[arg(long)]
    pub json: bool,
    /// Print the main figures on one line, for a chat or a script; no page, unless -o names one
    #[arg(long, conflicts_with_all = ["json", "dense"])]
    pub line: bool,
    #[command(flatten)]
    pub conditions: Conditions,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom run workload.toml                   your own workload; examples/ has some
  fathom run --plan workload.toml            only check it, and say what would be done
  fathom run --cold varmail.f -o run.html    a script of Filebench from a cold cache, and a page
  fathom run --json - < job.toml             from stdin; the whole record as JSON")]
pub struct RunFile {
    /// The workload; - reads stdin
    pub file: PathBuf,
    /// Only check the workload and print what would be executed
    #[arg(long)]
    pub plan: bool,
    /// Also write a page, or another form by the file's ending
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print the record as JSON instead of the summary
    #[arg(long)]
    pub json: bool,
    /// DEVICE may be written: a block device that the workload names. Its contents are lost
    ///
    /// Devices in use are refused all the same. Devices in FATHOM_ALLOW_WRITE may be written, too.
    #[arg(long, value_name = "DEVICE")]
    pub allow_write: Vec<PathBuf>,
    #[command(flatten)]
    pub conditions: Conditions,
}

#[derive(Debug, Args)]
pub struct WatchDevice {
    /// A path on the device, or the device: /mnt/data, sda, /dev/sda [default: the working directory]
    #[arg(value_name = "PATH|DEVICE")]
    pub target: Option<PathBuf>,
    /// Length of each interval
    #[arg(short, long, default_value = "1s", value_parser = interval)]
    pub interval: Interval,
    /// Stop after N intervals
    #[arg(short = 'n', long, value_name = "N")]
    pub count: Option<u64>,
    /// Print one line of JSON per interval and device
    #[arg(long)]
    pub json: bool,
    /// Print rows, also on a terminal
    #[arg(long, conflicts_with = "json")]
    pub plain: bool,
    /// Also watch queueing and merges (root; a few more events per request)
    #[arg(long)]
    pub queue: bool,
    /// Use only the device's counters, even where events are available
    #[arg(long, conflicts_with = "queue")]
    pub counters: bool,
}

/// A time on the command line.
#[derive(Clone, Copy, Debug)]
pub struct Interval(fathom_workload::Duration);

impl Interval {
    pub fn as_duration(self) -> std::time::Duration {
        std::time::Duration::from_nanos(self.0.0)
    }
}

fn interval(text: &str) -> Result<Interval, String> {
    text.parse().map(Interval)
}

#[derive(Debug, Args)]
pub struct DropIn {
    /// Arguments of the original program
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub args: Vec<OsString>,
}

#[derive(Debug, Args)]
#[command(after_help = "Settings:
  scheduler, nr_requests, iosched/TUNABLE, max_sectors_kb, nomerges, rq_affinity, wbt_lat_usec,
  read_ahead_kb            of the device below the measured directory, or of the one named by --on
  vm.dirty_ratio, vm.dirty_bytes, vm.dirty_background_ratio, vm.dirty_background_bytes,
  vm.dirty_expire_centisecs, vm.dirty_writeback_centisecs, vm.vfs_cache_pressure, vm.swappiness
  fs, mkfs, mount          a file system that fathom makes on a loop device: fs=ext4,xfs,btrfs
                           mkfs='-b 1024;-b 4096'  mount='noatime;noatime,data=writeback'
  record, file_size, queue_depth, threads, backend, direct, cache, time, rate, workload.PATH
                           of a native workload file
  ANYTHING                 replaces {ANYTHING} in the arguments of a drop-in

Separate values by commas, or by semicolons if a value contains a comma. A setting with one value
is set for all runs. `present` is the value found at the start.

Examples:
  fathom sweep --plan --vary read_ahead_kb=0,128 -- workload.toml
  fathom sweep --vary scheduler=none,mq-deadline,kyber,bfq --vary read_ahead_kb=0,128 \\
      --figure time -- sysbench fileio --file-test-mode=rndrw --num-threads=16 run
  fathom sweep --vary fs=ext4,xfs --image-in /data -o fs.html -- iozone -e -i 0 -s 64m -r 64k
  fathom sweep --vary threads=1,4,16 -- \\
      sysbench fileio --file-test-mode=rndrd --threads={threads} run

Every changed setting is restored however the sweep ends, even after SIGKILL (docs/sweep.md).")]
pub struct Sweep {
    /// A setting and its values; given several times, every combination is measured
    #[arg(long, required = true, value_name = "SETTING=A,B,...")]
    pub vary: Vec<String>,
    /// Runs of every combination; a verdict needs at least 6
    #[arg(long, value_name = "N", default_value_t = 6)]
    pub rounds: u32,
    /// Seed of the order
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Start no round that would exceed this time: 90s, 30min, 2h
    #[arg(long, value_name = "TIME")]
    pub budget: Option<String>,
    /// Which figure the tables show
    #[arg(long, value_enum, default_value = "rate")]
    pub figure: SweepFigure,
    #[command(flatten)]
    pub conditions: Conditions,
    /// Wait this long before every run, once the device is idle
    #[arg(long, value_name = "TIME", default_value = "0s")]
    pub settle: String,
    /// Directory or block device whose settings are changed [default: where the workload's files are]
    #[arg(long, value_name = "PATH")]
    pub on: Option<PathBuf>,
    /// With fs=...: directory for the image of the loop device [default: the working directory]
    #[arg(long, value_name = "DIR")]
    pub image_in: Option<PathBuf>,
    /// Size of that image [default: 2GiB]
    #[arg(long, value_name = "SIZE")]
    pub image_size: Option<String>,
    /// Only check everything and print what would be done
    #[arg(long)]
    pub plan: bool,
    /// Also write a report: .html .md .xlsx .svg, or DIR/ for all pictures
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print JSON instead of the tables
    #[arg(long)]
    pub json: bool,
    /// A workload file, or a drop-in and its arguments: sysbench, iozone, filebench, fio
    #[arg(required = true, last = true, value_name = "FILE | DROP-IN ARGS")]
    pub workload: Vec<OsString>,
}

/// What the tables of a sweep show.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SweepFigure {
    /// Bytes per second; operations per second where no file data is moved
    Rate,
    /// Operations per second
    Ops,
    /// Seconds that a phase took
    Time,
    /// Median latency
    P50,
    /// 99th percentile of latency
    P99,
    /// 99.9th percentile of latency
    P999,
    /// Longest latency
    Max,
}

#[derive(Debug, Args)]
pub struct Import {
    /// Files; - reads stdin
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Label of all imported runs [default: taken from the text around each]
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
    /// Only results of this program
    #[arg(long = "as", value_name = "KIND")]
    pub kind: Option<ImportKind>,
    /// Meaning of the columns of hand-written tables [default: guessed from their headings, and reported]
    #[arg(long, value_name = "WHAT")]
    pub columns: Option<ImportColumns>,
    /// Print what was found, store nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Also list lines of prose and all lines that look like figures but were not understood
    #[arg(short, long)]
    pub verbose: bool,
}

/// What the columns of a table are.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ImportColumns {
    /// One system each: runs with different names
    Systems,
    /// Repeated measurements of one system: runs with one name
    Repeats,
}

/// Programs whose outputs can be imported.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ImportKind {
    /// Logs, reports and worksheets of any release
    Iozone,
    /// The fileio test, 0.4 to 1.1
    Sysbench,
    /// 1.0 to 1.5, also files of `stats dump`
    Filebench,
    /// JSON, JSON+, terse, normal, logs
    Fio,
    /// Requests and statistics of ioping
    Ioping,
    /// Tables of bonnie++ and its line of CSV
    #[value(name = "bonnie++")]
    Bonnie,
    /// Metrics of stress-ng
    StressNg,
    /// Results of dbench
    Dbench,
    /// The fio table of YABS
    Yabs,
    /// CrystalDiskMark and KDiskMark
    #[value(name = "diskmark")]
    DiskMark,
    /// Reports and progress of pgbench
    Pgbench,
    /// Tables and CSV of elbencho
    Elbencho,
    /// Summaries of vdbench, raw devices and file systems
    Vdbench,
    /// composite.xml of the Phoronix Test Suite
    Phoronix,
    /// dd, also under time
    Dd,
    /// Commands under the time of a shell or of GNU
    Time,
    /// iostat of Linux and Solaris
    Iostat,
    /// sar in any language, and sadf -d, -p, -j
    Sar,
    /// The JSON, CSV and Markdown that hyperfine exports
    Hyperfine,
    /// Comparison tables of the btrfs project's fsperf
    Fsperf,
    /// Comparison tables of mmtests
    Mmtests,
    /// Aggregations and distributions
    Dtrace,
    /// Hand-written tables
    Table,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom report last                              the page of the newest run, fathom-RUN.html
  fathom report 20261121T2105 last -o both.html   two runs side by side, with their ratio
  fathom report last -o run.xlsx                  tables and charts; IOzone's sheets for IOzone
  fathom report last -o run.md                    25 lines for a ticket; --full writes everything
  fathom report last -o run.svg                   the main picture; -o pictures/ writes all
  fathom report last -o metrics.prom              for the node exporter's text files")]
pub struct Report {
    /// Runs by id, by the beginning of an id, or "last"
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    /// File to write, with the format by its ending: .html .xlsx .md .svg (one picture) .json .csv .parquet .prom; .folded (flame
    /// graph) and .perfetto.json for where the slowest calls waited; or DIR/ for all pictures [default: fathom-RUN.html, RUN being
    /// the first of them]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write everything into a .md, which otherwise has at most 25 lines
    #[arg(long)]
    pub full: bool,
    /// Overwrite the file if it exists
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom list                      all runs, the newest first
  fathom list -n 10                the ten newest
  fathom list --json --limit 1     for a program")]
pub struct List {
    /// Only the newest N runs
    #[arg(short = 'n', long, value_name = "N")]
    pub limit: Option<usize>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom show                      the newest run on a page of text
  fathom show 20261121T2105        another one, by the beginning of its id
  fathom show --original last      in the format of the program, such as IOzone's table
  fathom show --block last         what reached the devices, in detail
  fathom show --stacks last        where the slowest calls waited in the kernel")]
pub struct Show {
    /// Runs by id, by the beginning of an id, or "last"
    #[arg(default_value = "last", value_name = "RUN")]
    pub runs: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Print it in the original program's format (IOzone's table)
    #[arg(long, conflicts_with = "json")]
    pub original: bool,
    /// Print in detail what reached the block devices: requests, distributions of sizes, distances and times, iostat-like
    /// intervals, findings with their evidence
    #[arg(long, conflicts_with_all = ["json", "original"])]
    pub block: bool,
    /// Print where in the kernel the slowest hundredth of the calls waited, by stack (of runs with --observe full)
    #[arg(long, conflicts_with_all = ["json", "original", "block"])]
    pub stacks: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom why                     the newest run
  fathom why /mnt/data           the newest run that was measured there
  fathom why last --phase read   another of its phases
  fathom why --json last         the same with all evidence, for programs")]
pub struct Why {
    /// A run: its id, the beginning of an id, or "last"; or a path (with a /), for the newest run at or below it
    #[arg(default_value = "last", value_name = "RUN|PATH")]
    pub run: String,
    /// The phase, by its name or the beginning of its title
    #[arg(long, value_name = "NAME")]
    pub phase: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom export > run.json                       the newest run, complete
  fathom export --format csv last > run.csv      one observation per row
  fathom export --format findings last           the findings, with their evidence")]
pub struct Export {
    /// Runs by id, by the beginning of an id, or "last"
    #[arg(default_value = "last", value_name = "RUN")]
    pub runs: Vec<String>,
    /// Format of the output
    #[arg(long, default_value = "json")]
    pub format: ExportFormat,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ExportFormat {
    /// One complete JSON document per run
    Json,
    /// Tidy table: one observation per row
    Csv,
    /// Tidy table of the intervals: rates and latencies over time
    Intervals,
    /// Tidy table of the operations of flows, by worker
    Operations,
    /// Tidy table of what reached the block devices, by class of request
    Requests,
    /// Tidy table of the sizes of requests to the block devices
    Sizes,
    /// Tidy table of the devices over time, with iostat's columns
    Iostat,
    /// Tidy table of the findings, with the figures that prove them
    Findings,
    /// Tidy table of every figure in base units: rates and percentiles of measured runs, all printed figures of imported runs
    Figures,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom rm last                   the newest run
  fathom rm 20261121T2105 20261121T2114")]
pub struct Rm {
    /// Runs by id, by the beginning of an id, or "last"
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "States:
  works    it was tried and works
  lacks    it was tried and refused; the text says by what, and what helps
  unknown  it could not be tried here

A workload that needs something this machine lacks is refused before it starts, with the same
reason. If only the file system refuses it, the first operation fails and ends the run.
The back-end null makes no calls, so there is nothing to try.

Examples:
  fathom backends                        with files in the working directory
  fathom backends /mnt/data              the file system you want to measure
  fathom backends --json                 for scripts: backend, feature, state, sentence")]
pub struct Backends {
    /// Directory whose file system and device are tried
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Severities:
  error    a measurement here fails, or does not measure storage
  warning  results would be biased or scattered
  notice   it affects results: keep it the same in everything you compare
  unknown  it could not be read, by this user or at all
  good     it was checked and is as it should be

Exit code: 0 nothing worse than a notice, 1 an error or a warning, 2 PATH does not exist.
`fathom backends` tries which calls and flags work at a path.

Examples:
  fathom doctor                          the working directory
  fathom doctor /mnt/data --all          also what is good, and where each value was read
  fathom doctor --json                   for scripts; docs/doctor.md describes it")]
pub struct Doctor {
    /// File or directory to be measured
    #[arg(default_value = ".", value_name = "PATH")]
    pub path: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Also list what is good and what is unknown, and the file each was read from
    #[arg(long, conflicts_with = "json")]
    pub all: bool,
}

#[cfg(test)]
mod examples;
