//! The distributions' means, Filebench's exact numbers, and the rejection of invalid parameters.

use super::*;
use crate::{Row, Shape, Ties};

fn mean(shape: Shape) -> f64 {
    let mut s = Sampler::new(&RandomVariable::new(shape), 1).unwrap();
    (0..20_000).map(|_| s.draw()).sum::<f64>() / 20_000.0
}

fn rows() -> Vec<Row> {
    vec![Row { percent: 30.0, low: 1000.0, high: 2000.0 }, Row { percent: 70.0, low: 5000.0, high: 9001.0 }]
}

fn every_shape() -> Vec<Shape> {
    vec![
        Shape::Uniform { low: 10.0, high: 30.0 },
        Shape::Gamma { shape: 1.5, mean: 4096.0, offset: 0.0 },
        Shape::Gamma { shape: 0.7, mean: 4096.0, offset: 96.0 },
        Shape::Gamma { shape: 1.0, mean: 2.0, offset: 1.0 },
        Shape::Erlang { shape: 3, rate: 0.5 },
        Shape::Exponential { mean: 7.0 },
        Shape::Normal { mean: 100.0, sigma: 10.0 },
        Shape::LogNormal { mu: 3.0, sigma: 0.5 },
        Shape::Triangular { low: 0.0, high: 3.0, mode: 1.5 },
        Shape::Triangular { low: 2.0, high: 5.0, mode: 2.0 },
        Shape::Weibull { shape: 1.5, scale: 10.0 },
        Shape::Weibull { shape: 0.8, scale: 10.0 },
        Shape::Table(rows()),
        Shape::Stretched { rows: rows(), mean: None, lowest: 1000.0 },
        Shape::Stretched { rows: rows(), mean: Some(80_000.0), lowest: 10.0 },
    ]
}

#[test]
fn drawn_values_have_the_stated_mean() {
    for shape in every_shape() {
        let told = RandomVariable::new(shape.clone()).mean();
        let drawn = mean(shape.clone());
        assert!((drawn / told - 1.0).abs() < 0.03, "{shape:?}: {drawn} drawn, {told} told");
    }
}

#[test]
fn a_changed_mean_is_reached() {
    for shape in every_shape() {
        let variable = RandomVariable::new(shape.clone()).with_mean(12_345.0).unwrap();
        assert!((variable.mean() / 12_345.0 - 1.0).abs() < 1e-9, "{shape:?}: {}", variable.mean());
        assert!(Drawing::new(&variable).is_some(), "{shape:?}");
    }
    let none = Shape::Weibull { shape: 1.0, scale: 0.0 };
    assert_eq!(RandomVariable::new(none).with_mean(1.0), None);
}

fn from_rand48(shape: Shape, seed: u64, count: usize) -> Vec<u64> {
    let variable = RandomVariable { generator: Generator::Rand48(seed), ..RandomVariable::new(shape) };
    let mut s = Sampler::new(&variable, 99).unwrap();
    (0..count).map(|_| s.draw_u64()).collect()
}

/// File sizes drawn by Filebench 1.5.
#[test]
fn filebench_uniform() {
    let shape = || Shape::Uniform { low: 1000.0, high: 9000.0 };
    assert_eq!(from_rand48(shape(), 0, 5), [1000, 1007, 1333, 2413, 3916]);
    assert_eq!(from_rand48(shape(), 12345, 5), [1847, 7386, 1128, 6312, 1343]);
}

/// File sizes again: rounding takes the fraction into account.
#[test]
fn filebench_rounding() {
    let rounded = |round, shape| {
        let generator = Generator::Rand48(5);
        let v = RandomVariable { generator, round, ..RandomVariable::new(shape) };
        let mut s = Sampler::new(&v, 0).unwrap();
        [(); 12].map(|()| s.draw_u64())
    };
    let uniform = || Shape::Uniform { low: 1.0, high: 39.0 };
    assert_eq!(rounded(1, uniform()), [1, 26, 8, 8, 20, 18, 8, 31, 27, 32, 34, 14]);
    assert_eq!(rounded(3, uniform()), [0, 27, 9, 9, 21, 18, 9, 30, 27, 33, 33, 15]);
    let gamma = Shape::Gamma { shape: 1.5, mean: 50.0, offset: 1.0 };
    assert_eq!(rounded(7, gamma), [14, 49, 98, 49, 70, 70, 28, 56, 14, 35, 49, 42]);
}

