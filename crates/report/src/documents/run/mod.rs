//! Runs as documents, alone or side by side: each subject is a file that adds its headings, tables and pictures. `html::page` shows them
//! below its first screen, `markdown::summary` writes them one after the other.

mod comparison;
mod conduct;
mod counted;
mod device;
mod environment;
mod figures;
mod heading;
mod imported;
mod latency;
mod operations;
mod over_time;
mod overview;
mod parallel;
mod ranks;
mod request_lines;
mod requests;
mod stacks;
mod streams;
mod surfaces;
mod trust;
mod writes;

pub(crate) use comparison::write as compared;
pub(crate) use figures::table as main_figures;
pub(crate) use heading::{lead, title};
pub(crate) use over_time::intervals_elsewhere;
pub(crate) use parallel::table as parallel_streams;
pub(crate) use trust::table as trust_list;

use crate::document::{Document, Tone};
use crate::section::{Section, sections};
use crate::{Machine, Story, survey};
use fathom_record::Run;

/// A run with values that are needed repeatedly.
pub(crate) struct RunView<'r> {
    pub run: &'r Run,
    pub story: Story,
    pub machine: Machine,
    pub sections: Vec<Section<'r>>,
}

impl<'r> RunView<'r> {
    pub fn of(run: &'r Run) -> Self {
        Self { run, story: Story::of(run), machine: Machine::of(run), sections: sections(run) }
    }
}

/// A part of the runs: a stage of surveys, or everything.
pub(crate) struct Stage<'v, 'r> {
    /// The stage's name, if the runs have stages.
    pub name: Option<String>,
    /// The runs that have it.
    pub shown: Vec<(&'v RunView<'r>, &'v Section<'r>)>,
    /// The level of its headings.
    pub level: u8,
    /// Whether it is one of many parts of a survey, and short.
    pub of_survey: bool,
}

/// The stages of all runs in order of time.
pub(crate) fn stages<'v, 'r>(views: &'v [RunView<'r>]) -> Vec<Stage<'v, 'r>> {
    let mut names: Vec<Option<String>> = Vec::new();
    for section in views.iter().flat_map(|v| &v.sections) {
        if !names.contains(&section.stage) {
            names.push(section.stage.clone());
        }
    }
    let level = if names.iter().any(Option::is_some) { 3 } else { 2 };
    let of_survey = views.iter().all(|view| survey::is_survey(view.run));
    let stage = |name: Option<String>| {
        let of = |view: &'v RunView<'r>| Some((view, view.sections.iter().find(|s| s.stage == name)?));
        let shown = views.iter().filter_map(of).collect();
        Stage { name, shown, level, of_survey }
    };
    names.into_iter().map(stage).collect()
}

impl Stage<'_, '_> {
    /// Its heading: those of a survey in words, others as they are, with a capital.
    pub fn heading(&self) -> String {
        match self.name.as_deref() {
            None => "Other measurements".into(),
            Some("latency" | "ladder") => "Latency of single operations".into(),
            Some("depth") => "More operations in flight".into(),
            Some("mix") => "Reads and writes mixed".into(),
            Some("sustained") => "A long write".into(),
            Some("surface") => "Throughput over file and record size".into(),
            Some("scaling") => "More streams".into(),
            Some("sync") => "The cost of being sure (fsync)".into(),
            Some(other) => {
                let mut letters = other.chars();
                letters.next().map_or(String::new(), |c| c.to_uppercase().chain(letters).collect())
            }
        }
    }

    /// Adds all subjects of the stage.
    pub fn write(&self, out: &mut Document) {
        if let Some(note) = self.shown.iter().find_map(|(_, section)| section.note.as_ref()) {
            out.text(Tone::Note, note);
        }
        surfaces::write(out, self);
        streams::write(out, self);
        writes::write(out, self);
        imported::write(out, self);
        operations::write(out, self);
        latency::write(out, self);
        if !self.of_survey {
            over_time::write(out, self);
        }
        out.details("How it went, and what reached the device", |out| {
            conduct::write(out, self);
            if self.of_survey {
                over_time::write(out, self);
            }
            device::write(out, self);
            if self.of_survey {
                request_lines::write(out, self);
            } else {
                requests::write(out, self);
            }
            stacks::write(out, self);
        });
    }

    /// Names the run that follows, if there are several.
    fn whose(&self, out: &mut Document, view: &RunView<'_>) {
        if self.shown.len() > 1 {
            out.text(Tone::Label, view.story.title.as_str());
        }
    }
}

/// What follows the stages: counts of simulations, ranks, the environment.
pub(crate) fn background(out: &mut Document, views: &[RunView<'_>]) {
    counted::write(out, views);
    ranks::write(out, views);
    environment::write(out, views);
}

/// Everything about the runs.
#[must_use]
pub fn document(runs: &[&Run]) -> Document {
    let views: Vec<RunView<'_>> = runs.iter().map(|run| RunView::of(run)).collect();
    let mut out = Document::new(title(&views), lead(&views));
    overview::write(&mut out, &views);
    for stage in stages(&views) {
        let mut part = Document::default();
        stage.write(&mut part);
        if stage.level > 2 && !part.parts.is_empty() {
            out.heading(2, stage.heading());
        }
        out.parts.append(&mut part.parts);
    }
    background(&mut out, &views);
    out
}

#[cfg(test)]
mod tests {
    use crate::{markdown::summary, samples};

    #[test]
    fn sentences_and_findings_are_in_the_markdown() {
        let text = summary(&[&samples::lossy_run()]);
        for told in [
            "> **40 000 of 695 360 events were lost",
            "- **≥ 163 840** requests on vda",
            "| fsync-others | write x1: fsync took 1.2 s",
            "time of fsync: 1.20 s",
            "| Issuer | Reads | Read |",
        ] {
            assert!(text.contains(told), "{told} is missing: {text}");
        }
        let counted = summary(&[&samples::counted_run()]);
        assert!(counted.contains("vda: 4000 reads, mean 64.0 KiB;"), "{counted}");
        assert_eq!(counted.matches("I/O of all programs").count(), 1, "{counted}");
        assert!(!summary(&[&samples::survey_run()]).contains("Requests at the device"));
    }

    #[test]
    fn parts_about_requests_say_whose_they_are() {
        let (a, b) = (samples::observed_run(), samples::lossy_run());
        let html = crate::html::page(&[&a, &b]);
        let headed = html.matches(">What reached the device: ").count();
        let named = |part: &str| {
            part.split_once("</h3>").is_some_and(|(_, rest)| rest.starts_with("\n<p class=\"whose\">"))
        };
        let parts = html.split(">What reached the device: ").skip(1).filter(|part| named(part)).count();
        assert!(headed > 1 && parts == headed, "{parts} of {headed}");
    }

    #[test]
    fn two_runs_are_divided() {
        let text = summary(&[&samples::auto_run(), &samples::auto_run_changed()]);
        assert!(
            text.contains("divided by") && text.contains("Compared: second run divided by the first"),
            "{text}"
        );
    }
}
