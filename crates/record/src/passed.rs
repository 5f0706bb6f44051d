//! Errors that a worker passed over because its workload said so.

use crate::OpError;
use serde::{Deserialize, Serialize};

/// How many errors there were, and the first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedOver {
    /// All errors: failed operations and failed checks, including those of the warm-up.
    pub errors: u64,
    /// Failed reads that would have been counted. They are in no statistics.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub reads: u64,
    /// Failed writes, likewise.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub writes: u64,
    /// Failed trims, likewise.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub trims: u64,
    /// The first error.
    pub first: OpError,
}

/// The errors of many workers as a sentence without a full stop: how many, and the first. `None` without any.
#[must_use]
pub fn passed_over<'a>(all: impl Iterator<Item = &'a PassedOver>) -> Option<String> {
    let (mut errors, mut first) = (0u64, None);
    for passed in all {
        errors = errors.saturating_add(passed.errors);
        first = first.or(Some(&passed.first.message));
    }
    let first = first?;
    Some(match errors {
        1 => format!("1 error was passed over: {first}"),
        n => format!("{n} errors were passed over, the first: {first}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_told_with_their_number_and_the_first() {
        let of = |errors, message: &str| PassedOver {
            errors,
            first: OpError { message: message.into(), ..OpError::default() },
            ..PassedOver::default()
        };
        assert_eq!(passed_over([].iter()), None);
        assert_eq!(passed_over([of(1, "full")].iter()).unwrap(), "1 error was passed over: full");
        let two = [of(2, "full"), of(3, "broken")];
        assert_eq!(passed_over(two.iter()).unwrap(), "5 errors were passed over, the first: full");
    }
}
