//! How long the measured threads waited for locks in the kernel, and for whom.

use serde::{Deserialize, Serialize};

/// Waits of the measured threads for locks that sleep: mutexes and semaphores of files, directories and file systems.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockWaits {
    /// How many.
    pub waits: u64,
    /// Time of those for locks that other measured threads held, ns.
    pub own_ns: u64,
    /// Time of those for locks that threads of the kernel held, such as write-back, ns.
    pub kernel_ns: u64,
    /// Time of those until the file system was no longer frozen, ns.
    #[serde(default)]
    pub frozen_ns: u64,
    /// Time of those whose holder is not known, ns: a lock that readers share names none.
    pub unknown_ns: u64,
    /// Other programs that held locks, the longest waits first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<LockHolder>,
}

/// A program that held locks for which measured threads waited.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockHolder {
    /// Its name.
    pub name: String,
    /// Its process; 0 if it is outside of our PID namespace.
    pub process: u32,
    /// Time of the waits, ns.
    pub waited_ns: u64,
    /// Whether it has one of the measured files open.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub has_file: bool,
}

impl LockWaits {
    /// Time of the waits for other programs, ns.
    #[must_use]
    pub fn others_ns(&self) -> u64 {
        self.holders.iter().fold(0, |sum, holder| sum.saturating_add(holder.waited_ns))
    }
}
