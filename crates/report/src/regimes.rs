//! Finds the boundaries between regimes on a surface from the data. Rows (file sizes) are compared with their neighbours over common
//! record sizes, which gives one series of log throughput along the file size that missing cells cannot bend; `fathom_compare::segments`
//! cuts it where its level changes. A cut is also made where the rows' measured origin changes. Each band is then named from its cells'
//! own origin; within the page cache, a band whose files fit the last-level cache is called CPU cache.

use crate::band::sizes;
use crate::{Band, Cause, Machine, Quantity, Surface, SurfaceCell};
use fathom_compare::{Settings, Summary, segments, summary::median};
use fathom_record::{Phase, Regime, Run};
use std::ops::Range;

/// The regime of a band.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Page cache, and the files fit the last-level CPU cache.
    CpuCache,
    /// Served from the page cache.
    PageCache,
    /// Part memory, part device.
    Mixed,
    /// Served by the device.
    Device,
    /// Holes: zeros made by the kernel.
    Holes,
    /// A file system without a device below.
    Memory,
    /// Nothing was read or written.
    NoIo,
    /// The kernel does not say.
    Unknown,
}

impl Kind {
    /// Every kind, in the order of tables.
    pub const ALL: [Self; 8] = [
        Self::CpuCache,
        Self::PageCache,
        Self::Mixed,
        Self::Device,
        Self::Holes,
        Self::Memory,
        Self::NoIo,
        Self::Unknown,
    ];

    /// The words used in reports.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::CpuCache => "CPU cache",
            Self::PageCache => "page cache",
            Self::Mixed => "page cache and device",
            Self::Device => "device",
            Self::Holes => "holes",
            Self::Memory => "memory file system",
            Self::NoIo => "no I/O",
            Self::Unknown => "origin unknown",
        }
    }

    /// Words for narrow columns.
    #[must_use]
    pub fn short(self) -> &'static str {
        match self {
            Self::Mixed => "part cache",
            Self::Memory => "memory",
            Self::Unknown => "unknown",
            other => other.words(),
        }
    }

    /// The source of a phase, for tables. A phase that failed part way was not measured, whatever served it.
    #[must_use]
    pub fn served(phase: &Phase) -> &'static str {
        match phase {
            p if p.failed() => "failed",
            p if p.is_metadata_only() => "metadata",
            p if p.is_part_holes() => "part holes",
            p if p.is_served() && p.origin().regime == Regime::PageCache => Self::Memory.short(),
            p => Self::from(p.origin().regime).short(),
        }
    }

    /// One letter for narrow columns; the legend explains it.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Self::CpuCache => 'C',
            Self::PageCache => 'P',
            Self::Mixed => 'M',
            Self::Device => 'D',
            Self::Holes => 'H',
            Self::Memory => 'R',
            Self::NoIo => '-',
            Self::Unknown => '?',
        }
    }

    /// The CSS class that colours it.
    #[must_use]
    pub fn class(self) -> &'static str {
        match self {
            Self::CpuCache => "r-cpu",
            Self::PageCache => "r-cache",
            Self::Mixed => "r-mixed",
            Self::Device => "r-device",
            Self::Holes => "r-holes",
            Self::Memory => "r-memory",
            Self::NoIo | Self::Unknown => "r-unknown",
        }
    }

    /// Whether figures of this kind came from memory, including zeros made by the kernel, and say nothing about a disk.
    #[must_use]
    pub fn is_memory(self) -> bool {
        matches!(self, Self::CpuCache | Self::PageCache | Self::Holes | Self::Memory)
    }
}

impl From<Regime> for Kind {
    fn from(regime: Regime) -> Self {
        match regime {
            Regime::Device => Self::Device,
            Regime::PageCache => Self::PageCache,
            Regime::Mixed => Self::Mixed,
            Regime::Holes => Self::Holes,
            Regime::Memory => Self::Memory,
            Regime::NoIo => Self::NoIo,
            Regime::Unknown => Self::Unknown,
        }
    }
}

