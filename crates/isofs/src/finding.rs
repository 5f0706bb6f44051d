//! Defects of an image that did not stop the reader: condition, position, and a sentence. Every directory listing and every opened volume
//! carries its findings; `check` gathers them all. The H numbers refer to the catalogue of hostile inputs, which the tests cover one by
//! one.

use crate::error::Place;
use std::fmt;

/// Kinds of defects that the reader detects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Condition {
    /// H1: continuation areas in a ring, or more than 32 of them for one record.
    ContinuationLoop,
    /// H2: a continuation area beyond the image, or more than 64 KiB of them for one record.
    ContinuationRange,
    /// H4, H5: a directory that is its own ancestor.
    DirectoryLoop,
    /// H6: one directory reached by several paths.
    DirectoryShared,
    /// H7, H19: an invalid file name; it is shown escaped.
    UnsafeName,
    /// H8: a directory record that contradicts itself; the rest of its sector was skipped.
    BadRecord,
    /// H8: a complete record that crosses a sector border.
    RecordAcrossSectors,
    /// H9: a directory longer than the image or than the limit.
    DirectoryLength,
    /// H10: data beyond the end of the image.
    BeyondImage,
    /// H11: the little-endian and big-endian copies of a number differ.
    HalvesDiffer,
    /// H12: an interleaved file with only one of unit and gap.
    Interleave,
    /// H14: sections of a file that do not end, or end inside a block.
    Sections,
    /// H15: volume descriptors without an end.
    Descriptors,
    /// H18: compressed data with contradictory headers.
    Compression,
    /// H20: a root record that had to be corrected.
    Root,
    /// H21: a date that does not exist.
    Date,
    /// H22: names, links or depth beyond the limits.
    TooLong,
    /// H23: several entries with one name; all but one were renamed.
    DuplicateName,
    /// Serial numbers that are all 0 and so identify no file.
    SerialNumbers,
    /// Invalid system use entries.
    SystemUse,
    /// A file whose data is on another volume of the set.
    OtherVolume,
    /// An invalid extended attribute record.
    ExtendedAttributes,
    /// A path table that disagrees with the directories.
    PathTable,
    /// An unreadable boot record or boot catalogue.
    Boot,
}

impl Condition {
    /// Its number in the catalogue of hostile inputs; "-" if it has none.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::ContinuationLoop => "H1",
            Self::ContinuationRange => "H2",
            Self::DirectoryLoop => "H4",
            Self::DirectoryShared => "H6",
            Self::UnsafeName => "H7",
            Self::BadRecord | Self::RecordAcrossSectors => "H8",
            Self::DirectoryLength => "H9",
            Self::BeyondImage => "H10",
            Self::HalvesDiffer => "H11",
            Self::Interleave => "H12",
            Self::ExtendedAttributes => "H13",
            Self::Sections => "H14",
            Self::Descriptors => "H15",
            Self::Compression => "H18",
            Self::Root => "H20",
            Self::Date => "H21",
            Self::TooLong => "H22",
            Self::DuplicateName => "H23",
            Self::SerialNumbers | Self::SystemUse | Self::OtherVolume | Self::PathTable | Self::Boot => "-",
        }
    }
}

/// A defect of the image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Kind of defect.
    pub condition: Condition,
    /// Position on the disc.
    pub at: Place,
    /// What was found, and how it was handled.
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} [{}]", self.at, self.what, self.condition.id())
    }
}

/// Findings of one listing or one volume. Bounded, because a directory may have a million broken records. The first of each condition is
/// always kept, so that one frequent kind does not hide the others.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    kept: Vec<Finding>,
    unkept: u64,
    /// A bit for each condition among those kept.
    seen: u32,
}

impl Findings {
    /// Number kept, besides the first of each condition; further ones are only counted.
    pub const KEPT: usize = 1000;

    /// Adds a finding; `what` is only called if it is kept.
    pub(crate) fn add(&mut self, condition: Condition, at: Place, what: impl FnOnce() -> String) {
        let bit = 1_u32 << (condition as u32);
        if self.kept.len() < Self::KEPT || self.seen & bit == 0 {
            self.seen |= bit;
            self.kept.push(Finding { condition, at, what: what() });
        } else {
            self.unkept = self.unkept.saturating_add(1);
        }
    }

    /// Adds all of another list.
    pub(crate) fn extend(&mut self, other: Findings) {
        for finding in other.kept {
            let Finding { condition, at, what } = finding;
            self.add(condition, at, || what);
        }
        self.unkept = self.unkept.saturating_add(other.unkept);
    }

    /// The kept findings, in the order they were found.
    #[must_use]
    pub fn list(&self) -> &[Finding] {
        &self.kept
    }

    /// Number of findings, kept or not.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.unkept.saturating_add(u64::try_from(self.kept.len()).unwrap_or(u64::MAX))
    }

    /// Whether a kept finding has this condition.
    #[must_use]
    pub fn has(&self, condition: Condition) -> bool {
        self.seen & (1_u32 << (condition as u32)) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_findings_are_a_thousand_and_a_number() {
        let mut findings = Findings::default();
        for lbn in 0..1_000_000 {
            findings.add(Condition::BadRecord, Place { lbn, offset: 0 }, || "x".into());
        }
        assert_eq!((findings.list().len(), findings.count()), (Findings::KEPT, 1_000_000));
        assert_eq!(findings.list()[7].to_string(), "block 7, byte 0: x [H8]");
        assert!(findings.has(Condition::BadRecord) && !findings.has(Condition::Root));
        // The last condition, after many of another kind, survives a merge of two lists.
        findings.add(Condition::Boot, Place { lbn: 5, offset: 0 }, || "y".into());
        let mut all = Findings::default();
        all.extend(findings);
        assert_eq!((all.list().len(), all.count()), (Findings::KEPT + 1, 1_000_001));
        assert!(all.has(Condition::Boot) && all.list().iter().any(|f| f.what == "y"));
    }
}
