//! The IOzone surfaces of 2005: first reads and rereads of files from 64 KiB to 4 GiB by records from 4 KiB to 16 MiB, on a host with 512
//! KiB of CPU cache, 6 GB of memory and a local disk. The workload is IOzone's own command line, parsed by the caller. Writes are run
//! because they determine what the reads find in memory.
//!
//! All cells are one run of one host, as in the report: pages that earlier files left in memory are still there for the next.

mod checks;
pub mod published;
mod regimes;
mod statistics;
mod text;

pub use checks::NcsaTolerances;

use super::Check;
use crate::devices::{self, DeviceProfile};
use crate::host;
use crate::simulation::{Setup, SimError, simulate};
use crate::stack::Stack;
use fathom_iopath::Limits;
use fathom_record::Repetition;
use fathom_workload::{Phase, Workload};
use published::{FILES_KIB, RECORDS_KIB, REPORTS, Standing, standing};
use serde::Serialize;
use statistics::{log_correlation, root_mean_square};

/// The report's command line without the worksheet, limited to the tests that can be simulated and lead up to a read.
pub const COMMAND: &str = "-R -a -g 7G -i 0 -i 1";

const HOST: &str = "ncsa-2005-linux-2.4";
const DEVICE: &str = "ncsa-2005";
const ELEVATOR: &str = "linus24";
/// The report gives the windows of both hosts: 3 and 31 blocks.
const READAHEAD: &str = "ra24,min=3,max=31";

/// One file size and record size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NcsaCell {
    /// File size, KiB.
    pub file_kib: u64,
    /// Record size, KiB.
    pub record_kib: u64,
    /// Published throughput, KiB/s.
    pub published_kib_s: f64,
    /// Simulated throughput, KiB/s.
    pub simulated_kib_s: f64,
    /// Our error against the published one, %.
    pub error_percent: f64,
    /// Whether profile values were fitted to it or changed after looking at it.
    pub standing: Standing,
}

/// A published report with our results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Surface {
    /// Name of the test.
    pub test: &'static str,
    /// Every cell, row by row.
    pub cells: Vec<NcsaCell>,
    /// Correlation of log throughput over all cells.
    pub correlation: f64,
    /// Correlation over the held-out cells; 0 without any.
    pub held_out_correlation: f64,
    /// Number of held-out cells.
    pub held_out: usize,
    /// Root mean square of their errors, %.
    pub held_out_rms_percent: f64,
}

impl Surface {
    fn of(test: &'static str, cells: Vec<NcsaCell>) -> Self {
        let pairs = |cells: &[&NcsaCell]| {
            cells.iter().map(|c| (c.published_kib_s, c.simulated_kib_s)).collect::<Vec<_>>()
        };
        let all: Vec<&NcsaCell> = cells.iter().collect();
        let held_out: Vec<&NcsaCell> = cells.iter().filter(|c| c.standing == Standing::HeldOut).collect();
        let errors: Vec<f64> = held_out.iter().map(|c| c.error_percent).collect();
        Self {
            test,
            correlation: log_correlation(&pairs(&all)),
            held_out_correlation: if held_out.is_empty() { 0.0 } else { log_correlation(&pairs(&held_out)) },
            held_out: held_out.len(),
            held_out_rms_percent: root_mean_square(&errors),
            cells,
        }
    }

    /// Looks a cell up by its sizes.
    #[must_use]
    pub fn cell(&self, file_kib: u64, record_kib: u64) -> Option<&NcsaCell> {
        self.cells.iter().find(|c| c.file_kib == file_kib && c.record_kib == record_kib)
    }
}

/// The reproduced tables.
#[derive(Clone, Debug, Serialize)]
pub struct NcsaTable {
    /// Surfaces in run order.
    pub surfaces: Vec<Surface>,
    /// Every stated tolerance.
    pub checks: Vec<Check>,
    /// Choices made, and which results were known when they were made.
    pub freedom: Vec<&'static str>,
    /// Values of the profiles by source: (data sheet, measured, fitted, guessed).
    pub sources: [u32; 4],
    /// Virtual time of the whole run, s.
    pub virtual_s: f64,
}

impl NcsaTable {
    /// Whether every stated tolerance holds.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.checks.iter().all(|c| c.holds)
    }

    fn surface(&self, test: &str) -> Option<&Surface> {
        self.surfaces.iter().find(|s| s.test == test)
    }
}

