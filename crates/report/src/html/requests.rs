//! What reached the devices in the phases of a survey, one line each: a hundred phases are too many for pictures, and would
//! make the page too large to send. The distributions stay in the record; a note names the command that prints them.

use super::{
    HtmlPage, RunView,
    block::{lost, observed_phases, statements},
    blocks::{Shown, run_name},
    links::Link,
    table::{HtmlTable, heads},
};
use crate::{
    block::{sentence, shown_repetition},
    counters,
    printable::clean,
    section::full_title,
    svg::{self, escape},
};
use fathom_record::Phase;
use std::fmt::Write as _;

/// Maximum number of pictures of dirty data.
const MOST_WAITING: usize = 2;

pub(super) fn write(page: &mut HtmlPage, shown: &[Shown<'_, '_>], level: u8) {
    for (view, section) in shown {
        let phases = observed_phases(section);
        if phases.is_empty() {
            continue;
        }
        let id = page.heading(level + 1, "Requests at the device");
        run_name(page, shown, view);
        if phases.iter().any(|p| shown_repetition(p).is_some_and(|(_, layer)| counters::are_all(layer))) {
            let _ = writeln!(page.body, "<p class=\"note\">{}</p>", escape(counters::LIMITS));
        }
        let mut table =
            HtmlTable::new("Requests at the device, per phase", &heads(&["Phase", "What reached it"]));
        for phase in &phases {
            page.links.phase(Link::Requests, &view.run.id, phase, &id);
            table.row(&full_title(phase), &[line(phase)]);
        }
        let _ = write!(page.body, "<div class=\"trust\">{}</div>\n{}", table.finish(), at_length(view));
        waiting(page, &phases);
    }
}

fn line(phase: &Phase) -> String {
    let mut cell = lost(phase) + &statements(phase);
    if let Some((repetition, layer)) = shown_repetition(phase) {
        let words = sentence(layer, &repetition.physical);
        let _ = write!(cell, "<p>{}.</p>", escape(&words));
    }
    format!("<div class=\"text\">{cell}</div>")
}

/// Where to find the rest.
fn at_length(view: &RunView<'_>) -> String {
    format!(
        "<p class=\"note\">Distributions of sizes, distances and times, who issued the requests, and what proves each finding, from the \
         stored run: <code>fathom show {} --block</code></p>\n",
        escape(&clean(&view.run.id))
    )
}

/// Data waiting in memory to be written, for the first phases with any.
fn waiting(page: &mut HtmlPage, phases: &[&Phase]) {
    let pictures: Vec<_> = phases.iter().filter_map(|p| svg::cache_course(p)).take(MOST_WAITING).collect();
    if pictures.is_empty() {
        return;
    }
    page.body.push_str("<div class=\"pair\">\n");
    for picture in &pictures {
        page.picture(picture, "");
    }
    page.body.push_str("</div>\n");
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
        assert!(html.contains("<p>vda: 4000 reads, mean 64.0 KiB;"), "{html}");
    }
}
