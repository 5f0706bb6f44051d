//! `fathom compare`: two sides of runs, judged figure by figure. `line` holds the options, `sides` and `sweep` find the
//! runs, `runs` holds and loads them, `of` loads those of a stored comparison, `run` measures both sides now;
//! `fathom_report::compared` judges and draws the result. This file connects them and sets the exit code.

pub mod line;
mod of;
mod run;
mod runs;
mod sides;
mod sweep;

use super::{document, write};
use crate::common::Common;
use crate::console;
use crate::exit::{self, Usage};
use fathom_report::compared::{
    self, CompareOptions, Compared, Gate, Metric, Outcome, SessionMark, SessionPart,
};
use fathom_report::{documents, markdown, svg};
use line::Compare;
use runs::Chosen;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

pub fn run(options: &Compare, common: &Common) -> anyhow::Result<ExitCode> {
    if options.measure.run {
        return run::run(options, common);
    }
    if options.measure.conditions.cold.is_some() {
        return Err(Usage("--cold needs --run: it has no effect on stored runs".into()).into());
    }
    check_files(options)?;
    // Before any look-up, so that a typing error is reported first.
    let _ = asked(options, None)?;
    let chosen = sides::choose(options, &mut runs::RunSource::new(common))?;
    let asked = asked(options, planned_threshold(&chosen))?;
    let all: Vec<Compared> = chosen.pairs().map(|(a, b)| Compared::of(&a, &b, &asked)).collect();
    let nowhere = |m: &&String| !all.iter().any(|c| c.has(&Metric::of_word(m)));
    let nowhere: Vec<&str> = options.metric.iter().filter(nowhere).map(String::as_str).collect();
    if !nowhere.is_empty() {
        let slip = no_such_figure(&nowhere.join(","), &chosen, &asked);
        if nowhere.len() == options.metric.len() {
            return Err(slip.into());
        }
        // The gate reports it itself.
        console::warning(&slip.0);
    }
    if options.gate && all.iter().all(is_of_noise) {
        // As when it was measured: A against itself is never a regression.
        let _ = tell(options, &all, false)?;
        for one in &all {
            run::tell_undecided(options, &[&one.a.name, &one.b.name], NOISE_ALONE)?;
        }
        console::note(NOISE_ALONE);
        return Ok(ExitCode::from(exit::UNDECIDED));
    }
    Ok(ExitCode::from(tell(options, &all, options.gate)?))
}

/// Message if only A against itself exists.
const NOISE_ALONE: &str =
    "A was compared with itself, to measure this machine's noise: there is no B for the gate to judge";

fn is_of_noise(compared: &Compared) -> bool {
    compared.session.as_ref().is_some_and(|session| session.part == SessionPart::Noise)
}