/// Total sizes printed by Filebench 1.5 for one file with a mean of 2^60: three digits after 2^20 show nearly every bit drawn.
#[test]
fn filebench_to_the_last_bit() {
    let mean = 2f64.powi(60);
    let first = |shape: Shape| format!("{:.3}", from_rand48(shape, 12345, 1)[0] as f64 / 1048576.0);
    assert_eq!(first(Shape::Gamma { shape: 1.5, mean, offset: 1000.0 }), "724632054226.148");
    assert_eq!(first(Shape::Gamma { shape: 0.7, mean, offset: 1000.0 }), "1138433843079.340");
    assert_eq!(first(Shape::Uniform { low: 1000.0, high: 2.0 * mean - 1000.0 }), "232836032380.626");
    let stretched = Shape::Stretched { rows: rows(), mean: Some(mean), lowest: 1000.0 };
    assert_eq!(first(stretched), "148651336391.613");
}

#[test]
fn rounding_and_bounds_apply_in_that_order() {
    let shape = Shape::Uniform { low: 1000.0, high: 1000.0 };
    let v = RandomVariable { round: 512, max: Some(900.0), ..RandomVariable::new(shape) };
    assert_eq!(Sampler::new(&v, 1).unwrap().draw(), 900.0);
}

#[test]
fn ties_follow_the_rule() {
    let rounded = |value: f64, ties| {
        let shape = Shape::Uniform { low: value, high: value };
        let v = RandomVariable { round: 10, ties, ..RandomVariable::new(shape) };
        Sampler::new(&v, 1).unwrap().draw()
    };
    assert_eq!([rounded(15.0, Ties::AwayFromZero), rounded(-15.0, Ties::AwayFromZero)], [20.0, -20.0]);
    assert_eq!([rounded(15.0, Ties::Down), rounded(-15.0, Ties::Down)], [10.0, -20.0]);
    assert_eq!([rounded(15.1, Ties::AwayFromZero), rounded(14.9, Ties::AwayFromZero)], [20.0, 10.0]);
    // Filebench 1.5's custom variables: 15.99 is truncated to 15 first.
    assert_eq!(
        [rounded(15.99, Ties::Down), rounded(16.0, Ties::Down), rounded(3.0, Ties::Down)],
        [10.0, 20.0, 0.0]
    );
}

#[test]
fn a_shared_stream_serves_several_drawings_in_turn() {
    let drawing = Drawing::new(&RandomVariable::new(Shape::Uniform { low: 0.0, high: 1.0 })).unwrap();
    let mut shared = Rand48::new(5);
    let mut alone = Rand48::new(5);
    for _ in 0..10 {
        let a = drawing.draw_with(|| shared.unit());
        let b = drawing.clone().draw_with(|| shared.unit());
        assert_eq!((a, b), (alone.unit(), alone.unit()));
    }
}

#[test]
fn impossible_parameters_are_refused() {
    let row = |percent, low, high| Row { percent, low, high };
    let stretched = |rows| Shape::Stretched { rows, mean: None, lowest: 0.0 };
    for shape in [
        Shape::Uniform { low: 2.0, high: 1.0 },
        Shape::Uniform { low: f64::MIN, high: f64::MAX },
        Shape::Gamma { shape: -1.0, mean: 1.0, offset: 0.0 },
        Shape::Gamma { shape: 1.0, mean: 1.0, offset: 2.0 },
        Shape::Exponential { mean: 0.0 },
        Shape::Erlang { shape: 0, rate: 1.0 },
        Shape::Normal { mean: 0.0, sigma: -1.0 },
        Shape::Triangular { low: 0.0, high: 1.0, mode: 2.0 },
        Shape::Weibull { shape: f64::NAN, scale: 1.0 },
        Shape::Table(vec![]),
        Shape::Table(vec![row(-1.0, 0.0, 1.0), row(2.0, 0.0, 1.0)]),
        stretched(vec![]),
        stretched(vec![row(99.0, 0.0, 1.0)]),
        stretched(vec![row(99.5, 0.0, 1.0), row(0.5, 0.0, 1.0)]),
        Shape::Stretched { rows: vec![row(100.0, 0.0, 1.0)], mean: Some(1.0), lowest: 2.0 },
    ] {
        assert!(Sampler::new(&RandomVariable::new(shape.clone()), 1).is_none(), "{shape:?}");
    }
}

#[test]
fn extreme_parameters_are_drawn_in_finite_time() {
    for shape in [1e-300, 1.0, 1.0 + f64::EPSILON, 1e300, f64::MAX] {
        let v = RandomVariable::new(Shape::Gamma { shape, mean: 1.0, offset: 0.0 });
        let mut s = Sampler::new(&v, 3).unwrap();
        for _ in 0..100 {
            s.draw_u64();
        }
    }
}

#[test]
fn a_table_of_one_value_is_that_value() {
    let rows = vec![Row { percent: 100.0, low: 4.0, high: 4.0 }];
    assert_eq!(from_rand48(Shape::Stretched { rows, mean: Some(9.0), lowest: 7.0 }, 1, 3), [7, 7, 7]);
}
