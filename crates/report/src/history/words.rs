//! The sentences of a history. A change has its ratio, interval, p and the runs on both sides; if none was found, the sentence
//! says how large or how recent an undetected one may be; and a history that is too short says how many runs it needs.

use super::{Change, HistoryOptions, Input, Series};
use crate::compared::{RunInfo, Word, spelled};
use crate::printable::clean;
use crate::units::counted;
use fathom_compare::wording::{CHANGE_IN_DOUBT, HISTORY_DRIFTS, p_value};
use fathom_record::imported::units;

/// In simulation, a step of three times the scatter of single runs is detected after four new points in 95 of 100 histories.
const SEEN: f64 = 3.0;

/// "2026-11-21 21:05" from an RFC 3339 time; empty if there is none.
pub(crate) fn moment(started_at: &str) -> String {
    started_at.get(..16).unwrap_or(started_at).replace('T', " ")
}

/// "20261121T210531-1a2b3c (2026-11-21 21:05, nightly)".
pub(crate) fn run(info: &RunInfo) -> String {
    let beside: Vec<String> =
        [moment(&info.started_at), clean(&info.label)].into_iter().filter(|w| !w.is_empty()).collect();
    if beside.is_empty() { info.id.clone() } else { format!("{} ({})", info.id, beside.join(", ")) }
}

/// "1.2 %"; a dash for too few runs.
pub(crate) fn noise_words(noise: Option<f64>) -> String {
    noise.map_or("-".into(), percent)
}

pub(super) fn is_of_speed(unit: &str) -> bool {
    [units::BYTES_PER_S, units::OPS_PER_S, units::NS].contains(&unit)
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share.abs() * 100.0)
}

/// "1 %", "0.5 %".
pub(super) fn threshold(share: f64) -> String {
    format!("{} %", (share * 1e6).round() / 1e4)
}

/// "Slower by 3.4 % from RUN on: ratio ..., interval; runs; p."; "Perhaps slower" if doubtful.
pub(super) fn change(change: &Change, unit: &str, before: usize, after: usize) -> String {
    let word = match (change.verdict, is_of_speed(unit)) {
        (Word::Better, true) => "Faster",
        (Word::Better, false) => "Better",
        (Word::Worse, true) => "Slower",
        (Word::Worse, false) => "Worse",
        _ if change.ratio > 1.0 => "Higher",
        _ => "Lower",
    };
    let (word, doubt) = match change.doubtful {
        true => (format!("Perhaps {}", word.to_lowercase()), format!(" {CHANGE_IN_DOUBT}")),
        false => (word.to_owned(), String::new()),
    };
    format!(
        "{word} by {} from {} on (ratio {:.4}, {:.1} % interval {:.4} to {:.4}; {} before and {after} after; {} by {} permutations).{doubt}",
        percent(change.ratio - 1.0),
        run(&change.first_new_run),
        change.ratio,
        change.confidence * 100.0,
        change.low,
        change.high,
        counted(before, "run"),
        p_value(change.p),
        change.permutations,
    )
}

/// Summary of a figure.
pub(super) fn sentence(series: &Series, asked: &HistoryOptions) -> String {
    let n = series.points.len();
    let drifts = if series.drifts { format!(" {HISTORY_DRIFTS}") } else { String::new() };
    if n == 0 {
        return "No run has a value that a ratio can be taken of.".into();
    }
    if let Some(needed) = series.needed {
        let (has, are) = (counted(n, "run"), if n == 1 { "is" } else { "are" });
        return format!(
            "{has} {are} too few: a change can be shown from {needed} runs on (segments of {} or more, level {}).",
            asked.search.min_segment,
            threshold(asked.search.alpha)
        );
    }
    let Some(last) = series.segments.last() else { return String::new() };
    let level = spelled(last.median, &series.unit);
    if let Some(change) = series.changes.last() {
        let times = counted(series.changes.len(), "change");
        let doubtful = match series.changes.iter().filter(|c| c.doubtful).count() {
            0 => String::new(),
            n => format!(" ({n} in doubt)"),
        };
        return format!(
            "{times}{doubtful} in {}; the level is {level} since {}.{drifts}",
            counted(n, "run"),
            run(&change.first_new_run)
        );
    }
    // In a short history even a clean step needs more new runs than the minimum length of a level.
    let recent = asked.search.fewest_new(n).unwrap_or(n / 2).saturating_sub(1);
    let small = last.noise.map_or(asked.threshold, |n| (SEEN * n).max(asked.threshold));
    format!(
        "No change found in {}; the level is {level}, and single runs scatter by {}. A step of less than about {}, or one in the last {}, may be missed.{drifts}",
        counted(n, "run"),
        noise_words(last.noise),
        percent(small),
        counted(recent, "run"),
    )
}

/// Notices about the whole history.
pub(super) fn notices(input: &Input, series: &[Series]) -> Vec<String> {
    let mut all = Vec::new();
    let left_out: usize = input.left_out.iter().map(|l| l.1).sum();
    if left_out > 0 {
        let each: Vec<String> = input.left_out.iter().map(|(status, n)| format!("{n} {status}")).collect();
        all.push(format!("{} left out: {}.", counted(left_out, "run"), each.join(", ")));
    }
    if input.without_time > 0 {
        all.push(format!("{} left out: their texts give no time.", counted(input.without_time, "run")));
    }
    let searched = series.iter().filter(|s| s.needed.is_none()).count();
    if searched > 5 {
        all.push(format!(
            "{searched} figures were searched, each at a level of 1 %: about {:.2} false changes are to be expected by chance alone.",
            searched as f64 * 0.01
        ));
    }
    if series.iter().any(|s| !s.changes.is_empty()) {
        all.push(
            "The interval of a change is taken after its place was chosen by the same figures: it is a little too narrow. A step is \
             located to a run or so."
                .into(),
        );
    }
    if !input.runs.is_empty() && input.runs.iter().all(|r| r.source.is_some()) {
        all.push("Imported runs: of their environment, only what the imported text says is known.".into());
    }
    for s in series {
        if s.without_ratio > 0 {
            all.push(format!(
                "{}: {} left out: a value that is zero, negative or not a number has no ratio.",
                s.title(),
                counted(s.without_ratio, "run")
            ));
        }
        if s.too_few_operations > 0 {
            all.push(format!(
                "{}: {} left out, in which the percentile stands on fewer than ten operations beyond it.",
                s.title(),
                counted(s.too_few_operations, "run")
            ));
        }
    }
    all
}
