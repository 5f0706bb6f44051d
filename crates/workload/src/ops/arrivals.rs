//! Intended start times of the operations of a stream with a rate, in ns from the start of the stream. They follow from the rate, the
//! seed and the place alone, never from how long operations take. The executor does the waiting.

use super::{Place, derive_seed};
use crate::Rate;
use rand_distr::Distribution as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng as _;

/// Seed purpose for the gaps.
const FOR_ARRIVALS: u64 = 4;
/// Gaps are summed with this many fractional bits: after 2^40 even gaps the error is below 2^-24 ns.
const FRACTION_BITS: u32 = 64;
/// Added once so that truncating the fraction rounds.
const HALF_NS: u128 = 1 << (FRACTION_BITS - 1);
const NS_PER_S: u128 = 1_000_000_000;

/// Yields the intended start of each operation. About 1 ns per start for even gaps, 4 ns for a Poisson process.
pub struct Arrivals {
    gaps: GapSource,
    /// Bytes per gap; 0: one gap per operation.
    per: u64,
}

enum GapSource {
    /// `due` is the start of the next operation.
    Even { due: u128, gap: u128 },
    /// `mean` is the mean gap in units of 2^-(64 - shift) ns, so that any gap fits in a 63-bit integer. `share` is the fraction of a gap
    /// that the previous operation takes.
    Poisson { due: u128, mean: f64, shift: u32, rng: Box<Xoshiro256PlusPlus>, share: f64 },
    /// The start times of a list, pass after pass; `before` is the end of the previous passes.
    Listed { due: Vec<u64>, at: usize, before: u64 },
}

impl Arrivals {
    /// The starts of the worker at `place`. With a rate that is not above 0 no operation ever starts.
    #[must_use]
    pub fn new(rate: &Rate, seed: u64, place: Place) -> Self {
        let per_s = rate.operations_per_s;
        let first = if per_s > 0.0 { HALF_NS } else { u128::MAX };
        let gaps = match rate.arrivals {
            crate::Gaps::Even => GapSource::Even { due: first, gap: even_gap(per_s) },
            crate::Gaps::Poisson => {
                let (mean, shift) = scaled_mean(per_s);
                let rng = Xoshiro256PlusPlus::seed_from_u64(derive_seed(seed, place, FOR_ARRIVALS));
                GapSource::Poisson { due: first, mean, shift, rng: Box::new(rng), share: 1.0 }
            }
        };
        Self { gaps, per: rate.per.0 }
    }

    /// The starts given by a list of operations, syncs included; `None` if it gives none.
    #[must_use]
    pub fn listed(access: &crate::Access) -> Option<Self> {
        let crate::Access::Listed(list) = access else { return None };
        let due: Option<Vec<u64>> = list.iter().map(|op| op.due.map(|due| due.0)).collect();
        due.filter(|due| !due.is_empty())
            .map(|due| Self { gaps: GapSource::Listed { due, at: 0, before: 0 }, per: 0 })
    }

    /// Reports the size of the operation whose start was returned last. With a rate in bytes it scales the gap to the next one.
    pub fn moves(&mut self, bytes: u64) {
        if self.per == 0 {
            return;
        }
        match &mut self.gaps {
            GapSource::Even { due, gap } => {
                let took = (*gap / u128::from(self.per)).saturating_mul(u128::from(bytes));
                *due = due.saturating_sub(*gap).saturating_add(took);
            }
            GapSource::Poisson { share, .. } => *share = bytes as f64 / self.per as f64,
            GapSource::Listed { .. } => {}
        }
    }

    /// Start of the next operation. Even starts begin at 0; a Poisson process begins one gap later, as it has no event at time 0. Never
    /// decreases; `u64::MAX` if it lies beyond 584 years.
    #[inline]
    pub fn next_due_ns(&mut self) -> u64 {
        match &mut self.gaps {
            GapSource::Even { due, gap } => {
                let now = *due;
                *due = due.saturating_add(*gap);
                (now >> FRACTION_BITS) as u64
            }
            GapSource::Poisson { due, mean, shift, rng, share } => {
                let unit: f64 = rand_distr::Exp1.sample(rng);
                let gap = u128::from(((unit * *mean) as i64).unsigned_abs()) << *shift;
                // A share has 20 fractional bits.
                let gap = if *share == 1.0 {
                    gap
                } else {
                    (gap >> 20).saturating_mul((*share * f64::from(1 << 20)) as u128)
                };
                *due = due.saturating_add(gap);
                (*due >> FRACTION_BITS) as u64
            }
            GapSource::Listed { due, at, before } => {
                let now = before.saturating_add(due.get(*at).copied().unwrap_or(u64::MAX));
                *at += 1;
                if *at >= due.len() {
                    (*at, *before) = (0, now);
                }
                now
            }
        }
    }
}

