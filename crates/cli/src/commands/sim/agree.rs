//! `fathom sim agree`: would our schedulers have chosen the same requests as the kernel of a trace? Reads the trace
//! twice (for its contents, then step by step), prints the table, and checks the required share.

use super::super::trace::input::{self, Input};
use super::line::Agree;
use super::machine::limits_by_name;
use super::traced;
use crate::console;
use crate::exit::{self, Usage};
use fathom_dialects::trace::About;
use fathom_iopath::{AnyElevator, elevator};
use fathom_sim::agree::{Agreed, Follower, FollowerSetup, Look, Traced};
use serde::Serialize;
use std::process::ExitCode;

/// The schedulers of current kernels, one of which made the trace.
const TODAY: [&str; 4] = ["none", "mq-deadline", "kyber", "bfq-lite"];
/// Name and version of the JSON format.
const SCHEMA: &str = "fathom-sim-agree/1";

/// Output of `--json`.
#[derive(Serialize)]
struct AgreeJson<'t> {
    schema: &'static str,
    file: &'t str,
    format: &'static str,
    machine: &'t str,
    device: String,
    limits: &'t str,
    at_least_percent: Option<f64>,
    /// Whether all schedulers reached the required share; null if none was required.
    holds: Option<bool>,
    #[serde(flatten)]
    agreed: &'t Agreed,
}

pub fn run(o: &Agree) -> anyhow::Result<ExitCode> {
    if o.source.files.iter().any(|f| f.as_os_str() == "-") {
        return Err(
            Usage("the trace is read twice, so it cannot come from stdin; save it in a file".into()).into()
        );
    }
    let names: Vec<String> =
        if o.scheduler.is_empty() { TODAY.map(str::to_owned).to_vec() } else { o.scheduler.clone() };
    let schedulers = names
        .into_iter()
        .map(|name| elevator::by_name(&name).map(|made| (name, made)))
        .collect::<Result<Vec<(String, AnyElevator)>, _>>()
        .map_err(|e| Usage(e.to_string()))?;
    let limits = limits_by_name(&o.limits)?;
    let input = traced::one(&o.source)?;
    let device = look(o, &input)?;
    let places = o.places.unwrap_or(device.most_in_device);
    let setup = FollowerSetup { traced: device, schedulers, limits, places, most_misses: o.show };
    let (agreed, about) = follow(&input, Follower::new(setup), places)?;
    let holds = o.at_least.map(|percent| agreed.rows.iter().all(|row| row.holds(percent)));
    let called = traced::called(&about, device.number);
    if o.json {
        let document = AgreeJson {
            schema: SCHEMA,
            file: &input.name,
            format: about.format.word(),
            machine: &about.header.machine,
            device: called,
            limits: &o.limits,
            at_least_percent: o.at_least,
            holds,
            agreed: &agreed,
        };
        console::out_raw(&(serde_json::to_string_pretty(&document)? + "\n"));
    } else {
        console::out(&page(&input.name, &called, &about, &agreed));
    }
    for note in &about.notes {
        console::note(note);
    }
    Ok(ExitCode::from(if holds == Some(false) { exit::CHECK } else { exit::DONE }))
}

/// First pass: selects the device.
fn look(o: &Agree, input: &Input) -> anyhow::Result<Traced> {
    let mut look = Look::default();
    let mut trace = input.open()?;
    for event in trace.by_ref() {
        look.event(&event.map_err(input::wrong)?);
    }
    let about = trace.about();
    let found = match &o.traced {
        None => look.busiest(),
        Some(wanted) => {
            let all: Vec<_> = look.devices().iter().map(|d| d.number).collect();
            let number = traced::number_of(&about, wanted, &all, &input.name)?;
            look.devices().iter().find(|d| d.number == number).copied()
        }
    };
    let Some(device) = found else {
        return Err(Usage(format!("{}: no event of a device is in the trace", input.name)).into());
    };
    match device.missing() {
        None => Ok(device),
        Some(why) => {
            let called = traced::called(&about, device.number);
            let how = "`fathom trace record --full DEVICE -- COMMAND` records what is needed";
            Err(Usage(format!("{}: choices on {called} cannot be followed: {why}; {how}", input.name)).into())
        }
    }
}

/// Second pass.
fn follow(input: &Input, mut follower: Follower, places: u32) -> anyhow::Result<(Agreed, About)> {
    let mut trace = input.open()?;
    for event in trace.by_ref() {
        follower.event(&event.map_err(input::wrong)?);
    }
    Ok((follower.finish(places), trace.about()))
}

fn page(file: &str, called: &str, about: &About, agreed: &Agreed) -> String {
    let mut text = format!(
        "{file}: {called}, {} events, at most {} requests in the device",
        agreed.events, agreed.places
    );
    if !about.header.machine.is_empty() {
        text += &format!("\nrecorded on {}", about.header.machine);
    }
    if about.lost > 0 {
        text += &format!(
            "\n! the recorder lost {} events: what follows them may differ for that reason alone",
            about.lost
        );
    }
    format!("{text}\n\n{agreed}")
}