/// Degrees of freedom, in full.
pub const FREEDOM: [&str; 12] = [
    "fitted: five costs (a call, a page, activation of a page, a cache miss on the source and on the target of a copy), by least squares of relative errors to 33 cells: files of 16 MiB (read and reread) and of 256 KiB (reread)",
    "fitted: the memory that pages of other files occupy when the test begins (5100 MiB), and the rate at which they leave it (0.3 of the rate in 2.4's source), to two cells: first reads of 1 GiB and of 2 GiB with records of 64 KiB",
    "from the report and from data sheets: memory for files (6,165,744 KB less 178,840 KB of kernel buffer), 512 KiB of CPU cache in 8 ways (this determines which records keep their buffer there), read-ahead of 3 to 31 blocks, 2.4's elevator and page lists",
    "fitted: the share of dirty pages at which writers wait, to the published writes; so no write cell is held out",
    "guessed: the whole disk (the report does not describe it; 58 MB/s on the outer tracks) and the other share of dirty pages",
    "chosen after looking at the published cells, on paper before any simulation: eviction of a page from the CPU cache is random, by its address (the cells of 256 KiB lie half-way between both levels)",
    "likewise: the first read after a write activates a page, which takes time; a reread does not (the difference is the same for all files above the cache)",
    "likewise: other files occupied memory (the first record size of each new largest file reads from the disk, the others do not); with empty memory every file would fit, and no cell would read from the disk",
    "changed after the first simulated run, in which the first read of 4 GiB with records of 128 KiB came from the disk: until then 5700 MiB of memory for files was a guess, 5000 of it occupied by other files; that cell is called seen",
    "run: write, rewrite, read and reread. IOzone's nine other tests are left out: fwrite and fread use the C library, which is not simulated, and the reads precede all of them in each cell",
    "current IOzone reads the first record before the clock starts, and so does the simulation; if the record is the whole file, the first read is then a reread",
    "the second host read over NFS, which is not modelled",
];

/// Simulates the tables.
///
/// # Errors
/// If the workload cannot be simulated.
pub fn reproduce(workload: &Workload) -> Result<NcsaTable, SimError> {
    let unusable = |e: &dyn std::fmt::Display| SimError::Unsupported(e.to_string());
    let host = host::shipped(HOST).map_err(|e| unusable(&e))?;
    let profile: DeviceProfile = devices::by_name(DEVICE).map_err(|e| unusable(&e))?;
    let sources = host.tally + profile.tally;
    let setup = Setup {
        host,
        device: Box::new(profile.build().map_err(|e| unusable(&e))?),
        device_name: DEVICE.into(),
        limits: Limits::IDE_24,
        scheduler: ELEVATOR.into(),
        readahead: READAHEAD.into(),
        stack: Stack::Full,
        indirect_in_memory: false,
        stop: crate::simulation::never,
    };
    let out = simulate(workload, setup)?;
    let surfaces = REPORTS
        .iter()
        .map(|&(test, report)| {
            let done = workload.phases.iter().zip(&out.phases).filter(|(phase, _)| phase.name == test);
            let cells = done.filter_map(|(phase, repetitions)| cell(test, report, phase, repetitions));
            Surface::of(test, cells.collect())
        })
        .collect();
    let mut table = NcsaTable {
        surfaces,
        checks: Vec::new(),
        freedom: FREEDOM.to_vec(),
        sources: [sources.datasheet, sources.measured, sources.fitted, sources.guessed],
        virtual_s: out.inside.elapsed_ns as f64 / 1e9,
    };
    table.checks = checks::all(&table, &NcsaTolerances::default());
    Ok(table)
}

fn cell(test: &str, report: &published::Report, phase: &Phase, done: &[Repetition]) -> Option<NcsaCell> {
    let (file_kib, record_kib) = (phase.axes.file?.0 >> 10, phase.axes.record?.0 >> 10);
    let row = FILES_KIB.iter().position(|&f| f == file_kib)?;
    let column = RECORDS_KIB.iter().position(|&r| r == record_kib)?;
    let published_kib_s = f64::from(report[row][column]);
    let worker = done.first()?.workers.first()?;
    let simulated_kib_s = file_kib as f64 * 1e9 / worker.elapsed_ns.max(1) as f64;
    Some(NcsaCell {
        file_kib,
        record_kib,
        published_kib_s,
        simulated_kib_s,
        error_percent: (simulated_kib_s / published_kib_s - 1.0) * 100.0,
        standing: standing(test, file_kib, record_kib),
    })
}

impl std::fmt::Display for NcsaTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        text::write(self, f)
    }
}

/// Published surfaces as if they were simulated, to test the checks and texts.
#[cfg(test)]
pub(super) fn published_as_ours(change: impl Fn(&str, u64, u64, f64) -> f64) -> NcsaTable {
    let surfaces = REPORTS.iter().map(|&(test, report)| {
        let mut cells = Vec::new();
        for (row, &file_kib) in report.iter().zip(&FILES_KIB) {
            for (&published, &record_kib) in row.iter().zip(&RECORDS_KIB) {
                let published_kib_s = f64::from(published);
                let simulated_kib_s = change(test, file_kib, record_kib, published_kib_s);
                let error_percent = (simulated_kib_s / published_kib_s - 1.0) * 100.0;
                let standing = standing(test, file_kib, record_kib);
                if published > 0 {
                    cells.push(NcsaCell {
                        file_kib,
                        record_kib,
                        published_kib_s,
                        simulated_kib_s,
                        error_percent,
                        standing,
                    });
                }
            }
        }
        Surface::of(test, cells)
    });
    let mut table = NcsaTable {
        surfaces: surfaces.collect(),
        checks: Vec::new(),
        freedom: Vec::new(),
        sources: [0; 4],
        virtual_s: 0.0,
    };
    table.checks = checks::all(&table, &NcsaTolerances::default());
    table
}
