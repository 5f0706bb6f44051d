//! The figures of runs in Prometheus' text format, for the textfile directory of node_exporter: medians over the repetitions, in base
//! units. The run's id is not a label of its figures, since each run would start new series; it is in `fathom_run_info`.

use crate::figures::{self, Series};
use crate::imported::{names, units};
use crate::{OpKind, Run, escape_lines};
use serde_json::Value;

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A metric family: name, help.
type Family = (&'static str, &'static str);

const THROUGHPUT: Family = ("fathom_throughput_bytes_per_second", "Bytes read and written per second");
const OPERATIONS: Family = ("fathom_operations_per_second", "Operations per second");
const LATENCY: Family = ("fathom_latency_seconds", "Completion latency, by quantile");
const OTHER: Family = ("fathom_figure", "Figures of other kinds, in the unit that is a label");
const INFO: Family = ("fathom_run_info", "The runs that these figures are of");
const STARTED: Family = ("fathom_run_start_time_seconds", "When the run began, since 1970");

/// Text for a `*.prom` file. If several runs' figures have the same labels, the last one is used.
#[must_use]
pub fn prometheus(runs: &[Run]) -> String {
    let mut families: BTreeMap<Family, BTreeMap<String, f64>> = BTreeMap::new();
    for run in runs {
        let mut add = |family, labels: &Labels, value| {
            families.entry(family).or_default().insert(labels.text(), value);
        };
        let own = Labels::of(run);
        add(INFO, &own.clone().with("run_id", &run.id), 1.0);
        if let Ok(at) = run.started_at.parse::<jiff::Timestamp>() {
            add(STARTED, &own, at.as_second() as f64);
        }
        for series in figures::of(run) {
            let (family, labels, unit) = named(&series, own.clone());
            if let Some(median) = median(&series) {
                add(family, &labels, median / unit);
            }
        }
    }
    let mut text = String::new();
    for ((name, help), samples) in families {
        let _ = writeln!(text, "# HELP {name} {help}.\n# TYPE {name} gauge");
        for (labels, value) in samples {
            let _ = writeln!(text, "{name}{{{labels}}} {value}");
        }
    }
    text
}

/// Family, labels, and the divisor of the value: multiplying by 1e-9 would be off in the last digit.
fn named(series: &Series, own: Labels) -> (Family, Labels, f64) {
    let (cell, axes) = (&series.cell, &series.cell.axes);
    let mut labels = own.with("phase", &cell.operation).with("direct", &cell.direct.to_string());
    let numbers = [
        ("file_bytes", axes.file_bytes.map(|n| n.to_string())),
        ("record_bytes", axes.record_bytes.map(|n| n.to_string())),
        ("streams", axes.streams.map(|n| n.to_string())),
        ("queue_depth", axes.queue_depth.map(|n| n.to_string())),
    ];
    for (name, number) in numbers {
        if let Some(number) = number {
            labels = labels.with(name, &number);
        }
    }
    for (tag, value) in &axes.tags {
        labels = labels.with(&format!("tag_{}", identifier(tag)), value);
    }
    if series.metric == names::THROUGHPUT && series.unit == units::BYTES_PER_S {
        return (THROUGHPUT, labels, 1.0);
    }
    if series.metric == names::OPERATIONS && series.unit == units::OPS_PER_S {
        return (OPERATIONS, labels, 1.0);
    }
    if let Some((operation, quantile)) = percentile(series) {
        return (LATENCY, labels.with("operation", operation).with("quantile", &quantile), 1e9);
    }
    (OTHER, labels.with("figure", &series.metric).with("unit", &series.unit), 1.0)
}

/// "read p99.9" is the quantile 0.999 of reads.
fn percentile(series: &Series) -> Option<(&'static str, String)> {
    if series.unit != units::NS {
        return None;
    }
    let op = OpKind::ALL.into_iter().map(OpKind::word).find(|word| series.metric.starts_with(word))?;
    let rest = series.metric.strip_prefix(op)?.strip_prefix(" p")?;
    let share = rest.parse::<f64>().ok()? / 100.0;
    // 99.9 / 100 is not 0.999 to the last bit.
    Some((op, format!("{}", (share * 1e6).round() / 1e6)))
}