/// The bands of a surface of throughput, smallest files first. A ratio has none.
#[must_use]
pub fn bands(surface: &Surface, machine: &Machine) -> Vec<Band> {
    if surface.quantity == Quantity::Ratio {
        return Vec::new();
    }
    let levels = row_levels(surface);
    let origins: Vec<Regime> = (0..surface.file_bytes.len()).map(|i| majority(surface, i..i + 1)).collect();
    let by_throughput = segments(&levels, &Settings::LOG_THROUGHPUT);
    let starts: Vec<usize> = by_throughput.iter().map(|r| r.start).collect();
    let mut bands: Vec<Band> = Vec::new();
    for range in by_throughput.into_iter().flat_map(|r| split_at_origin_changes(&r, &origins)) {
        let values: Vec<f64> = surface.measured_in(range.clone()).iter().map(|c| c.value).collect();
        let Some(rates) = Summary::of(&values) else { continue };
        let begins_by = bands.last().map(|before| {
            if starts.contains(&range.start) {
                Cause::Throughput((mean(&levels[range.clone()]) - mean(&levels[before.rows.clone()])).exp())
            } else {
                Cause::Origin
            }
        });
        let (from_bytes, to_bytes) = (surface.file_bytes[range.start], surface.file_bytes[range.end - 1]);
        let kind = named(majority(surface, range.clone()), to_bytes, machine);
        let sizes = (kind == Kind::Unknown).then(|| sizes(from_bytes, to_bytes, machine)).flatten();
        let over_network = machine.is_networked();
        bands.push(Band { rows: range, kind, from_bytes, to_bytes, rates, begins_by, sizes, over_network });
    }
    bands
}

/// A surface with its bands, ready for drawing.
#[derive(Clone, Debug)]
pub struct Mapped {
    /// The surface.
    pub surface: Surface,
    /// Its bands, smallest files first.
    pub bands: Vec<Band>,
}

impl Mapped {
    /// Every surface of a run with its bands.
    #[must_use]
    pub fn of_run(run: &Run) -> Vec<Self> {
        let machine = Machine::of(run);
        Surface::of_run(run).into_iter().map(|surface| Self::of(surface, &machine)).collect()
    }

    /// One surface with its bands.
    #[must_use]
    pub fn of(surface: Surface, machine: &Machine) -> Self {
        let bands = bands(&surface, machine);
        Self { surface, bands }
    }

    /// The source of one cell: its own measured origin. Only the distinction between page cache and CPU cache comes from the
    /// band. So a cached cell inside a device band does not count among the device's figures.
    #[must_use]
    pub fn kind_of(&self, row: usize, cell: &SurfaceCell) -> Kind {
        match (Kind::from(cell.origin), self.band_of(row)) {
            (Kind::PageCache, Some(band)) if band.kind == Kind::CpuCache => Kind::CpuCache,
            (own, _) => own,
        }
    }

    /// The figures of all cells of one kind, bytes/s; `None` if there are none.
    #[must_use]
    pub fn rates_of(&self, kind: Kind) -> Option<Summary> {
        let rows = self.surface.cells.iter().enumerate();
        let cells = rows.flat_map(|(i, row)| row.iter().flatten().map(move |cell| (i, cell)));
        let values: Vec<f64> =
            cells.filter(|(i, cell)| self.kind_of(*i, cell) == kind).map(|(_, cell)| cell.value).collect();
        Summary::of(&values)
    }

    /// The figure of the largest file of this kind, bytes/s, at the largest record up to 1 MiB, or else the smallest above.
    #[must_use]
    pub fn largest_of(&self, kind: Kind) -> Option<f64> {
        self.largest_cell_of(kind).map(|(_, _, value)| value)
    }

