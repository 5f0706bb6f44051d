//! Which figure of a cell a history follows, and the one value that a run gives: a percentile of its merged latencies, or the
//! median of its repetitions for rates and times.

use super::Given;
use crate::compared::{Metric, is_quoted, merged, percent_of};
use crate::section;
use fathom_compare::quantiles::needed_for;
use fathom_compare::summary::median;
use fathom_record::Run;
use fathom_record::figures::{Series, Value};

/// Result of looking up a run's value of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FigureLookup {
    /// The value.
    Value(f64),
    /// A percentile from too few operations.
    TooFewOperations,
    /// A percentile over several repetitions, which needs the run's histograms.
    InHistograms,
    /// The run has no value.
    Nothing,
}

/// The selected figures of a run, else the headline figure of each cell.
#[must_use]
pub fn choose<'s>(all: &'s [Series], metrics: &[Metric]) -> Vec<&'s Series> {
    if !metrics.is_empty() {
        return all.iter().filter(|s| metrics.iter().any(|m| m.takes(&s.metric))).collect();
    }
    // A count without a direction is the last choice for a cell.
    let place = |s: &Series| Some((s.higher_is_better.is_none(), is_quoted(&s.metric)?));
    let best = |s: &Series| all.iter().filter(|o| o.cell == s.cell).filter_map(place).min();
    let mut chosen: Vec<&Series> = Vec::new();
    for series in all {
        let first = chosen.iter().all(|c| c.cell != series.cell);
        if first && place(series).is_some() && place(series) == best(series) {
            chosen.push(series);
        }
    }
    chosen
}

/// The value of a series in one run; `run` is that run, if its histograms are needed and available.
#[must_use]
pub fn value(series: &Series, run: Option<&Run>) -> FigureLookup {
    let of_value = |v: f64, count: Option<u64>| match (percent_of(&series.metric), count) {
        (Some(p), Some(count)) if count < needed_for(p / 100.0) => FigureLookup::TooFewOperations,
        _ => FigureLookup::Value(v),
    };
    match series.values.as_slice() {
        [] => FigureLookup::Nothing,
        [one] => of_value(one.value, one.count),
        several if several[0].count.is_some() => match run {
            None => FigureLookup::InHistograms,
            Some(run) => {
                let all: Vec<&Value> = several.iter().collect();
                merged(run, &series.metric, &all)
                    .map_or(FigureLookup::Nothing, |(v, count)| of_value(v, count))
            }
        },
        several => {
            let values: Vec<f64> = several.iter().map(|v| v.value).collect();
            median(&values).map_or(FigureLookup::Nothing, FigureLookup::Value)
        }
    }
}

impl Given {
    /// Whether it belongs to this series.
    #[must_use]
    pub fn is_of(&self, series: &Series) -> bool {
        self.metric == series.metric && self.unit == series.unit && self.cell == series.cell
    }

    /// The cell's title, as in a comparison.
    #[must_use]
    pub fn title(&self) -> String {
        section::cell_title(&self.cell)
    }

    /// Starts without values.
    #[must_use]
    pub fn empty(series: &Series) -> Self {
        Self {
            cell: series.cell.clone(),
            metric: series.metric.clone(),
            unit: series.unit.clone(),
            higher_is_better: series.higher_is_better,
            values: Vec::new(),
            too_few_operations: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_record::figures::Cell;
    use fathom_record::{Axes, imported::names};

    fn series(metric: &str, values: &[(f64, Option<u64>)]) -> Series {
        let cell = Cell { operation: "read".into(), axes: Axes::default(), direct: false };
        let value = |(n, (value, count)): (usize, &(f64, Option<u64>))| Value {
            phase: 0,
            repetition: n as u32,
            value: *value,
            count: *count,
        };
        let values = values.iter().enumerate().map(value).collect();
        Series { cell, metric: metric.into(), unit: String::new(), higher_is_better: Some(true), values }
    }

    #[test]
    fn a_cell_is_quoted_by_one_figure_unless_others_are_named() {
        let all = [
            series(names::OPERATIONS, &[(1.0, None)]),
            series(names::THROUGHPUT, &[(2.0, None)]),
            series("read p99", &[(3.0, Some(5000))]),
        ];
        let of = |words: &[&str]| -> Vec<f64> {
            let metrics: Vec<Metric> = words.iter().map(|w| Metric::of_word(w)).collect();
            choose(&all, &metrics).iter().map(|s| s.values[0].value).collect()
        };
        assert_eq!((of(&[]), of(&["p99", "ops"]), of(&["time"])), (vec![2.0], vec![1.0, 3.0], vec![]));
    }

    #[test]
    fn a_count_that_is_neither_better_nor_worse_quotes_no_cell_that_has_another_figure() {
        let mut count = series("records in", &[(131_072.0, None)]);
        count.higher_is_better = None;
        let all = [count.clone(), series("real time", &[(190.0, None)])];
        assert_eq!(choose(&all, &[]).iter().map(|s| s.metric.as_str()).collect::<Vec<_>>(), ["real time"]);
        assert_eq!(choose(&[count], &[]).len(), 1);
    }

    #[test]
    fn rates_have_medians_and_percentiles_need_histograms() {
        assert_eq!(value(&series("throughput", &[]), None), FigureLookup::Nothing);
        let rates = series("throughput", &[(3.0, None), (9.0, None), (1.0, None)]);
        assert_eq!(value(&rates, None), FigureLookup::Value(3.0));
        let twice = series("read p99", &[(3.0, Some(2000)), (4.0, Some(2000))]);
        assert_eq!(value(&twice, None), FigureLookup::InHistograms);
        assert_eq!(value(&series("read p99", &[(3.0, Some(2000))]), None), FigureLookup::Value(3.0));
        assert_eq!(value(&series("read p99.9", &[(3.0, Some(2000))]), None), FigureLookup::TooFewOperations);
    }
}
