//! Memory or device, for every format: the statement of a phase, and its bytes by source and destination. The figures are the
//! record's; nothing is judged here.

use crate::{block::rounded_bytes, printable::clean, units};
use fathom_record::{CacheTruth, Cold, Phase, ReadTruth, WriteTruth};

/// The split of one repetition: the last that was served as most were.
#[must_use]
pub fn of_phase(phase: &Phase) -> Option<&CacheTruth> {
    let typical = phase.typical().and_then(|r| r.truth.as_ref());
    typical.or_else(|| phase.repetitions.iter().rev().find_map(|r| r.truth.as_ref()))
}

/// The statement, if there is one.
#[must_use]
pub fn statement(phase: &Phase) -> Option<String> {
    let statement = of_phase(phase).map(|t| clean(&t.statement)).filter(|s| !s.is_empty())?;
    let differ = phase.served_differently().map(|by| format!(" Repetitions differ: {by}."));
    Some(statement + &differ.unwrap_or_default())
}

/// What was done to make the files cold, if requested.
#[must_use]
pub fn cold(phase: &Phase) -> Option<&Cold> {
    phase.repetitions.iter().rev().find_map(|r| r.cold.as_ref())
}

/// (what, bytes, share of the requested bytes) of every non-zero part, the requested bytes first.
#[must_use]
pub fn parts(truth: &CacheTruth) -> Vec<[String; 3]> {
    truth.read.iter().flat_map(of_read).chain(truth.written.iter().flat_map(of_written)).collect()
}

fn of_read(r: &ReadTruth) -> Vec<[String; 3]> {
    let parts = [
        ("read: requested", r.asked_bytes),
        ("from the device", r.device_bytes),
        ("from memory", r.cache_bytes),
        ("holes", r.hole_bytes),
        ("moved beyond that (read-ahead, metadata)", r.excess_bytes),
    ];
    rows(&parts, r.asked_bytes)
}

fn of_written(w: &WriteTruth) -> Vec<[String; 3]> {
    let parts = [
        ("written: requested", w.asked_bytes),
        ("on the device when the clock stopped", w.in_clock_bytes),
        ("followed later", w.later_bytes),
        ("in memory only at the end", w.dirty_bytes.unwrap_or(0)),
        (if w.dirty_bytes.is_some() { "never reached a device" } else { "unaccounted for" }, w.lost_bytes),
        ("written beyond that (journal, metadata, others)", w.excess_bytes),
    ];
    rows(&parts, w.asked_bytes)
}

fn rows(parts: &[(&str, u64)], asked: u64) -> Vec<[String; 3]> {
    let share = |bytes: u64| {
        if asked == 0 { "–".to_string() } else { units::percent(bytes as f64 / asked as f64) }
    };
    let shown = parts.iter().filter(|(_, bytes)| *bytes > 0);
    shown.map(|&(what, bytes)| [what.to_string(), rounded_bytes(bytes as f64), share(bytes)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn repetitions_that_were_served_differently_are_told() {
        let mut phase = samples::observed_run().phases.remove(1);
        let mut other = phase.repetitions[0].clone();
        let device = &mut other.physical.devices[0];
        (device.read_bytes, device.write_bytes) = (0, 0);
        other.physical.written_in_clock_bytes = Some(0);
        phase.repetitions.insert(0, other);
        let words = statement(&phase).expect("reported");
        assert!(words.contains(". Repetitions differ: 1 of 2 page cache, 1 of 2 "), "{words}");
    }

    #[test]
    fn bytes_by_where_they_went() {
        let run = samples::observed_run();
        let truth = of_phase(&run.phases[1]).expect("reported");
        let parts = parts(truth);
        assert_eq!(parts[1], ["on the device when the clock stopped", "134 MiB", "21 %"]);
        assert!(parts.iter().all(|p| p[0] != "never reached a device"), "{parts:?}");
        assert!(statement(&run.phases[1]).is_some_and(|s| s.starts_with("This number is partly")));
        assert_eq!(statement(&samples::survey_run().phases[0]), None);
    }
}
