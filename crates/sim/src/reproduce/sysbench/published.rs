//! The published figures: the SysBench file I/O results on stock linux kernels (28 April 2004, with the update of 5 May 2004), and the
//! read-ahead counters that the linux-kernel thread of May 2004 printed for the same hardware and workload.

/// A cell of the table.
#[derive(Clone, Copy, Debug)]
pub struct SysbenchCell {
    /// Kernel, as in the table's head.
    pub kernel: &'static str,
    /// Scheduler, as in the table's first column.
    pub scheduler: &'static str,
    /// Duration of the test, s.
    pub published_s: f64,
    /// The host profile that represents it.
    pub host: &'static str,
    /// The elevator that represents it.
    pub elevator: &'static str,
    /// The read-ahead that represents it.
    pub readahead: &'static str,
}

const OLD: &str = "athlon-2004-linux-2.4";
const NEW: &str = "athlon-2004-linux-2.6";

const fn cell(
    kernel: &'static str,
    scheduler: &'static str,
    published_s: f64,
    elevator: &'static str,
    readahead: &'static str,
) -> SysbenchCell {
    SysbenchCell { kernel, scheduler, published_s, host: NEW, elevator, readahead }
}

/// Device profile of the host's disk.
pub const DEVICE: &str = "deskstar-60gxp";

/// The cells in table order. No modelled code differs between 2.6.5-bk2 and 2.6.6-rc3, so one simulation covers both columns; the nine
/// others are distinct.
pub const CELLS: [SysbenchCell; 13] = [
    SysbenchCell { host: OLD, ..cell("2.4.25", "2.4", 77.5377, "linus24", "ra24") },
    cell("2.6.6-rc3", "noop", 164.9486, "noop@2.6.6", "ra26-shared"),
    cell("2.6.6-rc3", "anticipatory", 125.1776, "as", "ra26-shared"),
    cell("2.6.6-rc3", "deadline", 131.8903, "deadline@2.6.6", "ra26-shared"),
    cell("2.6.6-rc3", "CFQ", 152.9280, "cfq@2.6.6", "ra26-shared"),
    cell("2.6.6-rc3 + patch", "noop", 94.0064, "noop@2.6.6", "ra26-private"),
    cell("2.6.6-rc3 + patch", "anticipatory", 86.5459, "as", "ra26-private"),
    cell("2.6.6-rc3 + patch", "deadline", 92.8340, "deadline@2.6.6", "ra26-private"),
    cell("2.6.6-rc3 + patch", "CFQ", 95.7213, "cfq@2.6.6", "ra26-private"),
    cell("2.6.5-bk2", "noop", 165.3393, "noop@2.6.6", "ra26-shared"),
    cell("2.6.5-bk2", "anticipatory", 118.7450, "as", "ra26-shared"),
    cell("2.6.5-bk2", "deadline", 130.3254, "deadline@2.6.6", "ra26-shared"),
    cell("2.6.5-bk2", "CFQ", 146.4286, "cfq@2.6.6", "ra26-shared"),
];

/// Number of simulated cells; those after them repeat the four of 2.6.6-rc3.
pub const DISTINCT: usize = 9;

/// Counters of the thread for one cell. The instrumentation posted there on 4 May 2004 defines them: resets are counted each time,
/// whatever the file; a page inside the window or right after it is contiguous; an open file's first page is neither.
#[derive(Clone, Copy, Debug)]
pub struct PublishedCounters {
    /// Position in [`CELLS`].
    pub cell: usize,
    /// "No of times window reset because of misses": read-ahead went off.
    pub miss_resets: u64,
    /// The same "because of hits".
    pub hit_resets: u64,
    /// "No of times the page request was non-contiguous".
    pub jump_pages: u64,
    /// The same "was contiguous".
    pub contiguous_pages: u64,
    /// "No of times window was shrunk because of hits": every page of it was cached.
    pub cached_windows: u64,
}

/// The counter that the page cache size was fitted to.
pub const FITTED_WINDOWS: u64 = 1066;

/// The thread's counters.
pub const COUNTERS: [PublishedCounters; 3] = [
    counters(2, 127, 3968, 10_686, 1153),
    counters(6, 0, 5860, 18_099, FITTED_WINDOWS),
    counters(7, 0, 5860, 18_091, 1108),
];

const fn counters(
    cell: usize,
    miss_resets: u64,
    jump_pages: u64,
    contiguous_pages: u64,
    cached_windows: u64,
) -> PublishedCounters {
    PublishedCounters { cell, miss_resets, hit_resets: 0, jump_pages, contiguous_pages, cached_windows }
}
