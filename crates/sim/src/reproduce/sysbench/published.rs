//! What was published: the SysBench file I/O results on stock linux kernels (28 April 2004, with the update of 5 May 2004), and the
//! counters of read-ahead that the linux-kernel thread of May 2004 printed for the same hardware and workload.

/// A cell of the table.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// Kernel, as in the table's head.
    pub kernel: &'static str,
    /// Scheduler, as in the table's first column.
    pub scheduler: &'static str,
    /// Seconds that the test took.
    pub published_s: f64,
    /// The host profile, the elevator and the read-ahead that stand for it.
    pub host: &'static str,
    /// See `host`.
    pub elevator: &'static str,
    /// See `host`.
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
) -> Cell {
    Cell { kernel, scheduler, published_s, host: NEW, elevator, readahead }
}

/// The disk of the host.
pub const DEVICE: &str = "deskstar-60gxp";

/// The cells in the order of the table. No modelled code differs between 2.6.5-bk2 and 2.6.6-rc3, so one simulation stands for both
/// columns; the nine others are distinct.
pub const CELLS: [Cell; 13] = [
    Cell { host: OLD, ..cell("2.4.25", "2.4", 77.5377, "linus24", "ra24") },
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

/// Cells that are simulated; those behind them repeat the four of 2.6.6-rc3.
pub const DISTINCT: usize = 9;

/// Counters of the thread for one cell.
#[derive(Clone, Copy, Debug)]
pub struct Counters {
    /// Position in [`CELLS`].
    pub cell: usize,
    /// Files whose read-ahead went off.
    pub off_files: u64,
    /// Pages that did not follow the page before.
    pub jump_pages: u64,
    /// Pages that did.
    pub contiguous_pages: u64,
    /// Windows of which every page was cached.
    pub cached_windows: u64,
}

/// The counter that the size of the page cache was fitted to.
pub const FITTED_WINDOWS: u64 = 1066;

/// The thread's counters.
pub const COUNTERS: [Counters; 3] = [
    Counters { cell: 2, off_files: 127, jump_pages: 3968, contiguous_pages: 10_686, cached_windows: 1153 },
    Counters { cell: 6, off_files: 0, jump_pages: 5860, contiguous_pages: 18_099, cached_windows: 1066 },
    Counters { cell: 7, off_files: 0, jump_pages: 5860, contiguous_pages: 18_091, cached_windows: 1108 },
];
