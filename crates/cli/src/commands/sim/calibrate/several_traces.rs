//! One profile from several traces of a device (`loads`), with an error bar: each trace is predicted by a fit to the
//! others. If no other trace has such requests, its own first half joins the fit and its second half is predicted.

use super::super::super::trace::input::Input;
use super::super::line::{Calibrate, ProfileKind};
use super::loads::TracedLoad;
use super::{Busiest, queue_table, which, write};
use crate::console;
use crate::exit::{self, Usage};
use fathom_record::block::log::QueueSettings;
use fathom_sim::calibrate::Value;
use fathom_sim::calibrate::parallel::{Gathered, Model, fit};
use fathom_sim::devices::{Coverage, HeldOut, Part};
use serde::Serialize;
use std::fmt::Write as _;
use std::process::ExitCode;

/// Name and version of the JSON format.
const SCHEMA: &str = "fathom-sim-calibrate-several/1";

#[derive(Serialize)]
struct SeveralJson {
    schema: &'static str,
    kind: &'static str,
    traces: Vec<TraceTold>,
    values: Vec<Value>,
    /// Largest error of an answer on held-out requests; null if there are none.
    error_bar_percent: Option<f64>,
    /// Whether that is within the required limit; null if there is none.
    holds: Option<bool>,
    profile: String,
}

#[derive(Serialize)]
struct TraceTold {
    file: String,
    device: String,
    /// Its kinds of requests.
    load: String,
    requests: u64,
    /// Reads and writes from outside the traced workload.
    left_out: u64,
    /// Error of a fit without it, or without its second half.
    held_out: Option<HeldOut>,
}

/// A smaller device is assumed to be this large: no time depends on it, and the simulator's files begin at 1 GiB.
const LEAST_CAPACITY: u64 = 4_000_000_000;

/// `device`: name or number; default: the one with the most requests.
pub(super) fn run(o: &Calibrate, inputs: Vec<Input>, device: Option<&str>) -> anyhow::Result<ExitCode> {
    refuse(o)?;
    let (mut loads, mut queues) = (Vec::new(), Vec::new());
    for input in inputs {
        let Busiest { number, called, queue, .. } = which(device, &input)?;
        queues.extend(queue.map(|queue| (input.name.clone(), queue)));
        loads.push(TracedLoad::read(input, number, called)?);
    }
    let queue = queues.first().map(|(_, queue)| queue);
    warn_if_queues_differ(&queues);
    tell_if_devices_differ(&loads);
    let scatters = o.kind == ProfileKind::Distribution;
    let model = fitted(&loads.iter().map(|l| &l.whole).collect::<Vec<_>>())?;
    let bytes = queue.and_then(|queue| queue.sectors.checked_mul(512));
    let model = match bytes.filter(|&bytes| bytes >= LEAST_CAPACITY) {
        Some(bytes) => model.of_capacity(bytes),
        None => model,
    };
    let mut held_out = Vec::new();
    for at in 0..loads.len() {
        held_out.push(predicted(&loads, at, scatters)?);
    }
    let told_out: Vec<HeldOut> = held_out.iter().flatten().cloned().collect();
    let bar = HeldOut::bar_percent(&told_out);
    let requests: u64 = loads.iter().map(|l| l.whole.requests()).sum();
    let names: Vec<&str> = loads.iter().map(|l| l.input.name.as_str()).collect();
    let about = format!("fitted to {requests} requests of {} in {}", loads[0].called, names.join(", "));
    let coverage = covers(&model, loads.iter().map(|l| &l.coverage));
    let mut text = model.profile(&about, scatters) + &coverage.table();
    text += &queue_table(queue);
    told_out.iter().for_each(|one| text += &one.table());
    write(o, &text)?;
    let traces = loads.into_iter().zip(held_out).map(|(load, held_out)| TraceTold {
        load: load.coverage.words(),
        requests: load.whole.requests(),
        file: load.input.name,
        device: load.called,
        left_out: load.left_out,
        held_out,
    });
    let holds = o.at_most.map(|limit| bar.is_some_and(|bar| bar <= limit));
    let report = SeveralJson {
        schema: SCHEMA,
        kind: if scatters { "distribution" } else { "constant" },
        traces: traces.collect(),
        values: model.values(),
        error_bar_percent: bar,
        holds,
        profile: o.output.display().to_string(),
    };
    if o.json {
        console::out_raw(&(serde_json::to_string_pretty(&report)? + "\n"));
    } else {
        console::out(&page(&report));
    }
    Ok(ExitCode::from(if holds == Some(false) { exit::CHECK } else { exit::DONE }))
}

