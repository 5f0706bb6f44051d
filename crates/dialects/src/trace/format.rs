//! The formats that can be read and written, with their command-line names.

/// An input format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TraceFormat {
    /// fathom's own event log.
    #[default]
    Own,
    /// blktrace's binary files.
    Blktrace,
    /// blkparse's default text format.
    Blkparse,
    /// The kernel's trace text (tracefs, trace-cmd report, perf script).
    Tracefs,
    /// biosnoop's table, of BCC or of bpftrace.
    Biosnoop,
    /// fio's iolog, version 2 or 3.
    Iolog,
    /// CSV of Microsoft Research Cambridge, as distributed by SNIA.
    Msr,
    /// DiskSim's ASCII format: milliseconds with a decimal point.
    DiskSim,
    /// MQSim's ASCII format: integer nanoseconds.
    MqSim,
    /// The Storage Performance Council's format, as distributed by UMass.
    Spc,
    /// Alibaba's block traces.
    Alibaba,
    /// Tencent's block traces.
    Tencent,
}

impl TraceFormat {
    /// All input formats.
    pub const ALL: [Self; 12] = [
        Self::Own,
        Self::Blktrace,
        Self::Blkparse,
        Self::Tracefs,
        Self::Biosnoop,
        Self::Iolog,
        Self::Msr,
        Self::DiskSim,
        Self::MqSim,
        Self::Spc,
        Self::Alibaba,
        Self::Tencent,
    ];

    /// Name on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Blktrace => "blktrace",
            Self::Blkparse => "blkparse",
            Self::Tracefs => "tracefs",
            Self::Biosnoop => "biosnoop",
            Self::Iolog => "iolog",
            Self::Msr => "msr",
            Self::DiskSim => "disksim",
            Self::MqSim => "mqsim",
            Self::Spc => "spc",
            Self::Alibaba => "alibaba",
            Self::Tencent => "tencent",
        }
    }

    /// Name in a sentence.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Own => "fathom's event log",
            Self::Blktrace => "blktrace's binary form",
            Self::Blkparse => "blkparse's text",
            Self::Tracefs => "the kernel's trace text",
            Self::Biosnoop => "biosnoop's table",
            Self::Iolog => "fio's iolog",
            Self::Msr => "the CSV of MSR Cambridge",
            Self::DiskSim => "DiskSim's ASCII form",
            Self::MqSim => "MQSim's ASCII form",
            Self::Spc => "the form of the Storage Performance Council",
            Self::Alibaba => "Alibaba's CSV",
            Self::Tencent => "Tencent's CSV",
        }
    }

    /// Finds a format by its command-line name.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.word() == word)
    }
}

/// An output format, by event or by request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// fathom's own event log, which is lossless.
    Own,
    /// Text as in tracefs of Linux 6.18.
    Tracefs,
    /// Text as blkparse prints it.
    Blkparse,
    /// CSV with a row per request.
    Csv,
    /// fio's iolog version 3: submitted I/O, for replay.
    Iolog,
}
