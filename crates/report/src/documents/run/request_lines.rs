//! What reached the devices in the phases of a survey, one line each: a hundred phases are too many for pictures, and would
//! make the page too large to send. The distributions stay in the record; a note names the command that prints them.

use super::Stage;
use super::requests::{is_counted, lost, observed_phases, statements};
use crate::block::{sentence, shown_repetition};
use crate::document::{Cell, Document, Figure, Link, Mood, Table, Target, Tone};
use crate::{counters, printable::clean, section::full_title, svg};
use fathom_record::Phase;

/// Maximum number of pictures of dirty data.
const MOST_WAITING: usize = 2;

pub(super) fn write(out: &mut Document, stage: &Stage<'_, '_>) {
    for (view, section) in &stage.shown {
        let phases = observed_phases(section);
        if phases.is_empty() {
            continue;
        }
        let lead = |phase: &&Phase| Target::phase(Link::Requests, &view.run.id, phase);
        out.targets(phases.iter().flat_map(lead).collect());
        out.heading(stage.level + 1, "Requests at the device");
        stage.whose(out, view);
        if phases.iter().any(|phase| is_counted(phase)) {
            out.text(Tone::Note, counters::LIMITS);
        }
        let mut table = Table::new("Requests at the device, per phase", &["Phase", "What reached it"]);
        table.rows.extend(phases.iter().map(|phase| vec![Cell::words(full_title(phase)), cell(phase)]));
        out.table(table);
        let rest = "Distributions of sizes, distances and times, who issued the requests, and what proves each finding, from the stored run";
        out.text(Tone::Note, format!("{rest}: `fathom show {} --block`", clean(&view.run.id)));
        let waiting = phases.iter().filter_map(|p| svg::cache_course(p)).take(MOST_WAITING);
        out.pictures_beside(waiting.map(|picture| Figure::new(picture, "")).collect());
    }
}

fn cell(phase: &Phase) -> Cell {
    let requests = shown_repetition(phase)
        .map(|(repetition, layer)| format!("{}.", sentence(layer, &repetition.physical)));
    let rest = statements(phase).into_iter().chain(requests).collect::<Vec<_>>().join(" ");
    match lost(phase) {
        Some(lost) => Cell::words(lost).meant(Mood::Bad).with_below(rest),
        None => Cell::words(rest),
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        html::page,
        samples,
        survey::{LADDER, is_survey},
    };
    use fathom_record::Run;

    /// The page of a run as if it were a survey.
    fn page_of(mut run: Run) -> String {
        run.dialect = "survey".into();
        for phase in &mut run.phases {
            phase.axes.tags.insert("stage".into(), LADDER.into());
        }
        assert!(is_survey(&run));
        page(&[&run])
    }

    #[test]
    fn a_survey_has_a_line_for_each_phase_and_names_the_command_for_the_rest() {
        let run = samples::observed_run();
        let html = page_of(run.clone());
        let told = html.split("Requests at the device, per phase</caption>").nth(1).expect("the table");
        let told = &told[..told.find("</table>").expect("its end")];
        for words in ["163 840 reads of 4.00 KiB", "Of 163840 pages none was left in memory."] {
            assert!(told.contains(words), "{words} is missing: {told}");
        }
        assert!(html.contains(&format!("<code>fathom show {} --block</code>", run.id)));
        assert!(html.contains(&format!("<code>fathom export {} --format intervals</code>", run.id)));
        let left = [
            "Distributions as text",
            "Intervals as iostat",
            "class=\"cards\"",
            "Request sizes on",
            "\"intervals\":[[",
        ];
        for left in left {
            assert!(page(&[&run]).contains(left), "{left} is on other pages");
            assert!(!html.contains(left), "{left} is still on the page");
        }
        assert!(html.contains(">requests</a>"), "figures lead to the table");
    }

    #[test]
    fn lost_events_are_said_in_the_line() {
        let html = page_of(samples::lossy_run());
        assert!(
            html.contains("40 000 of 695 360 events were lost") && html.contains("at least 163 840 reads")
        );
    }

    #[test]
    fn activity_seen_by_counters_only_has_a_line() {
        let html = page_of(samples::counted_run());
        assert!(html.contains("vda: 4000 reads, mean 64.0 KiB;"), "{html}");
    }
}
