//! The possible cells of a survey's surface: powers of two, and one size between each two of them. Finer steps would follow noise.

use fathom_compare::adaptive::Sampler;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
/// Steps from one power of two to the next.
const STEPS: f64 = 2.0;
/// Sizes are multiples of this.
const UNIT: f64 = 512.0;

/// Record sizes and file sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct Lattice {
    /// Record sizes, ascending, bytes.
    pub columns: Vec<u64>,
    /// File sizes, ascending, bytes; none is smaller than a record.
    pub rows: Vec<u64>,
}

impl Lattice {
    /// For the given largest file; `None` if that is too small for a surface.
    #[must_use]
    pub fn of(largest: u64) -> Option<Self> {
        let least = (largest / 32).clamp(16 * KIB, MIB);
        let lattice = Self { columns: sizes(4 * KIB, least), rows: sizes(least, largest) };
        (lattice.columns.len() > 2 && lattice.rows.len() > 2).then_some(lattice)
    }

    /// The sampler that chooses among the cells.
    #[must_use]
    pub fn sampler(&self, tolerance: f64) -> Option<Sampler> {
        let numbers = |sizes: &[u64]| sizes.iter().map(|s| *s as f64).collect::<Vec<f64>>();
        Sampler::new(&numbers(&self.columns), &numbers(&self.rows), tolerance)
    }
}

fn sizes(from: u64, to: u64) -> Vec<u64> {
    if to <= from {
        return Vec::new();
    }
    let ratio = to as f64 / from as f64;
    let steps = (ratio.log2() * STEPS).round().max(1.0);
    let at = |i: u32| (from as f64 * ratio.powf(f64::from(i) / steps) / UNIT).round() as u64 * UNIT as u64;
    (0..=steps as u32).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_holds_every_record() {
        for largest in [64 * KIB, 192 * KIB, 32 * MIB, 256 * MIB, 1024 * MIB] {
            let lattice = Lattice::of(largest).expect("large enough");
            assert!(lattice.columns.last() <= lattice.rows.first(), "{lattice:?}");
            assert_eq!((lattice.columns.first(), lattice.rows.last()), (Some(&(4 * KIB)), Some(&largest)));
            assert!(lattice.columns.is_sorted() && lattice.rows.is_sorted());
            assert!(lattice.sampler(0.1).is_some());
        }
        assert_eq!(Lattice::of(256 * MIB).map(|l| (l.columns.len(), l.rows.len())), Some((17, 17)));
        let little = Lattice::of(128 * KIB).expect("large enough");
        assert_eq!(
            little.columns,
            [8, 11, 16, 23, 32].map(|half| half * KIB / 2),
            "no finer steps in little room"
        );
        assert_eq!(Lattice::of(16 * KIB), None);
    }
}
