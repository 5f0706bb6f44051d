//! O_DIRECT reads of files that are dirty in the page cache: what is dirty is written back first.

use super::facts::{Facts, size};
use super::{EVENTS, evidence, finding};
use fathom_record::block::{Issuer, IssuerKind};
use fathom_record::{Finding, OpKind};

/// Minimum number of bytes written by the workers' calls, per byte read.
const NOTABLE: f64 = 0.2;
const LEAST_BYTES: u64 = 1 << 20;

pub(super) fn find(facts: &Facts<'_>) -> Option<Finding> {
    let device = facts.device()?;
    let own = || device.issuers.iter().filter(|i| i.kind == IssuerKind::Own);
    let sum = |of: fn(&Issuer) -> u64| own().map(of).sum::<u64>();
    let (read, written) = (facts.calls(OpKind::Read).1, sum(|i| i.write_bytes));
    let only_reads = facts.phase.reads && !facts.phase.writes && facts.phase.direct;
    if !only_reads || written < LEAST_BYTES || (written as f64) < NOTABLE * read as f64 {
        return None;
    }
    Some(finding(
        format!(
            "The phase only reads, with O_DIRECT, yet its calls wrote {} ({} requests) for {} that they read: parts of the files were dirty in the page cache, and had to be written back first.",
            size(written as f64),
            sum(|i| i.writes),
            size(read as f64)
        ),
        "An earlier phase or another program wrote these files through the page cache. Sync them before, or let the writer use O_DIRECT, too.",
        vec![
            evidence("read by calls", read as f64, "bytes", super::CALLS),
            evidence("written by the workers", written as f64, "bytes", EVENTS),
        ],
    ))
}