    /// File size, record size and figure of the cell that `largest_of` uses.
    #[must_use]
    pub fn largest_cell_of(&self, kind: Kind) -> Option<(u64, u64, f64)> {
        const RECORD: u64 = 1 << 20;
        let mut columns: Vec<(usize, u64)> = self.surface.record_bytes.iter().copied().enumerate().collect();
        columns.sort_by_key(|&(_, record)| {
            (record > RECORD, if record > RECORD { record } else { u64::MAX - record })
        });
        let rows = self.surface.cells.iter().enumerate().rev();
        let mut cells = rows.flat_map(|(i, row)| {
            columns.iter().filter_map(move |&(j, record)| Some((i, record, row[j].as_ref()?)))
        });
        let (i, record, cell) = cells.find(|(i, _, cell)| self.kind_of(*i, cell) == kind)?;
        Some((self.surface.file_bytes[i], record, cell.value))
    }

    /// The band a row belongs to.
    #[must_use]
    pub fn band_of(&self, row: usize) -> Option<&Band> {
        self.bands.iter().find(|b| b.rows.contains(&row))
    }
}

/// One log level per row. Row i+1 is placed relative to row i by the median over their common record sizes.
fn row_levels(surface: &Surface) -> Vec<f64> {
    let log = |row: usize, column: usize| {
        surface.cells[row][column].as_ref().map(|c| c.value).filter(|v| *v > 0.0).map(f64::ln)
    };
    let columns = surface.record_bytes.len();
    let row_median = |row: usize| median(&(0..columns).filter_map(|c| log(row, c)).collect::<Vec<_>>());
    let mut level = row_median(0).unwrap_or(0.0);
    let mut levels = vec![level];
    for row in 1..surface.file_bytes.len() {
        let steps: Vec<f64> = (0..columns).filter_map(|c| Some(log(row, c)? - log(row - 1, c)?)).collect();
        level = match median(&steps) {
            Some(step) => level + step,
            None => row_median(row).unwrap_or(level),
        };
        levels.push(level);
    }
    levels
}

/// The origin of most cells of some rows: a single one if at least four fifths agree, else mixed.
fn majority(surface: &Surface, rows: Range<usize>) -> Regime {
    let cells = surface.measured_in(rows);
    let known: Vec<Regime> = cells.iter().map(|c| c.origin).filter(|o| *o != Regime::Unknown).collect();
    let all = [Regime::Device, Regime::PageCache, Regime::Holes, Regime::Memory, Regime::NoIo, Regime::Mixed];
    let count = |kind: Regime| known.iter().filter(|o| **o == kind).count();
    match all.into_iter().max_by_key(|k| count(*k)) {
        _ if known.is_empty() => Regime::Unknown,
        Some(most) if count(most) * 5 >= known.len() * 4 => most,
        _ => Regime::Mixed,
    }
}

/// Cuts a stretch of even throughput where the rows' origin changes for good. A single row between two that agree is a flicker
/// (from write-back of an earlier phase, say) and makes no band.
fn split_at_origin_changes(range: &Range<usize>, origins: &[Regime]) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = range.start;
    for i in range.start + 1..range.end {
        let (before, here) = (origins[i - 1], origins[i]);
        let flicker_here = i + 1 < range.end && origins[i + 1] == before;
        let flicker_before = i >= range.start + 2 && origins[i - 2] == here;
        let both_known = before != Regime::Unknown && here != Regime::Unknown;
        if both_known && before != here && !flicker_here && !flicker_before {
            parts.push(start..i);
            start = i;
        }
    }
    parts.push(start..range.end);
    parts
}

