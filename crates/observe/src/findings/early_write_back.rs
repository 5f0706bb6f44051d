//! Settings of vm that write dirty pages back almost at once, so that writers share the device with them.

use super::facts::{Facts, size};
use super::{EVENTS, evidence, finding};
use fathom_record::block::{IssuerKind, RequestClass};
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
    let stored: u64 =
        device.issuers.iter().filter(|i| i.kind == IssuerKind::Writeback).map(|i| i.write_bytes).sum();
    let requests = facts.class_at_least(RequestClass::Write)?.issued;
    let waits_anyway = facts.phase.direct || facts.syncs_often();
    if waits_anyway
        || age.max(period) > SOON_CENTISECS
        || stored < ENOUGH_BYTES
        || (stored as f64) < NOTABLE * written as f64
    {
        return None;
    }
    Some(finding(
        format!(
            "The kernel writes dirty pages back once they are {:.2} s old (vm.dirty_expire_centisecs is {age:.0}, the default is {DEFAULT_CENTISECS}), and looks every {:.2} s: it wrote {} of the {} while the workload ran, in {requests} requests.",
            age / 100.0,
            period / 100.0,
            size(stored as f64),
            size(written as f64)
        ),
        "sysctl vm.dirty_expire_centisecs=3000 vm.dirty_writeback_centisecs=500 sets the kernel's defaults again.",
        vec![
            evidence("vm.dirty_expire_centisecs", age, "", "/proc/sys/vm"),
            evidence("vm.dirty_writeback_centisecs", period, "", "/proc/sys/vm"),
            evidence("written back meanwhile", stored as f64, "bytes", EVENTS),
            evidence("written by calls", written as f64, "bytes", super::CALLS),
        ],
    ))
}
