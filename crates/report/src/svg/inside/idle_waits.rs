//! Idle waits of a simulated phase: the scheduler held back waiting requests because it expected a better one. Shows how long
//! these waits were, and which of them paid.

use super::super::{Picture, bars::Bars, chart::Frame};
use crate::units;
use fathom_record::course::{Habits, IdleWaits, PhaseCourse};
use fathom_record::{Histogram, Phase};

/// The picture; `None` if no device was kept idle.
pub(super) fn idle_waits(phase: &Phase, inside: &PhaseCourse) -> Option<Picture> {
    let waits = &inside.idle_waits;
    let words = idle_words(waits)?;
    let both = [&waits.paid, &waits.in_vain];
    let seen = || both.iter().flat_map(|h| h.buckets()).map(|(low, width, _)| class_of(low + width / 2));
    let (first, last) = (seen().min()?, seen().max()?);
    let count = |h: &Histogram, class: u32| {
        let mine = h.buckets().filter(|(low, width, _)| class_of(low + width / 2) == class);
        mine.map(|(.., n)| n as f64).sum::<f64>()
    };
    let classes = (first..=last)
        .map(|class| (label(class), both.iter().copied().map(|h| count(h, class)).collect()))
        .collect();
    Bars {
        slug: format!("idle waits {} {}", phase.seq, phase.name),
        title: "Waits of the idle device by length, from that on, simulated".into(),
        words,
        series: vec![("paid".into(), "fa"), ("in vain".into(), "fb")],
        classes,
        frame: Frame::of_numbers,
        value: |v| format!("{} waits", units::count(v as u64)),
    }
    .draw()
}

/// Summary of a phase's idle waits; `None` if there were none.
#[must_use]
pub fn idle_words(waits: &IdleWaits) -> Option<String> {
    let (paid, in_vain) = (waits.paid.count(), waits.in_vain.count());
    let all = paid.saturating_add(in_vain);
    if all == 0 {
        return None;
    }
    let ns = waits.paid.sum_ns().saturating_add(waits.in_vain.sum_ns()) as f64;
    let mean = |name: &str, of: &Histogram| {
        of.mean_ns()
            .map(|ns| format!("{} {name}, {} on average", units::count(of.count()), units::time_ns(ns)))
    };
    let parts: Vec<String> = [
        mean("paid (what was served next came during the wait)", &waits.paid),
        mean("in vain", &waits.in_vain),
    ]
    .into_iter()
    .flatten()
    .collect();
    Some(format!(
        "The scheduler kept the idle device waiting {} times while requests were there, {} in all: {}; {} paid.{}",
        units::count(all),
        units::time_ns(ns),
        parts.join("; "),
        units::percent(paid as f64 / all as f64),
        habits(&waits.habits)
    ))
}

/// Maximum number of processes named in the sentence.
const MOST_TOLD: usize = 4;

/// What the scheduler knew of processes at the end; empty if nothing.
fn habits(all: &[Habits]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let one = |of: &Habits| {
        let (think, apart) = (units::time_ns(of.think_ns as f64), units::count(of.seek_sectors));
        format!("{}: think time {think}, distance between requests {apart} sectors", of.task)
    };
    let shown: Vec<String> = all.iter().take(MOST_TOLD).map(one).collect();
    let more = match all.len().saturating_sub(MOST_TOLD) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!(" Its means per process at the end: {}{more}.", shown.join("; "))
}

/// Index of a value's class; classes begin at 1, 2 and 5 times a power of ten.
fn class_of(ns: u64) -> u32 {
    let power = ns.max(1).ilog10();
    let step = match ns.max(1) / 10u64.pow(power) {
        0 | 1 => 0,
        2..=4 => 1,
        _ => 2,
    };
    power * 3 + step
}

/// Lower bound of a class: "2 ms".
fn label(class: u32) -> String {
    let begin = [1, 2, 5][(class % 3) as usize] * 10u64.saturating_pow(class / 3);
    let (value, unit) = match begin {
        0..1000 => (begin, "ns"),
        1000..1_000_000 => (begin / 1000, "us"),
        1_000_000..1_000_000_000 => (begin / 1_000_000, "ms"),
        _ => (begin / 1_000_000_000, "s"),
    };
    format!("{value} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_what_their_labels_say() {
        for (ns, words) in [
            (0, "1 ns"),
            (1, "1 ns"),
            (999, "500 ns"),
            (1999, "1 us"),
            (4_999_999, "2 ms"),
            (5_000_000, "5 ms"),
            (10_000_000, "10 ms"),
            (u64::MAX, "10000000000 s"),
        ] {
            assert_eq!(label(class_of(ns)), words, "{ns}");
        }
    }

    #[test]
    fn the_sentence_says_how_often_it_paid() {
        assert_eq!(idle_words(&IdleWaits::default()), None);
        let waits = IdleWaits {
            paid: Histogram::from_values([1_000_000; 3]),
            in_vain: Histogram::from_values([6_000_000]),
            ..IdleWaits::default()
        };
        assert_eq!(
            idle_words(&waits).as_deref(),
            Some(
                "The scheduler kept the idle device waiting 4 times while requests were there, 9.00 ms in all: 3 paid (what was served \
                 next came during the wait), 1.00 ms on average; 1 in vain, 6.00 ms on average; 75 % paid."
            )
        );
        let habit =
            |n: u64| Habits { task: format!("worker {n}"), think_ns: n * 1_000_000, seek_sectors: 12_000 };
        let words = idle_words(&IdleWaits { habits: vec![habit(0)], ..waits.clone() }).unwrap();
        let end = "75 % paid. Its means per process at the end: worker 0: think time 0 ns, distance between requests 12 000 sectors.";
        assert!(words.ends_with(end), "{words}");
        let words = idle_words(&IdleWaits { habits: (0..6).map(habit).collect(), ..waits }).unwrap();
        assert!(
            words.contains("worker 3: think time 3.00 ms") && words.ends_with("sectors; and 2 more."),
            "{words}"
        );
    }
}
