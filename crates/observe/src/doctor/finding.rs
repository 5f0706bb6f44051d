//! A finding of the doctor: a sentence with its figures, the severity, a remedy, and the file it was read from.

use serde::Serialize;

/// Severity, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A measurement here fails, or measures something other than storage.
    Error,
    /// A measurement here would be biased or scattered.
    Warning,
    /// Changes results without invalidating them: keep it the same in all runs that are compared.
    Notice,
    /// The state could not be determined.
    Unknown,
    /// Examined and in order.
    Good,
}

impl Severity {
    /// Its name in reports.
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

    /// Whether it would invalidate a measurement.
    #[must_use]
    pub fn spoils(self) -> bool {
        matches!(self, Self::Error | Self::Warning)
    }
}

/// Subject of a finding, in report order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Subject {
    /// The directory: file system, mount, space.
    Place,
    /// The block devices below it.
    Device,
    /// Other activity on the machine.
    Load,
    /// Processors: power, heat, clock, hypervisor.
    Processor,
    /// Main memory and write-back.
    Memory,
    /// Resource limits of this process.
    Limits,
    /// Which means of observation are available.
    Observation,
}

impl Subject {
    /// Its name in reports.
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

/// A figure in a finding's sentence.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Name: "used", "steal".
    pub name: &'static str,
    /// In `unit`.
    pub value: f64,
    /// "bytes", "ratio", "%" or "ms".
    pub unit: &'static str,
}

/// The result of examining one thing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Stable code such as "space-fill", listed in docs/doctor.md.
    pub code: &'static str,
    /// The area it belongs to.
    pub subject: Subject,
    /// How much it affects a measurement.
    pub severity: Severity,
    /// For people: the observation, with its figures.
    pub sentence: String,
    /// What to do about it; empty if there is nothing to do.
    pub remedy: String,
    /// A command for the remedy or its first step; empty if there is none.
    pub command: String,
    /// The file it was read from.
    pub source: String,
    /// Whether missing rights hide the state (only with [`Severity::Unknown`]).
    pub forbidden: bool,
    /// The figures of the sentence.
    pub figures: Vec<Figure>,
}

impl Finding {
    /// The subject is that of the check, set by the caller.
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

    /// The machine does not show it. `what` completes "not told here: ".
    pub(super) fn unknown(code: &'static str, source: &str, what: impl Into<String>) -> Self {
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
