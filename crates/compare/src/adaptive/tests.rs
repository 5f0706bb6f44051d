//! The sampler on known surfaces: flat, steep, with knees, with noise, with failing cells.

use super::{Agreement, Sampler, agreement};
use proptest::prelude::*;

/// Geometric sequence of `n` sizes from `from` with factor `step`.
fn sizes(from: f64, step: f64, n: i32) -> Vec<f64> {
    (0..n).map(|i| from * step.powi(i)).collect()
}

fn lattice() -> (Vec<f64>, Vec<f64>) {
    (sizes(4096.0, 2f64.sqrt(), 17), sizes(1e6, 1.41, 17))
}

fn sampler() -> Sampler {
    let (x, y) = lattice();
    Sampler::new(&x, &y, 0.1).expect("a lattice")
}

/// Samples a function of record and file size.
fn sampled(f: impl Fn(f64, f64) -> f64, share: f64) -> Agreement {
    let (x, y) = lattice();
    let whole: Vec<f64> =
        y.iter().flat_map(|&file| x.iter().map(move |&r| (r, file))).map(|(r, s)| f(r, s)).collect();
    agreement(&mut sampler(), &whole, &whole, &vec![1.0; whole.len()], share).expect("they fit")
}

#[test]
fn a_flat_surface_costs_the_first_cells() {
    let found = sampled(|_, _| 5e8, 1.0);
    assert_eq!((found.measured, found.cells), (9, 289));
    assert!(found.largest_error < 1e-9);
}

#[test]
fn a_power_law_is_exact_and_cheap() {
    let found = sampled(|record, file| 1e3 * record.powf(0.8) * file.powf(-0.1), 1.0);
    assert!(found.largest_error < 1e-6, "{found:?}");
    assert!(found.time_share < 0.25, "{found:?}");
}

#[test]
fn knees_are_found_with_a_quarter_of_the_cells() {
    // Time per operation and per byte, and a cache that ends at 16 MB.
    let knees = |record: f64, file: f64| {
        let (call, byte) = if file < 1.6e7 { (1e-6, 1e-10) } else { (2e-4, 5e-9) };
        record / (call + record * byte)
    };
    let found = sampled(knees, 0.25);
    assert!(found.time_share <= 0.25, "{found:?}");
    assert!(found.median_error < 0.03 && found.p95_error < 1.0, "{found:?}");
    // Most of the chosen cells are at the edge of the cache.
    let mut s = sampler();
    let (x, y) = lattice();
    let (mut near, mut far) = (0, 0);
    for _ in 0..72 {
        let Some(node) = s.next_node() else { break };
        let file = y[node.1];
        *(if (5e6..5e7).contains(&file) { &mut near } else { &mut far }) += 1;
        s.tell(node, knees(x[node.0], file));
    }
    // Those sizes are two fifths of the rows.
    assert!(near > far, "{near} near the edge, {far} elsewhere");
}

#[test]
fn a_cell_is_requested_until_it_has_a_result_and_never_again() {
    let mut s = sampler();
    assert_eq!(s.next_node(), s.next_node());
    let mut seen = std::collections::BTreeSet::new();
    while let Some(node) = s.next_node() {
        assert!(seen.insert(node), "{node:?} twice");
        // Nothing can be learned from this surface.
        s.tell(node, if (node.0 + node.1) % 2 == 0 { 1.0 } else { 1e6 });
    }
    assert_eq!(s.measured(), seen.len());
}

#[test]
fn a_cell_that_failed_counts_as_expected() {
    let mut s = sampler();
    while let Some(node) = s.next_node() {
        s.tell(node, if node == (8, 8) { f64::NAN } else { 7.0 });
    }
    assert!(s.at((5, 5)).is_some_and(|v| v > 0.0));
    assert!(s.measured() < 289);
}

#[test]
fn no_lattice_of_nothing() {
    assert!(Sampler::new(&[1.0], &[1.0, 2.0], 0.1).is_none());
    assert!(Sampler::new(&[2.0, 1.0], &[1.0, 2.0], 0.1).is_none());
    assert!(Sampler::new(&[0.0, 1.0], &[1.0, 2.0], 0.1).is_none());
    assert!(Sampler::new(&[1.0, 2.0], &[1.0, 2.0], f64::NAN).is_none());
    let mut small = Sampler::new(&[1.0, 2.0], &[1.0, 2.0], 0.1).expect("four cells");
    assert_eq!(small.at((0, 0)), None);
    let mut cells = 0;
    while let Some(node) = small.next_node() {
        cells += 1;
        small.tell(node, 1.0 + node.0 as f64);
    }
    assert_eq!(cells, 4);
    assert_eq!(small.expected_error().map(|e| e > 0.0), Some(true));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// On any surface, measured cells are returned unchanged, and the others lie between the extremes.
    #[test]
    fn interpolation_stays_between_what_was_measured(
        values in prop::collection::vec(1e-3..1e9f64, 289),
        most in 0.1..1.0f64,
    ) {
        let mut s = sampler();
        let found = agreement(&mut s, &values, &values, &vec![1.0; 289], most).expect("they fit");
        prop_assert!(found.time_share <= most.max(9.0 / 289.0) + 1e-9);
        let (low, high) = values.iter().fold((f64::INFINITY, 0.0f64), |(a, b), v| (a.min(*v), b.max(*v)));
        for (at, value) in values.iter().enumerate() {
            let node = (at % 17, at / 17);
            let here = s.at(node).expect("all cells have a value");
            prop_assert!(here >= low * 0.999 && here <= high * 1.001);
            if s.is_measured(node) {
                prop_assert!((here / value - 1.0).abs() < 1e-9);
            }
        }
    }

    /// Knees anywhere, with noise of a few percent: half of the cells are within 15 % for a quarter of the time.
    #[test]
    fn knees_anywhere_are_followed(
        edge in 2e6..1e8f64,
        call in 1e-7..1e-4f64,
        fall in 1.0..50.0f64,
        seed in 0u64..1000,
    ) {
        let noise = |record: f64, file: f64| {
            let bits = (record.to_bits() ^ file.to_bits().rotate_left(17) ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            1.0 + 0.03 * ((bits >> 40) as f64 / f64::from(1 << 24) - 0.5)
        };
        let found = sampled(|record, file| {
            let slower = if file < edge { 1.0 } else { fall };
            noise(record, file) * record / (call + record * 1e-9 * slower)
        }, 0.25);
        prop_assert!(found.median_error < 0.15, "{:?}", found);
    }
}