/// A figure that no cell of both sides has is a typing error or belongs to another kind of run.
fn no_such_figure(word: &str, chosen: &Chosen, asked: &CompareOptions) -> Usage {
    let everything = CompareOptions { metrics: vec![Metric::All], ..asked.clone() };
    let all: Vec<Compared> = chosen.pairs().map(|(a, b)| Compared::of(&a, &b, &everything)).collect();
    let names: BTreeSet<&str> = all.iter().flat_map(|c| &c.rows).map(|r| r.metric.as_str()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let has = if names.is_empty() { "no common figure".into() } else { names.join(", ") };
    Usage(format!("--metric {word}: no cell of both sides has it; they have {has}"))
}

/// The threshold the comparison was planned with, if all runs belong to a planned comparison.
fn planned_threshold(chosen: &Chosen) -> Option<f64> {
    let mut all = chosen.0.iter().flat_map(|side| &side.1).map(|r| Some(SessionMark::of(r)?.plan.threshold));
    let first = all.next()??;
    all.all(|t| t == Some(first)).then_some(first)
}

/// Checks that the output files can be written.
fn check_files(options: &Compare) -> Result<(), Usage> {
    if let Some(path) = &options.output {
        write::check_drawing(path, options.force)?;
        if options.measure.run && !options.force && write::is_directory(path) {
            write::has_no_pictures(path)?;
        }
    }
    options.junit.iter().try_for_each(|path| write::check(path, options.force))
}

/// Prints and writes the result; returns the exit code. `gated`: the gate decides it.
fn tell(options: &Compare, all: &[Compared], gated: bool) -> anyhow::Result<u8> {
    let chosen: Vec<Metric> = options.metric.iter().map(|m| Metric::of_word(m)).collect();
    let gates: Vec<Gate> = all.iter().map(|c| Gate::of(c, &chosen)).collect();
    let shown_gates = gated.then_some(gates.as_slice());
    if options.json {
        console::out(&compared::json(all, shown_gates));
    } else {
        console::out(&all.iter().map(compared::text).collect::<Vec<_>>().join("\n"));
        for gate in shown_gates.into_iter().flatten() {
            console::out(&format!("\n{}\n", gate.sentence));
        }
    }
    if options.github && gated {
        // With JSON on stdout the annotations go to stderr; GitHub reads both.
        let lines = compared::github(all, &gates);
        if options.json { console::error_raw(&lines) } else { console::out_raw(&lines) }
    }
    if let Some(path) = &options.output {
        draw(path, all, shown_gates, options)?;
    }
    if let Some(path) = options.junit.as_ref().filter(|_| gated) {
        keep(path, &compared::junit(all, &gates), options.force)?;
    }
    Ok(if gated { code(&gates) } else { exit::DONE })
}

/// Checks the extension of the file for a report.
fn check_ending(path: &Path) -> Result<(), Usage> {
    document::check_ending(path, "a comparison", "--json prints the figures")
}

fn draw(path: &Path, all: &[Compared], gates: Option<&[Gate]>, options: &Compare) -> anyhow::Result<()> {
    let replace = options.force;
    if write::is_markdown(path) && !options.full {
        return keep(path, &markdown::comparison(all, gates), replace);
    }
    // The ratios of all figures: the pictures of surfaces would be a roll of paper.
    if document::is_picture(path) {
        write::tell(&write::picture(svg::comparison(all), path, replace)?);
        return Ok(());
    }
    document::write(&documents::comparison(all, gates), path, replace)
}

fn keep(path: &Path, text: &str, replace: bool) -> anyhow::Result<()> {
    crate::output::put(path, text, replace)?;
    console::note(&format!("wrote {}", path.display()));
    Ok(())
}

/// The worst of several comparisons: a regression ranks above an undecided result.
fn code(gates: &[Gate]) -> u8 {
    let any = |outcome| gates.iter().any(|g| g.outcome == outcome);
    match (any(Outcome::Regression), any(Outcome::NotEnoughData)) {
        (true, _) => exit::CHECK,
        (_, true) => exit::UNDECIDED,
        _ => exit::DONE,
    }
}

/// Reads the request; `planned` is the threshold if none was typed.
fn asked(options: &Compare, planned: Option<f64>) -> Result<CompareOptions, Usage> {
    let mut asked = CompareOptions::default();
    asked.rules.threshold = match (&options.threshold, planned) {
        (Some(text), _) => share("--threshold", text)?,
        (None, Some(planned)) => planned,
        (None, None) => asked.rules.threshold,
    };
    asked.metrics = options.metric.iter().map(|m| Metric::of_word(m)).collect();
    options.output.as_deref().map(check_ending).transpose()?;
    if options.full && !options.output.as_deref().is_some_and(write::is_markdown) {
        return Err(Usage("--full belongs to a file that ends in .md; other forms are always whole".into()));
    }
    Ok(asked)
}

/// Parses "1%", "0.5 %" or "0.01": a share above 0 and below 1.
pub(super) fn share(option: &str, text: &str) -> Result<f64, Usage> {
    let (number, scale) = match text.trim().strip_suffix('%') {
        Some(percent) => (percent.trim(), 100.0),
        None => (text.trim(), 1.0),
    };
    let share = number.parse::<f64>().ok().map(|n| n / scale).filter(|s| *s > 0.0 && *s < 1.0);
    share.ok_or_else(|| {
        Usage(format!("{option} {text}: a share above 0 and below 100 % is expected, such as 1% or 0.01"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_percentage_or_a_fraction() {
        let of = |text: &str| share("--threshold", text).ok();
        assert_eq!((of("1%"), of("0.5 %"), of("0.02")), (Some(0.01), Some(0.005), Some(0.02)));
        assert_eq!((of("0"), of("100%"), of("-1%"), of("nan"), of("fast")), (None, None, None, None, None));
    }
}
