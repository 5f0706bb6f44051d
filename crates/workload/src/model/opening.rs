//! How a file is opened, and the advice given to the kernel on opening.

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
    /// O_SYNC or a related flag.
    pub sync: OpenSync,
    /// O_RDWR even for a stream that only reads.
    pub read_write: bool,
    /// O_NOATIME: reads do not update the access time. Only for the file's owner and root.
    #[serde(skip_serializing_if = "is_default")]
    pub no_access_time: bool,
    /// Access-order advice given right after opening: it changes how far the kernel reads ahead.
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
    /// POSIX_FADV_NORMAL: undoes earlier advice.
    Normal,
    /// POSIX_FADV_SEQUENTIAL: Linux reads ahead twice as far.
    Sequential,
    /// POSIX_FADV_RANDOM: Linux reads what is requested and nothing ahead.
    Random,
    /// POSIX_FADV_NOREUSE: pages read do not displace other pages from memory (Linux 6.3).
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
