//! What the doctor says: one sentence with the figures it rests on, how bad it is, what to do, and the file it was read from.

use serde::Serialize;

/// How bad it is, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A measurement here fails, or measures something else than storage.
    Error,
    /// A measurement here would be biased or scattered.
    Warning,
    /// It changes results without spoiling them: keep it the same in everything that is compared.
    Notice,
    /// It could not be seen.
    Unknown,
    /// It was looked at and is as it should be.
    Good,
}

impl Severity {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Notice => "notice",
            Self::Unknown => "unknown",
            Self::Good => "good",
        }
    }

    /// Whether a measurement would be spoilt.
    #[must_use]
    pub fn spoils(self) -> bool {
        matches!(self, Self::Error | Self::Warning)
    }
}

/// What a finding is about, in the order of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Subject {
    /// The directory: file system, mount, space.
    Place,
    /// The block devices below it.
    Device,
    /// What else the machine is doing.
    Load,
    /// Processors: power, heat, clock, hypervisor.
    Processor,
    /// Main memory and write-back.
    Memory,
    /// What this process may use.
    Limits,
    /// What of a run can be observed.
    Observation,
}

impl Subject {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Place => "place",
            Self::Device => "device",
            Self::Load => "load",
            Self::Processor => "processor",
            Self::Memory => "memory",
            Self::Limits => "limits",
            Self::Observation => "observation",
        }
    }
}

/// A figure that a finding rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// What it is: "used", "steal".
    pub name: &'static str,
    /// The figure.
    pub value: f64,
    /// Its unit: "bytes", "ratio", "%", "ms".
    pub unit: &'static str,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Stable word: "space-fill". docs/doctor.md has the list.
    pub code: &'static str,
    /// What it is about.
    pub subject: Subject,
    /// How bad it is.
    pub severity: Severity,
    /// For a person: what was found, with its figures.
    pub sentence: String,
    /// What to do about it; empty where there is nothing to be done.
    pub remedy: String,
    /// A command that does it, or the first step of it; empty where there is none.
    pub command: String,
    /// The file it was read from.
    pub source: String,
    /// Whether the user's rights are what hides it (only with [`Severity::Unknown`]).
    pub forbidden: bool,
    /// The figures of the sentence.
    pub figures: Vec<Figure>,
}

impl Finding {
    /// The subject is its check's and is set where the check is called.
    fn new(severity: Severity, code: &'static str, source: &str, sentence: impl Into<String>) -> Self {
        Self {
            code,
            subject: Subject::Place,
            severity,
            sentence: sentence.into(),
            remedy: String::new(),
            command: String::new(),
            source: source.into(),
            forbidden: false,
            figures: Vec::new(),
        }
    }

    pub(super) fn error(code: &'static str, source: &str, sentence: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, source, sentence)
    }

    pub(super) fn warning(code: &'static str, source: &str, sentence: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, source, sentence)
    }

    pub(super) fn notice(code: &'static str, source: &str, sentence: impl Into<String>) -> Self {
        Self::new(Severity::Notice, code, source, sentence)
    }

    pub(super) fn good(code: &'static str, source: &str, sentence: impl Into<String>) -> Self {
        Self::new(Severity::Good, code, source, sentence)
    }

    /// This machine does not tell. `what` completes "not told here: ".
    pub(super) fn untold(code: &'static str, source: &str, what: impl Into<String>) -> Self {
        Self::new(Severity::Unknown, code, source, what)
    }

    /// This user may not see it. `what` completes "hidden from this user: ".
    pub(super) fn forbidden(code: &'static str, source: &str, what: impl Into<String>) -> Self {
        Self { forbidden: true, ..Self::new(Severity::Unknown, code, source, what) }
    }

    pub(super) fn figure(mut self, name: &'static str, value: f64, unit: &'static str) -> Self {
        self.figures.push(Figure { name, value, unit });
        self
    }

    pub(super) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = remedy.into();
        self
    }

    pub(super) fn command(mut self, command: impl Into<String>) -> Self {
        self.command = command.into();
        self
    }
}
