//! What is wrong with an image and yet did not stop the reader: condition, place, and a sentence. Every directory listing and every
//! opened volume carries its findings; `check` gathers them all. The H numbers are those of the catalogue of hostile inputs that
//! the tests go through one by one.

use crate::error::Place;
use std::fmt;

/// Kinds of damage, mischief and sloppiness the reader knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Condition {
    /// H1: continuation areas in a ring, or more than 32 of them for one record.
    ContinuationLoop,
    /// H2: a continuation area beyond the image, or more than 64 KiB of them for one record.
    ContinuationRange,
    /// H4, H5: a directory that is its own ancestor.
    DirectoryLoop,
    /// H6: one directory reached by more than one path.
    DirectoryShared,
    /// H7, H19: a name that cannot be a file's name; it is shown escaped.
    UnsafeName,
    /// H8: a directory record that contradicts itself; the rest of its sector was skipped.
    BadRecord,
    /// H8: a record that lies across a sector border, whole nonetheless.
    RecordAcrossSectors,
    /// H9: a directory longer than the image or than the limit.
    DirectoryLength,
    /// H10: data that lie beyond the end of the image.
    BeyondImage,
    /// H11: a number recorded twice, little-endian and big-endian, with two values.
    HalvesDiffer,
    /// H12: an interleaved file of which only unit or gap is given.
    Interleave,
    /// H14: sections of a file that do not end, or are cut inside a block.
    Sections,
    /// H15: volume descriptors without an end.
    Descriptors,
    /// H18: compressed data whose headers disagree.
    Compression,
    /// H20: a root record that had to be mended.
    Root,
    /// H21: a date that does not exist.
    Date,
    /// H22: names, links or depth beyond what can be shown.
    TooLong,
    /// H23: several entries of one name; all but one got another.
    DuplicateName,
    /// Serial numbers that are all 0, so that they tell no file from another.
    SerialNumbers,
    /// System use entries that cannot be read as such.
    SystemUse,
    /// A file whose data are on another volume of the set.
    OtherVolume,
    /// An extended attribute record that is none.
    ExtendedAttributes,
    /// A path table that does not describe the directories.
    PathTable,
    /// A boot record or boot catalogue that cannot be read.
    Boot,
}

impl Condition {
    /// The entry of the catalogue of hostile inputs; "-" for what is not in it.
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

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What kind of thing.
    pub condition: Condition,
    /// Where on the disc.
    pub at: Place,
    /// What was found and what was made of it.
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} [{}]", self.at, self.what, self.condition.id())
    }
}

/// Findings of one listing or one volume. Bounded: a directory of a million broken records must not become a million sentences. But the first
/// of each condition is always kept: a crowd of one kind must not hide what else is wrong.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    kept: Vec<Finding>,
    unkept: u64,
    /// A bit for each condition that is among those kept.
    seen: u32,
}

impl Findings {
    /// As many are kept, and the first of each condition; further ones are counted.
    pub const KEPT: usize = 1000;

    /// Adds one; `what` is only made if it is kept.
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

    /// Those kept, in the order they were met.
    #[must_use]
    pub fn list(&self) -> &[Finding] {
        &self.kept
    }

    /// How many there were, kept or not.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.unkept.saturating_add(u64::try_from(self.kept.len()).unwrap_or(u64::MAX))
    }

    /// Whether a condition is among those kept.
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
        // The last of all conditions, behind the crowd and in another list that takes both over.
        findings.add(Condition::Boot, Place { lbn: 5, offset: 0 }, || "y".into());
        let mut all = Findings::default();
        all.extend(findings);
        assert_eq!((all.list().len(), all.count()), (Findings::KEPT + 1, 1_000_001));
        assert!(all.has(Condition::Boot) && all.list().iter().any(|f| f.what == "y"));
    }
}
