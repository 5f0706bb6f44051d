//! `fathom sim calibrate`: a device profile from the requests of a trace. Three readings: which device and how many requests; the first
//! half, which is fitted; the second, which is replayed on the fitted device and judged by how far response times lie apart. `page` draws it.

mod page;

use super::super::trace::input::{self, Input};
use super::line::{Calibrate, ProfileKind};
use super::traced;
use crate::commands::write::must_be_free;
use crate::console;
use crate::exit::{self, Usage};
use anyhow::Context as _;
use fathom_dialects::trace::TraceError;
use fathom_iopath::queue::Rules;
use fathom_iopath::{Limits, Queue, elevator};
use fathom_record::Histogram;
use fathom_record::block::DeviceNumber;
use fathom_record::inside::Thinned;
use fathom_report::units;
use fathom_sim::agree::Look;
use fathom_sim::calibrate::{Course, Fitting, Judged, Point, Points, Services, Value, with_demerit};
use fathom_sim::devices::{self, Device as _, DeviceProfile, is_file};
use fathom_sim::replay::{Arrivals, Mode, Scale, Setup, replay};
use serde::Serialize;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::process::ExitCode;

/// The published form of the JSON.
const SCHEMA: &str = "fathom-sim-calibrate/1";
/// Response times that are gathered before they become part of the histogram.
const GATHERED: usize = 4096;

/// What was found.
#[derive(Serialize)]
struct Told {
    schema: &'static str,
    file: String,
    device: String,
    kind: &'static str,
    /// Requests of the first half, which were fitted.
    fitted_requests: u64,
    values: Vec<Value>,
    /// What the values are the course of.
    curve: Option<Course>,
    /// Some requests of both halves, as the fit sees them.
    points: Halves,
    /// The second half; null if it has no request.
    held_out: Option<Judged>,
    /// Whether the demerit is at most what was asked for; null if nothing was.
    holds: Option<bool>,
    profile: String,
}

/// Requests of both halves.
#[derive(Serialize)]
struct Halves {
    fitted: Thinned<Point>,
    held_out: Thinned<Point>,
}

/// Response times of the second half.
struct Times {
    device: Histogram,
    model: Histogram,
}

/// What the first half came to.
struct Half {
    values: Vec<Value>,
    text: String,
    requests: u64,
    /// When the last request of it was done.
    until_ns: u64,
}

/// Runs the command.
pub fn run(o: &Calibrate) -> anyhow::Result<ExitCode> {
    if o.source.files.iter().any(|f| f.as_os_str() == "-") {
        return Err(Usage(
            "the trace is read three times, so it cannot come from stdin; save it in a file".into(),
        )
        .into());
    }
    if let Some(page) = &o.page {
        page::check(page)?;
        must_be_free(page, o.force)?;
    }
    let mut fitting = fitting(o)?;
    let input = traced::one(&o.source)?;
    let (number, issued, called) = which(o, &input)?;
    let mut points = Points::default();
    let half = first_half(&input, (number, issued), (&mut fitting, &mut points), &called)?;
    let times = second_half(&input, number, &half, (&fitting, &mut points))?;
    let held_out = Judged::of(&times.device, &times.model);
    let holds = o.at_most.map(|limit| held_out.as_ref().is_some_and(|j| j.demerit_percent <= limit));
    let profile = match &held_out {
        Some(judged) => with_demerit(&half.text, judged.demerit_percent),
        None => half.text.clone(),
    };
    write(o, &profile)?;
    let (fitted, of_second) = points.take();
    let told = Told {
        schema: SCHEMA,
        file: input.name,
        device: called,
        kind: if o.kind == ProfileKind::Disk { "disk" } else { "constant" },
        fitted_requests: half.requests,
        values: half.values,
        curve: fitting.course(),
        points: Halves { fitted, held_out: of_second },
        held_out,
        holds,
        profile: o.output.display().to_string(),
    };
    if o.json {
        console::out_raw(&(serde_json::to_string_pretty(&told)? + "\n"));
    } else {
        console::out(&text(&told));
    }
    if let Some(output) = &o.page {
        page::write(output, &told, times)?;
    }
    Ok(ExitCode::from(if holds == Some(false) { exit::CHECK } else { exit::DONE }))
}

fn fitting(o: &Calibrate) -> anyhow::Result<Fitting> {
    match (o.kind, &o.like) {
        (ProfileKind::Constant, None) => Ok(Fitting::constant()),
        (ProfileKind::Constant, Some(_)) => {
            Err(Usage("--like belongs to --kind disk; a constant device is like no other".into()).into())
        }
        (ProfileKind::Disk, None) => Err(Usage(
            "--kind disk needs --like NAME|FILE: a disk whose surfaces and turn are those of the one that was traced".into(),
        )
        .into()),
        (ProfileKind::Disk, Some(name)) => {
            let text = if is_file(name) {
                std::fs::read_to_string(name).map_err(|e| Usage(format!("cannot read {name}: {e}")))?
            } else {
                // An unknown name has the error that lists those there are.
                devices::by_name(name).map_err(|e| Usage(e.to_string()))?;
                devices::text(name).unwrap_or_default().to_owned()
            };
            Ok(Fitting::disk(name, &text).map_err(|e| Usage(e.to_string()))?)
        }
    }
}

