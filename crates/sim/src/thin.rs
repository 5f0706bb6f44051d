//! Keeps an even sample: at first every item; whenever there are too many, every second one is dropped and the sampling rate halves. The
//! selection depends only on the order of the items.

use fathom_record::course::Thinned;

/// Keeps at most a given number of items.
#[derive(Clone, Debug)]
pub(crate) struct Thin<T> {
    most: usize,
    seen: u64,
    kept: Thinned<T>,
}

impl<T: Copy> Thin<T> {
    /// Keeps at most `most` items, at least two.
    pub fn new(most: usize) -> Self {
        Self { most: most.max(2), seen: 0, kept: Thinned::default() }
    }

    /// Offers one item.
    #[inline]
    pub fn see(&mut self, one: impl FnOnce() -> T) {
        let number = self.seen;
        self.seen += 1;
        // `one_of` is a power of two.
        if number & (self.kept.one_of - 1) != 0 {
            return;
        }
        if self.kept.kept.len() == self.most {
            let mut n = 0;
            self.kept.kept.retain(|_| {
                n += 1;
                n % 2 == 1
            });
            self.kept.one_of *= 2;
            if number & (self.kept.one_of - 1) != 0 {
                return;
            }
        }
        self.kept.kept.push(one());
    }

    /// Returns the kept items and starts over.
    pub fn take(&mut self) -> Thinned<T> {
        self.seen = 0;
        std::mem::take(&mut self.kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn kept_values_are_evenly_spaced(most in 2usize..40, seen in 0u64..500) {
            let mut thin = Thin::new(most);
            (0..seen).for_each(|n| thin.see(|| n));
            let got = thin.take();
            prop_assert!(got.kept.len() <= most);
            let expected: Vec<u64> = (0..seen).step_by(got.one_of as usize).collect();
            prop_assert_eq!(&got.kept, &expected);
            prop_assert!(got.one_of == 1 || got.kept.len() * 2 >= most - 1);
            prop_assert_eq!(thin.take(), Thinned::default());
        }
    }
}
