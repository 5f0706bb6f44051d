//! The statistics of a bench: median and range of the rounds, and a 95 % interval of the ratio of two medians. Pure arithmetic on
//! samples; the resampling draws from a fixed seed, so that the same samples give the same interval.

/// Resamples from which an interval is taken.
const RESAMPLES: usize = 4000;

/// Minimum, median and maximum of the rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub min: f64,
    pub median: f64,
    pub max: f64,
}

impl Spread {
    /// None if there are no values.
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        Some(Self { min: *sorted.first()?, median: middle(&sorted), max: *sorted.last()? })
    }

    /// (max - min) / median.
    pub fn relative(&self) -> f64 {
        (self.max - self.min) / self.median
    }
}

/// A figure made of medians, with the interval that holds it in 95 % of resamples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// Median of `a` over median of `b`. Whole rounds are resampled: what disturbed a round disturbed both.
pub fn ratio(a: &[f64], b: &[f64]) -> Option<Estimate> {
    estimate(a, b, |a, b| a / b)
}

/// Median of `a` less median of `b`.
pub fn difference(a: &[f64], b: &[f64]) -> Option<Estimate> {
    estimate(a, b, |a, b| a - b)
}

fn estimate(a: &[f64], b: &[f64], of_medians: impl Fn(f64, f64) -> f64) -> Option<Estimate> {
    let rounds = a.len().min(b.len());
    if rounds == 0 {
        return None;
    }
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut some_a, mut some_b) = (vec![0.0; rounds], vec![0.0; rounds]);
    let mut figures: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            for i in 0..rounds {
                let round = random.below(rounds as u64) as usize;
                (some_a[i], some_b[i]) = (a[round], b[round]);
            }
            of_medians(median(&mut some_a), median(&mut some_b))
        })
        .collect();
    figures.sort_by(f64::total_cmp);
    let value = of_medians(median(&mut a.to_vec()), median(&mut b.to_vec()));
    let tail = RESAMPLES / 40; // 2.5 % on either side
    Some(Estimate { value, low: figures[tail], high: figures[RESAMPLES - 1 - tail] })
}

/// The value in the middle; the values end up sorted.
pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    middle(values)
}

fn middle(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    if n % 2 == 1 { sorted[n / 2] } else { f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]) }
}

/// Small deterministic random numbers, for resampling and for the order of contenders.
pub struct Random(pub u64);

impl Random {
    /// A number from 0 to below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((u128::from(self.0) * u128::from(n)) >> 64) as u64
    }

    /// Fisher and Yates.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        let spread = Spread::of(&[4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!((spread.min, spread.median, spread.max), (1.0, 2.5, 4.0));
        assert_eq!(spread.relative(), 1.2);
        assert_eq!(Spread::of(&[]), None);
    }

    #[test]
    fn a_ratio_of_noisy_samples_has_an_interval_around_it() {
        let a = [10.0, 11.0, 9.0, 10.5, 9.5, 10.0, 10.2, 9.8, 10.1];
        let b = [20.0, 21.0, 19.0, 20.5, 19.5, 20.0, 20.2, 19.8, 20.1];
        let got = ratio(&a, &b).unwrap();
        assert_eq!(got.value, 0.5);
        assert!(got.low < 0.5 && got.low > 0.45 && got.high > 0.49 && got.high < 0.55, "{got:?}");
        assert_eq!(ratio(&a, &b), ratio(&a, &b), "the resampling is seeded");
        assert_eq!(ratio(&a, &[]), None);
    }

    #[test]
    fn drift_of_whole_rounds_does_not_widen_a_ratio() {
        let a: Vec<f64> = (1..=9).map(|round| f64::from(round) * 3.0).collect();
        let b: Vec<f64> = (1..=9).map(f64::from).collect();
        let got = ratio(&a, &b).unwrap();
        assert_eq!((got.low, got.value, got.high), (3.0, 3.0, 3.0));
    }

    #[test]
    fn a_shuffle_keeps_everything() {
        let mut items: Vec<u32> = (0..100).collect();
        Random(7).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
