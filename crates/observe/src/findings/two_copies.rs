//! btrfs that keeps each block of data twice on one device.

use super::facts::{Facts, size, times};
use super::{CALLS, EVENTS, evidence, finding};
use fathom_record::block::RequestClass;
use fathom_record::{Finding, OpKind};

/// Bytes written to the device per byte written by calls. The last data may be written later.
const NOTABLE: f64 = 1.6;
const ENOUGH_BYTES: u64 = 1 << 20;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let profile = facts.environment.pointer("/filesystem/data_profile")?.as_str()?;
    let (_, asked) = facts.calls(OpKind::Write);
    let written = facts.class_at_least(RequestClass::Write)?.issued_bytes;
    let ratio = written as f64 / asked.max(1) as f64;
    if profile != "dup" || asked < ENOUGH_BYTES || ratio < NOTABLE {
        return None;
    }
    Some(finding(
        format!(
            "btrfs keeps two copies of all data on the device (profile DUP): {}{} were written for {} ({}).",
            facts.at_least(),
            size(written as f64),
            size(asked as f64),
            times(ratio)
        ),
        "The second copy protects against bad sectors only. `btrfs balance start -dconvert=single PATH` removes it.",
        vec![
            evidence("written by calls", asked as f64, "bytes", CALLS),
            evidence("written to the device", written as f64, "bytes", EVENTS),
        ],
    ))
}