/// `None` without finite values.
fn median(series: &Series) -> Option<f64> {
    let mut values: Vec<f64> = series.values.iter().map(|v| v.value).filter(|v| v.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    let (low, high) = (values.get(values.len().checked_sub(1)? / 2)?, values.get(values.len() / 2)?);
    Some(f64::midpoint(*low, *high))
}

/// Reduces a text to letters, digits and underscores.
fn identifier(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

#[derive(Clone, Debug, Default)]
struct Labels(BTreeMap<String, String>);

impl Labels {
    /// The labels that distinguish runs of several machines and storages.
    fn of(run: &Run) -> Self {
        let known = |pointer: &str| run.environment.pointer(pointer).and_then(Value::as_str).unwrap_or("");
        Self::default()
            .with("label", &run.label)
            .with("dialect", &run.dialect)
            .with("host", known("/hostname"))
            .with("directory", &run.directory)
            .with("file_system", known("/filesystem/type"))
            .with("device", known("/devices/0/name"))
    }

    /// Adds a label; an empty value is left out.
    fn with(mut self, name: &str, value: &str) -> Self {
        if !value.is_empty() {
            self.0.insert(name.into(), value.into());
        }
        self
    }

    fn text(&self) -> String {
        let pairs = self.0.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
        pairs.collect::<Vec<_>>().join(",")
    }
}

fn escaped(value: &str) -> String {
    escape_lines(value).replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::sample_run;
    use crate::{Axes, Figure, Phase, Repetition};

    fn imported(values: &[f64], unit: &str, name: &str) -> Run {
        let repetitions = (0..).zip(values).map(|(n, value)| {
            let figure = Figure {
                name: name.into(),
                value: *value,
                unit: unit.into(),
                printed: String::new(),
                higher_is_better: Some(true),
                line: 0,
            };
            Repetition { n, figures: vec![figure], ..Repetition::default() }
        });
        let tags = BTreeMap::from([("a-b".to_string(), "say \"x\"\\".to_string())]);
        let phase = Phase {
            name: "write".into(),
            axes: Axes { record_bytes: Some(4096), tags, ..Axes::default() },
            repetitions: repetitions.collect(),
            ..crate::headline::tests::nothing()
        };
        Run { id: "i".into(), label: "nightly".into(), phases: vec![phase], ..Run::default() }
    }

    #[test]
    fn a_figure_is_its_median_with_its_coordinates() {
        let text = prometheus(&[imported(&[3.0, 1.0, 2.0, 10.0], units::BYTES_PER_S, names::THROUGHPUT)]);
        assert!(
            text.contains(
                "# TYPE fathom_throughput_bytes_per_second gauge\nfathom_throughput_bytes_per_second{direct=\"false\",\
                 label=\"nightly\",phase=\"write\",record_bytes=\"4096\",tag_a_b=\"say \\\"x\\\"\\\\\"} 2.5\n"
            ),
            "{text}"
        );
        assert!(text.contains("fathom_run_info{label=\"nightly\",run_id=\"i\"} 1\n"), "{text}");
    }

    #[test]
    fn percentiles_are_seconds_with_a_quantile() {
        let text = prometheus(&[imported(&[2e6], units::NS, "read p99.9")]);
        assert!(text.contains("operation=\"read\",phase=\"write\",quantile=\"0.999\""), "{text}");
        assert!(text.contains("} 0.002\n"), "{text}");
    }

    #[test]
    fn every_metric_says_whose_it_is() {
        let environment = serde_json::json!({
            "hostname": "db1", "filesystem": {"type": "ext4"}, "devices": [{"name": "vda"}, {"name": "vdb"}],
        });
        let run = Run {
            environment,
            directory: "/mnt/a".into(),
            started_at: "2026-11-21T21:05:31+01:00".into(),
            ..imported(&[2.0], units::BYTES_PER_S, names::THROUGHPUT)
        };
        let text = prometheus(&[run]);
        let samples: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(samples.len(), 3, "{text}");
        for label in ["host=\"db1\"", "directory=\"/mnt/a\"", "file_system=\"ext4\"", "device=\"vda\""] {
            assert!(samples.iter().all(|sample| sample.contains(label)), "{label}: {text}");
        }
    }

    #[test]
    fn times_have_no_digits_that_the_division_made() {
        let text = prometheus(&[imported(&[4837.0], units::NS, "read p50")]);
        assert!(text.contains("} 0.000004837\n"), "{text}");
    }

    #[test]
    fn no_series_stands_twice_and_every_family_once() {
        let run = sample_run();
        let text = prometheus(&[run.clone(), run]);
        let mut names: Vec<&str> =
            text.lines().filter_map(|l| l.rsplit_once(' ')).map(|(name, _)| name).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "{text}");
    }
}
