//! Where the slowest calls waited in the kernel: in a sentence here, as folded stacks for flame graphs in `folded`, and as slices in
//! time in `perfetto`.

mod folded;
mod perfetto;

pub use folded::folded;
pub use perfetto::perfetto;

use crate::{printable::clean, units};
use fathom_record::{OpKind, Phase, Repetition, SlowCalls, WaitStack};

/// Places of a sentence.
const MOST_PLACES: usize = 3;
/// A place with less of the time is left out of a sentence.
const LEAST_SHARE: f64 = 0.01;

/// The slowest calls of a phase: those of its last repetition with any.
#[must_use]
pub fn of_phase(phase: &Phase) -> &[SlowCalls] {
    noted(phase).map_or(&[], |r: &Repetition| &r.slow_calls)
}

fn noted(phase: &Phase) -> Option<&Repetition> {
    phase.repetitions.iter().rev().find(|r| !r.slow_calls.is_empty())
}

/// What they waited for, in a sentence for each kind of call; none for calls whose waits are not known.
#[must_use]
pub fn sentences(phase: &Phase) -> Vec<String> {
    let one_of_several = noted(phase).filter(|_| phase.repetitions.len() > 1).map(|r| r.n + 1);
    of_phase(phase).iter().filter_map(|slow| sentence(slow, one_of_several)).collect()
}

fn sentence(slow: &SlowCalls, repetition: Option<u32>) -> Option<String> {
    let shares = slow.shares();
    let places: Vec<_> = shares.iter().filter(|s| s.2 >= LEAST_SHARE).take(MOST_PLACES).collect();
    let mut parts = places.iter().enumerate().map(|(n, (function, layer, share))| {
        let waiting = if n == 0 { "was spent waiting in" } else { "in" };
        format!("{} {waiting} {} ({})", units::percent(*share), clean(function), clean(layer))
    });
    let first = parts.next()?;
    let mut rest: Vec<String> = parts.collect();
    let last = rest.pop().map_or(String::new(), |last| format!(" and {last}"));
    let between: String = rest.iter().map(|part| format!(", {part}")).collect();
    let when = repetition.map_or_else(|| "Of".into(), |n| format!("In repetition {n}, of"));
    Some(format!("{when} the time of {}, {first}{between}{last}.", which(slow)))
}

/// "the slowest 74 of 7417 fsyncs (3.78 ms or more)".
#[must_use]
pub fn which(slow: &SlowCalls) -> String {
    let first = if slow.first_only { "the first " } else { "" };
    let (slowest, all) = (units::count(slow.slowest), units::count(slow.calls));
    let from = units::time_ns(slow.from_ns as f64);
    format!("the slowest {slowest} of {first}{all} {}s ({from} or more)", word(slow.op))
}

fn word(op: OpKind) -> &'static str {
    if op == OpKind::Sync { "fsync" } else { op.word() }
}

/// The file of a stack in words.
#[must_use]
pub fn file(stack: &WaitStack) -> String {
    stack.file.as_deref().map_or("(other files)".into(), clean)
}

/// Two kinds of call for the tests: fsyncs of two files, and reads without a wait.
#[cfg(test)]
pub(crate) fn sample() -> fathom_record::Run {
    use fathom_record::{Run, SlowCall, Wait};
    let stack = |file: Option<&str>, layer: &str, frames: &[&str], ns: u64| WaitStack {
        file: file.map(Into::into),
        layer: layer.into(),
        waits_in: frames.last().map_or(String::new(), |f| (*f).into()),
        frames: frames.iter().map(|f| (*f).into()).collect(),
        waits: 4,
        calls: 3,
        total_ns: ns,
        longest_ns: ns / 2,
    };
    let journal = ["do_fsync", "ext4_sync_file", "jbd2_log_wait_commit"];
    let call = |worker, start_ns, waits| SlowCall {
        worker,
        start_ns,
        latency_ns: 5_000_000,
        file: "/data/a;b".into(),
        waits,
        ..SlowCall::default()
    };
    let slow = |op, stacks, examples| SlowCalls {
        op,
        calls: 40_000,
        first_only: op == OpKind::Read,
        slowest: 400,
        from_ns: 4_000_000,
        total_ns: 2_000_000_000,
        stacks,
        examples,
    };
    let mut run: Run = crate::samples::observed_run();
    run.phases.truncate(2);
    run.phases[1].repetitions[0].slow_calls = vec![
        slow(OpKind::Read, Vec::new(), Vec::new()),
        slow(
            OpKind::Sync,
            vec![
                stack(Some("/data/a;b"), "journal", &journal, 1_400_000_000),
                stack(None, "journal", &journal, 260_000_000),
                stack(Some("/data/c"), "page cache", &["do_fsync", "folio_wait_bit"], 90_000_000),
            ],
            vec![
                call(
                    0,
                    1_000_000,
                    vec![
                        Wait { stack: 2, start_ns: 10_000, ns: 20_000 },
                        Wait { stack: 0, start_ns: 40_000, ns: 4_900_000 },
                    ],
                ),
                call(0, 3_000_000, Vec::new()),
                call(1, 3_000_000, Vec::new()),
                call(0, 6_000_000, Vec::new()),
            ],
        ),
    ];
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_has_the_places_with_most_time() {
        let run = sample();
        assert_eq!(
            sentences(&run.phases[1]),
            [
                "Of the time of the slowest 400 of 40 000 fsyncs (4.00 ms or more), 83 % was spent waiting in jbd2_log_wait_commit (journal) and 4.5 % in folio_wait_bit (page cache)."
            ]
        );
        assert!(sentences(&run.phases[0]).is_empty());
        let summary = crate::terminal::summary(&run, 100, false);
        assert!(summary.contains(": Of the time of the slowest 400 of 40 000 fsyncs"), "{summary}");
        let markdown = crate::markdown::summary(&[&run]);
        assert!(markdown.contains("(journal) and 4.5 % in folio"), "{markdown}");
        let mut several = sample().phases.remove(1);
        several.repetitions.push(Repetition { n: 1, ..Repetition::default() });
        assert!(sentences(&several)[0].starts_with("In repetition 1, of the time of the slowest 400 "));
    }
}
