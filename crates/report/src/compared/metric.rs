//! Which figures are compared: selected by a word with the same meaning for all programs, or by the figure's own name.

use fathom_record::OpKind;
use fathom_record::figures::{PERCENTILES, Series};
use fathom_record::imported::names;

/// A choice of figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Every figure available.
    All,
    /// Bytes per second.
    Throughput,
    /// Operations per second.
    Operations,
    /// Duration.
    Time,
    /// A percentile of the latency of every kind of operation: "p99.9".
    Percentile(String),
    /// The figure of this name.
    Named(String),
}

impl Metric {
    /// The selection for a word.
    #[must_use]
    pub fn of_word(word: &str) -> Self {
        match word {
            "all" => Self::All,
            "throughput" => Self::Throughput,
            "ops" | "iops" => Self::Operations,
            "time" => Self::Time,
            p if p.strip_prefix('p').is_some_and(|n| n.parse::<f64>().is_ok()) => Self::Percentile(p.into()),
            other => Self::Named(other.into()),
        }
    }

    /// The word for this selection.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Self::All => "all",
            Self::Throughput => "throughput",
            Self::Operations => "ops",
            Self::Time => "time",
            Self::Percentile(word) | Self::Named(word) => word,
        }
    }

    /// Whether it selects the figure.
    #[must_use]
    pub fn takes(&self, metric: &str) -> bool {
        match self {
            Self::All => true,
            Self::Throughput => metric == names::THROUGHPUT,
            Self::Operations => metric == names::OPERATIONS,
            Self::Time => metric == names::TIME,
            Self::Percentile(p) => percentile(metric).is_some_and(|(_, q)| q == p),
            Self::Named(name) => metric == name,
        }
    }
}

/// Splits the name of a percentile: "read p99" is ("read", "p99").
pub(super) fn percentile(metric: &str) -> Option<(&str, &str)> {
    let (operation, p) = metric.rsplit_once(' ')?;
    p.strip_prefix('p')?.parse::<f64>().ok()?;
    Some((operation, p))
}

/// "read p99.9" is 99.9.
pub(crate) fn percent_of(metric: &str) -> Option<f64> {
    percentile(metric)?.1.strip_prefix('p')?.parse().ok()
}

/// The kind of operation of a percentile in a measured run.
pub(super) fn kind_of(metric: &str) -> Option<OpKind> {
    let (operation, _) = percentile(metric)?;
    OpKind::ALL.into_iter().find(|op| op.word() == operation)
}

/// Whether a figure is shown by default: rates, time, and three percentiles of the latency of whole operations. Operations per
/// second add nothing beside a throughput. For a program that prints other percentiles, those are shown.
pub(super) fn is_usual(series: &Series, all: &[Series]) -> bool {
    if let Some((operation, _)) = percentile(&series.metric) {
        let of_the_same = |s: &&Series| {
            s.cell == series.cell && percentile(&s.metric).is_some_and(|(of, _)| of == operation)
        };
        let is_part = kind_of(&series.metric).is_some_and(OpKind::is_part);
        return !is_part && (is_common(series) || !all.iter().filter(of_the_same).any(is_common));
    }
    match series.metric.as_str() {
        names::THROUGHPUT | names::TIME => true,
        names::OPERATIONS => !all.iter().any(|s| {
            s.cell == series.cell
                && s.metric == names::THROUGHPUT
                && !is_coarse(s.values.iter().map(|v| v.value))
        }),
        _ => series.higher_is_better.is_some() && !has_usual(series, all),
    }
}

/// Whether it is one of the percentiles given for every operation.
fn is_common(series: &Series) -> bool {
    percent_of(&series.metric).is_some_and(|p| PERCENTILES.contains(&p))
}

/// Whether a throughput has one digit at most: Filebench prints tenths of MB/s, so ten small reads a second are "0.1mb/s" or
/// less. Operations per second then say more.
pub(super) fn is_coarse(mut bytes_per_s: impl Iterator<Item = f64>) -> bool {
    bytes_per_s.all(|v| {
        let tenths = v / (0.1 * 1_048_576.0);
        (-0.5..9.5).contains(&tenths) && (tenths - tenths.round()).abs() < 1e-6
    })
}

/// Whether a cell has one of the figures common to all programs.
fn has_usual(series: &Series, all: &[Series]) -> bool {
    all.iter().any(|s| {
        s.cell == series.cell
            && ([names::THROUGHPUT, names::OPERATIONS, names::TIME].contains(&s.metric.as_str())
                || is_common(s))
    })
}

/// Rank of a figure among those that a cell can be quoted by, lowest first; `None` if it cannot.
pub(crate) fn quoted(metric: &str) -> Option<u8> {
    match metric {
        names::THROUGHPUT => Some(0),
        names::OPERATIONS => Some(1),
        names::TIME => Some(2),
        m if percentile(m).is_some() => Some(4),
        _ => Some(3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_choose_figures() {
        let takes = |word: &str, metric: &str| Metric::of_word(word).takes(metric);
        assert!(takes("throughput", "throughput") && takes("ops", "operations per second"));
        assert!(takes("p99", "read p99") && takes("p99", "write p99") && !takes("p99", "read p99.9"));
        assert!(
            takes("p99.9", "fsync p99.9") && takes("read p99", "read p99") && !takes("read p99", "write p99")
        );
        assert!(takes("all", "whatever") && takes("user time", "user time") && !takes("page faults", "time"));
        assert_eq!(kind_of("write-submission p50"), Some(OpKind::WriteSubmission));
        assert_eq!((percentile("throughput"), percentile("slow path")), (None, None));
    }
}
