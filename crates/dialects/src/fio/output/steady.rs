//! The steady state of an entry, as fio reports it: integer figures of the last window, and the criterion computed from them.
//! An unfilled window has zeros and no criterion.

use super::super::plan::steady::{name, words};
use super::units::{FIGURES, count, rate};
use fathom_record::SteadyGroup;
use fathom_record::steady::Steadiness;
use fathom_workload::{Steady, SteadyFigure};

/// Reported steady state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SteadyReport {
    /// The option's value.
    pub option: String,
    /// Window length in seconds.
    pub seconds: u64,
    /// Whether the steady state was reached.
    pub attained: bool,
    /// The criterion's value with its unit.
    pub criterion: String,
    /// Largest deviation from the mean, if that is the criterion.
    pub deviation: f64,
    /// Change per interval, if that is the criterion.
    pub slope: f64,
    /// Bytes per second in each interval.
    pub bytes: Vec<u64>,
    /// Operations per second in each interval.
    pub operations: Vec<u64>,
    /// Mean latencies in ns, if they are the figure.
    pub latencies: Option<Vec<u64>>,
}

impl SteadyReport {
    /// The result for a rule; without a record it was not reached.
    #[must_use]
    pub fn of(rule: &Steady, found: Option<&SteadyGroup>) -> Self {
        let none = SteadyGroup::default();
        let found = found.unwrap_or(&none);
        let window = rule.window as usize;
        let operations = last(&found.operations, window);
        let bytes = last(&found.bytes, window);
        let latencies = (rule.of == SteadyFigure::Latency).then(|| last(&found.latencies, window));
        let looked_at = match (rule.of, &latencies) {
            (SteadyFigure::Latency, Some(latencies)) => latencies,
            (SteadyFigure::Operations, _) => &operations,
            _ => &bytes,
        };
        let figures: Vec<f64> = looked_at.iter().map(|n| *n as f64).collect();
        let steadiness = Steadiness::of(&figures, window).filter(|_| found.operations.len() >= window);
        let (slope, percent) = kind(rule);
        let figure = |percent| steadiness.map_or(0.0, |s| s.figure(slope, percent));
        Self {
            option: words(rule),
            seconds: rule.round.0.saturating_mul(rule.window.into()) / 1_000_000_000,
            attained: found.reached,
            criterion: format!("{:.6}{}", figure(percent), if percent { "%" } else { "" }),
            deviation: if slope { 0.0 } else { figure(false) },
            slope: if slope { figure(false) } else { 0.0 },
            bytes,
            operations,
            latencies,
        }
    }

    /// The line in the text report.
    #[must_use]
    pub fn line(&self, rule: &Steady, (kb_base, bits): (u64, bool)) -> String {
        let (slope, percent) = kind(rule);
        let other = if kb_base == 1024 { 1000 } else { 1024 };
        let bytes = mean(&self.bytes);
        let criterion: f64 = self.criterion.trim_end_matches('%').parse().unwrap_or(0.0);
        format!(
            "  steadystate  : attained={}, bw={} ({}), iops={}, {} {}={criterion:.3}{}\n",
            if self.attained { "yes" } else { "no" },
            rate(bytes, kb_base, FIGURES, bits),
            rate(bytes, other, FIGURES, bits),
            count(mean(&self.operations), FIGURES),
            name(rule.of),
            if slope { "slope" } else { "mean dev" },
            if percent { "%" } else { "" }
        )
    }
}

/// Whether the criterion is a slope, and whether it is in percent.
fn kind(rule: &Steady) -> (bool, bool) {
    rule.criterion.map_or((false, false), |criterion| (criterion.is_slope(), criterion.limit().is_percent()))
}

/// The last figures, one window of them, as integers.
fn last(figures: &[f64], window: usize) -> Vec<u64> {
    let from = figures.len().saturating_sub(window);
    let mut last: Vec<u64> = figures.iter().skip(from).map(|figure| figure.round() as u64).collect();
    last.resize(window, 0);
    last
}

/// Integer mean.
#[must_use]
pub fn mean(figures: &[u64]) -> u64 {
    let sum: u128 = figures.iter().map(|n| u128::from(*n)).sum();
    u64::try_from(sum / (figures.len().max(1) as u128)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_workload::{Criterion, Duration, Limit};

    fn rule(criterion: Criterion) -> Steady {
        Steady { round: Duration(1_000_000_000), window: 4, criterion: Some(criterion), ..Steady::default() }
    }

    fn found() -> SteadyGroup {
        let operations = vec![9.0, 2002.0, 2000.0, 2000.4, 2001.6];
        let bytes = operations.iter().map(|n| n * 4096.0).collect();
        SteadyGroup { reached: true, operations, bytes, ..SteadyGroup::default() }
    }

    #[test]
    fn criteria_follow_from_the_numbers_that_are_printed() {
        let rule = rule(Criterion::Deviation(Limit::Percent(50.0)));
        let report = SteadyReport::of(&rule, Some(&found()));
        assert_eq!(report.operations, [2002, 2000, 2000, 2002]);
        assert_eq!((report.option.as_str(), report.seconds), ("iops:50.000000%", 4));
        assert_eq!((report.criterion.as_str(), report.deviation, report.slope), ("0.049975%", 1.0, 0.0));
        assert_eq!(
            report.line(&rule, (1024, false)),
            "  steadystate  : attained=yes, bw=8004KiB/s (8196kB/s), iops=2001, iops mean dev=0.050%\n"
        );
    }

    #[test]
    fn what_was_not_waited_for_is_zeroes() {
        let rule = rule(Criterion::Slope(Limit::Absolute(0.5)));
        let found =
            SteadyGroup { operations: vec![1000.0], bytes: vec![4_096_000.0], ..SteadyGroup::default() };
        let report = SteadyReport::of(&rule, Some(&found));
        assert_eq!(report.operations, [1000, 0, 0, 0]);
        assert_eq!((report.criterion.as_str(), report.slope, report.attained), ("0.000000", 0.0, false));
        assert_eq!(SteadyReport::of(&rule, None).bytes, [0; 4]);
    }
}
