//! The words of a host profile: which of the kernels' rules hold. What each does is written where it is done.

use serde::Deserialize;

/// How threads of a process look to a scheduler that keeps a queue for each process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Threads {
    /// As one (NPTL, and every kernel and library since).
    Nptl,
    /// As a process each (LinuxThreads).
    Linuxthreads,
}

/// Which page leaves a full cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replacement {
    /// The one that was not touched for longest.
    Simple,
    /// Two lists: pages touched twice are kept longer than those touched once.
    TwoList,
    /// The two lists of 2.4: only reading makes a page active, and for each page that goes some come back from the active list.
    #[serde(rename = "linux-2.4")]
    Linux24,
}

/// In which order the pages of a batch come out of the page allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BatchOrder {
    /// As they lie in memory (before linux 2.6.24-rc1, and since 2.6.24-rc6).
    Ascending,
    /// The last one first (2.6.24-rc1 to rc5, or where commit 81eabcbe is reverted).
    Descending,
    /// As they lie in memory, but for a share (`recycled_permille`) that were used before and come from anywhere.
    Random,
}

/// What the cache holds of a file set that was there before the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Its files have just been written, one after the other: the end of the last ones is still there, and clean.
    FilesJustWritten,
    /// Nothing.
    Empty,
}

/// Pools of requests and plugs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum QueueRules {
    /// Linux 2.4.
    #[serde(rename = "linux-2.4")]
    Linux24,
    /// Linux 2.6 with a single queue.
    #[serde(rename = "linux-2.6")]
    Linux26,
    /// Today's, with a plug for each task and tags.
    #[serde(rename = "today")]
    Today,
    /// A file system that calls the driver itself: what a call reads is queued together, and served when all of it is there (HSFS).
    #[serde(rename = "gathered")]
    Gathered,
    /// None at all.
    #[serde(rename = "bare")]
    Bare,
}

/// How blocks of a file are found, and where they lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// Groups of 128 MiB with their tables, indirect blocks on the way (ext2, ext3).
    IndirectBlocks,
    /// Extents: a file lies in one piece, and where is known without reading.
    Extents,
}

/// What fsync does beside writing the file's pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum JournalRule {
    /// ext3 of 2.4 with ordered data: a transaction that holds anything is committed; if there is none, nothing is done.
    #[serde(rename = "24")]
    Linux24,
    /// ext3 of 2.6: if the inode is dirty a commit is forced, of an empty transaction too, after a tick in which others may join.
    #[serde(rename = "26")]
    Linux26,
    /// No journal (ext2): the inode's block is written if it is dirty.
    #[serde(rename = "none")]
    None,
}