/// The device, the requests that were given to it, and what it is called.
fn which(o: &Calibrate, input: &Input) -> anyhow::Result<(DeviceNumber, u64, String)> {
    let mut look = Look::default();
    let mut trace = input.open()?;
    for event in trace.by_ref() {
        look.event(&event.map_err(input::wrong)?);
    }
    let about = trace.about();
    let all: Vec<DeviceNumber> = look.devices().iter().map(|d| d.number).collect();
    let wanted = o.traced.as_deref().map(|w| traced::number_of(&about, w, &all, &input.name)).transpose()?;
    // Of equals the first.
    let mut candidates = look.devices().iter().rev().filter(|d| wanted.is_none_or(|n| d.number == n));
    let busiest = candidates.by_ref().max_by_key(|d| d.issued);
    match busiest.filter(|d| d.issued > 0) {
        Some(d) => Ok((d.number, d.issued, traced::called(&about, d.number))),
        None => Err(Usage(format!(
            "{}: no request is issued in it, so nothing tells how long one takes",
            input.name
        ))
        .into()),
    }
}

fn first_half(
    input: &Input,
    (number, issued): (DeviceNumber, u64),
    (fitting, points): (&mut Fitting, &mut Points),
    called: &str,
) -> anyhow::Result<Half> {
    let mut services = Services::new(number);
    let (mut requests, mut until_ns) = (0, 0);
    for event in input.open()? {
        let event = event.map_err(input::wrong)?;
        // The whole trace tells how far it goes and how deep.
        if let Some(service) = services.take(&event)
            && requests < issued / 2
        {
            fitting.add(&service);
            fitting.point(&service).into_iter().for_each(|point| points.add(point, false));
            requests += 1;
            until_ns = event.time_ns;
        }
    }
    let file = &input.name;
    if services.impossible() > 0 {
        console::warning(&format!(
            "{file}: {} events lie at sectors that no device has (above 2^54); they are left out",
            services.impossible()
        ));
    }
    if let Some(capacity) = fitting.capacity_sectors()
        && services.end_sector() > capacity
    {
        let end = services.end_sector();
        return Err(Usage(format!(
            "{file}: the trace goes up to sector {end} and the disk of --like has {capacity}; name a larger one"
        ))
        .into());
    }
    let values = fitting.fit().map_err(|e| Usage(format!("{file}: {called}: {e}")))?;
    let about = format!("fitted to {requests} requests of {called} in {file}");
    let text = fitting.profile(&about, &values, services.end_sector(), services.most_open());
    Ok(Half { values, text, requests, until_ns })
}

/// What was issued in the second half, on the fitted device, each as long after what its task saw done as in the trace.
fn second_half(
    input: &Input,
    number: DeviceNumber,
    half: &Half,
    (fitting, points): (&Fitting, &mut Points),
) -> anyhow::Result<Times> {
    let profile = DeviceProfile::parse("the fitted profile", &half.text).map_err(|e| Usage(e.to_string()))?;
    let device = profile.build().map_err(|e| Usage(e.to_string()))?;
    // Requests are as they were issued: nothing is cut any more.
    let limits = Limits { max_sectors: 1 << 20, max_segments: u16::MAX, ..Limits::LOOP_618 };
    let rules = Rules::today(limits, device.depth());
    let queue = Queue::new(elevator::by_name("none").map_err(|e| Usage(e.to_string()))?, rules);
    let mut trace = input.open()?;
    let mut services = Services::new(number);
    let mut arrivals = Arrivals::new(Some(number), false, true);
    let (mut measured, mut gathered) = (Histogram::default(), Vec::with_capacity(GATHERED));
    let source = || -> Result<_, TraceError> {
        for event in trace.by_ref() {
            let event = event?;
            if event.time_ns <= half.until_ns {
                continue;
            }
            if let Some(service) = services.take(&event) {
                fitting.point(&service).into_iter().for_each(|point| points.add(point, true));
                gathered.push(service.response_ns);
                if gathered.len() == GATHERED {
                    measured.merge(&Histogram::from_values(gathered.drain(..)));
                }
            }
            if let Some(arrival) = arrivals.take(&event) {
                return Ok(Some(arrival));
            }
        }
        Ok(None)
    };
    let mode = Mode::Dependent(Scale::ONE);
    let setup = Setup { queue, device, device_name: "fitted".into(), mode };
    let out = replay(setup, source, |_| {}).map_err(|e| Usage(e.to_string()))?;
    measured.merge(&Histogram::from_values(gathered));
    let mut model = Histogram::default();
    for class in out.block.devices.iter().flat_map(|d| &d.requests) {
        model.merge(&class.d2c);
    }
    Ok(Times { device: measured, model })
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

fn text(told: &Told) -> String {
    let mut text = format!(
        "{}: {}, a profile of kind {} from the first {} requests\n\n",
        told.file, told.device, told.kind, told.fitted_requests
    );
    // Writing to a text cannot fail.
    let _ = writeln!(text, "{:<24} {:>12} {:>14}  from", "value", "", "standard error");
    for v in &told.values {
        let error = v.standard_error.map_or("-".to_owned(), |e| format!("{e:.4}"));
        let _ = writeln!(text, "{:<24} {:>12.4} {error:>14}  {}: {}", v.key, v.value, v.src, v.note);
    }
    match &told.held_out {
        None => text += "\nThe second half has no request: nothing was held out, and nothing judges this.\n",
        Some(j) => {
            let _ = writeln!(
                text,
                "\nheld out: {} requests of the second half, replayed on the fitted device\n\
                 mean response time {} in the trace, {} in the model; demerit {:.1} % of the mean",
                j.requests,
                units::time_ns(j.device_mean_ns),
                units::time_ns(j.model_mean_ns),
                j.demerit_percent
            );
        }
    }
    text
}
