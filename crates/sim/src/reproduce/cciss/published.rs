//! The published figures: the mail of 23 January 2008 to linux-kernel on writing large files to ext2 on an HP SmartArray 6i (cciss), with
//! its IOzone logs. Six command lines under two kernels: 2.6.24-rc8, whose page allocator returns pages in ascending order, and the same
//! with commit 81eabcbe reverted ("rc8*"), which returns them in descending order.

use crate::host::BatchOrder;

/// A command line of the logs.
#[derive(Clone, Copy, Debug)]
pub struct Test {
    /// Name in the mail's table.
    pub name: &'static str,
    /// Command line in the logs, without the program.
    pub command: &'static str,
    /// Number of writing processes.
    pub writers: u32,
    /// Whether it uses direct I/O.
    pub direct: bool,
}

/// The command lines, in the order of the mail's table.
pub const TESTS: [Test; 6] = [
    test("1x3GB", "-r 1m -s 3000m -c -e -t 1 -F /scratch/X1 -i 0", 1, false),
    test("1x3GB-DIO", "-r 1m -s 3000m -c -e -I -t 1 -F /scratch/X1 -i 0", 1, true),
    test("2x1.5GB", "-r 1m -s 1500m -c -e -t 2 -F /scratch/X1 /scratch/X2 -i 0", 2, false),
    test("2x1.5GB-DIO", "-r 1m -s 1500m -c -e -I -t 2 -F /scratch/X1 /scratch/X2 -i 0", 2, true),
    test("3x1GB", "-r 1m -s 1000m -c -e -t 3 -F /scratch/X1 /scratch/X2 /scratch/X3 -i 0", 3, false),
    test("3x1GB-DIO", "-r 1m -s 1000m -c -e -I -t 3 -F /scratch/X1 /scratch/X2 /scratch/X3 -i 0", 3, true),
];

const fn test(name: &'static str, command: &'static str, writers: u32, direct: bool) -> Test {
    Test { name, command, writers, direct }
}

/// A kernel of the table.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// Name in the mail.
    pub name: &'static str,
    /// Order of the pages in an allocator batch.
    pub order: BatchOrder,
}

/// The two kernels.
pub const KERNELS: [Kernel; 2] = [
    Kernel { name: "rc8", order: BatchOrder::Ascending },
    Kernel { name: "rc8*", order: BatchOrder::Descending },
];

/// Role of a cell in the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellRole {
    /// A number was fitted to it: one cell under both kernels, which the model does not distinguish without the page cache.
    Fitted,
    /// Held out: the controller's cache accepts the writes.
    Cached,
    /// The collapse: the execution of bypassing commands was chosen after seeing our result of this cell.
    Collapse,
    /// Unexplained; must not be tuned for.
    Open,
}

impl CellRole {
    /// The role as a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Fitted => "fitted",
            Self::Cached => "cached",
            Self::Collapse => "collapse",
            Self::Open => "open",
        }
    }
}

/// A cell: a test under a kernel.
#[derive(Clone, Copy, Debug)]
pub struct CcissCell {
    /// Position in [`TESTS`].
    pub test: usize,
    /// Position in [`KERNELS`].
    pub kernel: usize,
    /// Figure of the mail's table, MB/s.
    pub mb_s: f64,
    /// "Children see throughput for n initial writers", KB/s.
    pub write_kb_s: f64,
    /// "Children see throughput for n rewriters", KB/s.
    pub rewrite_kb_s: f64,
    /// Role in the comparison.
    pub kind: CellRole,
}

const fn cell(test: usize, kernel: usize, mb_s: f64, logs: (f64, f64), kind: CellRole) -> CcissCell {
    CcissCell { test, kernel, mb_s, write_kb_s: logs.0, rewrite_kb_s: logs.1, kind }
}

/// The cells, by test and kernel.
pub const CELLS: [CcissCell; 12] = [
    cell(0, 0, 56.0, (55_847.39, 60_760.14), CellRole::Open),
    cell(0, 1, 90.0, (90_735.91, 86_449.82), CellRole::Cached),
    cell(1, 0, 86.0, (86_304.83, 85_388.78), CellRole::Fitted),
    cell(1, 1, 86.0, (86_219.96, 85_718.92), CellRole::Fitted),
    cell(2, 0, 9.5, (9_461.15, 9_780.23), CellRole::Collapse),
    cell(2, 1, 87.0, (87_352.61, 83_801.86), CellRole::Cached),
    cell(3, 0, 80.0, (79_399.89, 80_684.21), CellRole::Cached),
    cell(3, 1, 85.0, (85_696.29, 85_508.10), CellRole::Cached),
    cell(4, 0, 16.5, (16_572.10, 17_564.65), CellRole::Open),
    cell(4, 1, 85.0, (85_182.48, 86_484.59), CellRole::Cached),
    cell(5, 0, 85.0, (85_558.32, 85_329.49), CellRole::Cached),
    cell(5, 1, 85.0, (85_836.74, 85_296.01), CellRole::Cached),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mails_table_is_that_of_its_logs() {
        for cell in &CELLS {
            let (test, kernel) = (TESTS[cell.test], KERNELS[cell.kernel]);
            let off = cell.write_kb_s / 1000.0 / cell.mb_s - 1.0;
            assert!(off.abs() < 0.015, "{} {}: {off}", test.name, kernel.name);
            assert_eq!(test.command.matches("/scratch/X").count() as u32, test.writers);
            assert_eq!(test.command.contains(" -I "), test.direct);
        }
    }
}