/// Rejects options that need a single trace.
pub(super) fn refuse(o: &Calibrate) -> Result<(), Usage> {
    if o.kind == ProfileKind::Disk {
        return Err(Usage("--kind disk is fitted to one trace; name one, or leave --kind disk out".into()));
    }
    if o.page.is_some() {
        return Err(Usage("--page draws the fit to one trace; name one, or leave --page out".into()));
    }
    Ok(())
}

fn fitted(all: &[&Gathered]) -> Result<Model, Usage> {
    fit(all).map_err(|e| Usage(e.to_string()))
}

/// The range of requests that a model fitted to these traces can answer.
fn covers<'c>(model: &Model, all: impl Iterator<Item = &'c Coverage>) -> Coverage {
    let union = Coverage::union(all);
    if model.has_flushes() { union } else { union.without_flushes() }
}

/// Error on a trace of a fit without it, or without its second half.
fn predicted(loads: &[TracedLoad], at: usize, scatters: bool) -> anyhow::Result<Option<HeldOut>> {
    let load = &loads[at];
    let others = || loads.iter().enumerate().filter(move |(n, _)| *n != at).map(|(_, other)| other);
    let without: Vec<&Gathered> = others().map(|l| &l.whole).collect();
    // The others may be too small to fit.
    if let Ok(model) = fit(&without)
        && covers(&model, others().map(|l| &l.coverage)).instead_of(&load.activity).is_empty()
    {
        return load.predicted(&model.profile("held out", scatters), Part::Whole);
    }
    let with_half: Vec<&Gathered> = without.into_iter().chain([&load.first_half]).collect();
    let Ok(model) = fit(&with_half) else { return Ok(None) };
    load.predicted(&model.profile("held out", scatters), Part::SecondHalf)
}

fn tell_if_devices_differ(loads: &[TracedLoad]) {
    let first = &loads[0];
    if let Some(other) = loads.iter().find(|l| l.called != first.called) {
        console::warning(&format!(
            "{} is a trace of {}, and {} of {}: they are taken for one device",
            first.input.name, first.called, other.input.name, other.called
        ));
    }
}

/// A profile has one set of settings.
fn warn_if_queues_differ(queues: &[(String, QueueSettings)]) {
    let Some(((first, queue), others)) = queues.split_first() else { return };
    let set = |q: &QueueSettings| (q.scheduler.clone(), q.read_ahead_kb, q.max_sectors_kb);
    if let Some((other, _)) = others.iter().find(|(_, other)| set(other) != set(queue)) {
        console::warning(&format!(
            "the kernel's settings for the device differ between {first} and {other}; the profile has those of {first}"
        ));
    }
}

fn page(report: &SeveralJson) -> String {
    let requests: u64 = report.traces.iter().map(|t| t.requests).sum();
    let mut text = format!(
        "a profile of kind {} from {requests} requests in {} traces\n\n",
        report.kind,
        report.traces.len()
    );
    let _ = writeln!(text, "{:<24} {:>12}  from", "value", "");
    for v in &report.values {
        let _ = writeln!(text, "{:<24} {:>12.4}  {}: {}", v.key, v.value, v.src, v.note);
    }
    text += "\nheld out: each trace as a fit to the others predicts it\n";
    for trace in &report.traces {
        let _ = writeln!(text, "{} ({}; {} requests)", trace.file, trace.load, trace.requests);
        let _ = match &trace.held_out {
            None => writeln!(text, "  too few requests to be predicted"),
            Some(h) => writeln!(
                text,
                "  {}throughput {:+.1} %, mean response time {:+.1} %",
                match h.part {
                    Part::Whole => "",
                    Part::SecondHalf =>
                        "no other trace has such requests, so the second half, by its first and the others: ",
                },
                h.throughput_percent,
                h.response_percent
            ),
        };
        if trace.left_out > 0 {
            let _ = writeln!(
                text,
                "  left out of the fit: {} requests of other programs, or before or after the workload",
                trace.left_out
            );
        }
    }
    let _ = match report.error_bar_percent {
        Some(bar) => writeln!(text, "\nerror bar of a prediction: {bar:.1} %"),
        None => {
            writeln!(text, "\nNo trace has enough requests to be held out: predictions have no error bar.")
        }
    };
    text
}
