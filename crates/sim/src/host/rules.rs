//! Keywords of a host profile that select the kernel's rules. The code that implements a rule describes it.

use serde::Deserialize;

/// How threads of a process look to a scheduler with a queue per process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Threads {
    /// As one process (NPTL, and every kernel and library since).
    Nptl,
    /// As separate processes (LinuxThreads).
    Linuxthreads,
}

/// Which page a full cache evicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replacement {
    /// The least recently touched one.
    Simple,
    /// Two lists: pages touched twice are kept longer than those touched once.
    TwoList,
    /// The two lists of 2.4: only reading activates a page, and each eviction moves some pages back from the active list.
    #[serde(rename = "linux-2.4")]
    Linux24,
}

/// Order in which the page allocator returns the pages of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BatchOrder {
    /// Ascending in memory (before linux 2.6.24-rc1, and since 2.6.24-rc6).
    Ascending,
    /// Descending in memory (2.6.24-rc1 to rc5, or where commit 81eabcbe is reverted).
    Descending,
    /// Ascending, except for a share (`recycled_permille`) of recycled pages that lie anywhere.
    Random,
}

/// Cached part of a file set that existed before the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Its files have just been written, one after the other: the end of the last ones is cached and clean.
    FilesJustWritten,
    /// Nothing is cached.
    Empty,
}

/// Request pools and plugs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum QueueRules {
    /// Linux 2.4.
    #[serde(rename = "linux-2.4")]
    Linux24,
    /// Linux 2.6 with a single queue.
    #[serde(rename = "linux-2.6")]
    Linux26,
    /// Today's kernels: a plug per task, and tags.
    #[serde(rename = "today")]
    Today,
    /// A file system that calls the driver itself: the reads of a call are queued together and served once all are queued (HSFS).
    #[serde(rename = "gathered")]
    Gathered,
    /// No pools and no plugs.
    #[serde(rename = "bare")]
    Bare,
}

/// How a file's blocks are mapped and laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// Groups of 128 MiB with their tables, and indirect blocks among the data (ext2, ext3).
    IndirectBlocks,
    /// Extents: a file is contiguous, and its location is known without a read.
    Extents,
}

/// What fsync does besides writing the file's pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum JournalRule {
    /// ext3 of 2.4 with ordered data: a non-empty transaction is committed; without one, nothing happens.
    #[serde(rename = "24")]
    Linux24,
    /// ext3 of 2.6: a dirty inode forces a commit, even of an empty transaction, after a tick in which other tasks may join.
    #[serde(rename = "26")]
    Linux26,
    /// ext4: commits the transaction that holds the inode, fdatasync only if that changed the file's size or blocks. An overwrite changes
    /// the inode when the clock has ticked since the last one.
    #[serde(rename = "jbd2")]
    Jbd2,
    /// No journal (ext2): the inode's block is written if it is dirty.
    #[serde(rename = "none")]
    None,
}

impl JournalRule {
    /// Whether a commit waits for every page written. ext4 orders only pages whose blocks are new, and those an fsync has written before.
    #[must_use]
    pub fn orders_overwrites(self) -> bool {
        matches!(self, Self::Linux24 | Self::Linux26)
    }
}
