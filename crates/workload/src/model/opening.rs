//! How a file is opened, and what the kernel is told of it then.

use super::is_default;
use serde::{Deserialize, Serialize};

/// How a file is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Open {
    /// O_CREAT.
    pub create: bool,
    /// O_TRUNC.
    pub truncate: bool,
    /// O_DIRECT.
    pub direct: bool,
    /// O_SYNC and its kin.
    pub sync: OpenSync,
    /// O_RDWR even for a stream that only reads.
    pub read_write: bool,
    /// O_NOATIME: reads do not look after the time of the last access. For the owner of the file and root only.
    #[serde(skip_serializing_if = "is_default")]
    pub no_access_time: bool,
    /// What the kernel is told of the order of the accesses right after opening: it changes how far it reads ahead.
    #[serde(skip_serializing_if = "is_default")]
    pub advice: Advice,
}

/// posix_fadvise of the whole file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Advice {
    /// None.
    #[default]
    No,
    /// POSIX_FADV_NORMAL: what somebody advised before is taken back.
    Normal,
    /// POSIX_FADV_SEQUENTIAL: Linux reads ahead twice as far.
    Sequential,
    /// POSIX_FADV_RANDOM: Linux reads what is asked for, and nothing ahead.
    Random,
    /// POSIX_FADV_NOREUSE: what is read is not kept in memory at the cost of other pages (Linux 6.3).
    NoReuse,
}

/// Synchronous-write flags of open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OpenSync {
    /// None.
    #[default]
    No,
    /// O_SYNC.
    Sync,
    /// O_DSYNC.
    Dsync,
    /// O_RSYNC | O_SYNC.
    Rsync,
}
