//! Ranks over time: for every phase of a run of many ranks a line for each rank, from its first operation to the end of its
//! last. A straggler has a longer line; a late start begins further right.

use super::chart::{RIGHT, WIDTH};
use super::{Anchor, Picture, escape, text};
use crate::units;
use fathom_record::Run;
use fathom_record::ranks::{RankTimes, summary};
use std::fmt::Write as _;

const LEFT: f64 = 120.0;
const TOP: f64 = 40.0;
/// Height of all lines together, if there are many.
const HEIGHT: f64 = 360.0;
const HIGHEST_LINE: f64 = 16.0;

/// The pictures of all phases; empty for a run without ranks.
#[must_use]
pub fn ranks(run: &Run) -> Vec<Picture> {
    let phases = run.environment.pointer("/ranks/phases").and_then(serde_json::Value::as_array);
    phases.into_iter().flatten().filter_map(of_phase).collect()
}

fn of_phase(phase: &serde_json::Value) -> Option<Picture> {
    let name = phase.get("name")?.as_str()?;
    let ranks: Vec<RankTimes> = serde_json::from_value(phase.get("ranks")?.clone()).ok()?;
    let end = ranks.iter().map(|r| r.done_ns.max(r.wear_done_ns)).max().filter(|&end| end > 0)?;
    if ranks.len() < 2 {
        return None;
    }
    let line = (HEIGHT / ranks.len() as f64).min(HIGHEST_LINE);
    let x = |ns: u64| LEFT + (WIDTH - RIGHT - LEFT) * (ns as f64 / end as f64);
    let mut body = String::new();
    let title = format!("{name}: ranks x time");
    text(&mut body, LEFT, 20.0, Anchor::Start, "t", &title);
    let every = (12.0 / line).ceil().max(1.0) as usize;
    for (at, rank) in ranks.iter().enumerate() {
        let y = TOP + line * at as f64;
        let words = format!(
            "rank {} on {}: {} to {}",
            rank.rank,
            rank.host,
            units::time_ns(rank.first_ns as f64),
            units::time_ns(rank.done_ns as f64)
        );
        let mut bar = |class: &str, from: u64, to: u64| {
            let _ = writeln!(
                body,
                "<rect class=\"{class}\" x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\"><title>{}</title></rect>",
                x(from),
                (x(to) - x(from)).max(0.5),
                line * 0.8,
                escape(&words)
            );
        };
        bar(if rank.partial { "fb" } else { "fa" }, rank.first_ns, rank.done_ns.max(rank.first_ns));
        if rank.wear_done_ns > rank.done_ns {
            bar("within", rank.done_ns, rank.wear_done_ns);
        }
        if at % every == 0 {
            let label = format!("{} {}", rank.rank, super::shortened(&rank.host, 14));
            text(&mut body, LEFT - 6.0, y + line * 0.7, Anchor::End, "v", &label);
        }
    }
    let bottom = TOP + line * ranks.len() as f64;
    text(&mut body, LEFT, bottom + 14.0, Anchor::Start, "v", "0");
    text(&mut body, WIDTH - RIGHT, bottom + 14.0, Anchor::End, "v", &units::time_ns(end as f64));
    let sum = summary(&ranks);
    let words = format!(
        "{} ranks, the first done after {}, the last after {}, started within {}",
        sum.ranks,
        units::time_ns(sum.first_done_ns as f64),
        units::time_ns(sum.last_done_ns as f64),
        units::time_ns(sum.skew_ns as f64)
    );
    Some(Picture::new(&format!("ranks-{name}"), &title, words, WIDTH, bottom + 22.0, body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_rank_is_a_line_and_names_stay_text() {
        let times = |rank: u32, done: u64| json!({ "rank": rank, "host": "<h>", "first_ns": 10, "done_ns": done, "ops": 1, "bytes": 1 });
        let phase = json!({ "name": "write", "phase": 0, "repetition": 0, "ranks": [times(0, 1_000_000), times(1, 2_000_000)] });
        let mut run = Run { environment: json!({ "ranks": { "phases": [phase] } }), ..Run::default() };
        let pictures = ranks(&run);
        assert_eq!(pictures.len(), 1);
        let svg = pictures[0].standalone();
        assert_eq!(svg.matches("<title>rank ").count(), 2, "{svg}");
        assert!(svg.contains("&lt;h&gt;") && !svg.contains("<h>"));
        run.environment = json!({ "ranks": { "phases": "nonsense" } });
        assert!(ranks(&run).is_empty());
        assert!(ranks(&Run::default()).is_empty());
    }
}
