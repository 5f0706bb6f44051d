//! Transitions between regimes on a surface of reads: the record size at which the caller's buffer no longer fits the CPU cache, the
//! speed-up of files in that cache, and the file size from which reads come from disk. The same rules apply to the published surface and
//! to ours.

use super::published::{FILES_KIB, RECORDS_KIB};
use super::statistics::ln;
use super::{NcsaCell, Surface};

/// Selects the published or the simulated figure.
pub(super) type Side = fn(&NcsaCell) -> f64;

/// The published figure.
pub(super) const PUBLISHED: Side = |c| c.published_kib_s;
/// Our figure.
pub(super) const SIMULATED: Side = |c| c.simulated_kib_s;

/// Files that fit in memory but in no CPU cache.
const IN_MEMORY_KIB: std::ops::RangeInclusive<u64> = 32_768..=524_288;
/// Files that fit in the CPU cache together with a record of at most 64 KiB.
const IN_CACHE_KIB: std::ops::RangeInclusive<u64> = 64..=256;

/// Mean logarithm of the selected cells.
fn level(surface: &Surface, side: Side, chosen: impl Fn(&NcsaCell) -> bool) -> f64 {
    let logs: Vec<f64> = surface.cells.iter().filter(|c| chosen(c)).map(|c| ln(side(c))).collect();
    logs.iter().sum::<f64>() / (logs.len() as f64).max(1.0)
}

/// The first record size, KiB, at which files in memory are read slower than half-way (in logarithms) between the levels of records up to
/// 128 KiB and of those from 512 KiB to 4 MiB; 0 if there is none.
pub(super) fn record_knee_kib(surface: &Surface, side: Side) -> u64 {
    let of = |records: std::ops::RangeInclusive<u64>| {
        level(surface, side, |c| IN_MEMORY_KIB.contains(&c.file_kib) && records.contains(&c.record_kib))
    };
    let half_way = (of(64..=128) + of(512..=4096)) / 2.0;
    let larger = RECORDS_KIB.iter().copied().filter(|&r| r >= 128);
    larger.into_iter().find(|&r| of(r..=r) < half_way).unwrap_or(0)
}

/// Speed-up of files in the CPU cache over files in memory, with records of 16 to 64 KiB; in logarithms.
pub(super) fn cache_gain(surface: &Surface, side: Side) -> f64 {
    let records = 16..=64;
    let in_cache = |c: &NcsaCell| IN_CACHE_KIB.contains(&c.file_kib) && records.contains(&c.record_kib);
    let in_memory = |c: &NcsaCell| (2048..=524_288).contains(&c.file_kib) && records.contains(&c.record_kib);
    level(surface, side, in_cache) - level(surface, side, in_memory)
}

/// The first file size, KiB, read at less than half the level of files in memory with records of this size; 0 if there is none.
pub(super) fn disk_from_kib(surface: &Surface, side: Side, record_kib: u64) -> u64 {
    let in_memory =
        level(surface, side, |c| IN_MEMORY_KIB.contains(&c.file_kib) && c.record_kib == record_kib);
    let half = in_memory - ln(2.0);
    let is_slow = |&file: &u64| surface.cell(file, record_kib).is_some_and(|c| ln(side(c)) < half);
    FILES_KIB.iter().copied().filter(|f| IN_MEMORY_KIB.end() < f).find(|f| is_slow(f)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::published_as_ours;
    use super::*;

    #[test]
    fn the_published_surface_changes_where_the_report_says() {
        let table = published_as_ours(|_, _, _, published| published);
        let read = table.surface("read").unwrap();
        assert_eq!(record_knee_kib(read, PUBLISHED), 256);
        assert_eq!(disk_from_kib(read, PUBLISHED, 64), 1 << 20);
        assert!(RECORDS_KIB.iter().filter(|&&r| r > 64).all(|&r| disk_from_kib(read, PUBLISHED, r) == 0));
        let reread = table.surface("reread").unwrap();
        assert_eq!(disk_from_kib(reread, PUBLISHED, 64), 4 << 20);
        assert!(cache_gain(reread, PUBLISHED) > 0.1, "{}", cache_gain(reread, PUBLISHED));
    }

    #[test]
    fn a_constant_series_has_no_knee() {
        let flat = published_as_ours(|_, _, _, _| 1000.0);
        let read = flat.surface("read").unwrap();
        assert_eq!((record_knee_kib(read, SIMULATED), disk_from_kib(read, SIMULATED, 64)), (0, 0));
        assert_eq!(cache_gain(read, SIMULATED), 0.0);
    }
}