/// 1e9 / rate as a fixed-point number, truncated. The rate is a 53-bit integer times a power of two, so this is an integer division:
/// 1e9 * 2^98 has 128 bits.
fn even_gap(per_s: f64) -> u128 {
    if per_s.is_nan() || per_s <= 0.0 {
        return u128::MAX;
    }
    if !per_s.is_finite() {
        return 0;
    }
    let bits = per_s.to_bits();
    let exponent = (bits >> 52) as i32;
    let mantissa = bits & ((1 << 52) - 1);
    // rate = mantissa * 2^power
    let (mantissa, power) =
        if exponent == 0 { (mantissa, -1074) } else { (mantissa | 1 << 52, exponent - 1075) };
    let quotient = (NS_PER_S << 98) / u128::from(mantissa);
    let shift = FRACTION_BITS as i32 - 98 - power;
    match u32::try_from(shift) {
        Ok(left) if left > quotient.leading_zeros() => u128::MAX,
        Ok(left) => quotient << left,
        Err(_) => quotient.checked_shr(shift.unsigned_abs()).unwrap_or(0),
    }
}

/// The mean gap as a multiplier, and the power of two that turns the product into ns with [`FRACTION_BITS`]. No drawn gap exceeds 2^6
/// times the mean, so a mean of 2^57 units cannot overflow; the cast saturates one longer than 2^57 ns.
fn scaled_mean(per_s: f64) -> (f64, u32) {
    let mean_ns = if per_s > 0.0 { NS_PER_S as f64 / per_s } else { f64::MAX };
    let bits = mean_ns.max(1.0).log2().ceil().min(57.0);
    ((mean_ns * (57.0 - bits).exp2()).min(f64::MAX), FRACTION_BITS - 57 + bits as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn arrivals(per_s: f64, arrivals: crate::Gaps, seed: u64) -> Arrivals {
        Arrivals::new(
            &Rate { operations_per_s: per_s, arrivals, per: crate::Bytes(0), common: false },
            seed,
            Place::default(),
        )
    }

    fn even(per_s: f64) -> Arrivals {
        arrivals(per_s, crate::Gaps::Even, 1)
    }

    #[test]
    fn gaps_are_proportional_to_bytes() {
        for (arrivals, slack) in [(crate::Gaps::Even, 0.0), (crate::Gaps::Poisson, 0.05)] {
            // 1 MiB per second.
            let rate = Rate { operations_per_s: 256.0, arrivals, per: crate::Bytes(4096), common: false };
            let mut due = Arrivals::new(&rate, 7, Place::default());
            let mut moved = 0;
            let mut last = 0;
            for bytes in (0..20_000).map(|n| if n % 3 == 0 { 1 << 20 } else { 512 }) {
                last = due.next_due_ns();
                due.moves(bytes);
                moved += bytes;
            }
            let expected = (moved - 512) as f64 / f64::from(1 << 20);
            let off = (last as f64 / 1e9 / expected - 1.0).abs();
            assert!(off <= slack + 1e-4, "{arrivals:?}: {last} ns, {expected} s expected");
        }
    }

    #[test]
    fn listed_starts_are_those_of_the_list_pass_after_pass() {
        let op =
            |due| crate::ListedOp { bytes: 1, due: Some(crate::Duration(due)), ..crate::ListedOp::default() };
        let mut a = Arrivals::listed(&crate::Access::Listed(vec![op(5), op(5), op(70)])).unwrap();
        assert_eq!([(); 7].map(|()| a.next_due_ns()), [5, 5, 70, 75, 75, 140, 145]);
        let without = crate::ListedOp { bytes: 1, ..crate::ListedOp::default() };
        assert!(Arrivals::listed(&crate::Access::Listed(vec![without])).is_none());
        assert!(Arrivals::listed(&crate::Access::Uniform).is_none());
    }

    #[test]
    fn even_starts_are_multiples_of_the_gap_and_do_not_drift() {
        let mut a = even(1000.0);
        assert_eq!([(); 4].map(|()| a.next_due_ns()), [0, 1_000_000, 2_000_000, 3_000_000]);
        let mut third = even(3.0);
        for n in 0..3_000_000u64 {
            // 11 days at three operations per second, rounded to the nearest nanosecond.
            assert_eq!(third.next_due_ns(), (n * 1_000_000_000 + 1) / 3, "operation {n}");
        }
        // One operation every three seconds: only the rate itself is rounded, to 53 bits.
        let mut slow = even(1.0 / 3.0);
        for n in 0..1_000_000u64 {
            assert_eq!(slow.next_due_ns(), n * 3_000_000_000, "operation {n}");
        }
    }

    #[test]
    fn rates_at_the_ends_saturate_and_do_not_panic() {
        for (rate, second) in
            [(1e9, 1), (f64::MAX, 0), (f64::INFINITY, 0), (f64::MIN_POSITIVE, u64::MAX), (5e-324, u64::MAX)]
        {
            let mut a = even(rate);
            assert_eq!((a.next_due_ns(), a.next_due_ns()), (0, second), "{rate}");
        }
        for rate in [0.0, -1.0, f64::NAN] {
            assert_eq!(even(rate).next_due_ns(), u64::MAX);
            assert_eq!(arrivals(rate, crate::Gaps::Poisson, 1).next_due_ns(), u64::MAX);
        }
    }

    #[test]
    fn poisson_gaps_are_exponential_and_counts_have_the_variance_of_their_mean() {
        const RATE: f64 = 123_456.0;
        const N: usize = 400_000;
        let mut a = arrivals(RATE, crate::Gaps::Poisson, 3);
        let due: Vec<u64> = (0..N).map(|_| a.next_due_ns()).collect();
        let mean = 1e9 / RATE;
        let last = *due.last().unwrap() as f64 / (N as f64 * mean);
        assert!((last - 1.0).abs() < 4.0 / (N as f64).sqrt(), "the mean gap is {last} of what it should be");
        // Twenty equiprobable bins: 43.8 is the 0.1 % point of chi-square with 19 degrees of freedom.
        let mut bins = [0u32; 20];
        for pair in due.windows(2) {
            let gap = (pair[1] - pair[0]) as f64 / mean;
            bins[(20.0 * (1.0 - (-gap).exp())) as usize] += 1;
        }
        let expected = (N - 1) as f64 / 20.0;
        let chi2: f64 = bins.iter().map(|&b| (f64::from(b) - expected).powi(2) / expected).sum();
        assert!(chi2 < 43.8, "{chi2}: {bins:?}");
        // Arrivals in windows of ten gaps: mean and variance 10.
        let windows = (*due.last().unwrap() as f64 / (10.0 * mean)) as usize;
        let mut counts = vec![0u32; windows];
        for d in &due {
            if let Some(c) = counts.get_mut((*d as f64 / (10.0 * mean)) as usize) {
                *c += 1;
            }
        }
        let variance = counts.iter().map(|&c| (f64::from(c) - 10.0).powi(2)).sum::<f64>() / windows as f64;
        assert!((variance - 10.0).abs() < 0.4, "variance {variance}");
    }

    proptest! {
        #[test]
        fn starts_never_go_back_and_follow_from_the_seed(
            rate in prop_oneof![1e-3..1e9, any::<f64>()], poisson in any::<bool>(), seed in any::<u64>()
        ) {
            let kind = if poisson { crate::Gaps::Poisson } else { crate::Gaps::Even };
            let (mut a, mut b) = (arrivals(rate, kind, seed), arrivals(rate, kind, seed));
            let mut before = 0;
            for _ in 0..200 {
                let due = a.next_due_ns();
                prop_assert!(due >= before);
                prop_assert_eq!(due, b.next_due_ns());
                before = due;
            }
        }
    }
}