fn named(regime: Regime, largest_file_bytes: u64, machine: &Machine) -> Kind {
    let fits = machine.last_level_cache_bytes().is_some_and(|cache| largest_file_bytes <= cache);
    match regime {
        Regime::PageCache if fits => Kind::CpuCache,
        other => other.into(),
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn kinds(mapped: &Mapped) -> Vec<(Kind, u64)> {
        mapped.bands.iter().map(|b| (b.kind, b.to_bytes)).collect()
    }

    #[test]
    fn the_auto_run_reads_from_cpu_cache_page_cache_and_device() {
        let mapped = Mapped::of_run(&samples::auto_run());
        let read = mapped.iter().find(|m| m.surface.title == "read").expect("read");
        assert_eq!(
            kinds(read),
            [(Kind::CpuCache, 16 << 20), (Kind::PageCache, 256 << 20), (Kind::Device, 1 << 30)]
        );
        let last = read.bands.last().expect("three");
        assert!(matches!(last.begins_by, Some(Cause::Throughput(f)) if f < 0.3), "{last:?}");
    }

    #[test]
    fn the_crossover_hole_makes_no_regime() {
        // Small records are slow; where they are missing, the plain row median jumps up. Only common record sizes are compared.
        let mut surface = Surface::of_run(&samples::auto_run()).remove(0);
        for (i, row) in surface.cells.iter_mut().enumerate() {
            for (j, cell) in row.iter_mut().enumerate() {
                if let Some(cell) = cell {
                    cell.value = 1e9 * (1.0 + j as f64) * (1.0 + 0.01 * (i % 2) as f64);
                    cell.origin = Regime::PageCache;
                }
            }
        }
        assert_eq!(bands(&surface, &Machine::default()).len(), 1);
    }

    #[test]
    fn a_change_of_origin_at_equal_speed_is_a_band() {
        let mut surface = Surface::of_run(&samples::auto_run()).remove(0);
        for (i, row) in surface.cells.iter_mut().enumerate() {
            for cell in row.iter_mut().flatten() {
                cell.value = 1e9;
                cell.origin = if i < 10 { Regime::PageCache } else { Regime::Device };
            }
        }
        let found = bands(&surface, &Machine::default());
        assert_eq!(found.iter().map(|b| b.kind).collect::<Vec<_>>(), [Kind::PageCache, Kind::Device]);
        assert_eq!(found[1].begins_by, Some(Cause::Origin));
        assert_eq!(found[1].rows.start, 10);
    }

    #[test]
    fn a_cached_cell_in_the_devices_band_is_not_counted_as_the_devices() {
        let mut surface = Surface::of_run(&samples::auto_run()).remove(2);
        let stray = surface.cells[14][12].as_mut().expect("the last cell");
        stray.origin = Regime::PageCache;
        stray.value = 5e10;
        let mapped = Mapped::of(surface, &Machine::default());
        assert_eq!(mapped.band_of(14).map(|b| b.kind), Some(Kind::Device));
        assert!(mapped.rates_of(Kind::Device).expect("others").max < 1e9);
    }

    #[test]
    fn the_figure_to_quote_is_the_largest_files_whatever_the_grid() {
        let surface = Surface::of_run(&samples::auto_run()).remove(2);
        let column = surface.record_bytes.iter().position(|r| *r == 1 << 20).expect("records of a MiB");
        let last = surface.file_bytes.len() - 1;
        let wanted = surface.cells[last][column].as_ref().expect("measured").value;
        let mapped = Mapped::of(surface.clone(), &Machine::default());
        assert_eq!(mapped.largest_of(Kind::Device), Some(wanted));
        assert_eq!(mapped.largest_of(Kind::Unknown), None);
        // Without the smaller files and the largest records the figure is the same; a median is not.
        let mut coarse = surface;
        coarse.cells.drain(..8);
        coarse.file_bytes.drain(..8);
        coarse.record_bytes.truncate(column + 1);
        coarse.cells.iter_mut().for_each(|row| row.truncate(column + 1));
        let coarse = Mapped::of(coarse, &Machine::default());
        assert_eq!(coarse.largest_of(Kind::Device), Some(wanted));
        assert_eq!(coarse.largest_of(Kind::PageCache), mapped.largest_of(Kind::PageCache));
        let median = |mapped: &Mapped| mapped.rates_of(Kind::PageCache).expect("reported").median;
        assert_ne!(median(&coarse), median(&mapped));
    }

    #[test]
    fn without_a_cache_size_nothing_is_called_cpu_cache() {
        let surface = Surface::of_run(&samples::auto_run()).remove(2);
        assert!(bands(&surface, &Machine::default()).iter().all(|b| b.kind != Kind::CpuCache));
    }
}
