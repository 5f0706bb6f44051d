//! The figures behind the page as JSON, one phase per line, units in the keys. Histograms are left out (the stored run has
//! them), and so are intervals of a survey; everything else that the page draws is included.

use super::{HtmlPage, document, table::preformatted};
use crate::document::{Link, Part, Target, Tone};
use crate::documents::run::{RunView, intervals_elsewhere};
use crate::{Breakdown, latency, printable::clean, svg::p99_ns, units};
use fathom_record::{Mark, Phase, Run, Tail};
use serde_json::{Map, Value, json};

pub(super) fn write(page: &mut HtmlPage, views: &[RunView<'_>]) {
    if views.iter().all(|v| v.run.phases.is_empty()) {
        return;
    }
    let target = |view: &RunView<'_>| Target::whole(Link::Raw, &view.run.id);
    page.anchor(&views.iter().map(target).collect::<Vec<_>>());
    page.heading(2, "Raw figures");
    for view in views {
        let text = figures(view.run, !page.flat);
        let summary = format!("{} as JSON ({})", clean(&view.story.title), units::bytes(text.len() as u64));
        page.fold(&summary, |page| {
            page.body.push_str(&preformatted(&summary, &in_element(&text)));
            if page.flat {
                let elsewhere = Part::Text(Tone::Note, intervals_elsewhere(&view.run.id));
                document::write_all(page, &[elsewhere]);
            }
        });
    }
}

/// Escapes for an element's text only: quotes may stay, and JSON is full of them.
fn in_element(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// One run's figures, optionally with the intervals of each phase.
fn figures(run: &Run, intervals: bool) -> String {
    let phases: Vec<String> = run.phases.iter().map(|p| phase(p, intervals).to_string()).collect();
    let legend = json!({
        "latency": ["operations", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns"],
        "bytes_per_s_to": ["last_op", "fsync", "close"],
        "intervals": ["end_ns", "width_ns", "operations", "bytes"],
        "interval_p99": ["end_ns", "p99_ns"],
        "operations": ["name", "class", "operations", "bytes", "p50_ns", "p95_ns", "p99_ns", "p999_ns", "max_ns"],
        "interval_moved": ["kind", "bytes"],
        "tail_beside_stalls_ns": ["p999", "machine_p999", "max", "machine_max"],
    });
    let head = json!({
        "id": run.id, "label": run.label, "dialect": run.dialect, "started_at": run.started_at, "ended_at": run.ended_at,
        "status": run.status.word(), "argv": run.argv, "directory": run.directory, "seed": run.seed, "clock": run.clock,
        "trust": run.trust,
    });
    format!("{{\"run\": {head},\n\"legend\": {legend},\n\"phases\": [\n{}\n]}}", phases.join(",\n"))
}

fn phase(phase: &Phase, intervals: bool) -> Value {
    let origin = phase.origin();
    let last = phase.repetitions.last();
    let mut axes = phase.axes.clone();
    // The page shows it above the phases that share it.
    axes.tags.remove("stage_note");
    let mut value = json!({
        "seq": phase.seq, "name": phase.name, "axes": axes,
        "bytes_per_s": phase.bytes_per_s().map(f64::round), "ops_per_s": phase.ops_per_s().map(f64::round),
        "origin": origin.regime, "device_share": origin.device_share.map(|s| (s * 1e4).round() / 1e4),
    });
    let Some(map) = value.as_object_mut() else { return value };
    // Left out if redundant: most phases ran once, with one stream.
    if phase.repetitions.len() != 1 {
        map.insert("repetitions".into(), phase.repetitions.len().into());
    }
    if let Some(repetition) = last.filter(|r| r.workers.len() > 1) {
        map.insert("parent_bytes_per_s".into(), repetition.parent_bytes_per_s().map(f64::round).into());
    }
    if phase.direct {
        map.insert("direct".into(), true.into());
    }
    if phase.sync_in_clock {
        map.insert("sync_in_clock".into(), true.into());
    }
    // Without an fsync the first of the three is the phase's rate.
    let to = [Mark::LastOp, Mark::Fsync, Mark::Close].map(|m| phase.bytes_per_s_to(m).map(f64::round));
    if phase.writes && !phase.reads && to[1].is_some() {
        map.insert("bytes_per_s_to".into(), json!(to));
    }
    for row in latency::rows(&[phase]) {
        let mut figures = vec![row.ops];
        figures.extend(row.values_ns());
        map.insert(format!("{}_latency", row.op.word()), figures.into());
    }
    if let Some(one) = Breakdown::of(phase) {
        let row = |r: &fathom_record::Row| {
            let [p50, p95, p99, p999] = Breakdown::PERCENTILES.map(|p| r.latency.percentile_ns(p));
            json!([r.name, r.class, r.ops, r.bytes, p50, p95, p99, p999, r.latency.max_ns()])
        };
        map.insert("clock_ns".into(), one.clock_ns.into());
        map.insert("operations".into(), one.rows.iter().map(row).collect());
    }
    if intervals {
        over_time(map, phase);
    }
    let Some(last) = last else { return value };
    if last.ramp_ns > 0 {
        map.insert("ramp_ns".into(), last.ramp_ns.into());
    }
    if let Some(steady) = &last.steady {
        map.insert("steady".into(), rounded(json!(steady)));
    }
    if let Some(tail) = Tail::of(phase) {
        let figures = [tail.p999_ns, tail.machine_p999_ns, tail.max_ns, tail.machine_max_ns];
        map.insert("tail_beside_stalls_ns".into(), json!(figures));
    }
    value
}

/// Rounds numbers with a fraction: to integers from 1000 on, else to three decimals.
fn rounded(value: Value) -> Value {
    match value {
        Value::Number(n) if n.is_f64() => match n.as_f64() {
            Some(f) if f.abs() >= 1000.0 => json!(f.round() as i64),
            Some(f) => json!((f * 1000.0).round() / 1000.0),
            None => Value::Number(n),
        },
        Value::Array(all) => all.into_iter().map(rounded).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, rounded(value))).collect(),
        other => other,
    }
}

fn over_time(map: &mut Map<String, Value>, phase: &Phase) {
    let Some(last) = phase.repetitions.last() else { return };
    if last.intervals.iter().any(|i| !i.moved.is_empty()) {
        map.insert("interval_moved".into(), last.intervals.iter().map(|i| json!(i.moved)).collect());
    }
    let intervals: Vec<Value> =
        last.intervals.iter().map(|i| json!([i.end_ns, i.width_ns, i.ops, i.bytes])).collect();
    if !intervals.is_empty() {
        map.insert("intervals".into(), intervals.into());
    }
    let p99: Vec<(u64, u64)> =
        last.intervals.iter().filter_map(|i| Some((i.end_ns, p99_ns(phase, i)?))).collect();
    if !p99.is_empty() {
        map.insert("interval_p99".into(), json!(p99));
    }
}

#[cfg(test)]
mod tests {
    use super::rounded;
    use serde_json::json;

    #[test]
    fn fractions_are_rounded_and_integers_kept() {
        let value =
            json!({"rates": [123_456.789, -1000.5, 12.345_67, 0.000_4], "ops": u64::MAX, "name": "1.23456"});
        let short = json!({"rates": [123_457, -1001, 12.346, 0.0], "ops": u64::MAX, "name": "1.23456"});
        assert_eq!(rounded(value), short);
    }
}
