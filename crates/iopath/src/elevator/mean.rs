//! The decaying mean that the anticipatory scheduler, CFQ and BFQ keep of think times and distances: each sample weighs 1/8, in fixed
//! point with 256 for one.

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mean {
    samples: u64,
    total: u64,
    mean: u64,
}

impl Mean {
    /// `None` before the first sample.
    pub(crate) fn get(&self) -> Option<u64> {
        (self.samples > 0).then_some(self.mean)
    }

    /// The mean, after about two and a half samples: CFQ does not trust it before.
    pub(crate) fn believed(&self) -> Option<u64> {
        (self.samples > 80).then_some(self.mean)
    }

    /// Adds a sample; `rounding` is added before the division (the kernel uses 128 for times).
    pub(crate) fn add(&mut self, sample: u64, rounding: u64) {
        self.samples = (7 * self.samples + 256) / 8;
        self.total = (7 * self.total + 256 * sample) / 8;
        self.mean = (self.total + rounding) / self.samples;
    }

    /// Adds a distance in sectors. To keep one far jump from spoiling the mean, the sample is capped at four times the mean plus a
    /// constant that is larger while there are few samples.
    pub(crate) fn add_distance(&mut self, sectors: u64) {
        let some = if self.samples <= 60 { 2 * 1024 * 1024 } else { 128 * 1024 };
        let samples_after = (7 * self.samples + 256) / 8;
        self.add(sectors.min(4 * self.mean + some), samples_after / 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_follows_its_samples_and_jumps_are_cut() {
        let mut mean = Mean::default();
        assert_eq!((mean.get(), mean.believed()), (None, None));
        mean.add_distance(1000);
        assert_eq!((mean.get(), mean.believed()), (Some(1000), None));
        for _ in 0..100 {
            mean.add_distance(1000);
        }
        assert!((990..=1030).contains(&mean.believed().unwrap()), "{mean:?}");
        mean.add_distance(u64::MAX);
        assert!(mean.get().unwrap() < 20_000, "{mean:?}");
    }
}
