//! A survey as JSON: figures of every test with their intervals, findings, verdicts, and the whole record.
//! docs/formats/survey.schema.json describes it.

use super::{SurveyMap, findings, verdicts};
use crate::section::stage;
use fathom_compare::Summary;
use fathom_record::{Phase, Repetition, Run};
use serde_json::{Value, json};

/// The document, indented, ending in a line feed.
#[must_use]
pub fn json(run: &Run) -> String {
    let record: Value = serde_json::from_str(&fathom_record::export::json(run)).unwrap_or(Value::Null);
    let surfaces = ["write to fsync", "cold read", "cached read"].into_iter().filter_map(|test| {
        let map = SurveyMap::of(run, test)?;
        let (measured, cells) = map.cells();
        Some(json!({ "test": test, "measured": measured, "cells": cells, "expected_error": map.expected_error() }))
    });
    let document = json!({
        "schema": "fathom-survey/1",
        "run": run.id,
        "status": run.status.word(),
        "directory": run.directory,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "figures": run.phases.iter().map(figure).collect::<Vec<Value>>(),
        "surfaces": surfaces.collect::<Vec<Value>>(),
        "findings": findings(run).iter().map(|(part, f)| json!({
            "part": part,
            "rule": f.rule,
            "sentence": f.sentence,
            "advice": f.advice,
            "evidence": f.evidence.iter().map(|e| json!({
                "name": e.name, "value": e.value, "unit": e.unit, "source": e.source,
            })).collect::<Vec<Value>>(),
        })).collect::<Vec<Value>>(),
        "verdicts": verdicts(run).iter().map(|v| json!({
            "use": v.of,
            "grade": v.word(),
            "sentence": v.sentence,
            "open": v.open.iter().map(|open| open.words()).collect::<Vec<_>>(),
            "figures": v.figures.iter().map(|f| json!({
                "name": f.by.figure, "value": f.value, "unit": f.by.unit, "good": f.by.good, "fair": f.by.fair,
                "grade": f.word(),
            })).collect::<Vec<Value>>(),
        })).collect::<Vec<Value>>(),
        "record": record,
    });
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

fn figure(phase: &Phase) -> Value {
    let of = |f: fn(&Repetition) -> Option<f64>| {
        let sample: Vec<f64> = phase.repetitions.iter().filter_map(f).collect();
        Summary::of(&sample).map(|s| json!({ "median": s.median, "least": s.min, "most": s.max, "n": s.n }))
    };
    let latency = phase.latency();
    let at = |p| latency.percentile_ns(p);
    let device = |f: fn(&fathom_record::Physical) -> Option<u64>| {
        phase.repetitions.iter().filter_map(|r| f(&r.physical)).reduce(u64::saturating_add)
    };
    let steady = phase.repetitions.iter().rev().find_map(|r| r.steady.as_ref());
    json!({
        "stage": stage(phase),
        "name": phase.name,
        "file_bytes": phase.axes.file_bytes,
        "record_bytes": phase.axes.record_bytes,
        "streams": phase.axes.streams,
        "queue_depth": phase.axes.queue_depth,
        "reads": phase.axes.tags.get("reads"),
        "failed": phase.repetitions.iter().find_map(|r| r.error()).map(|e| e.message.clone()),
        "bytes_per_s": of(Repetition::bytes_per_s),
        "ops_per_s": of(Repetition::ops_per_s),
        "latency_ns": json!({
            "of": phase.main_op().word(), "count": latency.count(), "p50": at(50.0), "p99": at(99.0), "p99_9": at(99.9),
            "max": latency.max_ns(),
        }),
        "served_by": phase.origin().regime.words(),
        "device_read_bytes": device(fathom_record::Physical::device_read_bytes),
        "device_write_bytes": device(fathom_record::Physical::device_write_bytes),
        "steady": steady.map(|s| s.reached),
    })
}
