//! Settings of vm that write dirty pages back almost at once, so that writers share the device with them.

use super::facts::{Facts, size};
use super::{EVENTS, evidence, finding};
use crate::words::count;
use fathom_record::block::IssuerKind;
use fathom_record::{Finding, OpKind};
use serde_json::Value;

/// From this age on pages may stay long enough for most programs. The kernel's default is 30 s.
const SOON_CENTISECS: f64 = 100.0;
const DEFAULT_CENTISECS: u32 = 3000;
const ENOUGH_BYTES: u64 = 1 << 20;
/// Minimum share of the written bytes that the kernel wrote back during the phase.
const NOTABLE: f64 = 0.3;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let setting = |name: &str| facts.environment.pointer(&format!("/vm/{name}")).and_then(Value::as_f64);
    let age = setting("dirty_expire_centisecs")?;
    // 0 turns the periodic write-back off.
    let period = setting("dirty_writeback_centisecs").filter(|period| *period > 0.0)?;
    let device = facts.device_at_least()?;
    let (_, written) = facts.calls(OpKind::Write);
    let flushers = || device.issuers.iter().filter(|i| i.kind == IssuerKind::Writeback);
    let (stored, requests) = flushers().fold((0, 0), |sum, i| (sum.0 + i.write_bytes, sum.1 + i.writes));
    let waits_anyway = facts.phase.direct || facts.syncs_often();
    // With more dirty pages the kernel writes back under its default settings, too.
    let dirty = written.min(facts.files_bytes().unwrap_or(u64::MAX));
    if waits_anyway
        || age.max(period) > SOON_CENTISECS
        || dirty as f64 >= background_bytes(facts)?
        || stored < ENOUGH_BYTES
        || (stored as f64) < NOTABLE * written as f64
        || !facts.requests_are_ours()
    {
        return None;
    }
    Some(finding(
        format!(
            "The kernel writes a file's dirty pages back once the oldest is {:.2} s old (vm.dirty_expire_centisecs is {age:.0}; the default is {DEFAULT_CENTISECS}), and checks every {:.2} s. It wrote {}{} in {} while calls wrote {}.",
            age / 100.0,
            period / 100.0,
            facts.at_least(),
            size(stored as f64),
            count(requests, "request"),
            size(written as f64)
        ),
        "sysctl vm.dirty_expire_centisecs=3000 vm.dirty_writeback_centisecs=500 sets the kernel's defaults again; data that no program syncs then stays in memory for up to 35 s.",
        vec![
            evidence("vm.dirty_expire_centisecs", age, "", "/proc/sys/vm"),
            evidence("vm.dirty_writeback_centisecs", period, "", "/proc/sys/vm"),
            evidence("written back meanwhile", stored as f64, "bytes", EVENTS),
            evidence("written by calls", written as f64, "bytes", super::CALLS),
        ],
    ))
}

/// Dirty bytes from which the kernel writes back whatever their age.
fn background_bytes(facts: &Facts<'_>) -> Option<f64> {
    let number = |place: &str| facts.environment.pointer(place).and_then(Value::as_f64);
    let bytes = number("/vm/dirty_background_bytes").filter(|bytes| *bytes > 0.0);
    let ratio = || Some(number("/vm/dirty_background_ratio")? / 100.0 * number("/memory/available_bytes")?);
    bytes.or_else(ratio)
}
