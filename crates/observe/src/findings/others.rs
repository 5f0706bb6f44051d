//! Who else used the device while we measured: other programs, by the bytes they were issued for.

use super::facts::{Facts, size};
use super::{EVENTS, evidence, finding};
use crate::foreign;
use crate::words::percent;
use fathom_record::Finding;
use fathom_record::block::{Issuer, IssuerKind};

/// Share of the bytes.
const NOTABLE: f64 = 0.05;
const MOST_NAMES: usize = 3;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let device = facts.device()?;
    let bytes = |i: &Issuer| i.read_bytes + i.write_bytes;
    let all: u64 = device.issuers.iter().map(bytes).sum();
    let mut others: Vec<&Issuer> = device.issuers.iter().filter(|i| i.kind == IssuerKind::Other).collect();
    let theirs: u64 = others.iter().map(|i| bytes(i)).sum();
    if theirs < foreign::LEAST_BYTES || (theirs as f64) < NOTABLE * all as f64 {
        return None;
    }
    others.sort_by_key(|i| std::cmp::Reverse(bytes(i)));
    let names: Vec<&str> = others.iter().take(MOST_NAMES).map(|i| i.name.as_str()).collect();
    Some(finding(
        format!(
            "{} of what {} moved ({} of {}) belonged to other programs: {}.",
            percent(theirs as f64 / all as f64),
            device.name,
            size(theirs as f64),
            size(all as f64),
            names.join(", "),
        ),
        "Measure when they are quiet, or keep in mind that they took part of the device.",
        vec![
            evidence("bytes moved by the device", all as f64, "bytes", EVENTS),
            evidence("bytes issued by other programs", theirs as f64, "bytes", EVENTS),
        ],
    ))
}
