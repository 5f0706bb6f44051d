//! The typed meaning of a command line, with defaults. `general` and `fileio` fill it; planner and printers read it.

use std::path::PathBuf;

/// The release that defines the meaning of a command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// 0.4: limited by requests, one pass in sequential modes.
    Old,
    /// 1.0.20: limited by time, ten seconds by default.
    #[default]
    New,
}

/// The command to execute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileioCommand {
    /// Create the files.
    Prepare,
    /// Run the test.
    #[default]
    Run,
    /// Remove the files.
    Cleanup,
}

/// Test mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// seqwr: write new files in order.
    SeqWrite,
    /// seqrewr: write existing files in order.
    SeqRewrite,
    /// seqrd: read existing files in order.
    SeqRead,
    /// rndrd: read at random offsets.
    RandomRead,
    /// rndwr: write at random offsets.
    RandomWrite,
    /// rndrw: read and write at random offsets.
    #[default]
    RandomMix,
}

impl Mode {
    /// Finds a mode by its command-line name.
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

    /// Description in the line "Doing ... test".
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

    /// Whether offsets are random.
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

/// I/O calls used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IoMode {
    /// pread and pwrite.
    #[default]
    Sync,
    /// Linux native asynchronous I/O (libaio).
    Async,
    /// Memory-mapped files.
    Mmap,
}

/// Additional open flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// O_SYNC.
    pub sync: bool,
    /// O_DSYNC.
    pub dsync: bool,
    /// O_DIRECT.
    pub direct: bool,
}

/// Parsed options.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one option of the command line")]
pub struct SysbenchOptions {
    /// Release that defines the meaning.
    pub dialect: Dialect,
    /// Command to execute.
    pub command: FileioCommand,
    /// --threads.
    pub threads: u32,
    /// --events or --max-requests; 0: no limit.
    pub events: u64,
    /// --time or --max-time; 0: no limit.
    pub time_s: u64,
    /// Seconds from the start until the run is aborted.
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
    /// --rand-seed; 0: a different seed for each run.
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
    /// Notes for the user: options without effect, and why.
    pub notes: Vec<String>,
}

impl SysbenchOptions {
    /// The defaults of a release.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        let old = dialect == Dialect::Old;
        Self {
            dialect,
            command: FileioCommand::default(),
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

    /// Size of each file's range of requests, bytes.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        self.total_bytes / u64::from(self.files.max(1))
    }

    /// Bytes of one request, including merged ones.
    #[must_use]
    pub fn request_bytes(&self) -> u64 {
        if self.merged > 0 && !self.mode.random() {
            self.block_bytes.saturating_mul(u64::from(self.merged))
        } else {
            self.block_bytes
        }
    }

    /// Number of requests between syncs of all files; 0: never.
    #[must_use]
    pub fn sync_requests(&self) -> u64 {
        if self.fsync_all || !self.mode.writes() { 0 } else { u64::from(self.fsync_freq) }
    }

    /// The calls actually used: with an fsync in every write, asynchronous I/O becomes synchronous.
    #[must_use]
    pub fn effective_io_mode(&self) -> IoMode {
        let waits = self.fsync_all && self.mode.writes();
        if waits && self.io_mode == IoMode::Async { IoMode::Sync } else { self.io_mode }
    }

    /// Whether all files are synced at the end.
    #[must_use]
    pub fn syncs_at_end(&self) -> bool {
        self.fsync_end && !self.fsync_all && self.mode.writes()
    }

    /// File name as printed by SysBench, without the directory.
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
