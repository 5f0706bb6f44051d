//! A history with a known change, for this module's tests.

use super::{Event, Given, History, HistoryOptions, Input, Workload};
use crate::compared::RunInfo;
use fathom_record::Axes;
use fathom_record::figures::Cell;
use fathom_record::imported::{names, units};

/// A run on a day in October.
pub(super) fn run(number: usize) -> RunInfo {
    let (day, hour) = (number / 2 + 1, if number.is_multiple_of(2) { "02" } else { "14" });
    RunInfo {
        id: format!("202610{day:02}T{hour}0000-00000{}", number % 10),
        label: if number < 12 { "build 17".into() } else { "build 18".into() },
        started_at: format!("2026-10-{day:02}T{hour}:00:00+00:00"),
        source: None,
    }
}

/// MiB/s of 24 runs: 3 % less from the thirteenth on, one outlier.
pub(super) const RATES: [f64; 24] = [
    512.4, 509.1, 513.0, 508.9, 511.9, 515.2, 511.0, 508.4, 430.0, 512.8, 510.9, 508.2, 497.2, 495.6, 499.9,
    494.2, 496.9, 498.8, 500.3, 497.7, 495.1, 498.1, 496.0, 499.2,
];

pub(super) fn event(run: usize, name: &str, from: &str, to: &str) -> Event {
    Event { run, name: name.into(), from: from.into(), to: to.into() }
}

pub(super) fn given(metric: &str, unit: &str, higher: Option<bool>, values: &[f64]) -> Given {
    let axes = Axes { record_bytes: Some(131_072), ..Axes::default() };
    Given {
        cell: Cell { operation: "read".into(), axes, direct: false },
        metric: metric.into(),
        unit: unit.into(),
        higher_is_better: higher,
        values: values.iter().copied().enumerate().collect(),
        too_few_operations: 0,
    }
}

pub(super) fn input(rates: &[f64]) -> Input {
    let values: Vec<f64> = rates.iter().map(|r| r * 1_048_576.0).collect();
    Input {
        workload: Workload {
            id: "3fa9c1d2".into(),
            name: "cold <read>".into(),
            by: "native".into(),
            place: "host db1, /data".into(),
        },
        runs: (0..rates.len()).map(|n| run(n).into()).collect(),
        left_out: vec![("interrupted".into(), 1), ("failed".into(), 2)],
        without_time: 0,
        events: vec![
            event(5, "devices.0.scheduler", "none", "mq-deadline"),
            event(12, "label", "build 17", "build 18"),
            event(12, "kernel", "6.1.0", "6.2.0"),
            event(13, "cpu.governor", "performance", "powersave"),
        ],
        series: vec![given(names::THROUGHPUT, units::BYTES_PER_S, Some(true), &values)],
    }
}

pub(super) fn history() -> History {
    History::of(&input(&RATES), &HistoryOptions { overview: true, ..HistoryOptions::default() })
}
