//! Throughput and latency over time, a chart for each of the longest phases.

use super::{RunView, Stage};
use crate::document::{Document, Figure, Link, Part, Target};
use crate::{printable::clean, svg};
use fathom_record::Phase;

/// Maximum number of charts; the rest is only in the raw data.
const MOST_SERIES: usize = 24;
/// The same for each part of a survey, which has many.
const MOST_OF_A_PART: usize = 6;

pub(super) fn write(out: &mut Document, stage: &Stage<'_, '_>) {
    let mut charts: Vec<(&RunView<'_>, &Phase, svg::Picture)> = Vec::new();
    for (view, section) in &stage.shown {
        for phase in &section.phases {
            let drawn = svg::over_time(phase);
            charts.extend(drawn.into_iter().map(|picture| (*view, *phase, picture)));
        }
    }
    if charts.is_empty() {
        return;
    }
    out.heading(stage.level, "Over time");
    let most = if stage.of_survey { MOST_OF_A_PART } else { MOST_SERIES };
    let left_out = charts.len().saturating_sub(most);
    let mut note = String::new();
    if left_out > 0 {
        // The longest phases have the most informative course.
        charts.sort_by_key(|(_, p, _)| std::cmp::Reverse(p.repetitions.iter().map(|r| r.elapsed_ns).max()));
        charts.truncate(most);
        charts.sort_by_key(|(_, p, _)| p.seq);
        let elsewhere = if stage.of_survey { "left out" } else { "in the raw data" };
        note = format!("{most} charts, of the longest phases; {left_out} more are {elsewhere}.");
        if let [(view, _)] = stage.shown.as_slice()
            && stage.of_survey
        {
            note = format!("{note} {}", intervals_elsewhere(&view.run.id));
        }
    }
    let figure = |(view, phase, picture): (&RunView<'_>, &Phase, svg::Picture)| {
        let caption = if stage.shown.len() > 1 { clean(&view.story.title) } else { String::new() };
        let targets = Target::phase(Link::OverTime, &view.run.id, phase);
        Figure { targets, ..Figure::new(picture, caption) }
    };
    out.parts.push(Part::Pictures(note, charts.into_iter().map(figure).collect()));
}

/// Where to find the intervals of a survey's phases, which would be half of its figures.
pub(crate) fn intervals_elsewhere(run: &str) -> String {
    format!(
        "Rates and latencies over time, from the stored run: `fathom export {} --format intervals`",
        clean(run)
    )
}
