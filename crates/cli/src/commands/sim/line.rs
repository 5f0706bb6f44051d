//! Options of `fathom sim` and `fathom reproduce`, one definition each for parsing and help.

mod traces;

pub use traces::{Agree, Calibrate, Handing, LogForm, ProfileKind, Replay, ReplayMode, TraceFile};

use super::machine::{SCHEDULER, SimulatedMachine, Wanted};
use crate::exit::Usage;
use crate::line::SweepFigure;
use clap::{Args, Subcommand};
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fathom sim profiles                                     hosts, devices, schedulers, read-ahead
  fathom sim run workload.toml --device sata-7200-ncq     a workload in virtual time
  fathom sim sweep --vary scheduler=none,bfq-lite workload.toml
  fathom sim replay a.fbl --device ssd-generic            a trace on another device
  fathom sim agree a.fbl                                  do our schedulers choose like the kernel?
  fathom sim calibrate a.fbl -o sda.toml                  a device's profile from a trace")]
pub struct Sim {
    #[command(subcommand)]
    pub command: SimCommand,
}

#[derive(Debug, Subcommand)]
pub enum SimCommand {
    /// Execute a workload in virtual time
    #[command(after_help = "Examples:
  fathom sim run workload.toml --host today --device sata-7200-ncq
  fathom sim run examples/filebench/mail-server.f --device ssd-generic
  fathom sim run --host athlon-2004-linux-2.6 --device deskstar-60gxp --scheduler as \\
      --readahead ra26-shared -- sysbench --num-threads=16 --test=fileio --file-total-size=3G \\
      --file-test-mode=rndrw run
  fathom sim run --device ssd-generic -- fio --name=a --rw=randread --size=1g --direct=1

`fathom sim profiles` lists hosts, devices, schedulers and read-ahead policies. Nothing is measured:
the stored run is marked as simulated wherever it is shown (docs/simulator.md).")]
    Run(Box<RunSimulated>),
    /// Simulate a workload under every combination of settings, on all processors at once
    #[command(
        after_help = "Settings: host, device, scheduler, readahead, limits, stack; every value of the profiles as
device.KEY and host.KEY; with a native workload, those of `fathom sweep`; with a drop-in, any {NAME}
in its arguments. Separate values by commas, or by semicolons if a value contains a comma
(deadline,fifo_batch=8).

Examples:
  fathom sim sweep --vary scheduler=none,mq-deadline,kyber,bfq-lite \\
      --vary device=sata-7200-ncq,ssd-generic --figure time workload.toml
  fathom sim sweep --host athlon-2004-linux-2.6 --device deskstar-60gxp \\
      --vary 'scheduler=deadline;deadline,fifo_batch=1' \\
      --vary readahead=ra26-shared,ra26-private --rounds 6 -- \\
      sysbench --num-threads=16 --test=fileio --file-total-size=3G --file-test-mode=rndrw run
  fathom sim sweep --replay a.fbl --device smartarray-6i-h1 \\
      --vary device.layout.unit_kib=16,64,256 --vary device.layout.level=raid5,raid10

Nothing is measured. The runs are stored as a sweep: `fathom compare --sweep last` compares them."
    )]
    Sweep(Box<SweepSimulated>),
    /// Replay a block trace, or a synthetic one, through a scheduler to a device
    #[command(after_help = "Examples:
  fathom sim replay a.fbl --device sata-7200-ncq --scheduler bfq-lite
  fathom sim replay a.blktrace.0 a.blktrace.1 --mode closed --depth 64 --json
  fathom sim replay web.spc --from spc --traced 0:1 --mode open --scale 0.5 --log b.fbl
  fathom sim replay --synthetic 1000000 --device deskstar-60gxp

`fathom sim profiles` lists devices and schedulers, docs/formats/trace.md the formats of traces.")]
    Replay(Box<Replay>),
    /// Would our schedulers have chosen as the kernel of a trace did? One step at a time
    #[command(after_help = "Examples:
  fathom trace record --full -o a.fbl loop0 -- fio job.fio    more in flight than the device takes
  fathom sim agree a.fbl                                      every scheduler of today
  fathom sim agree a.fbl --scheduler mq-deadline --at-least 97

Exit code: 0, or 1 if --at-least is not reached or a merge differs. See docs/simulator.md.")]
    Agree(Agree),
    /// Fit a device's profile to part of a trace, and test it on the rest
    #[command(after_help = "Examples:
  fathom trace record -o a.fbl sda -- fathom run random-reads.toml
  fathom sim calibrate --record /mnt/data -o sda.toml       first runs and records some loads there
  fathom sim calibrate a.fbl -o sda.toml                    a time for each command and each byte
  fathom sim calibrate a.fbl -o sda.toml --kind disk --like sata-7200-ncq    a seek curve
  fathom sim replay a.fbl --device sda.toml

