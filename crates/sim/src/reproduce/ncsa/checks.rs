//! The tolerances, and whether they hold. The first was stated for this table before there was a simulator. The others define "regimes at
//! the right sizes" and were written down after the desk calculation and before the first simulated run.

use super::super::Check;
use super::published::RECORDS_KIB;
use super::regimes::{PUBLISHED, SIMULATED, cache_gain, disk_from_kib, record_knee_kib};
use super::{NcsaTable, Surface};

/// Stated tolerances.
#[derive(Clone, Copy, Debug)]
pub struct NcsaTolerances {
    /// Least correlation of log throughput, for first reads and rereads.
    pub correlation: f64,
    /// Error of reads of 4 GiB from the disk, %.
    pub disk_percent: f64,
    /// Error of the speed-up of rereads from the CPU cache, as a difference of logarithms.
    pub gain: f64,
}

impl Default for NcsaTolerances {
    fn default() -> Self {
        Self { correlation: 0.9, disk_percent: 25.0, gain: 0.15 }
    }
}

/// Runs every check of a table.
pub(super) fn all(table: &NcsaTable, t: &NcsaTolerances) -> Vec<Check> {
    let mut checks = Vec::new();
    if let Some(read) = table.surface("read") {
        checks.push(correlation(read, t, "first reads"));
        checks.push(record_knee(read));
        checks.push(disk(read, "first reads"));
        checks.push(disk_level(read, t));
    }
    if let Some(reread) = table.surface("reread") {
        checks.push(correlation(reread, t, "rereads"));
        checks.push(gain(reread, t));
        checks.push(disk(reread, "rereads"));
    }
    checks
}

fn correlation(surface: &Surface, t: &NcsaTolerances, name: &str) -> Check {
    Check {
        stated: format!(
            "{name}: correlation of log throughput over all {} cells at least {}",
            surface.cells.len(),
            t.correlation
        ),
        found: format!(
            "{:.3}; {:.3} over the {} held-out ones",
            surface.correlation, surface.held_out_correlation, surface.held_out
        ),
        holds: surface.correlation >= t.correlation,
    }
}

fn record_knee(read: &Surface) -> Check {
    let (published, ours) = (record_knee_kib(read, PUBLISHED), record_knee_kib(read, SIMULATED));
    Check {
        stated: format!("first reads from memory: slower than half-way from records of {published} KiB on"),
        found: format!("from {ours} KiB on"),
        holds: published == ours,
    }
}

/// The file sizes read from disk, with records of 64 KiB and of all other sizes.
fn disk(surface: &Surface, name: &str) -> Check {
    let (published, ours) = (disk_from_kib(surface, PUBLISHED, 64), disk_from_kib(surface, SIMULATED, 64));
    let others: Vec<u64> = RECORDS_KIB.iter().copied().filter(|&r| r != 64).collect();
    let wrong: Vec<String> = others
        .iter()
        .filter(|&&r| disk_from_kib(surface, PUBLISHED, r) != disk_from_kib(surface, SIMULATED, r))
        .map(|&r| format!("from {} with records of {}", size(disk_from_kib(surface, SIMULATED, r)), size(r)))
        .collect();
    let but = if wrong.is_empty() { String::new() } else { format!("; {}", wrong.join(", ")) };
    Check {
        stated: format!(
            "{name}: below half the level of memory from {} on with records of 64 KiB, with all others never",
            size(published)
        ),
        found: format!("from {} on{but}", size(ours)),
        holds: published == ours && wrong.is_empty(),
    }
}

fn disk_level(read: &Surface, t: &NcsaTolerances) -> Check {
    let error = read.cell(4 << 20, 64).map_or(f64::INFINITY, |c| c.error_percent);
    Check {
        stated: format!(
            "first read of 4 GiB with records of 64 KiB, from the disk, within {} %",
            t.disk_percent
        ),
        found: format!("{error:+.1} %"),
        holds: error.abs() <= t.disk_percent,
    }
}

fn gain(reread: &Surface, t: &NcsaTolerances) -> Check {
    let (published, ours) = (cache_gain(reread, PUBLISHED), cache_gain(reread, SIMULATED));
    Check {
        stated: format!(
            "rereads of files that the CPU cache holds: faster than from memory by {published:.2} in logarithms, +-{}",
            t.gain
        ),
        found: format!("{ours:.2}"),
        holds: (ours - published).abs() <= t.gain,
    }
}

/// A size in the largest unit that divides it; "no size" for 0.
fn size(kib: u64) -> String {
    match kib {
        0 => "no size".into(),
        kib if kib % (1 << 20) == 0 => format!("{} GiB", kib >> 20),
        kib if kib % 1024 == 0 => format!("{} MiB", kib >> 10),
        kib => format!("{kib} KiB"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::published_as_ours;
    use super::*;

    fn failing(table: &NcsaTable) -> Vec<&str> {
        table.checks.iter().filter(|c| !c.holds).map(|c| c.stated.as_str()).collect()
    }

    #[test]
    fn the_published_table_holds_its_own_tolerances() {
        let table = published_as_ours(|_, _, _, published| published);
        assert_eq!(table.checks.len(), 7);
        assert!(table.holds(), "{:?}", failing(&table));
    }

    #[test]
    fn memory_without_a_disk_behind_it_fails() {
        let table = published_as_ours(|_, file, _, published| if file >= 1 << 20 { 1e6 } else { published });
        let failing = failing(&table);
        assert!(failing.iter().any(|s| s.contains("4 GiB")), "{failing:?}");
        assert!(failing.iter().any(|s| s.contains("below half the level")), "{failing:?}");
    }

    #[test]
    fn a_cell_wrongly_on_the_disk_is_reported() {
        let table = published_as_ours(
            |_, file, record, published| {
                if file == 2 << 20 && record == 1024 { 50_000.0 } else { published }
            },
        );
        let disk = &table.checks[2];
        assert!(!disk.holds && disk.found.contains("2 GiB with records of 1 MiB"), "{disk:?}");
    }

    #[test]
    fn a_cache_of_another_size_fails() {
        let table = published_as_ours(|test, file, record, published| match (test, record) {
            ("read", 256) if file > 16_384 => 1_100_000.0,
            _ => published,
        });
        assert!(!table.checks[1].holds && table.checks[1].found.contains("512"), "{:?}", table.checks[1]);
    }
}
