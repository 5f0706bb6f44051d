//! Why a sample cannot be judged, as sentences for the user. Every fallible function of this crate returns this error.

/// The defect of a sample.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unusable {
    /// The sides do not have the same even number of runs.
    #[error(
        "there are {a} runs of A and {b} of B; quads need the same even number of both: run the missing ones, or compare the \
         runs as unpaired groups"
    )]
    NotQuads {
        /// Runs of A.
        a: usize,
        /// Runs of B.
        b: usize,
    },
    /// A figure is not finite.
    #[error(
        "run {run} has the figure {value}; a comparison needs a finite number of every run: leave the failed run out, with its quad"
    )]
    NotFinite {
        /// The run, counted from 1 in the order given.
        run: usize,
        /// The offending figure.
        value: f64,
    },
    /// A logarithm is needed of a figure that is not positive.
    #[error("run {run} has the figure {value}; ratios need figures above zero: compare differences instead")]
    NotPositive {
        /// The run, counted from 1 in the order given.
        run: usize,
        /// The offending figure.
        value: f64,
    },
    /// The sample is too small.
    #[error("{what} needs at least {needed} values and got {got}: measure more")]
    TooFew {
        /// Name of the method.
        what: &'static str,
        /// Its smallest sample.
        needed: usize,
        /// The sample's size.
        got: usize,
    },
    /// All values are equal, but the method divides by their spread.
    #[error("{what} needs different values, but all are equal")]
    NoSpread {
        /// Name of the method.
        what: &'static str,
    },
    /// Two related lists differ in length.
    #[error(
        "{what}: the two lists have {first} and {second} entries; they need the same number, one of each per unit"
    )]
    Unequal {
        /// Name of the method.
        what: &'static str,
        /// Length of the first.
        first: usize,
        /// Length of the second.
        second: usize,
    },
}

/// Checks that all values are finite; the error names the first that is not.
pub(crate) fn finite(values: &[f64]) -> Result<(), Unusable> {
    match values.iter().position(|v| !v.is_finite()) {
        Some(i) => Err(Unusable::NotFinite { run: i + 1, value: values[i] }),
        None => Ok(()),
    }
}

/// Checks that all values are finite and positive; the error names the first that is not.
pub(crate) fn positive(values: &[f64]) -> Result<(), Unusable> {
    finite(values)?;
    match values.iter().position(|v| *v <= 0.0) {
        Some(i) => Err(Unusable::NotPositive { run: i + 1, value: values[i] }),
        None => Ok(()),
    }
}

/// Checks that there are at least `needed` values.
pub(crate) fn enough(what: &'static str, needed: usize, got: usize) -> Result<(), Unusable> {
    if got < needed { Err(Unusable::TooFew { what, needed, got }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bad_value_is_named_by_its_position() {
        assert_eq!(finite(&[1.0, 2.0]), Ok(()));
        let said = positive(&[1.0, 0.0, -1.0]).expect_err("zero has no logarithm").to_string();
        assert_eq!(
            said,
            "run 2 has the figure 0; ratios need figures above zero: compare differences instead"
        );
        assert!(matches!(positive(&[1.0, f64::NAN]), Err(Unusable::NotFinite { run: 2, .. })));
        assert_eq!(
            enough("a test", 3, 2).expect_err("two").to_string(),
            "a test needs at least 3 values and got 2: measure more"
        );
    }
}
