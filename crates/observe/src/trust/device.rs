//! What was asked for, and what of it reached the device.

use super::{Found, told};
use crate::words::{operations, percent};
use fathom_record::origin::bytes_words;
use fathom_record::{Phase, Regime, Run, Trust, Verdict};

pub(super) fn check(run: &Run) -> Trust {
    let found = run.phases.iter().filter_map(found).collect();
    told(run, "device", found, (Verdict::Unknown, "no file data was moved"))
}

fn found(phase: &Phase) -> Option<Found<'_>> {
    let last = phase.repetitions.last().filter(|r| r.bytes() > 0)?;
    let origin = phase.origin();
    let verdict = match origin.regime {
        Regime::Device => Verdict::Good,
        Regime::PageCache | Regime::Mixed | Regime::Memory => Verdict::Doubtful,
        Regime::Unknown => Verdict::Unknown,
    };
    let device = last.physical.devices.first();
    let (words, weight) = match (origin.device_share, device) {
        (Some(share), Some(device)) if verdict != Verdict::Unknown => {
            let moved = [
                (phase.reads, device.read_bytes, device.read_ios),
                (phase.writes, device.write_bytes, device.write_ios),
            ];
            let ours = moved.iter().filter(|(does, ..)| *does);
            let (bytes, ios) =
                ours.fold((0u64, 0u64), |(b, n), m| (b.saturating_add(m.1), n.saturating_add(m.2)));
            // A write may reach it after the clock has stopped, which the share does not count.
            let timed = if phase.writes && last.physical.written_in_clock_bytes.is_some() {
                " while timed"
            } else {
                ""
            };
            let words = format!(
                "{} at {}{timed}: {} in {ios} I/Os; asked {} in {}",
                percent(share),
                device.name,
                bytes_words(bytes),
                bytes_words(last.bytes()),
                operations(last.ops())
            );
            (words, 1.0 - share)
        }
        _ if origin.regime == Regime::Memory => ("the file system lies in memory".into(), 1.0),
        _ => (format!("not known: {}", origin.evidence), 1.0),
    };
    Some(Found { phase, verdict, weight, words })
}
