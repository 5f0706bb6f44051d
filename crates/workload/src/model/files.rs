//! The files a workload uses, and how files that already exist are treated.

use super::{Data, is_default};
use crate::Bytes;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A named set of files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSet {
    /// Name by which phases and flows refer to it.
    pub name: String,
    /// Which files.
    pub files: Files,
    /// Size of each.
    #[serde(default)]
    pub size: Sizing,
    /// How files found in place are treated.
    #[serde(default, skip_serializing_if = "is_default")]
    pub existing: Existing,
    /// With [`Existing::Reuse`]: files found in place may be changed although fathom did not create them (written to, extended, cut to
    /// size), because the user named them for that. They are never removed.
    #[serde(rename = "foreign_writable", default, skip_serializing_if = "is_default")]
    pub may_modify: bool,
    /// Keep the files at the end.
    #[serde(default, skip_serializing_if = "is_default")]
    pub keep: bool,
    /// Permission bits of created files.
    #[serde(default = "default_mode", skip_serializing_if = "is_default_mode")]
    pub mode: u32,
    /// Contents written by [`crate::Action::Prepare`].
    #[serde(default, skip_serializing_if = "is_default")]
    pub data: Data,
    /// Percent of the files that exist at the start; the rest may be created by flows.
    #[serde(default = "hundred", skip_serializing_if = "is_hundred")]
    pub preallocated_percent: u8,
    /// How they may be opened.
    #[serde(default, skip_serializing_if = "is_default")]
    pub share: Share,
    /// With [`Existing::Reuse`]: assume that files found in place are as large as the set says.
    #[serde(default, skip_serializing_if = "is_default")]
    pub trust_sizes: bool,
    /// Leave what [`crate::Action::Prepare`] writes as dirty pages for the kernel to write back in its own time, like programs that
    /// measure right after creating their files. Otherwise it is on the disk before anything is measured.
    #[serde(default, skip_serializing_if = "is_default")]
    pub leave_dirty: bool,
    /// Bytes per write of [`crate::Action::Prepare`], rounded up to whole blocks of checksummed data. Where the file system supports it,
    /// the page cache keeps the data of one write in one large folio, and reads and writes of large folios cost differently from those of
    /// single pages.
    #[serde(default = "default_prepare_record", skip_serializing_if = "is_default_prepare_record")]
    pub prepare_record: Bytes,
    /// Create missing directories above its listed and numbered files. They are kept or removed with the files.
    #[serde(default, skip_serializing_if = "is_default")]
    pub make_directories: bool,
}

impl FileSet {
    /// Default of [`FileSet::prepare_record`]: large enough for the cost of the calls not to matter.
    pub const PREPARE_RECORD: Bytes = Bytes(1 << 20);
    /// Upper limit of [`FileSet::prepare_record`], which is held in memory while preparing.
    pub const LARGEST_PREPARE_RECORD: Bytes = Bytes(1 << 30);

    /// Whether a listed or numbered file exists at the start: the share is exact and spread evenly. Trees draw their files at random.
    #[must_use]
    pub fn exists_at_first(&self, index: u64) -> bool {
        let percent = u128::from(self.preallocated_percent.min(100));
        let before = |index: u128| index * percent / 100;
        let index = u128::from(index);
        before(index + 1) > before(index)
    }
}

/// Where the files are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Files {
    /// Given paths.
    List(Vec<PathBuf>),
    /// `count` files `prefix0`, `prefix1`, ...
    Numbered {
        /// Path up to the number.
        prefix: PathBuf,
        /// How many.
        count: u32,
    },
    /// A tree of directories with files in its leaves.
    Tree(Tree),
}

/// Shape of a directory tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tree {
    /// Its top directory.
    pub root: PathBuf,
    /// Number of files.
    pub entries: u64,
    /// Number of empty leaf directories.
    #[serde(default, skip_serializing_if = "is_default")]
    pub leaf_directories: u64,
    /// Mean number of entries in a directory.
    pub width: Sizing,
    /// Spread of width and depth: shape of their gamma distribution, in thousandths; 0 = exact.
    #[serde(default, skip_serializing_if = "is_default")]
    pub gamma_thousandths: u32,
    /// Variable to draw depths from, instead of the depth that follows from entries and width.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<String>,
}

/// A size: fixed, drawn from a random variable for each file, or each its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sizing {
    /// The same size for all.
    Fixed(Bytes),
    /// Drawn from the variable with this name.
    Variable(String),
    /// One size per listed or numbered file, in order.
    Each(Vec<Bytes>),
}

impl Default for Sizing {
    fn default() -> Self {
        Self::Fixed(Bytes(0))
    }
}

/// How files that existed before are treated. Files that fathom created itself may always be changed and removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Existing {
    /// An error: fathom does not touch files it did not create.
    #[default]
    Refuse,
    /// They may be overwritten and removed: the user named them for that.
    Replace,
    /// They are used as they are if large enough, and never removed.
    Reuse,
}

/// How the files of a set may be opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Share {
    /// For reading and writing.
    #[default]
    ReadWrite,
    /// For reading only.
    ReadOnly,
    /// For writing only.
    WriteOnly,
}

impl Files {
    /// Number of files the set names.
    #[must_use]
    pub fn count(&self) -> u64 {
        match self {
            Self::List(paths) => paths.len() as u64,
            Self::Numbered { count, .. } => u64::from(*count),
            Self::Tree(tree) => tree.entries,
        }
    }

    /// Path of file `index`; `None` past the end, and for trees, whose paths follow from their layout.
    #[must_use]
    pub fn path(&self, index: u64) -> Option<PathBuf> {
        match self {
            Self::List(paths) => paths.get(usize::try_from(index).ok()?).cloned(),
            Self::Numbered { prefix, count } if index < u64::from(*count) => {
                let mut name = prefix.clone().into_os_string();
                name.push(index.to_string());
                Some(name.into())
            }
            _ => None,
        }
    }
}

fn default_mode() -> u32 {
    0o640
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's skip_serializing_if passes a reference")]
fn is_default_mode(mode: &u32) -> bool {
    *mode == default_mode()
}

fn default_prepare_record() -> Bytes {
    FileSet::PREPARE_RECORD
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's skip_serializing_if passes a reference")]
fn is_default_prepare_record(bytes: &Bytes) -> bool {
    *bytes == FileSet::PREPARE_RECORD
}

fn hundred() -> u8 {
    100
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's skip_serializing_if passes a reference")]
fn is_hundred(percent: &u8) -> bool {
    *percent == 100
}
