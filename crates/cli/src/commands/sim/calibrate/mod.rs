//! `fathom sim calibrate`: makes a device profile from the requests of a trace. Passes (`halves`): device and number of
//! requests; the first half is fitted, several times if a number must be chosen; the second is replayed on the fitted
//! device and judged by the deviation of response times. `page` draws it. Several traces (`several_traces`) give one profile,
//! with each held out in turn.

mod halves;
mod loads;
mod page;
mod recorded;
mod several_traces;
mod workload_filter;

use super::super::trace::input::{self, Input};
use super::super::trace::options::TraceSource;
use super::line::{Calibrate, ProfileKind};
use super::traced;
use crate::commands::write;
use crate::console;
use crate::exit::{self, Usage};
use anyhow::Context as _;
use fathom_record::block::DeviceNumber;
use fathom_record::block::log::QueueSettings;
use fathom_record::course::Thinned;
use fathom_report::units;
use fathom_sim::agree::Look;
use fathom_sim::calibrate::{Course, Fitting, Judged, Point, Points, Value, with_demerit};
use fathom_sim::devices::{self, KernelQueue, is_file};
use halves::{ResponseTimes, Traced};
use recorded::Recorded;
use serde::Serialize;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

/// Name and version of the JSON format.
const SCHEMA: &str = "fathom-sim-calibrate/1";

#[derive(Serialize)]
struct CalibrateJson {
    schema: &'static str,
    file: String,
    device: String,
    kind: &'static str,
    /// Requests of the first half, which were fitted.
    fitted_requests: u64,
    values: Vec<Value>,
    /// The variable that the values depend on.
    curve: Option<Course>,
    /// Sample requests of both halves, as the fit sees them.
    points: Halves,
    /// The second half; null if it has no request.
    held_out: Option<Judged>,
    /// Whether the demerit is within the required limit; null if there is none.
    holds: Option<bool>,
    profile: String,
}

#[derive(Serialize)]
struct Halves {
    fitted: Thinned<Point>,
    held_out: Thinned<Point>,
}

pub fn run(o: &Calibrate) -> anyhow::Result<ExitCode> {
    if let Some(path) = &o.record {
        return of_what_is_recorded(o, path);
    }
    if o.source.files.iter().any(|f| f.as_os_str() == "-") {
        return Err(Usage(
            "the trace is read several times, so it cannot come from stdin; save it in a file".into(),
        )
        .into());
    }
    if let Some(page) = &o.page {
        page::check(page, o.force)?;
    }
    let fitting = fitting(o)?;
    traced::check_regular(&o.source.files)?;
    let mut inputs = input::inputs(&TraceSource { files: o.source.files.clone(), from: o.source.from })?;
    if inputs.len() > 1 {
        return several_traces::run(o, inputs, o.traced.as_deref());
    }
    let Some(input) = inputs.pop() else { return Err(Usage("no trace was named".into()).into()) };
    let Busiest { number, issued, called, queue } = which(o.traced.as_deref(), &input)?;
    let device = Traced { input: &input, number, issued, called: &called };
    let mut points = Points::default();
    let half = match fitting {
        Some(fitting) => device.first_half(fitting, Some(&mut points), false)?,
        None => device.first_half_by_channels(&mut points)?,
    };
    let behind = half.until_ns.saturating_add(1)..=u64::MAX;
    let times = device.replayed(&half.text, behind, Some((&half.fitting, &mut points)))?;
    let held_out = Judged::of(&times.device, &times.model, &half.times);
    let holds = o.at_most.map(|limit| held_out.as_ref().is_some_and(|j| j.demerit_percent <= limit));
    let profile = match &held_out {
        Some(judged) => with_demerit(&half.text, judged.demerit_percent),
        None => half.text.clone(),
    };
    let profile = profile + &device.coverage()?.without_flushes().table() + &queue_table(queue.as_ref());
    write(o, &profile)?;
    let (fitted, of_second) = points.take();
    let report = CalibrateJson {
        schema: SCHEMA,
        file: input.name,
        device: called,
        kind: match o.kind {
            ProfileKind::Constant => "constant",
            ProfileKind::Distribution => "distribution",
            ProfileKind::Disk => "disk",
        },
        fitted_requests: half.requests,
        values: half.values,
        curve: half.fitting.course(),
        points: Halves { fitted, held_out: of_second },
        held_out,
        holds,
        profile: o.output.display().to_string(),
    };
    if o.json {
        console::out_raw(&(serde_json::to_string_pretty(&report)? + "\n"));
    } else {
        console::out(&text(&report));
    }
    if let Some(output) = &o.page {
        page::write(output, &report, times, o.force)?;
    }
    Ok(ExitCode::from(if holds == Some(false) { exit::CHECK } else { exit::DONE }))
}

/// Records the traces first.
fn of_what_is_recorded(o: &Calibrate, path: &Path) -> anyhow::Result<ExitCode> {
    several_traces::refuse(o)?;
    let _ = fitting(o)?;
    write::check(&o.output, o.force)?;
    match recorded::record(path)? {
        Recorded::Interrupted(signal) => Ok(ExitCode::from(exit::of_signal(signal))),
        Recorded::Traces(traces) => several_traces::run(o, traces.inputs.clone(), Some(&traces.device)),
    }
}

