//! Two unpaired groups, for imported results only. `mann_whitney` tests, `shift` estimates, and `groups` gives the verdict. Results carry the warning that drift between the two sessions cannot be distinguished
//! from a change.

pub mod groups;
pub mod mann_whitney;
pub mod shift;

use crate::unusable::{Unusable, enough, finite};

/// Checks that both groups are finite and have at least `needed` values.
fn usable(what: &'static str, needed: usize, a: &[f64], b: &[f64]) -> Result<(), Unusable> {
    enough(what, needed, a.len().min(b.len()))?;
    finite(a)?;
    finite(b)
}

#[cfg(test)]
pub(crate) mod examples {
    //! The worked groups of the specification.
    pub(crate) const A: [f64; 6] = [10.1, 10.4, 9.8, 10.9, 10.2, 10.6];
    pub(crate) const B: [f64; 6] = [10.3, 10.8, 10.5, 11.2, 9.9, 11.0];

    /// The runs of example 1, pooled.
    pub(crate) fn pooled() -> (Vec<f64>, Vec<f64>) {
        let quads = crate::quads::examples::quads(&crate::quads::examples::SLOWER);
        (quads.iter().flat_map(|q| q.a).collect(), quads.iter().flat_map(|q| q.b).collect())
    }
}
