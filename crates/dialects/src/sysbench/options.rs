//! What a command line means: typed, with defaults. Filled by `general` and `fileio`, read by the planner and the printers.

use std::path::PathBuf;

/// Whose meaning a command line has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// 0.4: requests are counted, one pass in sequential modes.
    Old,
    /// 1.0.20: events are counted, ten seconds.
    #[default]
    New,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Command {
    /// Make the files.
    Prepare,
    /// Measure.
    #[default]
    Run,
    /// Remove the files.
    Cleanup,
}

/// What a run does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// seqwr: write new files in order.
    SeqWrite,
    /// seqrewr: write existing files in order.
    SeqRewrite,
    /// seqrd: read in order.
    SeqRead,
    /// rndrd: read anywhere.
    RandomRead,
    /// rndwr: write anywhere.
    RandomWrite,
    /// rndrw: both.
    #[default]
    RandomMix,
}

impl Mode {
    /// By its name on the command line.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "seqwr" => Self::SeqWrite,
            "seqrewr" => Self::SeqRewrite,
            "seqrd" => Self::SeqRead,
            "rndrd" => Self::RandomRead,
            "rndwr" => Self::RandomWrite,
            "rndrw" => Self::RandomMix,
            _ => return None,
        })
    }

    /// The words of the line "Doing ... test".
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::SeqWrite => "sequential write (creation)",
            Self::SeqRewrite => "sequential rewrite",
            Self::SeqRead => "sequential read",
            Self::RandomRead => "random read",
            Self::RandomWrite => "random write",
            Self::RandomMix => "random r/w",
        }
    }

    /// Whether offsets are drawn.
    #[must_use]
    pub fn random(self) -> bool {
        matches!(self, Self::RandomRead | Self::RandomWrite | Self::RandomMix)
    }

    /// Whether anything is written.
    #[must_use]
    pub fn writes(self) -> bool {
        !matches!(self, Self::SeqRead | Self::RandomRead)
    }
}

/// By which calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IoMode {
    /// pread and pwrite.
    #[default]
    Sync,
    /// Linux native asynchronous I/O.
    Async,
    /// Mapped files.
    Mmap,
}

/// Further flags of open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// O_SYNC.
    pub sync: bool,
    /// O_DSYNC.
    pub dsync: bool,
    /// O_DIRECT.
    pub direct: bool,
}

/// The typed options.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one option of the command line")]
pub struct Options {
    /// Whose meaning.
    pub dialect: Dialect,
    /// What is to be done.
    pub command: Command,
    /// --threads.
    pub threads: u32,
    /// --events or --max-requests; 0: no limit.
    pub events: u64,
    /// --time or --max-time; 0: no limit.
    pub time_s: u64,
    /// Seconds from the start until the run is ended by force.
    pub forced_shutdown_s: Option<u64>,
    /// --rate or --tx-rate; 0: no limit.
    pub rate: u32,
    /// --report-interval; 0: none.
    pub report_interval_s: u64,
    /// --report-checkpoints, ascending.
    pub checkpoints_s: Vec<u64>,
    /// --validate.
    pub validate: bool,
    /// --verbosity.
    pub verbosity: u8,
    /// --percentile; 0: none.
    pub percentile: u8,
    /// --histogram.
    pub histogram: bool,
    /// --rand-seed; 0: another one every time.
    pub rand_seed: i32,
    /// 0.4: --init-rng.
    pub init_rng: bool,
    /// 0.4: --seed-rng.
    pub seed_rng: i32,
    /// --file-num.
    pub files: u32,
    /// --file-block-size.
    pub block_bytes: u64,
    /// --file-total-size.
    pub total_bytes: u64,
    /// --file-test-mode.
    pub mode: Mode,
    /// --file-io-mode.
    pub io_mode: IoMode,
    /// --file-async-backlog.
    pub backlog: u32,
    /// --file-extra-flags.
    pub flags: Flags,
    /// --file-fsync-freq.
    pub fsync_freq: u32,
    /// --file-fsync-all.
    pub fsync_all: bool,
    /// --file-fsync-end.
    pub fsync_end: bool,
    /// --file-fsync-mode=fdatasync.
    pub data_only: bool,
    /// --file-merged-requests.
    pub merged: u32,
    /// --file-rw-ratio.
    pub rw_ratio: f64,
    /// --file-path.
    pub path: PathBuf,
    /// --file-replace.
    pub replace: bool,
    /// --file-cold.
    pub cold: bool,
    /// What a person should know: options that change nothing here, and why.
    pub notes: Vec<String>,
}

impl Options {
    /// Everything as it is when nothing is said.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        let old = dialect == Dialect::Old;
        Self {
            dialect,
            command: Command::default(),
            threads: 1,
            events: if old { 10_000 } else { 0 },
            time_s: if old { 0 } else { 10 },
            forced_shutdown_s: None,
            rate: 0,
            report_interval_s: 0,
            checkpoints_s: Vec::new(),
            validate: false,
            verbosity: if old { 4 } else { 3 },
            percentile: 95,
            histogram: false,
            rand_seed: 0,
            init_rng: false,
            seed_rng: 0,
            files: 128,
            block_bytes: 16384,
            total_bytes: 2 << 30,
            mode: Mode::default(),
            io_mode: IoMode::default(),
            backlog: 128,
            flags: Flags::default(),
            fsync_freq: 100,
            fsync_all: false,
            fsync_end: true,
            data_only: false,
            merged: 0,
            rw_ratio: 1.5,
            path: PathBuf::new(),
            replace: false,
            cold: false,
            notes: Vec::new(),
        }
    }

    /// Bytes of each file that requests go to.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        self.total_bytes / u64::from(self.files.max(1))
    }

    /// Bytes of one request.
    #[must_use]
    pub fn request_bytes(&self) -> u64 {
        if self.merged > 0 && !self.mode.random() {
            self.block_bytes.saturating_mul(u64::from(self.merged))
        } else {
            self.block_bytes
        }
    }

    /// Requests after which all files are synced; 0: never.
    #[must_use]
    pub fn sync_requests(&self) -> u64 {
        if self.fsync_all || !self.mode.writes() { 0 } else { u64::from(self.fsync_freq) }
    }

    /// The calls that are made: a write whose fsync is part of it leaves nothing asynchronous.
    #[must_use]
    pub fn effective_io_mode(&self) -> IoMode {
        let waits = self.fsync_all && self.mode.writes();
        if waits && self.io_mode == IoMode::Async { IoMode::Sync } else { self.io_mode }
    }

    /// Whether everything is synced at the end.
    #[must_use]
    pub fn syncs_at_end(&self) -> bool {
        self.fsync_end && !self.fsync_all && self.mode.writes()
    }

    /// Name of a file as SysBench says it: without the directory.
    #[must_use]
    pub fn file_name(number: u64) -> String {
        format!("test_file.{number}")
    }

    /// Path of a file.
    #[must_use]
    pub fn file(&self, number: u64) -> PathBuf {
        self.path.join(Self::file_name(number))
    }
}
