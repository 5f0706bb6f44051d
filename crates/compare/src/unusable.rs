//! Why a sample cannot be judged, as sentences for the person who brought it. Every function of this crate that may refuse refuses with
//! one of these.

/// What is wrong with the sample.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unusable {
    /// Quads need two runs of each side.
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
    /// A figure that is no number.
    #[error(
        "run {run} has the figure {value}; a comparison needs a finite number of every run: leave the failed run out, with its quad"
    )]
    NotFinite {
        /// The run, counted from 1 in the order given.
        run: usize,
        /// What stood there.
        value: f64,
    },
    /// A logarithm is needed and there is none.
    #[error("run {run} has the figure {value}; ratios need figures above zero: compare differences instead")]
    NotPositive {
        /// The run, counted from 1 in the order given.
        run: usize,
        /// What stood there.
        value: f64,
    },
    /// Too little to say anything.
    #[error("{what} needs at least {needed} values and got {got}: measure more")]
    TooFew {
        /// The method.
        what: &'static str,
        /// Its smallest sample.
        needed: usize,
        /// The sample's size.
        got: usize,
    },
    /// All values are equal where spread is divided by.
    #[error("{what} needs values that differ; all are the same")]
    NoSpread {
        /// The method.
        what: &'static str,
    },
    /// Two lists that belong together differ in length.
    #[error(
        "{what}: the two lists have {first} and {second} entries and belong together; give one entry of each per unit"
    )]
    Unequal {
        /// The method.
        what: &'static str,
        /// Length of the first.
        first: usize,
        /// Length of the second.
        second: usize,
    },
}

/// All values finite, or the first that is not.
pub(crate) fn finite(values: &[f64]) -> Result<(), Unusable> {
    match values.iter().position(|v| !v.is_finite()) {
        Some(i) => Err(Unusable::NotFinite { run: i + 1, value: values[i] }),
        None => Ok(()),
    }
}

/// All values finite and above zero, or the first that is not.
pub(crate) fn positive(values: &[f64]) -> Result<(), Unusable> {
    finite(values)?;
    match values.iter().position(|v| *v <= 0.0) {
        Some(i) => Err(Unusable::NotPositive { run: i + 1, value: values[i] }),
        None => Ok(()),
    }
}

/// At least `needed` values.
pub(crate) fn enough(what: &'static str, needed: usize, got: usize) -> Result<(), Unusable> {
    if got < needed { Err(Unusable::TooFew { what, needed, got }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bad_value_is_named_by_its_place() {
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
