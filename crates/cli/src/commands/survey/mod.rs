//! `fathom survey`: characterises a storage. Measures a directory, or a device read-only, in a given time; prints a
//! page of text and writes a page. `place` decides where and how large, `effort` how long, `guide` what comes next;
//! each part has its own file; `fathom_report::survey` interprets the figures.

mod budget;
mod depth;
mod earlier;
mod effort;
mod guide;
mod ladder;
mod mix;
mod place;
mod plan;
mod progress;
mod scaling;
mod small;
mod surface;
mod sustained;
#[cfg(test)]
mod tests;

use super::run::code;
use super::write;
use crate::common::Common;
use crate::line::Survey;
use crate::run_loop::{self, Finished, Head};
use crate::{console, state};
use effort::{Effort, EffortChoice};
use fathom_engine::Engine;
use fathom_record::Run;
use guide::Guide;
use place::{Async, SurveyPlace, SurveySubject};
use plan::SurveyPlan;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

pub fn run(options: &Survey, common: &Common) -> anyhow::Result<ExitCode> {
    let common = &common.under(&options.conditions);
    if let Some(output) = &options.output {
        write::check_before(output)?;
    } else if !(options.line || options.dense) {
        write::check_default(&write::default_page("ID"), "-o FILE names another, --line writes none")?;
    }
    let started = fathom_observe::local_time::now();
    let cpus = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    let effort = Effort::of(wish(options), cpus);
    let mut engine = Engine::new(state::ledger());
    fathom_engine::watch_signals();
    let mut place = SurveyPlace::of(&options.dir, effort, &mut engine)?;
    place.several = several_in_flight(&engine, &mut place, effort);
    if !place.direct {
        console::note("O_DIRECT is refused here; the parts that need it are left out");
    }
    if !(options.json || options.line) {
        console::note(&beforehand(&place, effort));
    }
    let plan = SurveyPlan::new(&place, effort, options.seed);
    let mut guide = if options.dense { Guide::dense(plan) } else { Guide::new(plan) };
    let head = Head {
        label: "survey".into(),
        dialect: "survey".into(),
        argv: console::argv(),
        directory: fathom_state::absolute(&options.dir),
        started,
    };
    let mut line = progress::ProgressLine::new(effort.total);
    let finished = run_loop::execute_script(&mut engine, &mut guide, head, common, &mut line)?;
    line.clear();
    if options.dense {
        console::out(&fathom_report::survey::dense(&finished.run));
        return Ok(code(&finished));
    }
    let by_default = || write::default_page(&finished.run.id);
    let page = options.output.clone().or_else(|| (!options.line).then(by_default));
    let written = page.as_deref().map(|page| write::runs(&[&finished.run], page, false)).transpose();
    let page = page.filter(|_| written.is_ok());
    if options.json {
        console::out(&fathom_report::survey::json(&finished.run));
        super::run::tell_early_end(&finished);
        crate::epilogue::tell_kept(&finished, page.is_some());
        if let Some(page) = &page {
            console::note(&format!("page: {}", page.display()));
        }
    } else if options.line {
        let answer = fathom_report::answer::Answer::of(&finished.run, None);
        console::out(&format!("{}\n", fathom_report::terminal::one_line(&answer)));
        super::run::tell_early_end(&finished);
    } else {
        let earlier = finished.stored.then(|| earlier::of(&finished.run, common)).flatten();
        tell(&finished, earlier.as_ref(), page.as_ref(), common.store.as_deref());
        super::run::tell_early_end(&finished);
    }
    // The measurement is not lost with the page: it is in the store and on the terminal.
    if let Err(e) = written {
        console::error(&format!("the page was not written: {e:#}"));
        if finished.signal.is_none() {
            return Ok(ExitCode::from(crate::exit::FAILED));
        }
    }
    Ok(code(&finished))
}

fn wish(options: &Survey) -> EffortChoice {
    match (options.quick, options.thorough) {
        (true, _) => EffortChoice::Quick,
        (_, true) => EffortChoice::Thorough,
        _ => EffortChoice::Ordinary,
    }
}

/// What it will cost, printed before it begins.
fn beforehand(place: &SurveyPlace, effort: Effort) -> String {
    let time = match effort.wish {
        EffortChoice::Quick => "15 seconds",
        EffortChoice::Ordinary => "a minute",
        EffortChoice::Thorough => "ten minutes",
    };
    match place.subject {
        SurveySubject::Device { .. } => format!("takes about {time}; the device is only read"),
        SurveySubject::Directory { .. } => {
            let most = fathom_record::origin::bytes_words(effort.most_written);
            format!("takes about {time}; writes at most {most}, in files that it removes")
        }
    }
}

/// How to keep several operations in flight here: containers often block io_uring.
fn several_in_flight(engine: &Engine, place: &mut SurveyPlace, effort: Effort) -> Option<Async> {
    [Async::Uring, Async::Aio].into_iter().find(|way| {
        place.several = Some(*way);
        let mut plan = SurveyPlan::new(place, effort, 0);
        let asked = depth::Search::default().next(&mut plan, &fathom_record::Run::default());
        asked.is_some() && engine.check(&plan.workload).is_ok()
    })
}

/// Prints the short answer, and where the rest is.
fn tell(finished: &Finished, earlier: Option<&Run>, page: Option<&PathBuf>, store: Option<&Path>) {
    let (width, colour) = (console::width(), console::colour());
    if finished.run.phases.is_empty() {
        return console::out(&fathom_report::terminal::summary(&finished.run, width, colour));
    }
    let answer = fathom_report::answer::Answer::of(&finished.run, earlier);
    let page = page.map(|page| format!("Report {}", page.display()));
    // The beginning of an id is enough.
    let id = &finished.run.id;
    let begins = id.split('-').next().unwrap_or(id);
    let more = finished.stored.then(|| match store {
        Some(store) => format!("More: fathom show {id} --store {}", store.display()),
        None => format!("More: fathom why {begins} (causes), fathom show {begins} (all)"),
    });
    let after: Vec<String> = [page, more].into_iter().flatten().collect();
    console::out(&fathom_report::terminal::short(&answer, &after, width, colour));
}
