//! A survey on one line, for a chat or a script.

use crate::answer::Answer;
use crate::printable::clean;
use crate::units;

/// The storage, its main figures, and what holds it back.
#[must_use]
pub fn one_line(answer: &Answer) -> String {
    let rows = answer.rows.iter().filter(|row| !row.brief.is_empty()).map(|row| {
        let p99 = row.ns[1].map_or_else(String::new, |ns| format!(" p99 {}", units::time_ns(ns)));
        format!("{} {}{p99}", row.brief, units::ops_rate(row.per_s))
    });
    let streams = answer.more.iter().filter(|(name, _)| *name == "streams").map(|(_, words)| words.clone());
    let warnings = answer.first.iter().chain(answer.limits.iter().map(|limit| &limit.words)).take(1).cloned();
    let figures: Vec<String> = rows.chain(streams).chain(warnings).collect();
    let place = answer.place.get(1).or(answer.place.first()).map_or("", String::as_str);
    clean(&format!("{place}: {}", figures.join(" | ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::AnswerRow;
    use crate::answer::Limit;

    fn answer() -> Answer {
        let row = |brief: &str, per_s: f64, p99_us: f64| AnswerRow {
            what: "something long".into(),
            brief: brief.into(),
            per_s,
            ns: [None, Some(p99_us * 1e3), None],
            served: "device",
        };
        Answer {
            place: ["/srv/data", "ext4 on vda, 252 GiB", "virtual disk"].map(String::from).to_vec(),
            first: Vec::new(),
            tiles: Vec::new(),
            rows: vec![
                row("fsync", 5913.0, 289.0),
                row("fsync x8", 21_034.0, 811.0),
                row("read", 12_895.0, 142.0),
                row("read x128", 80_334.0, 5470.0),
                row("write", 10_979.0, 212.0),
                row("", 1_240_625.0, 1.27),
            ],
            more: vec![
                ("streams", "cold read 913 MiB/s (128 MiB file), long write 3.78 GiB/s".into()),
                ("4 KiB files", "26 096/s".into()),
            ],
            uses: Vec::new(),
            doubts: vec!["steal".into()],
            limits: Vec::new(),
            remedy: None,
            passing_limits: Vec::new(),
            time: Vec::new(),
            device_known: true,
            since: None,
        }
    }

    #[test]
    fn a_survey_has_a_line() {
        insta::assert_snapshot!(one_line(&answer()));
        let held = Answer {
            limits: vec![Limit {
                name: "a limit",
                words: "Limited in 9 of 80 tests: a control group.".into(),
            }],
            ..answer()
        };
        assert!(one_line(&held).ends_with(" | Limited in 9 of 80 tests: a control group."));
    }

    #[test]
    fn unmeasured_values_are_left_out() {
        let first = vec!["The file system is in memory.".into()];
        let bare = Answer { rows: Vec::new(), more: Vec::new(), first, ..answer() };
        assert_eq!(one_line(&bare), "ext4 on vda, 252 GiB: The file system is in memory.");
    }
}
