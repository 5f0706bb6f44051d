//! A file system that writes data twice: into its journal, and then in place.

use super::facts::{Facts, size, times};
use super::{EVENTS, evidence, finding};
use fathom_record::block::RequestClass;
use fathom_record::{Finding, OpKind};

/// Device bytes per byte written by calls. Journal plus data is 2, but the last data may be written later.
const NOTABLE: f64 = 1.5;
const ENOUGH_BYTES: u64 = 1 << 20;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let (why, advice) = reason(facts)?;
    let (_, asked) = facts.calls(OpKind::Write);
    let written = facts.class_at_least(RequestClass::Write)?.issued_bytes;
    let ratio = written as f64 / asked.max(1) as f64;
    if asked < ENOUGH_BYTES || ratio < NOTABLE {
        return None;
    }
    Some(finding(
        format!(
            "{why}: data goes to the journal first, and {}{} were written for {} ({}).",
            facts.at_least(),
            size(written as f64),
            size(asked as f64),
            times(ratio)
        ),
        advice,
        vec![
            evidence("written by calls", asked as f64, "bytes", "our own calls"),
            evidence("written to the device", written as f64, "bytes", EVENTS),
        ],
    ))
}

/// Why data goes into the journal, if it does, and how to change that.
fn reason(facts: &Facts<'_>) -> Option<(&'static str, &'static str)> {
    let text = |at| facts.environment.pointer(at).and_then(|o| o.as_str());
    if text("/filesystem/options")?.split(',').any(|o| o == "data=journal") {
        let advice = "data=ordered, the default, writes data once.";
        return Some(("The file system is mounted with data=journal", advice));
    }
    let attributes = facts.attributes;
    let ext = text("/filesystem/type").is_some_and(|kind| ["ext3", "ext4"].contains(&kind));
    if !ext || attributes.files == 0 || attributes.journalled < attributes.files {
        return None;
    }
    let whose = match attributes.files {
        1 => "The file has the attribute j (chattr +j)",
        _ => "The files have the attribute j (chattr +j)",
    };
    Some((whose, "Remove it with `chattr -j`, also from the directory: new files inherit it."))
}
