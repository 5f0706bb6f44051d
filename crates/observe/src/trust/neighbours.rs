//! I/O of other programs at the same device during a phase.

use super::{PhaseResult, summary};
use crate::foreign;
use crate::words::percent;
use fathom_record::origin::bytes_words;
use fathom_record::{Run, Trust, Verdict};

pub(super) fn check(run: &Run) -> Trust {
    let found = foreign::by_phase(run).into_iter().map(|(phase, worst)| {
        let (verdict, weight, words) = match worst {
            Some(f) => {
                let moved = f.bytes();
                let verdict = if f.matters() { Verdict::Doubtful } else { Verdict::Good };
                // A large share of a few metadata blocks would look like much.
                let share = if moved < foreign::LEAST_BYTES && moved > 0 {
                    "too little to matter".into()
                } else {
                    percent(f.share())
                };
                let device = phase.repetitions.iter().find_map(|r| r.physical.devices.first());
                let words = format!(
                    "others moved {} of {}'s {} ({share})",
                    bytes_words(moved),
                    device.map_or("the device", |d| d.name.as_str()),
                    bytes_words(f.device_bytes)
                );
                // As in the doubt, the share decides which is worst; below the threshold the share is noise, so bytes decide.
                let weight = if f.matters() { f.share() } else { moved as f64 };
                (verdict, weight, words)
            }
            None if phase.repetitions.iter().all(|r| r.physical.is_memory() || r.physical.no_io()) => {
                (Verdict::Good, 0.0, "there is no device to share".into())
            }
            None if phase.repetitions.iter().any(|r| r.physical.is_passthrough()) => (
                Verdict::Unknown,
                0.0,
                "ours were NVMe commands past the block layer; what others did was not kept".into(),
            ),
            None => (Verdict::Unknown, 0.0, "no counters of the device".into()),
        };
        PhaseResult { phase, verdict, weight, words }
    });
    summary(run, "neighbours", found.collect(), (Verdict::Unknown, "nothing was measured"))
}