Exit code: 0, or 1 if --at-most is exceeded. docs/simulator.md says what is fitted and what is not.")]
    Calibrate(Calibrate),
    /// List hosts, devices, schedulers and read-ahead policies, and where their values come from
    #[command(after_help = "Examples:
  fathom sim profiles                      all of them, one per line")]
    Profiles,
}

impl Sim {
    /// Whether it stores runs.
    pub fn keeps(&self) -> bool {
        matches!(self.command, SimCommand::Run(_) | SimCommand::Sweep(_) | SimCommand::Replay(_))
    }
}

#[derive(Debug, Args)]
pub struct SweepSimulated {
    /// A setting and its values; given several times, every combination is simulated
    #[arg(long, required = true, value_name = "SETTING=A,B,...")]
    pub vary: Vec<String>,
    /// Runs of every combination, each with another seed; a verdict needs at least 6
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub rounds: u32,
    /// Simulations at once [default: the number of processors]
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Which figure the tables show
    #[arg(long, value_enum, default_value = "rate")]
    pub figure: SweepFigure,
    /// Instead of a workload: a block trace to replay in every combination
    #[arg(long, value_name = "TRACE")]
    pub replay: Vec<PathBuf>,
    #[command(flatten)]
    pub handing: Handing,
    #[command(flatten)]
    pub run: RunSimulated,
}

#[derive(Clone, Debug, Args)]
pub struct RunSimulated {
    /// A workload file, a script of Filebench (.f), or a job file of fio (.fio)
    pub file: Option<PathBuf>,
    /// Host and kernel: a name, or a file (.toml)
    #[arg(long, value_name = "NAME|FILE", default_value = "today")]
    pub host: String,
    /// Device: a name, or a file (.toml)
    #[arg(long, value_name = "NAME|FILE", default_value = "sata-7200-ncq")]
    pub device: String,
    /// I/O scheduler, with a kernel's version and tunables if wanted: deadline@2.6.6,fifo_batch=8 [default: that of the device's
    /// profile if it was recorded, else mq-deadline]
    #[arg(long, value_name = "NAME[@VERSION][,TUNABLE=N]")]
    pub scheduler: Option<String>,
    /// Read-ahead policy, optionally with tunables: modern,max=32; not with --stack nocache [default: modern, with the device's
    /// window if it was recorded]
    #[arg(long, value_name = "NAME[,TUNABLE=N]")]
    pub readahead: Option<String>,
    /// Largest request the device takes: ide-2.4, ide-2.6, scsi-2.6, cciss, loop-6.18, unknown; optionally with changed numbers:
    /// cciss,max_segments=64 (max_sectors, max_segments, max_segment_size in bytes) [default: by host and device]
    #[arg(long, value_name = "NAME[,LIMIT=N]")]
    pub limits: Option<String>,
    /// Change a value of a profile: device.layout.unit_kib=128, host.cpu.cpus=2; may be given several times
    #[arg(long, value_name = "OWNER.KEY=VALUE")]
    pub set: Vec<String>,
    /// Layers: full, or nocache (every call reaches the queue, and a sync flushes the device)
    #[arg(long, value_name = "LAYERS", default_value = Self::STACK)]
    pub stack: String,
    /// Seed instead of the workload's own
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Also write a page, or another form by the file's ending
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print the record as JSON instead of the summary
    #[arg(long)]
    pub json: bool,
    /// Instead of FILE: sysbench, iozone, filebench or fio with their arguments
    #[arg(last = true, value_name = "DROP-IN ARGS")]
    pub drop_in: Vec<OsString>,
}

impl RunSimulated {
    /// The default read-ahead policy.
    const READAHEAD: &str = "modern";
    /// The default layers.
    pub const STACK: &str = "full";

    pub fn scheduler(&self) -> &str {
        self.scheduler.as_deref().unwrap_or(SCHEDULER)
    }

    /// The same options, with the settings that were recorded of the device's queue where these options say nothing.
    pub fn on(mut self, machine: &SimulatedMachine) -> Self {
        self.scheduler = self.scheduler.or_else(|| machine.scheduler());
        if self.stack == Self::STACK {
            self.readahead = self.readahead.or_else(|| machine.readahead());
        }
        self
    }

    pub fn readahead(&self) -> &str {
        self.readahead.as_deref().unwrap_or(Self::READAHEAD)
    }

    /// Host, device and changed values.
    pub fn wanted(&self) -> Wanted<'_> {
        Wanted { host: &self.host, device: &self.device, limits: self.limits.as_deref(), set: &self.set }
    }

    /// What to execute: the file, or the words after `--`.
    pub fn words(&self) -> Result<Vec<OsString>, Usage> {
        match (&self.file, self.drop_in.is_empty()) {
            (Some(file), true) => Ok(vec![file.clone().into()]),
            (None, false) => Ok(self.drop_in.clone()),
            (Some(_), false) => {
                Err(Usage("a workload file, or a drop-in and its arguments behind --, but not both".into()))
            }
            (None, true) => Err(Usage(
                "what is to be simulated? Name a workload file, or a drop-in and its arguments behind --"
                    .into(),
            )),
        }
    }
}
