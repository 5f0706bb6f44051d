//! What happened to the page cache while a phase ran, in sentences, where it says more than the figures do: pages that other programs
//! brought in or took out, and pauses because much memory was dirty.

use crate::{printable::clean, units};
use fathom_record::{PageCacheEvents, PageMoves, Pauses, Phase, Remover, Repetition};

/// Fewer bytes are not worth a sentence.
const LEAST_BYTES: u64 = 1 << 20;
/// A smaller part of the writers' time is not worth a sentence.
const LEAST_PAUSED: f64 = 0.01;
/// Programs named before the rest is added up.
const MOST_NAMED: usize = 3;

/// The sentences for the phase's last repetition of which this is known.
#[must_use]
pub fn sentences(phase: &Phase) -> Vec<String> {
    let known = phase.repetitions.iter().rev().find_map(|r| Some((r, r.page_cache.as_ref()?)));
    known.map_or(Vec::new(), |(repetition, events)| of_repetition(repetition, events))
}

fn of_repetition(repetition: &Repetition, events: &PageCacheEvents) -> Vec<String> {
    let moves = events.pages.as_ref();
    let brought = moves.filter(|m| m.others_bytes >= LEAST_BYTES).map(|m| {
        format!("Other programs brought {} of the files into the page cache.", units::bytes(m.others_bytes))
    });
    let left = moves.and_then(left);
    let paused = events.pauses.as_ref().and_then(|pauses| paused(repetition, pauses));
    [brought, left, paused].into_iter().flatten().collect()
}

/// What was taken out of the page cache, and by whom.
fn left(moves: &PageMoves) -> Option<String> {
    let mut named: Vec<(String, u64)> = Vec::new();
    let mut names: Vec<&str> = moves.removers.iter().map(|r| r.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        for (bytes, verb) in [(dropped as fn(&Remover) -> u64, "dropped"), (reclaimed, "reclaimed")] {
            let all = || moves.removers.iter().filter(|r| r.name == name && bytes(r) > 0);
            let sum = all().fold(0u64, |sum, r| sum.saturating_add(bytes(r)));
            if sum >= LEAST_BYTES {
                named.push((format!("{} {verb} {}", program(name, all()), units::bytes(sum)), sum));
            }
        }
    }
    named.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let rest = named.iter().skip(MOST_NAMED).fold(0u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
    let mut words: Vec<String> = named.iter().take(MOST_NAMED).map(|(words, _)| words.clone()).collect();
    if rest > 0 {
        words.push(format!("others took {}", units::bytes(rest)));
    }
    (!words.is_empty()).then(|| format!("Of the files' pages in the page cache, {}.", words.join(", ")))
}

fn dropped(remover: &Remover) -> u64 {
    remover.dropped_bytes
}

fn reclaimed(remover: &Remover) -> u64 {
    remover.reclaimed_bytes
}

/// "dd (process 12)", "dd (5 processes)", "kswapd0".
fn program<'r>(name: &str, mut removers: impl Iterator<Item = &'r Remover>) -> String {
    let first = removers.next().map_or(0, |r| r.process);
    match (first, removers.count()) {
        (0, 0) => clean(name),
        (process, 0) => format!("{} (process {process})", clean(name)),
        (_, more) => format!("{} ({} processes)", clean(name), more + 1),
    }
}

fn paused(repetition: &Repetition, pauses: &Pauses) -> Option<String> {
    let all = repetition.elapsed_ns as f64 * repetition.writers() as f64;
    let share = pauses.total_ns as f64 / all.max(1.0);
    let total = units::time_ns(pauses.total_ns as f64);
    let times =
        if pauses.count == 1 { "once".into() } else { format!("{} times", units::count(pauses.count)) };
    (pauses.count > 0 && share >= LEAST_PAUSED).then(|| {
        format!(
            "The kernel paused the writers {times}, {total} in all ({} of their time), because much memory was dirty.",
            units::percent(share.min(1.0))
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_record::Worker;

    fn phase(events: PageCacheEvents) -> Phase {
        let repetition = Repetition {
            elapsed_ns: 4_000_000_000,
            workers: vec![Worker::default()],
            page_cache: Some(events),
            ..Repetition::default()
        };
        let mut phase = crate::samples::observed_run().phases.remove(0);
        phase.repetitions = vec![repetition, Repetition::default()];
        phase
    }

    #[test]
    fn only_what_others_did_is_said() {
        let remover = |name: &str, process, dropped_bytes, reclaimed_bytes| Remover {
            name: name.into(),
            process,
            dropped_bytes,
            reclaimed_bytes,
        };
        let mut moves =
            PageMoves { own_bytes: 1 << 30, removed_bytes: 1 << 30, uncounted: 0, ..PageMoves::default() };
        let said = |moves: &PageMoves| {
            sentences(&phase(PageCacheEvents { pages: Some(moves.clone()), ..PageCacheEvents::default() }))
        };
        assert_eq!(said(&moves), Vec::<String>::new(), "the workload deleted its file");
        moves.others_bytes = 3 << 20;
        moves.removers = vec![
            remover("dd", 12, 5 << 20, 0),
            remover("dd", 13, 1 << 19, 0),
            remover("dd", 14, 1 << 19, 0),
            remover("kswapd0", 0, 0, 9 << 20),
            remover("x\x1b[31m", 4, 2 << 20, 3 << 20),
            remover("small", 5, 1000, 1000),
        ];
        assert_eq!(
            said(&moves),
            [
                "Other programs brought 3 MiB of the files into the page cache.",
                "Of the files' pages in the page cache, kswapd0 reclaimed 9 MiB, dd (3 processes) dropped 6 MiB, x�[31m (process 4) reclaimed 3 MiB, others took 2 MiB.",
            ]
        );
    }

    #[test]
    fn pauses_are_part_of_the_writers_time() {
        let said = |count, total_ns| {
            let pauses = Some(Pauses { count, total_ns });
            sentences(&phase(PageCacheEvents { pauses, ..Default::default() }))
        };
        assert_eq!(
            said(39, 2_000_000_000),
            [
                "The kernel paused the writers 39 times, 2.00 s in all (50 % of their time), because much memory was dirty."
            ]
        );
        assert_eq!(said(1, 39_000_000), Vec::<String>::new());
        assert!(said(1, 40_000_000)[0].contains("paused the writers once, 40.0 ms in all (1.0 %"));
    }
}
