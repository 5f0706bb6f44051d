//! Other users of the device during the measurement: programs, by the bytes of their requests, and the kernel's write-back of their data.

use super::facts::{Facts, size};
use super::{EVENTS, evidence, finding};
use crate::foreign::{self, Foreign};
use crate::words::percent;
use fathom_record::Finding;
use fathom_record::block::{DeviceActivity, Issuer, IssuerKind, RequestClass};
use serde_json::Value;

/// Minimum share of the bytes.
const NOTABLE: f64 = 0.05;
/// The same for a lower device, which normally has other users.
const NOTABLE_BELOW: f64 = 0.25;
const MOST_NAMES: usize = 3;
/// Minimum share of the others' bytes for a program that is named: a request counts for the program that ran when it left the queue, and that
/// may be a bystander.
const NAMED: f64 = 0.02;

/// A device that others used, the bytes of their requests and of all, and the programs' names.
pub(super) struct Shared<'a> {
    pub device: &'a DeviceActivity,
    pub theirs: u64,
    pub all: u64,
    names: Vec<String>,
}

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let Shared { device, theirs, all, names } = shared(facts)?;
    Some(finding(
        format!(
            "{} of what {} moved ({} of {}) belonged to other programs: {}.",
            percent(theirs as f64 / all as f64),
            device.name,
            size(theirs as f64),
            size(all as f64),
            names.join(", "),
        ),
        "Measure when they are quiet, or keep in mind that they used part of the device.",
        vec![
            evidence("bytes moved by the device", all as f64, "bytes", EVENTS),
            evidence("bytes of other programs", theirs as f64, "bytes", "block events and counters"),
        ],
    ))
}

/// The file system's device if others used it notably, or else such a device below it.
pub(super) fn shared<'a>(facts: &Facts<'a>) -> Option<Shared<'a>> {
    let block = facts.block()?;
    let top =
        facts.device().and_then(|device| of_device(device, foreign::of(facts.repetition).as_ref(), NOTABLE));
    top.or_else(|| {
        if !reached_the_device(facts) || hides_devices(facts) {
            return None;
        }
        let below = block.devices.iter().filter(|d| d.level > 0);
        { below }.find_map(|device| of_device(device, None, NOTABLE_BELOW))
    })
}

/// Whether the file system's device got a request of a kind that the phase causes, and not from another program. Otherwise memory
/// served the phase, and traffic at a lower device cannot have slowed it down.
fn reached_the_device(facts: &Facts<'_>) -> bool {
    let Some(top) = facts.device() else { return true };
    let theirs = |of: fn(&Issuer) -> u64| {
        top.issuers.iter().filter(|i| i.kind == IssuerKind::Other).map(of).sum::<u64>()
    };
    let some = |class, theirs| top.class(class).is_some_and(|c| c.issued > theirs);
    let (reads, writes) = (facts.phase.reads, facts.phase.writes);
    let read = || some(RequestClass::Read, theirs(|i| i.reads));
    let written = || some(RequestClass::Write, theirs(|i| i.writes)) || some(RequestClass::Flush, 0);
    !(reads || writes) || reads && read() || writes && written()
}

/// Whether a loop device's file is on no device that is visible, as on FUSE: the program that serves it may use the devices below.
fn hides_devices(facts: &Facts<'_>) -> bool {
    let devices = facts.environment.get("devices").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let text = |device: &Value, key| device.get(key).and_then(Value::as_str).map(str::to_owned);
    let has_below = |name: &Option<String>| devices.iter().any(|d| text(d, "above") == *name);
    devices
        .iter()
        .filter(|d| text(d, "kind").as_deref() == Some("loop"))
        .map(|d| text(d, "name"))
        .any(|name| !has_below(&name))
}

fn of_device<'a>(device: &'a DeviceActivity, counted: Option<&Foreign>, notable: f64) -> Option<Shared<'a>> {
    let seen: u64 = device.issuers.iter().map(bytes).sum();
    let mut others: Vec<&Issuer> = device.issuers.iter().filter(|i| i.kind == IssuerKind::Other).collect();
    let issued: u64 = others.iter().map(|i| bytes(i)).sum();
    // Write-back of others' data carries no program's name. If there are counters, too, use their figures so that all parts of a report
    // agree.
    let (theirs, all) = counted.map_or((issued, seen), |f| (f.bytes(), f.device_bytes));
    if theirs < foreign::LEAST_BYTES || (theirs as f64) < notable * all as f64 {
        return None;
    }
    others.sort_by_key(|i| std::cmp::Reverse(bytes(i)));
    let has_part = |i: &&&Issuer| bytes(i) > 0 && bytes(i) as f64 >= NAMED * theirs as f64;
    let mut names: Vec<String> = others.iter().filter(has_part).take(MOST_NAMES).map(|i| named(i)).collect();
    if theirs.saturating_sub(issued) >= foreign::LEAST_BYTES {
        names.push(format!("data that the kernel wrote back for them ({})", size((theirs - issued) as f64)));
    }
    if names.is_empty() {
        // Many programs with little each.
        names.extend(others.first().map(|most| named(most)));
    }
    Some(Shared { device, theirs, all, names })
}

/// "fio (1.6 GiB written)".
fn named(issuer: &Issuer) -> String {
    let moved = [(issuer.read_bytes, "read"), (issuer.write_bytes, "written")];
    let moved = moved.into_iter().filter(|(bytes, _)| *bytes > 0);
    let moved: Vec<String> = moved.map(|(bytes, how)| format!("{} {how}", size(bytes as f64))).collect();
    format!("{} ({})", issuer.name, moved.join(", "))
}

fn bytes(issuer: &Issuer) -> u64 {
    issuer.read_bytes + issuer.write_bytes
}
