//! Runs of many ranks: hosts beside each other, and when each rank was working, phase by phase.

use super::RunView;
use crate::document::{Document, Figure, Part, Table};
use crate::{svg, units};
use fathom_record::Run;
use fathom_record::ranks::{RankTimes, Summary, by_host, summary};

/// Hosts in one table; of more, those that were done last.
const MOST_HOSTS: usize = 64;

pub(super) fn write(out: &mut Document, views: &[RunView<'_>]) {
    for view in views {
        let pictures = svg::ranks(view.run);
        if pictures.is_empty() {
            continue;
        }
        let of = |what: &str| match views.len() {
            1 => what.to_owned(),
            _ => format!("{what}: {}", view.story.title),
        };
        let tables = hosts(view.run);
        if !tables.is_empty() {
            out.heading(2, of("Hosts beside each other"));
            tables.into_iter().for_each(|table| out.table(table));
        }
        out.heading(2, of("Ranks x time"));
        for picture in pictures {
            let caption = format!(
                "{}. One line per rank. The pale part is wear-out; another colour marks a rank that did not finish.",
                picture.description
            );
            let figure = Figure { is_wide: true, ..Figure::new(picture, caption) };
            out.parts.push(Part::Picture(Box::new(figure)));
        }
    }
}

/// A table for every phase that several hosts worked in.
fn hosts(run: &Run) -> Vec<Table> {
    let phases = run.environment.pointer("/ranks/phases").and_then(serde_json::Value::as_array);
    phases.into_iter().flatten().filter_map(of_phase).collect()
}

fn of_phase(phase: &serde_json::Value) -> Option<Table> {
    let name = phase.get("name")?.as_str()?;
    let ranks: Vec<RankTimes> = serde_json::from_value(phase.get("ranks")?.clone()).ok()?;
    let mut hosts = by_host(&ranks);
    if hosts.len() < 2 {
        return None;
    }
    let all = hosts.len();
    let mut caption = format!("Hosts in {name}");
    if all > MOST_HOSTS {
        hosts.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.last_done_ns));
        hosts.truncate(MOST_HOSTS);
        caption = format!("{caption}: the {MOST_HOSTS} of {all} that were done last");
    }
    let whole = summary(&ranks);
    let heads = ["Host", "Ranks", "Rate", "Operations", "First done", "Last done", "Slow ranks"];
    let mut table = Table::new(caption, &heads);
    for (host, sum) in &hosts {
        table.figures(host.as_str(), cells(sum, &whole, host));
    }
    Some(table)
}

fn cells(sum: &Summary, whole: &Summary, host: &str) -> [String; 6] {
    let slow: Vec<&RankTimes> = whole.stragglers.iter().filter(|r| r.host == host).collect();
    [
        sum.ranks.to_string(),
        sum.bytes_per_s.map_or("–".into(), units::rate),
        sum.ops_per_s.map_or("–".into(), units::ops_rate),
        units::time_ns(sum.first_done_ns as f64),
        units::time_ns(sum.last_done_ns as f64),
        named(&slow),
    ]
}

/// "2, 3: stood still for 5.0 s. The control group ..."
fn named(slow: &[&RankTimes]) -> String {
    const MOST: usize = 8;
    if slow.is_empty() {
        return "none".into();
    }
    let mut text: Vec<String> = slow.iter().take(MOST).map(|r| r.rank.to_string()).collect();
    if slow.len() > MOST {
        text.push(format!("{} more", slow.len() - MOST));
    }
    let mut text = text.join(", ");
    let still = slow.iter().filter_map(|r| r.stood_still_ns).max();
    let still = still.map(|ns| format!("stood still for {}", units::time_ns(ns as f64)));
    let causes: Vec<String> = still.into_iter().chain(slow.iter().find_map(|r| r.cause.clone())).collect();
    if !causes.is_empty() {
        text = format!("{text}: {}", causes.join("; "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn hosts_stand_beside_each_other_with_their_slow_ranks_and_names_stay_text() {
        let times = |rank: u32, host: &str, done: u64, still: Option<u64>| {
            json!({ "rank": rank, "host": host, "first_ns": 0, "done_ns": done, "ops": 10, "bytes": 1_048_576,
                    "partial": false, "stood_still_ns": still })
        };
        let second = 1_000_000_000;
        let ranks = [
            times(0, "a", second, None),
            times(1, "a", second, None),
            times(2, "<b>", 6 * second, Some(5 * second)),
        ];
        let phase = json!({ "name": "write", "phase": 0, "repetition": 0, "ranks": ranks });
        let mut run = Run { environment: json!({ "ranks": { "phases": [phase] } }), ..Run::default() };
        let tables = hosts(&run);
        let words = |row: usize, column: usize| tables[0].rows[row][column].text.as_str();
        assert_eq!((tables[0].rows.len(), words(0, 0), words(1, 0)), (2, "a", "<b>"));
        assert_eq!(words(0, 6), "none");
        assert!(words(1, 6).starts_with("2: stood still for 5"), "{}", words(1, 6));
        run.environment =
            json!({ "ranks": { "phases": [{ "name": "one", "ranks": [times(0, "a", 1, None)] }] } });
        assert!(hosts(&run).is_empty(), "one host has none beside it");
    }
}
