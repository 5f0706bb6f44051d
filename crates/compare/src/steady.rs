//! Steady state by the SNIA Solid State Storage Performance Test Specification: over a window of five rounds the figures stay within 20 %
//! of their mean, and a fitted straight line moves by at most 10 %. Both conditions are required.

use crate::numbers::mean;
use crate::unusable::{Unusable, finite};

/// Rounds per window.
pub const WINDOW: usize = 5;
/// Maximum number of rounds without a steady state.
pub const MOST_ROUNDS: usize = 25;
const MOST_RANGE: f64 = 0.20;
const MOST_SLOPE: f64 = 0.10;

/// One window of rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Its last round, from 1.
    pub last_round: usize,
    /// Mean of its rounds.
    pub mean: f64,
    /// Largest minus smallest, relative to the mean.
    pub range: f64,
    /// Slope of the straight line, per round.
    pub slope: f64,
    /// Absolute change of the line over the window, relative to the mean.
    pub excursion: f64,
}

impl Window {
    /// Whether both conditions hold.
    #[must_use]
    pub fn is_steady(&self) -> bool {
        self.range <= MOST_RANGE && self.excursion <= MOST_SLOPE
    }
}

/// State after some rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State {
    /// Fewer rounds than a window.
    TooFew,
    /// Not steady yet; the last window.
    NotYet(Window),
    /// Steady; the first steady window, which is to be reported.
    Steady(Window),
    /// The rounds are used up without a steady window; the last one.
    Never(Window),
}

/// Judges the figures of consecutive rounds.
pub fn steady_state(rounds: &[f64]) -> Result<State, Unusable> {
    finite(rounds)?;
    let windows: Vec<Window> = windows(&rounds[..rounds.len().min(MOST_ROUNDS)]);
    let Some(last) = windows.last() else { return Ok(State::TooFew) };
    Ok(match windows.iter().find(|w| w.is_steady()) {
        Some(first) => State::Steady(*first),
        None if rounds.len() >= MOST_ROUNDS => State::Never(*last),
        None => State::NotYet(*last),
    })
}

/// All windows of five rounds.
#[must_use]
pub fn windows(rounds: &[f64]) -> Vec<Window> {
    rounds.windows(WINDOW).enumerate().map(|(first, values)| window(values, first + WINDOW)).collect()
}

fn window(values: &[f64], last_round: usize) -> Window {
    let centre = mean(values);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let middle = (WINDOW - 1) as f64 / 2.0;
    let (along, squares) = values.iter().enumerate().fold((0.0, 0.0), |(along, squares), (i, v)| {
        let x = i as f64 - middle;
        (along + x * v, squares + x * x)
    });
    let slope: f64 = along / squares;
    let excursion = slope.abs() * (WINDOW - 1) as f64 / centre.abs();
    Window { last_round, mean: centre, range: (high - low) / centre.abs(), slope, excursion }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 5e-7, "{found} instead of {expected}");
    }

    const ROUNDS: [f64; 9] =
        [98210.0, 71400.0, 60210.0, 52850.0, 50120.0, 48930.0, 49480.0, 48700.0, 49010.0];

    #[test]
    fn steady_at_round_eight() {
        let expected =
            [(0.722528, 0.689504), (0.396282, 0.388205), (0.215605, 0.194044), (0.082973, 0.071497)];
        for (window, (range, excursion)) in windows(&ROUNDS).iter().zip(expected) {
            near(window.range, range);
            near(window.excursion, excursion);
        }
        let Ok(State::Steady(found)) = steady_state(&ROUNDS) else { panic!("steady at 8") };
        assert_eq!(found.last_round, 8);
        near(found.mean, 50016.0);
        near(found.slope, -894.0);
        assert!(matches!(steady_state(&ROUNDS[..7]), Ok(State::NotYet(w)) if w.last_round == 7));
        assert_eq!(steady_state(&ROUNDS[..4]), Ok(State::TooFew));
    }

    #[test]
    fn a_small_range_with_a_slope_is_not_steady() {
        let falling = windows(&[10_000.0, 9700.0, 9400.0, 9100.0, 8900.0])[0];
        near(falling.range, 0.116773);
        near(falling.excursion, 0.118896);
        assert!(!falling.is_steady());
    }

    #[test]
    fn after_25_rounds_it_is_never() {
        let falling: Vec<f64> = (0..30).map(|i| 1000.0 * 0.9f64.powi(i)).collect();
        assert!(matches!(steady_state(&falling[..24]), Ok(State::NotYet(_))));
        assert!(matches!(steady_state(&falling), Ok(State::Never(w)) if w.last_round == 25));
    }

    proptest! {
        #[test]
        fn the_unit_and_the_direction_do_not_matter(rounds in prop::collection::vec(1.0..99.0f64, 5..9)) {
            let scaled: Vec<f64> = rounds.iter().map(|v| v * 8.0).collect();
            let back: Vec<f64> = rounds.iter().rev().copied().collect();
            let (one, two, three) = (windows(&rounds), windows(&scaled), windows(&back));
            for (i, window) in one.iter().enumerate() {
                prop_assert_eq!((window.range, window.excursion), (two[i].range, two[i].excursion));
                let mirrored = three[one.len() - 1 - i];
                prop_assert!((window.range - mirrored.range).abs() < 1e-12 && (window.slope + mirrored.slope).abs() < 1e-9);
            }
        }
    }
}
