//! A file system that writes data twice: into its journal, and then where they belong.

use super::facts::{Facts, size, times};
use super::{EVENTS, evidence, finding};
use fathom_record::block::RequestClass;
use fathom_record::{Finding, OpKind};

/// Bytes the device writes for each byte of the calls: journal and data are 2, and the last data may come later.
const NOTABLE: f64 = 1.5;
const ENOUGH_BYTES: u64 = 1 << 20;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let options = facts.environment.pointer("/filesystem/options").and_then(|o| o.as_str())?;
    options.split(',').find(|o| *o == "data=journal")?;
    let (_, asked) = facts.calls(OpKind::Write);
    let written = facts.class(RequestClass::Write)?.issued_bytes;
    let ratio = written as f64 / asked.max(1) as f64;
    if asked < ENOUGH_BYTES || ratio < NOTABLE {
        return None;
    }
    Some(finding(
        format!(
            "The file system is mounted with data=journal: data are written into the journal first, and {} were written for {} ({}).",
            size(written as f64),
            size(asked as f64),
            times(ratio)
        ),
        "data=ordered, the default, writes data once.",
        vec![
            evidence("written by calls", asked as f64, "bytes", "our own calls"),
            evidence("written to the device", written as f64, "bytes", EVENTS),
        ],
    ))
}