/// The fitting method; `None` for a distribution, which takes several fits.
fn fitting(o: &Calibrate) -> anyhow::Result<Option<Fitting>> {
    match (o.kind, &o.like) {
        (ProfileKind::Constant, None) => Ok(Some(Fitting::constant())),
        (ProfileKind::Distribution, None) => Ok(None),
        (ProfileKind::Constant | ProfileKind::Distribution, Some(_)) => {
            Err(Usage("--like needs --kind disk: only a disk's profile is copied from another".into()).into())
        }
        (ProfileKind::Disk, None) => Err(Usage(
            "--kind disk needs --like NAME|FILE: a disk with the surfaces and the rotation of the traced one"
                .into(),
        )
        .into()),
        (ProfileKind::Disk, Some(name)) => {
            let text = if is_file(name) {
                crate::input::read_to_string(name).map_err(|e| Usage(format!("cannot read {name}: {e}")))?
            } else {
                // The error for an unknown name lists the known ones.
                devices::by_name(name).map_err(|e| Usage(e.to_string()))?;
                devices::text(name).unwrap_or_default().to_owned()
            };
            Ok(Some(Fitting::disk(name, &text).map_err(|e| Usage(e.to_string()))?))
        }
    }
}

/// The device to be calibrated.
struct Busiest {
    number: DeviceNumber,
    /// Number of its requests.
    issued: u64,
    /// Its name for messages.
    called: String,
    /// What the kernel had set for it, if it was recorded.
    queue: Option<QueueSettings>,
}

/// The table of a profile.
fn queue_table(queue: Option<&QueueSettings>) -> String {
    let kept = |q: &QueueSettings| KernelQueue::new(&q.scheduler, q.read_ahead_kb, q.max_sectors_kb);
    queue.map(|q| kept(q).table()).unwrap_or_default()
}

fn which(named: Option<&str>, input: &Input) -> anyhow::Result<Busiest> {
    let mut look = Look::default();
    let mut trace = input.open()?;
    for event in trace.by_ref() {
        look.event(&event.map_err(input::wrong)?);
    }
    let about = trace.about();
    let all: Vec<DeviceNumber> = look.devices().iter().map(|d| d.number).collect();
    let wanted = named.map(|w| traced::number_of(&about, w, &all, &input.name)).transpose()?;
    // Ties go to the first.
    let mut candidates = look.devices().iter().rev().filter(|d| wanted.is_none_or(|n| d.number == n));
    let busiest = candidates.by_ref().max_by_key(|d| d.issued);
    match busiest.filter(|d| d.issued > 0) {
        Some(d) => Ok(Busiest {
            number: d.number,
            issued: d.issued,
            called: traced::called(&about, d.number),
            queue: about.devices.iter().find(|a| a.number == d.number).and_then(|a| a.queue.clone()),
        }),
        None => Err(Usage(format!(
            "{}: it has no issued request, so the time per request is unknown",
            input.name
        ))
        .into()),
    }
}

fn write(o: &Calibrate, text: &str) -> anyhow::Result<()> {
    let shown = o.output.display();
    let mut how = OpenOptions::new();
    how.write(true).create(true).truncate(true);
    if !o.force {
        how.create_new(true);
    }
    let mut file = match how.open(&o.output) {
        Ok(file) => file,
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {
            return Err(
                Usage(format!("{shown} exists; name another file, or add --force to overwrite it")).into()
            );
        }
        Err(e) => return Err(e).with_context(|| format!("cannot write {shown}")),
    };
    file.write_all(text.as_bytes()).with_context(|| format!("cannot write {shown}"))?;
    console::note(&format!("wrote {shown}; fathom sim run and replay take it with --device {shown}"));
    Ok(())
}

fn text(report: &CalibrateJson) -> String {
    let mut text = format!(
        "{}: {}, a profile of kind {} from the first {} requests\n\n",
        report.file, report.device, report.kind, report.fitted_requests
    );
    let _ = writeln!(text, "{:<24} {:>12} {:>14}  from", "value", "", "standard error");
    for v in &report.values {
        let error = v.standard_error.map_or("-".to_owned(), |e| format!("{e:.4}"));
        let _ = writeln!(text, "{:<24} {:>12.4} {error:>14}  {}: {}", v.key, v.value, v.src, v.note);
    }
    match &report.held_out {
        None => {
            text += "\nThe second half has no requests: nothing was held out, so the fit is not tested.\n"
        }
        Some(j) => {
            let _ = writeln!(
                text,
                "\nheld out: {} requests of the second half, replayed on the fitted device\n\
                 mean response time {} in the trace, {} in the model; demerit {:.1} % of the mean\n\
                 the device itself: its two halves lie {:.1} % apart, so a model of the first can hardly be nearer to the second",
                j.requests,
                units::time_ns(j.device_mean_ns),
                units::time_ns(j.model_mean_ns),
                j.demerit_percent,
                j.halves_percent
            );
        }
    }
    text
}
