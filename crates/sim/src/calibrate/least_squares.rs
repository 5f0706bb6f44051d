//! Least squares with a few coefficients, from sums alone: nothing else of a trace is kept. The equations are solved by elimination with
//! pivoting, which suffices for three unknowns.

/// Sums over observations of `N` regressors and one time.
#[derive(Clone, Debug)]
pub(super) struct Sums<const N: usize> {
    xx: [[f64; N]; N],
    xy: [f64; N],
    yy: f64,
    count: u64,
}

/// Coefficients and their standard errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Solved<const N: usize> {
    pub values: [f64; N],
    pub errors: [f64; N],
}

impl<const N: usize> Default for Sums<N> {
    fn default() -> Self {
        Self { xx: [[0.0; N]; N], xy: [0.0; N], yy: 0.0, count: 0 }
    }
}

impl<const N: usize> Sums<N> {
    /// Adds an observation.
    pub fn add(&mut self, x: [f64; N], y: f64) {
        for row in 0..N {
            for column in 0..N {
                self.xx[row][column] += x[row] * x[column];
            }
            self.xy[row] += x[row] * y;
        }
        self.yy += y * y;
        self.count += 1;
    }

    /// Number of observations.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The solution; `None` where the regressors are nearly dependent.
    pub fn solve(&self) -> Option<Solved<N>> {
        if self.count <= N as u64 {
            return None;
        }
        let inverse = inverse(self.xx)?;
        let values: [f64; N] = std::array::from_fn(|row| (0..N).map(|c| inverse[row][c] * self.xy[c]).sum());
        let explained: f64 = (0..N).map(|row| values[row] * self.xy[row]).sum();
        let variance = (self.yy - explained).max(0.0) / (self.count - N as u64) as f64;
        let errors = std::array::from_fn(|row| (variance * inverse[row][row]).max(0.0).sqrt());
        Some(Solved { values, errors })
    }
}

/// Gauss-Jordan, scaled so that sectors and square roots of cylinders can be mixed.
fn inverse<const N: usize>(matrix: [[f64; N]; N]) -> Option<[[f64; N]; N]> {
    let scale: [f64; N] = std::array::from_fn(|at| matrix[at][at].sqrt());
    if scale.iter().any(|s| *s <= 0.0 || !s.is_finite()) {
        return None;
    }
    let mut left: [[f64; N]; N] =
        std::array::from_fn(|row| std::array::from_fn(|c| matrix[row][c] / (scale[row] * scale[c])));
    let mut right: [[f64; N]; N] = std::array::from_fn(|row| std::array::from_fn(|c| f64::from(row == c)));
    for pivot in 0..N {
        let best = (pivot..N).max_by(|&a, &b| left[a][pivot].abs().total_cmp(&left[b][pivot].abs()))?;
        // Nearly dependent columns have no unique answer.
        if left[best][pivot].abs() < 1e-9 {
            return None;
        }
        left.swap(pivot, best);
        right.swap(pivot, best);
        let by = left[pivot][pivot];
        for column in 0..N {
            left[pivot][column] /= by;
            right[pivot][column] /= by;
        }
        for row in (0..N).filter(|&row| row != pivot) {
            let by = left[row][pivot];
            for column in 0..N {
                left[row][column] -= by * left[pivot][column];
                right[row][column] -= by * right[pivot][column];
            }
        }
    }
    Some(std::array::from_fn(|row| std::array::from_fn(|c| right[row][c] / (scale[row] * scale[c]))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_is_found_with_its_errors() {
        let mut sums = Sums::<3>::default();
        for n in 0..200u32 {
            let (a, b) = (f64::from(n % 17), f64::from(n * n % 23) * 1e6);
            // Noise unrelated to either.
            let off = if n % 2 == 0 { 0.5 } else { -0.5 };
            sums.add([1.0, a, b], 3.0 + 2.0 * a + 4e-6 * b + off);
        }
        let solved = sums.solve().unwrap();
        for (found, (wanted, error)) in solved.values.iter().zip([3.0, 2.0, 4e-6].iter().zip(solved.errors)) {
            assert!((found - wanted).abs() < 3.0 * error + 1e-12, "{found} {wanted} {error}");
        }
        assert!((solved.errors[1] - 0.5 / (200.0f64 * 24.0).sqrt()).abs() < 0.002, "{:?}", solved.errors);
    }

    #[test]
    fn indistinguishable_columns_have_no_solution() {
        let mut sums = Sums::<2>::default();
        (0..50).for_each(|_| sums.add([1.0, 8.0], 5.0));
        assert_eq!(sums.solve(), None);
        assert_eq!(Sums::<1>::default().solve(), None);
    }
}
