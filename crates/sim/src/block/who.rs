//! The submitter of a bio: a thread of the workload or a system task. The scheduler and the analysis of block events know it by number.

use fathom_record::block::IssuerKind;

/// A submitter as the scheduler sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Submitter(pub u16);

impl Submitter {
    /// The journal's thread.
    pub const JOURNAL: Self = Self(0);
    /// The flusher.
    pub const FLUSHER: Self = Self(1);
    /// Work between phases.
    pub const BETWEEN: Self = Self(2);

    /// A worker of a phase.
    pub fn worker(index: usize) -> Self {
        Self(u16::try_from(index + 3).unwrap_or(u16::MAX))
    }

    /// Display name.
    pub fn label(self) -> String {
        match self {
            Self::JOURNAL => "the journal".into(),
            Self::FLUSHER => "the flusher".into(),
            Self::BETWEEN => "work between phases".into(),
            Self(number) => format!("worker {}", number - 3),
        }
    }

    /// Kind of the task in the analysis of block events.
    pub(super) fn kind(self) -> IssuerKind {
        match self {
            Self::JOURNAL => IssuerKind::Journal,
            Self::FLUSHER => IssuerKind::Writeback,
            _ => IssuerKind::Own,
        }
    }
}
