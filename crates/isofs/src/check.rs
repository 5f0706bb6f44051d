//! Checks the whole image: descriptors, every directory, the headers and pointers of every compressed file, the path tables against the
//! directories. Content is not read; each problem is listed with its position.

use crate::error::{Error, Place};
use crate::finding::{Condition, Findings};
use crate::format::path_table::{PathEntries, PathEntry};
use crate::image::Image;
use crate::node::Node;
use crate::source::ReadAt;
use crate::walk::{Step, Walk};
use std::collections::HashSet;

/// Result of a check.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// Number of files other than directories.
    pub files: u64,
    /// Number of directories entered, including the root.
    pub directories: u64,
    /// Bytes of regular files, decompressed.
    pub bytes: u64,
    /// All problems found.
    pub findings: Findings,
}

/// Longest path table read: 65,535 parents with names of maximum length, and as many leaves.
const PATH_TABLE_BYTES: u64 = 32 << 20;

/// Checks an image.
#[must_use]
pub fn check<S: ReadAt>(image: &Image<S>) -> Checked {
    let mut checked = Checked { findings: image.findings().clone(), ..Checked::default() };
    let mut trouble = Findings::default();
    let mut serials = Serials::default();
    let mut walk = Walk::new(image);
    while let Some(step) = walk.step() {
        match step {
            Step::File { node, .. } => {
                checked.files += u64::from(!node.is_directory());
                serials.see(node);
                if node.extents().is_some() {
                    checked.bytes = checked.bytes.saturating_add(node.size());
                }
                if let Err(error) = image.check_packed(node) {
                    trouble.add(Condition::Compression, node.record(), || text_of(&error));
                }
            }
            Step::Failed { error, .. } => {
                let (condition, at) = condition_of(&error);
                trouble.add(condition, at, || text_of(&error));
            }
        }
    }
    checked.directories = u64::try_from(walk.directories().len()).unwrap_or(u64::MAX);
    checked.findings.extend(walk.findings().clone());
    checked.findings.extend(trouble);
    serials.judge(&mut checked.findings);
    check_path_tables(image, walk.directories(), &mut checked.findings);
    checked
}

/// Statistics of the Rock Ridge serial numbers.
#[derive(Default)]
struct Serials {
    /// Number of files with serial number 0, and the first of them.
    unset: u64,
    first: Option<Place>,
    set: bool,
}

impl Serials {
    fn see(&mut self, node: &Node) {
        match node.serial {
            Some(0) => {
                self.unset += 1;
                self.first.get_or_insert(node.record());
            }
            Some(_) => self.set = true,
            None => {}
        }
    }

    fn judge(&self, findings: &mut Findings) {
        let Some(first) = self.first.filter(|_| self.unset > 1 && !self.set) else { return };
        findings.add(Condition::SerialNumbers, first, || {
            let all = self.unset;
            format!("all {all} files and directories have the serial number 0 in PX: readers that go by it take them for one file")
        });
    }
}

/// An error's text without its position, which the finding has separately.
fn text_of(error: &Error) -> String {
    match error {
        Error::Data { what, .. } | Error::Unsupported { what, .. } => what.clone(),
        other => other.to_string(),
    }
}

fn condition_of(error: &Error) -> (Condition, Place) {
    match error {
        Error::Loop { at } => (Condition::DirectoryLoop, *at),
        Error::Data { at, .. } | Error::Io { at, .. } => (Condition::BeyondImage, *at),
        Error::Strict(finding) => (finding.condition, finding.at),
        Error::Volume { at, .. }
        | Error::Kind { at, .. }
        | Error::Unsupported { at, .. }
        | Error::Limit { at, .. } => (Condition::BadRecord, *at),
    }
}

/// Compares the little-endian table with the big-endian one, and every directory of the tree with the table. Not the other way round:
/// tables also list the original positions of relocated directories.
fn check_path_tables<S: ReadAt>(image: &Image<S>, directories: &HashSet<u64>, findings: &mut Findings) {
    if image.info().high_sierra {
        return; // its tables have another layout, and are not needed here
    }
    let tables = image.tables;
    let bytes = u64::from(tables.bytes).min(PATH_TABLE_BYTES);
    let at = |lbn: u32| Place { lbn: lbn.into(), offset: 0 };
    let read = |lbn: u32| {
        let byte = image.disc.byte_of(lbn.into())?;
        image.disc.up_to(byte, bytes).ok().filter(|table| u64::try_from(table.len()) == Ok(bytes))
    };
    let Some(little) = read(tables.little).filter(|_| bytes > 0) else {
        findings.add(Condition::PathTable, at(tables.little), || {
            format!("no path table of {} bytes is here", tables.bytes)
        });
        return;
    };
    let listed: HashSet<u64> = PathEntries::new(&little, false).map(|entry| block_of(&entry)).collect();
    let missing = directories.iter().filter(|block| !listed.contains(block)).count();
    if missing > 0 {
        findings.add(Condition::PathTable, at(tables.little), || {
            format!("{missing} of {} directories are not in the path table", directories.len())
        });
    }
    if tables.big != 0 {
        let big = read(tables.big);
        let same = big.is_some_and(|big| PathEntries::new(&big, true).eq(PathEntries::new(&little, false)));
        if !same {
            findings.add(Condition::PathTable, at(tables.big), || {
                "the big-endian path table differs from the little-endian one".into()
            });
        }
    }
}

fn block_of(entry: &PathEntry<'_>) -> u64 {
    u64::from(entry.extent) + u64::from(entry.xar_blocks)
}
