//! Single runs. Statistics are impossible, but two checks remain: control cells show how far runs differ where nothing should have
//! changed, and a throughput test's own log can contradict its headline.

use crate::unusable::{Unusable, enough, positive};

/// If a share of the headline or of the work is below this, the headline does not represent the whole run.
const WHOLE: f64 = 0.95;

/// One cell of a throughput test with several processes, in one unit of rate and one of size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThroughputCell {
    /// Sum of the processes' rates, each over its own time: the headline.
    pub children: f64,
    /// The parent's rate: all the work over the whole time.
    pub parent: f64,
    /// Amount that the slowest process had transferred when the clock stopped.
    pub smallest: f64,
    /// Amount that each process was to transfer.
    pub expected: f64,
}

/// Consistency check of a throughput cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeadlineCheck {
    /// The cell that was checked.
    pub cell: ThroughputCell,
    /// Parent over children.
    pub parent_share: f64,
    /// Smallest over expected transfer.
    pub smallest_share: f64,
    /// Whether either share is below 0.95: both rates must be shown.
    pub contradicts: bool,
}

impl ThroughputCell {
    /// Compares the headline with the rest of the log.
    #[must_use]
    pub fn check(self) -> HeadlineCheck {
        let (parent_share, smallest_share) = (self.parent / self.children, self.smallest / self.expected);
        // NaN shares (nothing was transferred) contradict too.
        let whole = parent_share >= WHOLE && smallest_share >= WHOLE;
        HeadlineCheck { cell: self, parent_share, smallest_share, contradicts: !whole }
    }
}

/// Duration of the headline's clock: the slowest process's transfer over its rate.
#[must_use]
pub fn stonewall_seconds(smallest_kb: f64, smallest_rate_kb_s: f64) -> f64 {
    smallest_kb / smallest_rate_kb_s
}

/// Cells with a claimed change, compared with control cells where none is expected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgainstControls {
    /// The largest difference among controls: 0.079 is "by 7.9 % at most", up or down.
    pub largest_control: f64,
    /// The smallest difference among the claimed cells.
    pub smallest_cell: f64,
    /// Whether every cell exceeds every control.
    pub beyond_all: bool,
    /// Probability of that order by chance: one over the number of ways to choose the cells.
    pub by_chance: f64,
}

/// Compares ratios B/A of cells with those of controls. A ratio and its inverse count as equally large: 0.5 is as far as 2.
pub fn against_controls(cells: &[f64], controls: &[f64]) -> Result<AgainstControls, Unusable> {
    enough("a comparison with control cells", 1, cells.len().min(controls.len()))?;
    positive(cells)?;
    positive(controls)?;
    let away = |ratio: &f64| ratio.max(1.0 / ratio) - 1.0;
    let largest_control = controls.iter().map(away).fold(0.0, f64::max);
    let smallest_cell = cells.iter().map(away).fold(f64::INFINITY, f64::min);
    let ways = (1..=cells.len()).fold(1.0, |ways, i| ways * (controls.len() + i) as f64 / i as f64);
    Ok(AgainstControls {
        largest_control,
        smallest_cell,
        beyond_all: smallest_cell > largest_control,
        by_chance: 1.0 / ways,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 5e-7, "{found} instead of {expected}");
    }

    fn all_near(found: &[f64], expected: [f64; 3]) {
        found.iter().zip(expected).for_each(|(f, e)| near(*f, e));
    }

    /// Throughput of children in KB/s, published on the kernel's mailing list in 2008: 1, 2 and 3 processes, rc8 then rc8*.
    const WRITE: [[f64; 3]; 2] = [[55_847.39, 9461.15, 16_572.10], [90_735.91, 87_352.61, 85_182.48]];
    const WRITE_DIRECT: [[f64; 3]; 2] =
        [[86_304.83, 79_399.89, 85_558.32], [86_219.96, 85_696.29, 85_836.74]];
    const REWRITE: [[f64; 3]; 2] = [[60_760.14, 9780.23, 17_564.65], [86_449.82, 83_801.86, 86_484.59]];
    const REWRITE_DIRECT: [[f64; 3]; 2] =
        [[85_388.78, 80_684.21, 85_329.49], [85_718.92, 85_508.10, 85_296.01]];

    #[test]
    fn controls_of_2008() {
        let of = |[a, b]: [[f64; 3]; 2]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| b / a).collect() };
        all_near(&of(WRITE), [1.624712, 9.232769, 5.140114]);
        all_near(&of(WRITE_DIRECT), [0.999017, 1.079300, 1.003254]);
        all_near(&of(REWRITE), [1.422805, 8.568496, 4.923787]);
        all_near(&of(REWRITE_DIRECT), [1.003866, 1.059787, 0.999608]);
        let write = against_controls(&of(WRITE), &of(WRITE_DIRECT)).expect("positive");
        assert_eq!(
            ((write.largest_control * 1e3).round(), (write.smallest_cell * 1e2).round()),
            (79.0, 62.0)
        );
        assert!(write.beyond_all);
        near(write.by_chance, 0.05);
        let rewrite = against_controls(&of(REWRITE), &of(REWRITE_DIRECT)).expect("positive");
        assert_eq!((rewrite.smallest_cell * 1e2).round(), 42.0);
        assert!(against_controls(&[1.0], &[]).is_err() && against_controls(&[1.0], &[0.0]).is_err());
        assert!(!against_controls(&[1.05], &[0.9]).expect("positive").beyond_all);
    }

    #[test]
    fn the_log_contradicts_its_headline() {
        let of = |children, parent, smallest, expected| {
            ThroughputCell { children, parent, smallest, expected }.check()
        };
        let two = of(79_399.89, 48_569.16, 1_050_624.0, 1_536_000.0);
        assert!(two.contradicts);
        near(two.parent_share, 0.611703);
        near(two.smallest_share, 0.684);
        let window = stonewall_seconds(1_050_624.0, 32_239.45);
        near(window, 32.588149);
        assert_eq!(((53.256511 - window) * 10.0).round(), 207.0);
        near(85_689.20 / 48_569.16, 1.764272);
        let star = of(85_182.48, 73_354.87, 802_816.0, 1_024_000.0);
        near(star.parent_share, 0.861150);
        assert!(star.contradicts);
        // One process: nothing to contradict.
        assert!(!of(55_847.39, 55_844.87, 3_072_000.0, 3_072_000.0).contradicts);
        // A rewrite whose parent agrees although the slowest process had done only half.
        assert!(of(80_684.21, 80_342.38, 799_744.0, 1_536_000.0).contradicts);
        assert!(of(0.0, 0.0, 0.0, 1.0).contradicts);
    }
}
